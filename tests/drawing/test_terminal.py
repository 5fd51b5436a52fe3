import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.layout import lay_out
from fencepost.drawing.terminal import pretty, printable
from fencepost.drawing.widths import cells
from fencepost.structure import Sentence, Span, Tree
from tests.drawing.wild import ODD, deep, trees

CAT = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat) (ADVP (RB down))) (. .))")
MARK = "\u200e"


def unmarked(drawn: str) -> list[str]:
    return drawn.replace(MARK, "").split("\n")


def columns(line: str, text: str) -> int:
    """Where a text stands that occurs once."""
    assert line.count(text) == 1
    return cells(line[: line.index(text)])


def numbered(tree: Tree) -> Tree:
    """The same tree with labels, tags and words that occur once, some of them wide."""
    count = len(tree.sentence)
    words = tuple("猫é"[index % 2] * (index % 3) + f"w{index}." for index in range(count))
    tags = tuple("" if index % 4 == 3 else f"t{index}." for index in range(count))
    spans = tuple(Span(a, b, f"L{index}.") for index, (a, b, _) in enumerate(tree.spans))
    return Tree(Sentence(words, tags), spans)


def test_a_tree_stands_over_its_words() -> None:
    assert pretty(CAT) == (
        "            S\n"
        "   ┌────────┴─┬──────┐\n"
        "   │         VP      │\n"
        "   │       ┌──┴──┐   │\n"
        "  NP       │   ADVP  │\n"
        " ┌─┴──┐    │     │   │\n"
        "DT   NN   VBD   RB   .\n"
        "The  cat  sat  down  ."
    )


def test_words_move_together_before_they_leave_their_line() -> None:
    assert pretty(CAT, width=21).endswith("\nThe cat sat down .")
    assert pretty(CAT, width=18).endswith("\nThe cat sat down .")
    assert pretty(CAT, width=17).startswith("S\n├")


def test_a_tree_too_wide_lies_on_its_side() -> None:
    assert pretty(CAT, width=17) == (
        "S\n"
        "├─ NP\n"
        "│  ├─ DT     The\n"
        "│  └─ NN     cat\n"
        "├─ VP\n"
        "│  ├─ VBD    sat\n"
        "│  └─ ADVP\n"
        "│     └─ RB  down\n"
        "└─ .         ."
    )


def test_levels_are_narrower_where_there_is_little_room() -> None:
    assert pretty(CAT, width=14) == (
        "S\n"
        "├ NP\n"
        "│ ├ DT    The\n"
        "│ └ NN    cat\n"
        "├ VP\n"
        "│ ├ VBD   sat\n"
        "│ └ ADVP\n"
        "│   └ RB  down\n"
        "└ .       ."
    )


@given(trees().map(numbered))
def test_labels_and_edges_are_where_the_layout_has_them(tree: Tree) -> None:
    lines = unmarked(pretty(tree, width=10_000))
    labels = [span.label or "" for span in tree.spans]
    sizes = [max(cells(word), cells(tag)) for word, tag in zip(tree.words, tree.tags, strict=True)]
    layout = lay_out(tree, list(map(cells, labels)), sizes, gap=2, whole=True)
    tagged = any(tree.tags)
    assert len(lines) == 2 * layout.levels + 1 + tagged
    bottom = len(lines) - 1
    shown = [*labels, *tree.words]
    for text, row, centre in zip(shown, layout.rows, layout.centres, strict=True):
        line = bottom if not row else 2 * (layout.levels - row)
        assert columns(lines[line], text) == centre - cells(text) // 2
    for tag, centre in zip(tree.tags, layout.centres[len(labels) :], strict=True):
        if tag:
            assert columns(lines[bottom - 1], tag) == centre - cells(tag) // 2
    for index, below in enumerate(layout.children):
        row = 2 * (layout.levels - layout.rows[index])
        edges = lines[row + 1]
        assert at(edges, int(layout.centres[index])) in "│┴┼"
        for child in below:
            assert at(edges, int(layout.centres[child])) in "│┌┬┐┼"
            for line in range(row + 2, 2 * (layout.levels - layout.rows[child])):
                assert at(lines[line], int(layout.centres[child])) == "│"


def at(line: str, column: int) -> str:
    """What stands in a column."""
    return next(char for index, char in enumerate(line) if cells(line[:index]) == column)


@given(trees().map(numbered), st.integers(1, 60))
def test_every_label_and_word_is_there_once_and_lines_fit(tree: Tree, width: int) -> None:
    drawn = pretty(tree, width=width)
    for text in (*(span.label or "" for span in tree.spans), *filter(None, tree.tags), *tree.words):
        assert drawn.count(text) == 1
    widest = max(
        [cells(tag) + 2 + cells(word) for word, tag in zip(tree.words, tree.tags, strict=True)]
        + [cells(span.label or "") for span in tree.spans]
    )
    # The least that a picture on its side needs before a label: that levels were left out, an edge.
    assert max(map(cells, unmarked(drawn))) <= max(width, widest + 4)


@given(trees(), st.integers(1, 100))
def test_nothing_reaches_the_terminal_but_what_can_be_seen(tree: Tree, width: int) -> None:
    drawn = pretty(tree, width=width)
    for char in drawn.replace("\n", "").replace(MARK, ""):
        assert char == printable(char)
    drawn.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m", "a␛[31m"),
        ("\t\n", "␉␊"),
        ("\x7f\x9b\ud800\u202e\u2066\u200f\u2028", "\ufffd" * 7),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("a b", "a b"),
    ],
)
def test_control_characters_are_replaced(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_right_to_left_words_keep_their_places() -> None:
    tree = Tree.from_brackets("(S (NN הילד) (VB אכל) (X OK))")
    assert pretty(tree).split("\n")[-1] == f"{MARK}הילד{MARK}  {MARK}אכל{MARK}  OK"
    assert pretty(tree, width=5).split("\n")[1] == f"├ NN  {MARK}הילד{MARK}"


def test_a_word_too_long_for_its_column_begins_before_it() -> None:
    long = "x" * 26
    tree = Tree.from_brackets(f"(S (A one) (B (C (D two))) (E {long}))")
    assert pretty(tree, width=33).split("\n") == [
        "S",
        "├─ A        one",
        "├─ B",
        "│  └─ C",
        "│     └─ D  two",
        f"└─ E   {long}",
    ]


def test_deep_trees_go_on_at_the_left() -> None:
    lines = pretty(deep(12), width=20).split("\n")
    assert max(map(cells, lines)) <= 20
    assert sum(line.startswith("⋮ ") for line in lines) > 4
    assert len(lines) == 12 + 13


def test_a_tree_can_be_a_word_or_have_no_tags() -> None:
    assert pretty(Tree.from_brackets("(NN cat)")) == "NN\ncat"
    assert pretty(Tree.from_brackets("(NN cat)"), width=1) == "NN  cat"
    assert pretty(Tree(Sentence(("cat",)), ())) == "cat"
    assert pretty(Tree(Sentence(("a", "b")), (Span(0, 2, ""),))) == " ·\n┌┴─┐\na  b"
    assert pretty(Tree.from_brackets("(S a (B bb))")) == "  S\n┌─┴─┐\n│   B\na  bb"


@pytest.mark.parametrize("width", [20, 100, 100_000])
def test_very_deep_trees_are_drawn_quickly(width: int) -> None:
    tree = deep(10_000 if width <= 100 else 500)
    started = time.perf_counter()
    pretty(tree, width=width)
    assert time.perf_counter() - started < 20  # a square of the depth would take minutes


def test_rows_of_words_do_not_run_together() -> None:
    words = [*ODD, "end"]
    tree = Tree(Sentence(tuple(words)), (Span(0, len(words), "S"),))
    line = unmarked(pretty(tree, width=1000))[-1]
    place = 0
    for word, following in pairwise(map(printable, words)):
        place = line.index(word, place) + len(word)
        assert line[place:].startswith("  ")
        assert following in line[place:]
