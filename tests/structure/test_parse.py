import pytest

from fencepost.drawing.html import entities_html, parse_html
from fencepost.drawing.svg import entities_svg
from fencepost.errors import CrossingSpansError, DataError
from fencepost.structure import Entity, FoundSpan, Parse, Sentence, Span, Tree

ABC = Sentence(("a", "b", "c"), ("A", "B", "C"), id="abc")


def test_entities_are_sorted_holders_first() -> None:
    parse = Parse(ABC, entities=(Span(1, 2, "Y"), Span(0, 2, "X"), Span(1, 2, "V")))
    assert parse.entities == (Span(0, 2, "X"), Span(1, 2, "V"), Span(1, 2, "Y"))


def test_a_parse_tells_what_its_sentence_knows() -> None:
    parse = Parse(ABC)
    assert (parse.words, parse.tags, parse.id) == (("a", "b", "c"), ("A", "B", "C"), "abc")
    assert (parse.tree, parse.entities) == (None, None)


def test_crossing_entities_are_refused_with_what_would_help() -> None:
    with pytest.raises(CrossingSpansError, match=r"\(0, 2\) X and \(1, 3\) Y cross.*\n.*drop-span"):
        Parse(ABC, entities=(Span(1, 3, "Y"), Span(0, 2, "X")))


@pytest.mark.parametrize("place", [(0, 4), (-1, 1), (1, 1), (2, 1)])
def test_entities_outside_of_the_sentence_are_refused(place: tuple[int, int]) -> None:
    with pytest.raises(DataError, match="3 words") as raised:
        Parse(ABC, entities=(Span(*place, "X"),))
    assert raised.value.kind == "out of range"


def test_the_tree_has_to_stand_over_the_whole_sentence() -> None:
    same = Sentence(("a", "b", "c"), ("A", "B", "C"), id="abc")
    assert Parse(ABC, Tree(same, (Span(0, 3, "S"),))).tree
    with pytest.raises(DataError, match="another sentence"):
        Parse(ABC, Tree(Sentence(("a", "b", "d")), (Span(0, 3, "S"),)))
    with pytest.raises(DataError, match="leaves words out"):
        Parse(ABC, Tree(ABC, (Span(0, 2, "S"),)))


def test_the_log_probability_is_that_of_all_layers() -> None:
    assert Parse(ABC).log_prob is None
    assert Parse(ABC, log_probs={"tree": -1.0, "entities": -0.5}).log_prob == -1.5
    assert Parse(ABC, log_probs={"tree": -1.0}) == Parse(ABC), "they say the same"


def test_a_parse_moves_to_a_sentence_with_the_same_words() -> None:
    text = Sentence.from_whitespace(ABC.words, ["", " ", ""], tags=ABC.tags)
    parse = Parse(
        ABC,
        Tree(ABC, (FoundSpan(0, 3, "S", ABC, 0.5),)),
        (Entity(1, 3, "X", ABC, 0.25), Span(1, 2, "Y")),
        (Entity(0, 2, "Z", ABC),),
        {"tree": -1.0},
    )
    moved = parse.over(text)
    assert moved.sentence is text
    assert moved.log_probs == {"tree": -1.0}
    assert moved.tree is not None
    assert moved.entities is not None
    found = (*moved.tree.spans, *moved.entities, *moved.dropped)
    assert [span.text for span in found] == ["ab c", "b c", "", "ab"]
    assert [span.probability for span in found] == [0.5, 0.25, None, None]
    bare = Parse(ABC).over(text)
    assert (bare.tree, bare.entities, bare.sentence) == (None, None, text)


def test_a_parse_draws_itself() -> None:
    parse = Parse(ABC, Tree(ABC, (Span(0, 3, "S"),)), (Span(1, 3, "X"),))
    assert parse.to_html() == parse._repr_html_() == parse_html(parse)
    assert parse.entities_to_html() == entities_html(parse)
    assert parse.entities_to_svg() == entities_svg(parse)
    assert parse.entities_to_svg(theme="auto", boundaries=True, width=None) == entities_svg(
        parse, theme="auto", boundaries=True, width=None
    )
