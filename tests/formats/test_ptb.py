from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import WriteSettings, read, write
from fencepost.formats.ptb import chunks, pieces
from fencepost.structure import Parse, Sentence, Tree
from tests.strategies import trees


def parses_of(text: str, tmp_path: Path, **settings: Any) -> list[Parse]:
    path = tmp_path / "x.ptb"
    path.write_text(text, encoding="utf-8")
    return list(read(path, **settings))


def texts(parses: list[Parse]) -> list[str]:
    return [str(parse.tree) for parse in parses]


@given(st.lists(trees(), max_size=4), st.none() | st.integers(1, 8))
def test_reading_undoes_writing(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Tree], indent: int | None
) -> None:
    path = tmp_path_factory.getbasetemp() / "trees.ptb"
    parses = [Parse(tree.sentence, tree) for tree in drawn]
    assert write(parses, path, indent=indent) == len(parses)
    assert list(read(path)) == parses


def test_trees_may_be_on_one_line_or_on_many(tmp_path: Path) -> None:
    found = parses_of(
        "\n(S (A a))\n\n( (S\n    (NP (DT the)\n      (NN cat))\n    (VP (VB x))) )\n"
        "(S\n(NP (A a))\n(VP\n(B b)))\n(X x) (Y y)\n",
        tmp_path,
    )
    assert texts(found) == [
        "(S (A a))",
        "( (S (NP (DT the) (NN cat)) (VP (VB x))))",
        "(S (NP (A a)) (VP (B b)))",
        "(X x)",
        "(Y y)",
    ]


@pytest.mark.parametrize("wrapper", ["TOP", "ROOT", "S1", "VROOT", ""])
def test_wrappers_are_kept_as_they_are(tmp_path: Path, wrapper: str) -> None:
    text = f"({wrapper} (S (A a) (B b)))"
    assert texts(parses_of(text, tmp_path)) == [text]


def test_lines_of_sgml_are_passed_over(tmp_path: Path) -> None:
    found = parses_of(
        "*x*x* A notice. *x*x*\n<DOC>\n<DOCID> chtb_0001 </DOCID>\n"
        "<S ID=1>\n( (IP (NN 中国)\n   (VV 是)) )\n</S>\n"
        "<S ID=2>\n( (NP (NN 书)) )\n</S>\n</DOC>\n",
        tmp_path,
    )
    assert texts(found) == ["( (IP (NN 中国) (VV 是)))", "( (NP (NN 书)))"]


def test_another_encoding_can_be_set(tmp_path: Path) -> None:
    path = tmp_path / "chtb_0001.fid"
    path.write_bytes("( (NP (NN 中国)) )\n".encode("gb18030"))
    assert [p.words for p in read(path, encoding="gb18030")] == [("中国",)]
    with pytest.raises(DataError, match=r"chtb_0001\.fid:1: not utf-8: byte 0xd6 at column 11"):
        list(read(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (A a))\n(S (A a)\n(S (A a))\n", "2: this bracket is never closed"),
        ("(S (A a))\n(S\n  (A a)\n", "2: this bracket is never closed"),
        ("(S (A a))\n<S>\n(S (A a)\n</S>\n", "3: this bracket is never closed"),
        ("( (S\n  (A a))\n( (S\n  (A a)))\n", "1: this bracket is never closed"),
        ("(S (A a))\n(S (A a)))\n", "2: this bracket closes nothing"),
        ("(S\n  (A a)\n  (NP))\n", "3: the bracket 'NP' holds no word"),
        ("(S (A a))\nword\n", "2: 'word' stands outside of any bracket"),
    ],
)
def test_a_bad_tree_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as raised:
        parses_of(text, tmp_path)
    assert str(raised.value) == f"{tmp_path / 'x.ptb'}:{message}"


def test_a_bad_tree_takes_no_other_with_it(tmp_path: Path) -> None:
    lines = [f"(S (A a{k}))" for k in range(50)]
    lines[7] = "(S (A a7)"
    lines[30] = "(S (A a30)))"
    path = tmp_path / "x.ptb"
    path.write_text("\n".join(lines))
    reading = read(path, skip_bad=True)
    assert len(list(reading)) == 48
    assert reading.counts == {"bad sentences": 2}


def test_what_treebanks_hold_can_be_dropped(tmp_path: Path) -> None:
    text = (
        "( (S (NP-SBJ-1 (PRP It)) (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)))"
        " (PP=2 (-LRB- -LRB-) (IN by))) (. .)))"
    )
    (clean,) = parses_of(text, tmp_path, drop_traces=True, drop_functions=True)
    assert str(clean.tree) == (
        "( (S (NP (PRP It)) (VP (VBD was) (VP (VBN seen)) (PP (-LRB- -LRB-) (IN by))) (. .)))"
    )


def test_escapes_are_undone_as_asked(tmp_path: Path) -> None:
    text = "(S (CD 1\\/2) (-LRB- -LCB-))"
    assert parses_of(text, tmp_path, escapes="penn")[0].words == ("1/2", "{")
    assert parses_of(text, tmp_path)[0].words == ("1\\/2", "-LCB-")


def test_a_sentence_without_a_tree_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "out.ptb"
    with pytest.raises(DataError, match="sentence 1: this sentence has no tree"):
        write([Parse(Sentence(("a",)))], path)
    assert not path.exists()


def test_chunks_are_cut_where_brackets_balance() -> None:
    lines = ["", "(A a) (B b)", "(S", "  (C c)", "", ")", "(D d"]
    assert list(chunks(lines)) == [(2, "(A a) (B b)"), (3, "(S\n  (C c)\n\n)"), (7, "(D d")]


def test_a_tree_that_is_never_closed_ends_where_none_would_be_so_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.formats.ptb.MOST_BYTES", 20)
    text = "(S\n (A a)\n (A a)\n (A a)\n(S (A b))\n"
    assert [line for line, _ in chunks(text.splitlines())] == [1, 5]
    with pytest.raises(DataError, match=r"x.ptb:1: this bracket is never closed"):
        parses_of(text, tmp_path)
    assert texts(parses_of(text, tmp_path, skip_bad=True))[-1] == "(S (A b))"


def test_brackets_can_be_indented() -> None:
    tree = Tree.from_brackets("(S (NP (A a)) (B b))")
    parse = Parse(tree.sentence, tree)
    assert list(pieces([parse], WriteSettings())) == ["(S (NP (A a)) (B b))\n"]
    assert (
        list(pieces([parse] * 2, WriteSettings(indent=3))) == ["(S\n   (NP (A a))\n   (B b))\n"] * 2
    )


def test_depth_and_length_do_not_matter(tmp_path: Path) -> None:
    deep = "(S (A a) " * 10_000 + "(B b)" + ")" * 10_000
    long = "(S " + " ".join(["(A a)"] * 100_000) + ")"
    path = tmp_path / "x.ptb"
    path.write_text(f"{deep}\n{long}\n")
    out = tmp_path / "out.ptb"
    assert write(read(path), out) == 2
    assert out.read_bytes() == path.read_bytes()


def test_a_long_line_that_breaks_off_is_looked_at_once(tmp_path: Path) -> None:
    text = "(S " + "(A a) " * 50_000 + "(NP\n" + "(A a)\n" * 2_000 + "))\n"
    before = process_time()
    assert len(parses_of(text, tmp_path)[0].words) == 52_000
    assert process_time() - before < 4, "each line after it would look at all of it again"
