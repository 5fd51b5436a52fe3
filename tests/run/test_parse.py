"""What people bring is parsed: texts, files, folders, standard input."""

import gzip
import io
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from fencepost.checkpoints.trainable import TrainableModel
from fencepost.errors import ConfigError, DataError
from fencepost.formats import read
from fencepost.formats.registry import FORMATS
from fencepost.parser import documents
from fencepost.parser.options import CheckedOptions
from fencepost.parser.parser import Parser
from fencepost.parser.predict import predict_batch
from fencepost.run import texts as module
from fencepost.run.parse import check_target, least_certain, parse_into, targets
from fencepost.run.parse import parse_texts as readings
from fencepost.run.texts import Ended, Kind, Texts
from fencepost.structure import Entity, Parse, Sentence
from tests.models import lively_model

CAT = "The cat sat on\nthe mat. It slept.\n\nThen it ate.\n"
CAT_WORDS = ["The cat sat on the mat .", "It slept .", "Then it ate ."]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(lively_model("tree", "entities", "tags"))


def parse_texts(
    parser: Parser, texts: Texts, asked: CheckedOptions | None = None, **options: Any
) -> Iterator[Parse | DataError]:
    """The best reading of each sentence."""
    for one in readings(parser, texts, asked or parser.check_options(), **options):
        if isinstance(one, DataError):
            yield one
        elif not isinstance(one, Ended):
            yield from one


def words_of(texts: Texts) -> list[str]:
    return [" ".join(one.words) for item in texts for one in item.sentences]


def places(texts: Texts) -> list[tuple[str, int]]:
    return [(Path(item.path).name, item.line) for item in texts if item.sentences]


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.fixture
def cat(tmp_path: Path) -> Path:
    path = tmp_path / "cat.txt"
    path.write_text(CAT)
    return path


class TestWhatAnArgumentIs:
    def test_what_names_a_file_is_read_and_anything_else_is_text(self, cat: Path) -> None:
        assert words_of(Texts([str(cat), "It purred."])) == [*CAT_WORDS, "It purred ."]

    def test_text_may_be_forced(self, cat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(cat.parent)
        assert words_of(Texts(["cat.txt", "-", "no/where"], is_text=True)) == [
            "cat.txt",
            "-",
            "no / where",
        ]

    @pytest.mark.parametrize(
        "name",
        [
            "nowhere.txt",
            "no/where",
            "./x",
            "no\\where",
            "/nowhere/my report.txt",
            "../my report.jsonl",
            "~/my report.txt",
            "café.txt",
            "a.tar.gz",
        ],
    )
    def test_what_looks_like_a_path_and_is_not_there_is_an_error(self, name: str) -> None:
        with pytest.raises(DataError) as raised:
            Texts([name])
        assert str(raised.value) == (
            f"{name}: there is no such file; pass --text if this is a text"
        )

    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "Hello",
            "Wait...",
            "U.S.",
            "e.g.",
            "He and/or she left.",
            "See report.txt now",
            "x" * 5000,
            "a\0b",
            "\ud800",
            "$5.50",
            "3.14",
            "...why",
        ],
        ids=lambda text: ascii(text)[:20],
    )
    def test_what_does_not_is_text(self, text: str) -> None:
        texts = Texts([text])
        assert texts.bytes_total == 0
        (item,) = texts
        assert (item.path, item.line) == ("", 1)
        assert "".join("".join(one.words) for one in item.sentences) == "".join(text.split())

    def test_a_link_that_leads_nowhere_is_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "lost").symlink_to(tmp_path / "none")
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        for name in ("lost", "loop"):
            with pytest.raises(DataError, match=f"{name}: this link leads to no file; pass --text"):
                Texts([str(tmp_path / name)])
        assert len(list(Texts([str(tmp_path / "lost")], is_text=True))) == 1

    def test_standard_input_is_read(self, stdin: Any) -> None:
        stdin(CAT.encode())
        texts = Texts(["-"])
        assert texts.bytes_total == 0
        assert words_of(texts) == CAT_WORDS
        stdin(b"(S (A a) (B b))\n")
        texts = Texts(["-"], format="ptb")
        assert texts.bytes_total == 0
        assert words_of(texts) == ["a b"]
        stdin(b'{"text": "A b."}\n')
        assert words_of(Texts(["-"], format="jsonl")) == ["A b ."]


class TestPlainFiles:
    def test_sentences_know_their_place(self, cat: Path) -> None:
        texts = Texts([str(cat)])
        assert texts.bytes_total == len(CAT)
        items = list(texts)
        assert [(item.path, item.line, len(item.sentences)) for item in items] == [
            (str(cat), 1, 2),
            (str(cat), 4, 1),
        ]
        assert texts.place == (str(cat), 4)
        assert texts.words_read == 14
        assert texts.bytes_read == texts.bytes_total

    def test_how_far_it_is_can_be_asked_on_the_way(self, cat: Path, tmp_path: Path) -> None:
        tree = tmp_path / "x.ptb"
        tree.write_text("(S (A a))\n")
        texts = Texts([str(cat), str(tree), "text"])
        assert texts.bytes_read == 0
        seen = [texts.bytes_read for _ in texts]
        assert seen == sorted(seen)
        assert seen[-1] == texts.bytes_read == texts.bytes_total == len(CAT) + 10

    @pytest.mark.parametrize(
        ("kind", "expected"),
        [("lines", ["a 'll b .", "C d !"]), ("words", ["a'll b.", "C d!"])],
    )
    def test_lines_are_sentences(self, tmp_path: Path, kind: Kind, expected: list[str]) -> None:
        path = tmp_path / "x.txt"
        path.write_bytes(b"\n  a'll  b.\r\n\n \t\nC d!")
        texts = Texts([str(path)], kind=kind)
        assert words_of(texts) == expected
        texts = Texts([str(path)], kind=kind)
        assert places(texts) == [("x.txt", 2), ("x.txt", 5)]
        # The same from an argument.
        texts = Texts(["\n  a'll  b.\r\n\n \t\nC d!"], kind=kind)
        assert places(texts) == [("", 2), ("", 5)]

    @pytest.mark.parametrize("kind", ["lines", "words"])
    def test_lines_of_a_file_with_a_known_suffix_are_lines_all_the_same(
        self, tmp_path: Path, kind: Kind
    ) -> None:
        for name in ("x.jsonl", "x.data", "x.ptb"):
            path = tmp_path / name
            path.write_text("one two\nthree\n")
            assert words_of(Texts([str(path)], kind=kind)) == ["one two", "three"]

    def test_lines_keep_their_text_and_words_do_not(self) -> None:
        (item,) = Texts(["  it's "], kind="lines")
        (one,) = item.sentences
        assert (one.text, one.offsets) == ("  it's ", ((2, 4), (4, 6)))
        (item,) = Texts(["  it's "], kind="words")
        assert item.sentences == (Sentence(("it's",)),)

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1", "utf-8-sig"])
    @pytest.mark.parametrize("packed", [False, True])
    def test_encodings_and_gzip_are_read(self, tmp_path: Path, encoding: str, packed: bool) -> None:
        data = "Ça va.\n\nÀ bientôt.\n".encode(encoding)
        path = tmp_path / ("x.txt.gz" if packed else "x.txt")
        path.write_bytes(gzip.compress(data) if packed else data)
        texts = Texts([str(path)], encoding="utf-8" if encoding == "utf-8-sig" else encoding)
        assert words_of(texts) == ["Ça va .", "À bientôt ."]
        assert texts.bytes_read == texts.bytes_total == path.stat().st_size

    def test_an_unknown_encoding_is_refused_at_once(self, cat: Path) -> None:
        with pytest.raises(ConfigError, match="the encoding 'nonsense' is unknown"):
            Texts([str(cat)], encoding="nonsense")

    @pytest.mark.parametrize("kind", ["text", "lines", "words"])
    def test_a_broken_byte_is_told_with_its_line(self, tmp_path: Path, kind: Kind) -> None:
        path = tmp_path / "x.txt"
        path.write_bytes(b"a\nb\ncaf\xe9\n")
        with pytest.raises(DataError, match=r"x\.txt:3: not utf-8: byte 0xe9 at column 4"):
            list(Texts([str(path)], kind=kind))

    def test_a_paragraph_that_is_too_long_is_cut_between_lines(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_MOST", 20)
        path = tmp_path / "x.txt"
        lines = [f"line number {n} goes on" for n in range(7)]
        path.write_text("\n".join(lines))
        items = list(Texts([str(path)]))
        assert [item.line for item in items if item.sentences] == [1, 2, 3, 4, 5, 6, 7]
        assert words_of(Texts([str(path)])) == lines
        path.write_text("a b c d " * 100)  # a line is never cut
        assert [len(one) for item in Texts([str(path)]) for one in item.sentences] == [400]

    def test_a_file_is_read_as_it_is_needed(self, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_text("One sentence.\n\n" * 50_000)
        texts = Texts([str(path)])
        assert len(list(islice(texts, 10))) == 10
        assert texts.bytes_read < texts.bytes_total / 5

    @pytest.mark.parametrize("text", ["", "\n", " \n\n \n"])
    def test_an_empty_file_has_no_sentences(self, tmp_path: Path, text: str) -> None:
        for kind in module.KINDS:
            path = tmp_path / "x.txt"
            path.write_text(text)
            assert words_of(Texts([str(path)], kind=kind)) == []  # type: ignore[arg-type]


class TestAnnotatedFiles:
    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("x.ptb", "(S (NP (PRP It)) (VP (VBD can't) (X -LRB-)))\n(NP (NN Dr.Who))\n"),
            ("x.conll", "It\tO\ncan't\tB-X\n(\tO\n\nDr.Who\tO\n"),
            ("x.data", "It can't (\n\n\nDr.Who\n0,1 X\n\n"),
            ("x.jsonl", '{"words": ["It", "can\'t", "("]}\n\n{"tokens": ["Dr.Who"]}\n'),
            (
                "x.ndjson",
                '{"text": "It can\'t(", "offsets": [[0, 2], [3, 8], [8, 9]]}\n'
                '{"tree": "(NP (NN Dr.Who))"}\n',
            ),
        ],
    )
    def test_words_are_kept_as_they_are(self, tmp_path: Path, name: str, text: str) -> None:
        path = tmp_path / name
        path.write_text(text)
        assert words_of(Texts([str(path)])) == ["It can't (", "Dr.Who"]
        packed = tmp_path / f"{name}.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        texts = Texts([str(packed)])
        assert words_of(texts) == ["It can't (", "Dr.Who"]
        assert texts.bytes_read == texts.bytes_total
        # The format may be named instead.
        other = tmp_path / "x.txt"
        other.write_text(text)
        format = Path(name).suffix[1:].replace("ndjson", "jsonl")
        assert words_of(Texts([str(other)], format=format)) == ["It can't (", "Dr.Who"]
        # And then it matters more than how plain files are read.
        assert len(words_of(Texts([str(other)], format=format, kind="words"))) == 2

    def test_text_of_json_lines_is_split_and_keeps_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        rows: list[dict[str, Any]] = [
            {"id": "one", "text": "It's one."},
            {"id": "two", "text": "It is. A second.", "entities": [[0, 2, "X"]], "words": None},
            {"text": "No name."},
            {"id": "none", "text": ""},
            {"id": "w", "text": "a b", "words": ["a", "b"]},
            {"id": 7, "text": "A number. Another."},
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        found = [one for item in Texts([str(path)]) for one in item.sentences]
        assert [(one.id, " ".join(one.words)) for one in found] == [
            ("one", "It 's one ."),
            ("two-1", "It is ."),
            ("two-2", "A second ."),
            (None, "No name ."),
            ("w", "a b"),
            ("7-1", "A number ."),
            ("7-2", "Another ."),
        ]
        assert places(Texts([str(path)])) == [("x.jsonl", line) for line in (1, 2, 3, 5, 6)]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "no JSON: "),
            ("[1]", "an object is expected on each line"),
            ("7", "an object is expected on each line"),
            ("[" * 100_000, "no JSON: "),
            ('{"text": 5}', "'text' has to be a string"),
            ('{"words": ["a", 1]}', "'words' has to be a list of strings"),
            ('{"words": ["a", ""]}', "word 1 is empty"),
            ('{"id": [7], "text": "a"}', "'id' has to be a string or a number, not [7]"),
            ('{"id": true, "words": ["a"]}', "'id' has to be a string or a number, not true"),
            ('{"text": "a", "words": []}', "`words` is empty, but `text` is not; without"),
            ("{}", "a sentence needs `words`, `text` or `tree`"),
        ],
        ids=lambda text: text[:20],
    )
    def test_a_broken_line_is_told_with_its_place(
        self, tmp_path: Path, line: str, message: str
    ) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text(f'{{"text": "a"}}\n\n{line}\n')
        with pytest.raises(DataError) as raised:
            list(Texts([str(path)]))
        assert str(raised.value).startswith(f"{path}:3: {message}")

    def test_a_broken_tree_is_told_with_its_place(self, tmp_path: Path) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("(S (A a))\n(S (A a)\n")
        with pytest.raises(DataError, match=r"x\.ptb:2: this bracket is never closed"):
            list(Texts([str(path)]))

    def test_entities_that_cross_do_not_matter(self, tmp_path: Path) -> None:
        (tmp_path / "x.data").write_text("a b c\n0,2 X|1,3 X\n\n")
        row = {"words": ["a", "b", "c"], "entities": [[0, 2, "X"], [1, 3, "X"]]}
        (tmp_path / "x.jsonl").write_text(json.dumps(row))
        assert words_of(Texts([str(tmp_path)])) == ["a b c"] * 2

    def test_formats_that_cannot_be_read_are_refused(self, cat: Path) -> None:
        with pytest.raises(DataError, match="the format 'nonsense' is unknown"):
            Texts([str(cat)], format="nonsense")
        with pytest.raises(DataError, match="pretty can only be written"):
            Texts([str(cat)], format="pretty")


class TestFolders:
    def test_all_known_files_are_read_in_order_of_name(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir()
        (tmp_path / "b/z.txt").write_text("Last.")
        (tmp_path / "a.md").write_text("First.")
        (tmp_path / "aa.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Second."}'))
        (tmp_path / "b/a.ptb").write_text("(S (A Third))")
        (tmp_path / "picture.png").write_bytes(b"\xff\xd8")
        (tmp_path / "folder.txt").mkdir()
        assert words_of(Texts([str(tmp_path)])) == ["First .", "Second .", "Third", "Last ."]

    def test_only_files_of_the_format_are_read_if_one_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("Not this.")
        (tmp_path / "x.ptb").write_text("(S (A a))")
        assert words_of(Texts([str(tmp_path)], format="ptb")) == ["a"]
        with pytest.raises(DataError, match=r"no file of text in this folder \(\.data\)"):
            Texts([str(tmp_path)], format="data")
        with pytest.raises(DataError, match="the format 'nonsense' is unknown"):
            Texts([str(tmp_path)], format="nonsense")

    def test_hidden_files_are_not_read(self, tmp_path: Path) -> None:
        folder = tmp_path / ".given"
        for name in ("._a.txt", ".ipynb_checkpoints/a.txt", "b/.c/d.txt", "b/.e.txt", "b/f.txt"):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name}.")
        assert Texts([str(folder)]).names == ["b/f"]
        assert Texts([str(folder / "._a.txt")]).names == ["._a"]

    def test_suffixes_may_be_of_capital_letters(self, tmp_path: Path) -> None:
        (tmp_path / "A.TXT").write_text("First.")
        (tmp_path / "B.JSONL.GZ").write_bytes(gzip.compress(b'{"text": "Second."}'))
        texts = Texts([str(tmp_path)])
        assert texts.names == ["A", "B"]
        assert words_of(texts) == ["First .", "Second ."]

    def test_the_text_of_annotations_is_not_read_twice(self, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("Ann slept\n")
        (tmp_path / "x.ann").write_text("T1\tPER 0 3\tAnn\n")
        (tmp_path / "y.txt").write_text("Bo did, too")
        assert words_of(Texts([str(tmp_path)])) == ["Ann slept", "Bo did , too"]

    def test_a_folder_without_any_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "picture.png").write_bytes(b"\xff\xd8")
        with pytest.raises(DataError) as raised:
            Texts([str(tmp_path)])
        assert str(raised.value) == (
            f"{tmp_path}: no file of text in this folder (.txt, .md, .jsonl …)"
        )


class TestParsing:
    def test_each_sentence_comes_back_with_its_own_part_of_the_text(
        self, parser: Parser, cat: Path
    ) -> None:
        found = list(parse_texts(parser, Texts([str(cat), "It purred."])))
        texts = []
        for parse in found:
            assert isinstance(parse, Parse)
            assert parse.tree is not None
            assert parse.sentence.text is not None
            for entity in parse.entities or ():
                assert isinstance(entity, Entity)
                part = parse.sentence.text[entity.start_char : entity.end_char]
                assert (entity.source, entity.text) == (parse.sentence, part)
            texts.append(parse.sentence.text)
        assert texts == ["The cat sat on\nthe mat.", "It slept.", "Then it ate.", "It purred."]

    def test_tags_of_a_file_are_kept_only_if_none_are_asked_for(
        self, parser: Parser, tmp_path: Path
    ) -> None:
        path = tmp_path / "x.ptb"
        path.write_text("(S (GOLD a) (GOLD b))\n")
        tags = {}
        for tasks in (None, ("tree",), ("entities",)):
            (parse,) = parse_texts(parser, Texts([str(path)]), parser.check_options(tasks=tasks))
            assert isinstance(parse, Parse)
            tags[tasks] = parse.tags
            assert parse.log_prob is not None
        assert tags[("entities",)] == ("GOLD", "GOLD")
        assert tags[None] == tags[("tree",)] != ("GOLD", "GOLD")

    def test_only_what_is_asked_for_is_found(self, parser: Parser) -> None:
        told: list[int] = []
        texts = Texts(["A b c.", "", "D e."])
        asked = parser.check_options(tasks=["entities"], beams=2)
        found = list(parse_texts(parser, texts, asked, done=told.append))
        assert [(parse.tree, parse.tags) for parse in found if isinstance(parse, Parse)] == [
            (None, None)
        ] * 2
        assert sum(told) == texts.words_read == 7

    def test_what_is_too_long_takes_nothing_else_down(self, tmp_path: Path) -> None:
        parser = Parser(lively_model("tree"), max_words=4)
        path = tmp_path / "x.txt"
        path.write_text("It slept.\n\nOne. A b c d e f. Two.\n")
        found = list(parse_texts(parser, Texts([str(path), "v w x y z", "Three."])))
        words = [" ".join(one.words) for one in found if isinstance(one, Parse)]
        assert words == ["It slept .", "One .", "Two .", "Three ."]
        missed = [str(one) for one in found if isinstance(one, DataError)]
        assert len(missed) == 2
        assert missed[0].startswith(f"{path}:3: a sentence of 7 words is longer than 4")
        assert missed[1].startswith("text:1: a sentence of 5 words is longer than 4")
        assert isinstance(found[2], DataError)

    def test_what_fails_takes_nothing_else_down(
        self, parser: Parser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(
            model: TrainableModel,
            sentences: Sequence[Sentence],
            options: CheckedOptions,
            **others: Any,
        ) -> list[Parse]:
            if any("bad" in sentence.words for sentence in sentences):
                raise MemoryError
            return predict_batch(model, sentences, options, **others)

        monkeypatch.setattr(documents, "predict_batch", fail)
        texts = Texts(["one\ntwo\na bad one\nthree"], kind="lines")
        found = list(parse_texts(parser, texts))
        assert [isinstance(one, Parse) for one in found] == [True, True, False, True]
        assert str(found[2]) == "text:3: could not be parsed: MemoryError"

    def test_a_file_is_parsed_as_it_is_read(
        self, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(documents, "CHUNK_TEXTS", 2)
        path = tmp_path / "x.txt"
        path.write_text("a b c d e\n" * 20_000)
        texts = Texts([str(path)], kind="words")
        assert len(list(islice(parse_texts(parser, texts), 3))) == 3
        assert texts.words_read == 30


def test_the_least_certain_sentences_come_first_and_alone() -> None:
    sentence = Sentence(("a",))

    def found(*probabilities: float | None) -> tuple[Parse, ...]:
        entities = [Entity(0, 1, "X", sentence, one) for one in probabilities]
        return (Parse(sentence, entities=tuple(entities)),)

    some = [found(0.9), found(0.8, 0.2), found(), found(None, 0.4), found(0.2)]
    assert list(least_certain(some, 3)) == [some[1], some[4], some[3]]
    assert len(list(least_certain(some, 9))) == 5


def test_traces_of_a_treebank_are_no_words(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(S (NP (-NONE- *)) (VP (VB Go)))\n")
    (item,) = Texts([str(path)])
    assert item.sentences[0].words == ("Go",)


class TestNames:
    def test_files_below_a_folder_keep_their_place(self, tmp_path: Path) -> None:
        (tmp_path / "a/b").mkdir(parents=True)
        for name in ("a/b/x.txt", "a/y.v1.txt", "z.jsonl.gz", "plain.md"):
            path = tmp_path / name
            path.write_bytes(gzip.compress(b"") if name.endswith(".gz") else b"")
        texts = Texts([f"{tmp_path}/", str(tmp_path / "a/b/x.txt")])
        assert texts.names == ["a/b/x", "a/y.v1", "plain", "z", "x"]

    def test_texts_and_standard_input_have_names(self, stdin: Any, tmp_path: Path) -> None:
        (tmp_path / "README").write_text("")
        (tmp_path / ".gz").write_text("")
        texts = Texts(["A b.", "-", "C d.", str(tmp_path / "README"), str(tmp_path / ".gz")])
        assert texts.names == ["text", "stdin", "text-2", "README", ".gz"]
        assert texts.paths[:3] == [None, "-", None]

    def test_what_was_written_inside_a_folder_is_not_read_again(self, tmp_path: Path) -> None:
        (tmp_path / "out/deep").mkdir(parents=True)
        (tmp_path / "x.txt").write_text("One.")
        (tmp_path / "out/x.jsonl").write_text('{"text": "Two."}')
        (tmp_path / "out/deep/x.jsonl").write_text('{"text": "Three."}')
        assert words_of(Texts([str(tmp_path)], without=tmp_path / "out")) == ["One ."]
        assert len(words_of(Texts([str(tmp_path)], without=tmp_path / "other"))) == 3
        # A folder into which its own results go is read as a whole.
        assert len(words_of(Texts([str(tmp_path)], without=tmp_path))) == 3


class TestTargets:
    def test_each_input_has_one(self, tmp_path: Path, cat: Path) -> None:
        texts = Texts([str(cat), "It purred."])
        found = targets(texts, tmp_path / "out", FORMATS["tsv"])
        assert found == [tmp_path / "out/cat.tsv", tmp_path / "out/text.tsv"]

    def test_two_inputs_never_give_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "x.md").write_text("")
        (tmp_path / "x.txt").write_text("")
        with pytest.raises(DataError) as raised:
            targets(Texts([str(tmp_path)]), tmp_path / "out", FORMATS["ptb"])
        assert str(raised.value) == (
            f"{tmp_path}/out/x.ptb: {tmp_path}/x.txt and {tmp_path}/x.md would both be written to "
            "this file; parse them one after the other, into different folders"
        )
        path = tmp_path / "text.txt"
        path.write_text("")
        with pytest.raises(DataError, match=r"text\.txt and a text would both"):
            targets(Texts(["A text.", str(path)]), tmp_path / "out", FORMATS["ptb"])

    def test_an_input_that_was_given_twice_is_told(self, cat: Path, stdin: Any) -> None:
        (cat.parent / "deep").mkdir()
        again = f"{cat.parent}/deep/../cat.txt"
        for inputs in ([str(cat), again], ["-", "A text.", "-"]):
            with pytest.raises(DataError) as raised:
                targets(Texts(inputs), cat.parent / "out", FORMATS["ptb"])
            assert str(raised.value) == f"{inputs[-1]}: this input was given twice"

    @pytest.mark.parametrize("format", ["pretty", "brat"])
    def test_no_input_is_written_over(self, cat: Path, format: str) -> None:
        texts = Texts([str(cat)])
        assert targets(texts, cat.parent, FORMATS["jsonl"])
        with pytest.raises(DataError) as raised:
            targets(texts, cat.parent / "x/..", FORMATS[format])
        assert str(raised.value) == (
            f"{cat.parent}/x/../cat.txt: this input would be written over; choose another name "
            "for the output"
        )

    @pytest.mark.parametrize(
        ("source", "out", "format"),
        [
            ("x.txt", "x.ann", "brat"),
            ("x.txt", "x.txt", "brat"),
            ("x.txt", "link.ann", "brat"),
            ("x.txt", "link.txt", "pretty"),
            ("x.ann", "x.txt", "pretty"),
            ("x.ptb", "x.ptb", "ptb"),
            ("x.ptb", "../here/x.ptb", "jsonl"),
        ],
    )
    def test_no_input_is_written_over_by_a_single_file_either(
        self, tmp_path: Path, source: str, out: str, format: str
    ) -> None:
        folder = tmp_path / "here"
        folder.mkdir()
        (folder / "x.txt").write_text("Ann slept")
        (folder / "x.ann").write_text("T1\tPER 0 3\tAnn\n")
        (folder / "x.ptb").write_text("(S (A a))\n")
        (folder / "link.txt").symlink_to(folder / "x.txt")
        texts = Texts(["A text.", str(folder / source)])
        with pytest.raises(DataError, match="this input would be written over"):
            check_target(texts, f"{folder}/{out}", FORMATS[format])

    def test_any_other_name_will_do(self, cat: Path) -> None:
        texts = Texts([str(cat), "-", "A text."])
        for name, format in (("cat.jsonl", "jsonl"), ("dog.ann", "brat"), ("cat.txt.gz", "pretty")):
            check_target(texts, f"{cat.parent}/{name}", FORMATS[format])
        check_target(texts, "-", FORMATS["ptb"])

    def test_a_folder_that_is_not_there_is_told_before_anything_is_parsed(self, cat: Path) -> None:
        for name in ("none/x.spacy", "cat.txt/x.spacy", "x" * 300):
            with pytest.raises(DataError, match="cannot be written: ") as raised:
                check_target(Texts(["A text."]), f"{cat.parent}/{name}", FORMATS["spacy"])
            assert raised.value.path == f"{cat.parent}/{name}"


class TestParsingIntoAFolder:
    @staticmethod
    def fill(parser: Parser, texts: Texts, folder: Path, format: str, **options: Any) -> list[str]:
        asked = parser.check_options()
        missed = parse_into(
            folder, parser, texts=texts, asked=asked, format=FORMATS[format], **options
        )
        return [str(one) for one in missed]

    @pytest.mark.slow
    def test_three_hundred_small_files_give_one_each(self, parser: Parser, tmp_path: Path) -> None:
        source = tmp_path / "in"
        for number in range(300):
            path = source / f"{number % 7}/{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            # Some have several sentences, and some none.
            path.write_text(" ".join(f"Sentence {number} {k}." for k in range(number % 4)))
        out = tmp_path / "out"
        heard: list[int] = []
        texts = Texts([str(source)])
        assert self.fill(parser, texts, out, "jsonl", done=heard.append) == []
        assert sum(heard) == texts.words_read
        assert len(heard) < 20, "they are parsed together"
        found = [path for path in out.rglob("*") if path.is_file()]
        assert len(found) == 300
        for path in found:
            number = int(path.stem)
            assert path == out / f"{number % 7}/{number}.jsonl"
            words = [" ".join(parse.words) for parse in read(path)]
            assert words == [f"Sentence {number} {k} ." for k in range(number % 4)]

    def test_files_hold_what_the_stream_gives(self, parser: Parser, cat: Path) -> None:
        texts = [str(cat), "It purred. It ate."]
        self.fill(parser, Texts(texts), cat.parent / "out", "jsonl")
        expected = list(parse_texts(parser, Texts(texts)))
        found = [*read(cat.parent / "out/cat.jsonl"), *read(cat.parent / "out/text.jsonl")]
        assert found == expected

    @pytest.mark.parametrize("format", sorted(FORMATS))
    def test_every_format_can_be_written(self, parser: Parser, cat: Path, format: str) -> None:
        (cat.parent / "empty.txt").write_text("\n")
        out = cat.parent / "out"
        assert self.fill(parser, Texts([str(cat.parent)]), out, format) == []
        suffixes = [".ann", ".txt"] if format == "brat" else [FORMATS[format].suffix]
        names = [f"{name}{suffix}" for name in ("cat", "empty") for suffix in suffixes]
        assert sorted(path.name for path in out.iterdir()) == names
        if FORMATS[format].entries is not None:
            first = out / f"cat{FORMATS[format].suffix}"
            assert [" ".join(parse.words) for parse in read(first, format=format)] == CAT_WORDS
            assert list(read(out / f"empty{FORMATS[format].suffix}", format=format)) == []

    def test_a_file_that_cannot_be_read_takes_no_other_down(
        self, parser: Parser, tmp_path: Path
    ) -> None:
        source, out = tmp_path / "in", tmp_path / "out"
        source.mkdir()
        (source / "a.txt").write_text("One.")
        (source / "b.txt").write_bytes(b"Two.\n\ncaf\xe9\n")
        (source / "c.jsonl").write_text('{"text": "Three."}\n{"text": \n')
        (source / "d.txt").write_text("Four.")
        out.mkdir()
        (out / "b.jsonl").write_text("before")
        missed = self.fill(parser, Texts([str(source)]), out, "jsonl")
        assert [one.split(": ")[0] for one in missed] == [
            f"{source}/b.txt:3",
            f"{source}/c.jsonl:2",
        ]
        assert sorted(path.name for path in out.iterdir()) == ["a.jsonl", "b.jsonl", "d.jsonl"]
        assert (out / "b.jsonl").read_text() == "before"
        assert [parse.words for parse in read(out / "d.jsonl")] == [("Four", ".")]

    def test_what_is_too_long_is_told_and_the_rest_is_written(self, tmp_path: Path) -> None:
        parser = Parser(lively_model("tree"), max_words=4)
        texts = Texts(["One. A b c d e f. Two.", "Three."])
        missed = self.fill(parser, texts, tmp_path / "out", "ptb")
        assert len(missed) == 1
        assert missed[0].startswith("text:1: a sentence of 7 words is longer than 4")
        assert len(list(read(tmp_path / "out/text.ptb"))) == 2
        assert len(list(read(tmp_path / "out/text-2.ptb"))) == 1

    def test_several_readings_can_be_written(self, parser: Parser, tmp_path: Path) -> None:
        texts = Texts(["A b c.", "", "D e. F g h."])
        assert self.fill(parser, texts, tmp_path, "jsonl", best=2) == []
        counts = [len(list(read(tmp_path / f"{name}.jsonl"))) for name in texts.names]
        assert counts == [2, 0, 4]

    def test_what_a_format_cannot_say_takes_no_other_file_down(
        self, parser: Parser, tmp_path: Path
    ) -> None:
        source, out = tmp_path / "in", tmp_path / "out"
        source.mkdir()
        rows = ['{"words": ["a"]}', '{"words": ["a", "b c"]}', '{"words": ["d"]}']
        (source / "x.jsonl").write_text("\n".join(rows))
        (source / "y.jsonl").write_text("\n".join([*rows, "{"]))
        (source / "z.txt").write_text("Last.")
        missed = self.fill(parser, Texts(["First.", str(source)]), out, "data")
        told = "sentence 2: the word 'b c' holds a blank, which this format cannot say"
        assert missed[:2] == [f"{source}/x.jsonl: {told}", f"{source}/y.jsonl: {told}"]
        assert missed[2].startswith(f"{source}/y.jsonl:4: no JSON")
        assert len(missed) == 3
        assert sorted(path.name for path in out.iterdir()) == ["text.data", "z.data"]
        assert [parse.words for parse in read(out / "z.data")] == [("Last", ".")]

    def test_a_text_that_cannot_be_written_is_told_as_one(
        self, parser: Parser, tmp_path: Path
    ) -> None:
        texts = Texts(["a\tb \ud800"], kind="words")
        missed = self.fill(parser, texts, tmp_path / "out", "ptb")
        assert missed == ["text: sentence 1: utf-8 has no '\\ud800'"]

    def test_a_full_disk_takes_all_down(
        self, parser: Parser, cat: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*given: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(DataError, match=r"text\.jsonl: cannot be written: No space left"):
            self.fill(parser, Texts(["One.", "Two."]), cat.parent / "out", "jsonl")

    def test_a_format_that_says_nothing_of_it_is_refused_before_a_folder_is_made(
        self, parser: Parser, tmp_path: Path
    ) -> None:
        out = tmp_path / "out"
        for task, format in (("tree", "tsv"), ("entities", "ptb"), ("tags", "html")):
            with pytest.raises(ConfigError) as raised:
                parse_into(
                    out,
                    parser,
                    texts=Texts(["A b."]),
                    asked=parser.check_options(tasks=[task]),
                    format=FORMATS[format],
                )
            assert str(raised.value).startswith(f"{format} says nothing of ")
            assert not out.exists()
        for task, format in (("tags", "jsonl"), ("tags", "pretty"), ("tree", "ptb")):
            asked = parser.check_options(tasks=[task])
            texts = Texts(["A b."])
            assert not parse_into(out, parser, texts=texts, asked=asked, format=FORMATS[format])

    def test_a_folder_that_cannot_be_made_is_told(self, parser: Parser, cat: Path) -> None:
        with pytest.raises(DataError, match=r"cat\.txt: cannot be written: File exists"):
            self.fill(parser, Texts(["A b."]), cat, "jsonl")

    def test_nothing_is_parsed_if_two_would_be_the_same(
        self, parser: Parser, cat: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(documents, "predict_batch", None)
        (cat.parent / "cat.md").write_text("")
        for other, message in (("cat.md", "would both be written"), ("cat.txt", "given twice")):
            texts = Texts([str(cat), str(cat.parent / other)])
            with pytest.raises(DataError, match=message):
                self.fill(parser, texts, cat.parent / "out", "jsonl")
        assert not (cat.parent / "out").exists()
