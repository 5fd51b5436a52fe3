"""Parses for people."""

from pathlib import Path

from fencepost.drawing.terminal import pretty
from fencepost.drawing.widths import cells
from fencepost.formats import WriteSettings, write
from fencepost.formats.pretty import pieces, pretty_parse
from fencepost.structure import Entity, Parse, Sentence, Span, Tree

BANK = Sentence.from_whitespace(["Bank", "of", "Oslo", "sleeps"], ["\n", " ", " ", ""])


def test_entities_stand_under_those_that_hold_them() -> None:
    entities = (
        Entity(0, 3, "organization", BANK, 0.91),
        Entity(2, 3, "place", BANK, 1.0),
        Span(3, 4, "X"),
    )
    assert pretty_parse(Parse(BANK, entities=entities)).splitlines() == [
        "Bank",
        "of Oslo sleeps",
        "entities",
        "  Bank of Oslo  organization  0.91",
        "    Oslo        place         1.00",
        "  sleeps        X",
    ]


def test_what_is_not_there_is_not_shown() -> None:
    plain = Sentence(("a", "b"))
    assert pretty_parse(Parse(plain)) == "a b"
    assert pretty_parse(Parse(plain, entities=())) == "a b\nno entities"
    assert pretty_parse(Parse(Sentence(("a", "b"), ("A", "B")))) == "a/A b/B"


def test_the_tree_is_drawn_over_what_is_found_in_it() -> None:
    plain = Sentence(("a", "b"))
    tree = Tree(plain, (Span(0, 2, "S"),))
    log_probs = {"tree": 0.0, "entities": -1.0}
    assert pretty_parse(Parse(plain, tree, (), log_probs=log_probs)) == (
        f"{pretty(tree)}\nno entities\nprobability of the tree 1, of the entities 0.37"
    )


def test_columns_of_wide_characters_are_straight() -> None:
    words = Sentence(("奥斯陆", "é", "👩‍🚀", "x"))
    spans = (Span(0, 4, "机构"), Span(0, 1, "地"), Span(1, 2, "X"), Span(2, 3, "Y"))
    entities = tuple(Entity(*span, words, 0.5) for span in spans)
    *_, first, second, third, fourth = pretty_parse(Parse(words, entities=entities)).splitlines()
    lines = (first, second, third, fourth)
    assert {cells(line.removesuffix("0.50")) for line in lines} == {cells(first) - 4}


def test_rows_from_right_to_left_stay_in_their_columns() -> None:
    words = Sentence(("بنك", "أوسلو", "x"))
    entities = (Entity(0, 2, "ORG", words, 0.5), Entity(1, 2, "مكان", words, 0.5))
    *_, first, second = pretty_parse(Parse(words, entities=entities)).splitlines()
    # Between marks that have no width, text does not change places with what stands beside it.
    assert first == "  \u200eبنك أوسلو\u200e  ORG   0.50"
    assert second == "  \u200e  أوسلو\u200e    \u200eمكان\u200e  0.50"


def test_nothing_steers_the_terminal() -> None:
    words = Sentence(("\x1b[2J", "b"), ("A\x07", "B"))
    for parse in (
        Parse(words),
        Parse(Sentence(words.words)),
        Parse(words, entities=(Span(0, 1, "\x1b"),)),
        Parse(words, Tree(words, (Span(0, 2, "S"),))),
    ):
        assert all(char.isprintable() or char == "\n" for char in pretty_parse(parse))


def test_a_narrow_terminal_gets_narrow_trees() -> None:
    tree = Tree.from_brackets("(S (NP (DT The) (NN gardener)) (VP (VBD planted) (NP (NNS roses))))")
    parse = Parse(tree.sentence, tree)
    (narrow,) = pieces([parse], WriteSettings(width=25))
    (wide,) = pieces([parse], WriteSettings())
    assert narrow != wide
    assert max(map(cells, narrow.splitlines())) <= 25
    assert pretty_parse(parse, width=25) == narrow[:-1]


def test_an_empty_line_is_between_sentences(tmp_path: Path) -> None:
    parse = Parse(Sentence(("a", "\ud800")), entities=())
    assert write([parse, parse], tmp_path / "x", format="pretty") == 2
    assert (tmp_path / "x").read_text(encoding="utf-8") == (
        "a \ufffd\nno entities\n\na \ufffd\nno entities\n"
    )
