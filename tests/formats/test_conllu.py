import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import ParseReader, read, write
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.formats.tools import PARSE, through
from tests.strategies import parses

GIVEN = """\
# newdoc id = a
# sent_id = a-1
# text = Il va du parc.
1\tIl\til\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tva\taller\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tparc\tparc\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
5.1\tnada\t_\t_\t_\t_\t_\t_\t2:x\t_
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
"""


def rows(*words: str, misc: str = "_") -> str:
    return "".join(f"{n}\t{w}" + "\t_" * 7 + f"\t{misc}\n" for n, w in enumerate(words, 1))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conllu") / "x.conllu"


def read_text(path: Path, text: str) -> list[Parse]:
    path.write_text(text)
    return list(read(path))


def is_sayable(parse: Parse) -> bool:
    """Whether tags and the id are such that columns and comments can say them."""
    id = parse.id or ""
    return "_" not in (parse.tags or ()) and id == id.strip(" ") and not set(id) & set("\r\n")


@given(several=st.lists(parses().filter(is_sayable), max_size=3))
def test_what_was_written_is_read_again(shared: Path, several: list[Parse]) -> None:
    again = through(several, shared, "conllu")
    for found, parse in zip(again, several, strict=True):
        assert (found.words, found.tags, found.id) == (parse.words, parse.tags, parse.id)
        assert found.entities == parse.entities
        assert (found.tree and found.tree.spans) == (parse.tree and parse.tree.spans)
        assert found.sentence.offsets is not None


def test_the_file_is_plain_conllu_with_comments(tmp_path: Path) -> None:
    write([PARSE], tmp_path / "x.conllu")
    lines = (tmp_path / "x.conllu").read_text().splitlines()
    assert lines[:6] == [
        "# sent_id = doc-7",
        "# text = Ann's 😀 Bank (Oslo).",
        "# constituency = (S (NP (NP (NNP Ann) (POS 's)) (SYM 😀) (NNP Bank) (PRN (-LRB- -LRB-) "
        "(NNP Oslo) (-RRB- -RRB-))) (. .))",
        '# entities = [[0, 7, "ORG"], [0, 2, "PER"], [3, 7, "ORG"], [5, 6, "GPE"]]',
        "1\tAnn\t_\t_\tNNP\t_\t_\t_\t_\tSpaceAfter=No",
        "2\t's\t_\t_\tPOS\t_\t_\t_\t_\t_",
    ]
    assert {line.count("\t") for line in lines[4:-1]} == {9}
    assert lines[-1] == ""


def test_words_are_the_syntactic_ones(tmp_path: Path) -> None:
    (parse,) = read_text(tmp_path / "x.conllu", GIVEN)
    assert parse.words == ("Il", "va", "de", "le", "parc", ".")
    assert parse.tags == ("PRON", "VERB", "ADP", "DET", "NOUN", "PUNCT")
    assert (parse.id, parse.sentence.text) == ("a-1", "Il va du parc.")
    assert parse.sentence.offsets is None
    assert (parse.tree, parse.entities) == (None, None)


def test_tags_of_the_language_come_before_universal_ones(tmp_path: Path) -> None:
    text = "1\tGo\tgo\tVERB\tVB" + "\t_" * 5 + "\n2\t!" + "\t_" * 8 + "\n"
    (parse,) = read_text(tmp_path / "x.conllu", text)
    assert parse.tags == ("VB", "")


def test_the_text_is_put_together_if_it_is_not_told(tmp_path: Path) -> None:
    text = "".join(line for line in GIVEN.splitlines(True) if "# text" not in line)
    (parse,) = read_text(tmp_path / "x.conllu", text)
    assert parse.sentence.text == "Il va du parc."
    assert read_text(tmp_path / "x.conllu", rows("Go", "!"))[0].sentence.text is None


def test_words_of_a_token_that_make_it_up_have_places(tmp_path: Path) -> None:
    text = (
        "# text = I can't.\n1\tI" + "\t_" * 8 + "\n2-3\tcan't" + "\t_" * 7 + "\tSpaceAfter=No\n"
        "2\tca" + "\t_" * 8 + "\n3\tn't" + "\t_" * 8 + "\n4\t." + "\t_" * 8 + "\n"
    )
    for told in (text, text.partition("\n")[2]):
        (parse,) = read_text(tmp_path / "x.conllu", told)
        assert parse.sentence.text == "I can't."
        assert parse.sentence.offsets == ((0, 1), (2, 4), (4, 7), (7, 8))


def test_the_tree_of_the_comment_may_have_other_tags(tmp_path: Path) -> None:
    text = f"# constituency = (ROOT (S (NP (NNP a)) (VP (VB -LRB-))))\n{rows('a', '(')}"
    (parse,) = read_text(tmp_path / "x.conllu", text)
    assert parse.tree is not None
    assert parse.tags is None
    assert [span.label for span in parse.tree.spans] == ["ROOT", "S", "NP", "VP"]


def test_what_brackets_cannot_say_is_said_as_spans(tmp_path: Path) -> None:
    sentence = Sentence(("New York", "slept"))
    parse = Parse(sentence, Tree(sentence, (Span(0, 2, "S"), Span(0, 1, "N P"))))
    (again,) = through([parse], tmp_path / "x.conllu", "conllu")
    assert again.tree is not None
    assert (again.words, again.tree.spans) == (sentence.words, parse.tree and parse.tree.spans)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n", "1: 2 columns, where CoNLL-U has 10"),
        (rows("a", ""), "2: the word is empty"),
        (rows("a").replace("1", "2", 1), "1: word 1 has the number '2'"),
        (f"# entities = [[0\n{rows('a')}", "2: the comment on the entities is no JSON"),
        (f'# entities = [[0, 9, "A"]]\n{rows("a")}', "2: .* is not a span"),
        (f"# constituency = [[\n{rows('a')}", "2: the comment on the tree is no JSON"),
        (f"# constituency = (S (A b))\n{rows('a')}", "2: the tree has other words"),
        (f"# entities = {'[' * 100_000}\n{rows('a')}", "2: .* no JSON"),
        ("1-99999999999\ta" + "\t_" * 8 + "\n", "1: word 1 has the number"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"x\.conllu:{message}"):
        read_text(tmp_path / "x.conllu", text)


def test_a_bad_sentence_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(f"1\ta\n\n# a comment\n\n{rows('a')}# late\n\n\n{rows('b')}")
    settings = ReadSettings(skip_bad=True)
    reading = ParseReader(tmp_path / "x.conllu", settings=settings)
    assert [parse.words for parse in reading] == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse(Sentence(())), "a sentence without words"),
        (Parse(Sentence(("a\tb",))), r"'a\\tb' cannot be said in columns"),
        (Parse(Sentence(("a",), ("X ",))), "'X ' cannot be said in columns"),
        (Parse(Sentence(("a",), ("_",))), "the tag '_' stands for none"),
        (Parse(Sentence(("a",), id="a\nb")), r"the sent_id 'a\\nb' cannot be said in a line"),
    ],
)
def test_what_would_not_come_back_is_refused(tmp_path: Path, parse: Parse, message: str) -> None:
    with pytest.raises(DataError, match=message):
        write([parse], tmp_path / "x.conllu")
    assert os.listdir(tmp_path) == []
