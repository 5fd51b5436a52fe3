import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import ReadSettings, read, write
from fencepost.formats.jsonl import parse_of
from fencepost.structure import Document, Entity, FoundSpan, Parse, Sentence, Span, Tree
from tests.strategies import NAME_CHARACTERS, parses

# JSON can say anything, blanks and brackets' names included.
ANY_WORDS = st.text(NAME_CHARACTERS + "() \n", min_size=1, max_size=5) | st.just("-LRB-")


def parse_of_data(data: Any) -> Parse:
    return parse_of(data, ReadSettings())


@given(st.lists(parses(ANY_WORDS), max_size=4))
def test_reading_undoes_writing(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Parse]
) -> None:
    path = tmp_path_factory.getbasetemp() / "parses.jsonl"
    assert write(drawn, path) == len(drawn)
    assert list(read(path)) == drawn


def test_each_layer_has_its_key(tmp_path: Path) -> None:
    tree = Tree.from_brackets("(S (NP (NNP Ann)) (VP (VBD slept)))")
    sentence = Sentence.from_whitespace(["Ann", "slept"], [" ", ""], tags=tree.tags, id="1")
    parse = Parse(sentence, Tree(sentence, tree.spans), (Span(0, 1, "PER"),))
    write([parse], tmp_path / "x.jsonl")
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {
        "version": 1,
        "id": "1",
        "words": ["Ann", "slept"],
        "tags": ["NNP", "VBD"],
        "tree": [[0, 2, "S"], [0, 1, "NP"], [1, 2, "VP"]],
        "entities": [[0, 1, "PER"]],
        "text": "Ann slept",
        "offsets": [[0, 3], [4, 9]],
    }


def test_lines_are_what_a_parse_gives_as_plain_data(tmp_path: Path) -> None:
    ann = Sentence(("Ann",))
    tree = Tree(ann, (FoundSpan(0, 1, "NP", ann, 0.5),))
    parse = Parse(ann, tree, (Entity(0, 1, "person", ann, 0.25),), log_probs={"tree": -0.5}, rank=2)
    path = tmp_path / "x.jsonl"
    write([parse], path)
    data = json.loads(path.read_text())
    assert data == parse.to_dict()
    (again,) = read(path)
    assert again == Parse.from_dict(data) == parse
    assert again.to_dict() == data


def test_lines_from_before_there_was_a_version_are_read() -> None:
    parse = parse_of_data(
        {
            "words": ["Ann", "slept"],
            "tags": ["NNP", "VBD"],
            "tree": "(S (NP (NNP Ann)) (VP (VBD slept)))",
            "entities": [[0, 1, "person"]],
            "rank": 1,
            "log_probs": {"tree": -0.1},
            "probabilities": {"tree": [0.9, 0.9, 0.9], "entities": [0.8]},
        }
    )
    assert parse.tree is not None
    assert parse.tree.to_brackets() == "(S (NP (NNP Ann)) (VP (VBD slept)))"
    assert (parse.rank, parse.log_probs) == (None, None)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"version": 2}, "plain data of version 1 was expected, not of version 2"),
        ({"version": 1, "rank": "first"}, "'rank' has to be a whole number"),
        ({"version": 1, "log_probs": [1]}, "'log_probs' has to be an object of numbers"),
    ],
)
def test_lines_of_ours_that_are_wrong_are_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_of_data({"words": ["a"], **data})
    parse_of_data({"words": ["a"], **data, "version": "of another program"})


def test_tokens_are_understood_for_words() -> None:
    parse = parse_of_data({"tokens": ["a", "b"], "entities": [[0, 2, "X"]], "more": 1})
    assert parse == Parse(Sentence(("a", "b")), entities=(Span(0, 2, "X"),))


def test_layers_that_are_not_there_are_none() -> None:
    parse = parse_of_data({"words": ["a"], "tree": None, "entities": None})
    assert (parse.tree, parse.entities, parse.tags) == (None, None, None)


def test_a_tree_alone_has_words_and_tags() -> None:
    parse = parse_of_data({"tree": "(S (A a) (-LRB- -LRB-))"})
    assert (parse.words, parse.tags) == (("a", "("), ("A", "-LRB-"))


def test_stand_ins_on_the_leaves_are_no_tags() -> None:
    assert parse_of_data({"tree": "(S (XX a) (XX b))"}).tags is None
    assert parse_of_data({"tree": "(S (XX a))", "tags": ["XX"]}).tags == ("XX",)


def test_a_tree_may_be_given_as_spans() -> None:
    parse = parse_of_data({"words": ["a b", "c"], "tree": [[0, 2, "S"], [1, 2, "NP"]]})
    assert parse.tree is not None
    assert parse.tree.spans == (Span(0, 2, "S"), Span(1, 2, "NP"))


def test_a_bare_word_may_get_a_stand_in_in_the_tree() -> None:
    parse = parse_of_data({"words": ["a"], "tags": [""], "tree": "(NP (XX a))"})
    assert parse.tags == ("",)


class TestCharacters:
    TEXT = "Ann met  Bo."

    def test_entities_count_characters_if_there_is_only_text(self) -> None:
        offsets = [[0, 3], [4, 7], [9, 11], [11, 12]]
        parse = parse_of_data(
            {"text": self.TEXT, "offsets": offsets, "entities": [[9, 11, "PER"], [0, 12, "E"]]}
        )
        assert parse.words == ("Ann", "met", "Bo", ".")
        assert parse.entities == (Span(0, 4, "E"), Span(2, 3, "PER"))

    def test_without_offsets_blanks_separate_words(self) -> None:
        parse = parse_of_data({"text": self.TEXT, "entities": [[0, 3, "PER"]]})
        assert parse.words == ("Ann", "met", "Bo.")
        assert parse.sentence.offsets == ((0, 3), (4, 7), (9, 12))

    def test_words_are_found_in_the_text(self) -> None:
        parse = parse_of_data({"text": self.TEXT, "words": ["Ann", "met", "Bo", "."]})
        assert parse.sentence.offsets == ((0, 3), (4, 7), (9, 11), (11, 12))

    @pytest.mark.parametrize(
        ("data", "message", "kind"),
        [
            (
                {"entities": [[9, 11, "PER"]]},
                "the entity PER at characters 9 to 11 does not begin and end with words: "
                "'Ann met  [Bo].'",
                "misaligned",
            ),
            ({"entities": [[1, 3, "PER"]]}, "'A[nn] met  Bo.'", "misaligned"),
            ({"entities": [[0, 13, "PER"]]}, "within a text of 12 characters", "out of range"),
            ({"entities": [[-1, 3, "PER"]]}, "within a text of 12 characters", "out of range"),
            ({"offsets": [[0, 99]]}, "within a text of 12 characters", "out of range"),
            ({"words": ["Ann", "Bo"]}, "the word 'Bo' at characters 3 to 5", "misaligned"),
            ({"words": ["Ann", "Cy"]}, "the word 'Cy'", "misaligned"),
            ({"words": ["Bo"], "offsets": [[0, 3]]}, "the word 'Bo'", "misaligned"),
        ],
    )
    def test_what_does_not_fit_the_text_is_shown(
        self, data: dict[str, Any], message: str, kind: str
    ) -> None:
        with pytest.raises(DataError) as raised:
            parse_of_data({"text": self.TEXT, **data})
        assert message in str(raised.value)
        assert raised.value.kind == kind


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "an object is expected on each line, not [1]"),
        ("{}", "a sentence needs `words`, `text` or `tree`"),
        ('{"words": "abc"}', "'words' has to be a list of strings, not \"abc\""),
        ('{"words": [1]}', "'words' has to be a list of strings"),
        ('{"words": ["a"], "tags": ["X", "Y"]}', "2 tags for 1 words"),
        ('{"words": ["a"], "id": true}', "'id' has to be a string or a number, not true"),
        ('{"words": ["a"], "entities": [[0, 1]]}', "'entities' has to be a list of [start, end, l"),
        ('{"words": ["a"], "entities": [[false, 1, "X"]]}', "'entities' has to be"),
        ('{"words": ["a"], "entities": {"a": 1}}', "'entities' has to be"),
        ('{"text": "a", "offsets": [[0, 1, 2]]}', "'offsets' has to be a list of [start, end]"),
        ('{"words": ["a"], "tree": 3}', "'tree' has to be a string of brackets, or a list"),
        ('{"words": ["a"], "tree": "(S (A b))"}', "the tree has other words than the sentence"),
        ('{"words": ["a"], "tree": "(S (A a)"}', "this bracket is never closed"),
        (
            '{"words": ["a"], "tags": ["B"], "tree": "(S (A a))"}',
            "the tree has the tag 'A' where the sentence has 'B'",
        ),
        ('{"words": ["%s"], "id": []}' % ("x" * 99), "'id' has to be a string or a number, not []"),
        ('{"words": 1, "tags": "%s"}' % ("x" * 99), "'words' has to be"),
        ('{"words": "%s"}' % ("x" * 99), f'not "{"x" * 58} …'),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"words": ["fine"]}\n\n' + line + "\n")
    with pytest.raises(DataError) as raised:
        list(read(path))
    assert str(raised.value).startswith(f"{path}:3: ") or "bracket" in message
    assert message in str(raised.value)


def test_what_is_too_deep_to_be_shown_is_refused_all_the_same() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(DataError, match="has to be a list of strings, not lists in lists, too"):
        parse_of_data({"words": deep})


def test_half_of_a_surrogate_pair_comes_back(tmp_path: Path) -> None:
    found = [Parse(Sentence(("a\ud800", "é"))), Parse(Sentence(("é",)))]
    write(found, tmp_path / "x.jsonl")
    assert list(read(tmp_path / "x.jsonl")) == found
    assert (tmp_path / "x.jsonl").read_text().splitlines()[1] == '{"version": 1, "words": ["é"]}'


@pytest.mark.parametrize(("number", "text"), [("7", "7"), ("-1.5", "-1.5"), ("0", "0")])
def test_a_number_is_a_name_too(tmp_path: Path, number: str, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"id": {number}, "words": ["a"]}}')
    assert [parse.id for parse in read(path)] == [text]


def test_words_that_leave_out_all_of_a_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "It slept.", "words": []}')
    with pytest.raises(DataError, match="`words` is empty, but `text` is not"):
        list(read(path))
    # Where no word stands is then said on purpose.
    path.write_text('{"text": " ", "words": []}\n{"text": "It", "words": [], "offsets": []}\n')
    assert [parse.words for parse in read(path)] == [(), ()]


def test_words_that_brackets_cannot_say_are_written_as_they_are(tmp_path: Path) -> None:
    sentence = Sentence(("New York", "slept"))
    parse = Parse(sentence, Tree(sentence, (Span(0, 2, "S"),)))
    write([parse], tmp_path / "x.jsonl")
    assert list(read(tmp_path / "x.jsonl")) == [parse]


class TestDocuments:
    def test_the_sentences_of_a_document_are_read_one_by_one(self, tmp_path: Path) -> None:
        text = "Ann sleeps. She snores."
        first = Sentence(("Ann", "sleeps", "."), None, text, ((0, 3), (4, 10), (10, 11)))
        second = Sentence(("She", "snores", "."), None, text, ((12, 15), (16, 22), (22, 23)))
        found = (
            Parse(first, Tree(first, (Span(0, 3, "S"),)), (Span(0, 1, "person"),)),
            Parse(second),
        )
        path = tmp_path / "rows.jsonl"
        rows = [
            Document(found, text, id="a").to_dict(),
            Document(found[:1], text, id="b").to_dict(),
            Document((), "", id="c").to_dict(),
            Document(found[1:], text).to_dict(),
        ]
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        one, two, three, four = read(path)
        assert [parse.id for parse in (one, two, three, four)] == ["a-1", "a-2", "b", None]
        assert one.entities == (Span(0, 1, "person"),)
        assert one.tree is not None
        assert (two.sentence.text, two.sentence.offsets) == (
            "She snores.",
            ((0, 3), (4, 10), (10, 11)),
        )

    def test_one_that_was_not_parsed_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        path.write_text(json.dumps(Document((), "x", "too long", "a").to_dict()))
        with pytest.raises(DataError, match=r"rows\.jsonl:1: this was not parsed: too long"):
            list(read(path))
        assert list(read(path, skip_bad=True)) == []

    def test_one_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "rows.jsonl"
        path.write_text('{"sentences": [3]}')
        with pytest.raises(DataError, match="version"):
            list(read(path))
