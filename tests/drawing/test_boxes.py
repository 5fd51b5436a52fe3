from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.boxes import entities_svg
from fencepost.drawing.colours import Theme
from fencepost.drawing.flow import heights, spaced
from fencepost.drawing.markup import shown_label, visible
from fencepost.structure import Entity, Parse, Sentence, Span
from tests.drawing.test_svg import THEMES, place, sides
from tests.drawing.wild import SVG, groups, parses, texts

LAW = Sentence(("The", "University", "of", "Oslo", "School", "of", "Law", "hired", "Ann"))
NESTED = (Span(0, 7, "ORG"), Span(0, 4, "ORG"), Span(3, 4, "GPE"), Span(8, 9, "PER"))


def boxes(group: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """The pieces of a box: left, top, right, bottom."""
    found = []
    for rect in group.iter(f"{SVG}rect"):
        if (rect.get("class") or "").startswith("fill"):
            x, y, width, height = (
                float(rect.get(name, "")) for name in ("x", "y", "width", "height")
            )
            found.append((x, y, x + width, y + height))
    return found


@given(parses(), THEMES, st.booleans(), st.sampled_from([None, 1, 200, 900]))
def test_a_picture_has_every_entity_word_and_boundary(
    parse: Parse, theme: Theme, boundaries: bool, width: int | None
) -> None:
    drawn = entities_svg(parse, theme=theme, boundaries=boundaries, width=width)
    picture = ElementTree.fromstring(drawn)
    assert picture.get("class") == "fencepost fencepost-entities"
    entities = parse.entities or ()
    for span, group in zip(entities, groups(picture, "span"), strict=True):
        assert (group.get("data-start"), group.get("data-end")) == (str(span.start), str(span.end))
        assert [text.text for text in texts(group)] == [shown_label(span)]
        assert group[0].tag == f"{SVG}title"
        assert boxes(group)
    words = groups(picture, "word")
    assert [word.get("data-word") for word in words] == [str(i) for i in range(len(parse.words))]
    assert [texts(word)[0].text for word in words] == list(map(visible, parse.words))
    assert len(groups(picture, "boundary")) == (len(parse.words) + 1 if boundaries else 0)


@given(parses(), st.booleans(), st.sampled_from([None, 1, 200]))
def test_no_two_texts_of_a_line_touch(parse: Parse, boundaries: bool, width: int | None) -> None:
    picture = ElementTree.fromstring(entities_svg(parse, boundaries=boundaries, width=width))
    lines: dict[float, list[tuple[float, float]]] = {}
    for text in picture.iter(f"{SVG}text"):
        # Labels stand with the words, in smaller letters: the middle is what they share.
        middle = place(text)[1] - 0.36 * float(text.get("font-size", ""))
        lines.setdefault(round(middle), []).append(sides(text))
    for line in lines.values():
        for (_, end), (start, _) in pairwise(sorted(line)):
            assert start - end > 0.7


@given(parses())
def test_a_box_holds_its_words_and_the_boxes_that_it_holds(parse: Parse) -> None:
    picture = ElementTree.fromstring(entities_svg(parse, width=None))
    words = [sides(texts(group)[0]) for group in groups(picture, "word")]
    places = [boxes(group)[0] for group in groups(picture, "span")]
    entities = parse.entities or ()
    for index, (span, (left, top, right, bottom)) in enumerate(zip(entities, places, strict=True)):
        for number, (start, end) in enumerate(words):
            inside = left < start and end < right
            assert inside == (span.start <= number < span.end)
        for other, inner in zip(entities[index + 1 :], places[index + 1 :], strict=True):
            if span.start <= other.start and other.end <= span.end:
                assert left < inner[0]
                assert top < inner[1]
                assert inner[2] < right
                assert inner[3] < bottom


@given(parses())
def test_a_boundary_lies_outside_of_boxes_that_end_there(parse: Parse) -> None:
    picture = ElementTree.fromstring(entities_svg(parse, boundaries=True))
    posts = [float(group.get("data-x", "")) for group in groups(picture, "boundary")]
    for group in groups(picture, "span"):
        left, _, right, _ = boxes(group)[0]
        ends = sorted(posts[int(group.get(name, ""))] for name in ("data-start", "data-end"))
        assert ends[0] < left < right < ends[1]


def test_lines_wrap_and_boxes_go_on() -> None:
    parse = Parse(LAW, entities=NESTED)
    picture = ElementTree.fromstring(entities_svg(parse, width=240))
    lines = {place(texts(group)[0])[1] for group in groups(picture, "word")}
    assert len(lines) > 2
    assert float(picture.get("width", "")) <= 240
    pieces = [len(boxes(group)) for group in groups(picture, "span")]
    assert pieces[0] == 3, "one a line"
    assert pieces[3] == 1
    borders = [len(list(group.iter(f"{SVG}path"))) for group in groups(picture, "span")]
    assert borders[0] == 3, "a side on which it goes on has no border"
    assert borders[3] == 0


def test_a_word_wider_than_the_line_is_shown_whole() -> None:
    parse = Parse(Sentence(("a", "x" * 100, "b")), entities=())
    picture = ElementTree.fromstring(entities_svg(parse, width=100))
    assert len({place(texts(group)[0])[1] for group in groups(picture, "word")}) == 3
    assert float(picture.get("width", "")) > 900


def test_right_to_left_text_begins_at_the_right() -> None:
    sentence = Sentence(("הילד", "הקטן", "אכל"))
    parse = Parse(sentence, entities=(Span(0, 2, "PER"),))
    for width in (None, 110):
        picture = ElementTree.fromstring(entities_svg(parse, width=width))
        words = [sides(texts(group)[0]) for group in groups(picture, "word")]
        assert words[0][0] > words[1][1] or width
        (group,) = groups(picture, "span")
        label = sides(texts(group)[0])
        assert label[1] < words[1][0], "the label stands behind the words"
    assert len(boxes(group)) == 2


def test_unlikely_entities_have_dashed_borders() -> None:
    found = (Entity(0, 2, "A", LAW, 0.4), Entity(1, 2, "B", LAW, 0.6))
    picture = ElementTree.fromstring(entities_svg(Parse(LAW, entities=found)))
    dashed = [
        any(part.get("stroke-dasharray") for part in group) for group in groups(picture, "span")
    ]
    assert dashed == [True, False]


@pytest.mark.parametrize(
    ("entities", "told"), [(None, "No entities"), ((), "No entities"), (NESTED[:1], "1 entity")]
)
def test_a_picture_tells_how_many_there_are(entities: tuple[Span, ...] | None, told: str) -> None:
    picture = ElementTree.fromstring(entities_svg(Parse(LAW, entities=entities)))
    assert (picture.get("aria-label") or "").startswith(f"{told}: The University")


def test_heights_count_boxes_in_boxes() -> None:
    assert heights(NESTED) == [2, 1, 0, 0]
    assert heights([Span(0, 1, "A"), Span(0, 1, "B"), Span(0, 1, "C")]) == [2, 1, 0]
    assert heights([]) == []


def test_blanks_are_those_of_the_text() -> None:
    assert spaced(Sentence(("a", "b"))) == [False, True]
    text = Sentence.from_whitespace(["(", "a", "b", ")"], ["", " ", "", ""])
    assert spaced(text) == [False, False, True, False]


def test_many_boxes_in_one_another_stay_within_reason() -> None:
    spans = tuple(Span(0, 2, f"L{index:04}") for index in range(1000))
    parse = Parse(Sentence(("a", "b")), entities=spans)
    picture = ElementTree.fromstring(entities_svg(parse, width=None))
    assert float(picture.get("height", "")) < 400


def test_a_sentence_without_words_has_one_boundary() -> None:
    picture = ElementTree.fromstring(
        entities_svg(Parse(Sentence(()), entities=()), boundaries=True)
    )
    assert len(groups(picture, "boundary")) == 1
