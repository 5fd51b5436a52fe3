import re
import time
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.colours import PALETTES, Theme
from fencepost.drawing.markup import escaped, shown_label, visible
from fencepost.drawing.svg import tree_svg
from fencepost.drawing.widths import advance, reads_right_to_left
from fencepost.errors import ConfigError
from fencepost.structure import FoundSpan, Sentence, Span, Tree
from tests.drawing.wild import SVG, deep, groups, texts, trees

THEMES = st.sampled_from(["light", "dark", "auto"])
CAT = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))")
HEBREW = Tree.from_brackets("(S (NP (NN הילד) (JJ הקטן)) (VP (VB אכל)) (-LRB- -LRB-) (X OK))")


def place(text: ElementTree.Element) -> tuple[float, float]:
    return float(text.get("x", "")), float(text.get("y", ""))


def sides(text: ElementTree.Element) -> tuple[float, float]:
    """Where a text begins and ends by our own measure."""
    bold = text.get("font-weight") == "600"
    half = float(text.get("font-size", "")) * advance(text.text or "", bold=bold) / 2
    return place(text)[0] - half, place(text)[0] + half


@given(trees(), THEMES, st.booleans())
def test_a_picture_has_every_span_word_and_boundary(
    tree: Tree, theme: Theme, boundaries: bool
) -> None:
    picture = ElementTree.fromstring(tree_svg(tree, theme=theme, boundaries=boundaries))
    assert picture.get("class") == "fencepost fencepost-tree"
    assert picture.get("role") == "img"
    assert (picture.get("aria-label") or "").startswith(f"Tree of {len(tree)} word")
    assert picture.get("viewBox") == f"0 0 {picture.get('width')} {picture.get('height')}"
    spans = groups(picture, "span")
    for span, group in zip(tree.spans, spans, strict=True):
        label = ElementTree.fromstring(f"<a>{escaped(span.label or '')}</a>").text or ""
        assert (group.get("data-start"), group.get("data-end")) == (str(span.start), str(span.end))
        assert group.get("data-label") == label
        assert (group.get("data-probability") is None) == (span.probability is None)
        assert [child.tag for child in group] == [f"{SVG}title", f"{SVG}path", f"{SVG}text"]
        assert group[2].text == shown_label(span)
    words = groups(picture, "word")
    assert [word.get("data-word") for word in words] == [
        str(index) for index in range(tree.start, tree.end)
    ]
    for (_, word, tag), group in zip(tree.leaves, words, strict=True):
        *above, shown = texts(group)
        assert shown.text == visible(word)
        assert [text.text for text in above] == (
            [visible(tag)] if tree.sentence.tags and tag else []
        )
        assert all((text.get("class") or "").split()[0] == "tag" for text in above)
    posts = groups(picture, "boundary")
    assert [post.get("data-boundary") for post in posts] == (
        [str(index) for index in range(tree.start, tree.end + 1)] if boundaries else []
    )


@given(trees(), st.booleans())
def test_no_two_texts_of_a_row_touch(tree: Tree, boundaries: bool) -> None:
    picture = ElementTree.fromstring(tree_svg(tree, boundaries=boundaries))
    rows: dict[float, list[tuple[float, float]]] = {}
    for text in picture.iter(f"{SVG}text"):
        rows.setdefault(place(text)[1], []).append(sides(text))
    width = float(picture.get("width", ""))
    for row in rows.values():
        for (_, end), (start, _) in pairwise(sorted(row)):
            assert start - end > 1
        assert min(row)[0] >= 0
        assert max(row)[1] <= width


@given(trees())
def test_a_boundary_lies_between_its_words(tree: Tree) -> None:
    picture = ElementTree.fromstring(tree_svg(tree, boundaries=True))
    posts = [float(group.get("data-x", "")) for group in groups(picture, "boundary")]
    words = [place(texts(group)[-1])[0] for group in groups(picture, "word")]
    order = [places for pair in zip(posts, words, strict=False) for places in pair] + posts[-1:]
    assert order == sorted(order, reverse=reads_right_to_left(tree.words))


@given(trees())
def test_edges_lead_from_a_label_to_its_children(tree: Tree) -> None:
    picture = ElementTree.fromstring(tree_svg(tree))
    nodes = {}
    for node, group in zip(tree, groups(picture, "span"), strict=True):
        nodes[node.spans] = place(texts(group)[0])
    leaves = [place(texts(group)[0])[0] for group in groups(picture, "word")]
    for node, group in zip(tree, groups(picture, "span"), strict=True):
        below = [
            nodes[child.spans][0] if isinstance(child, Tree) else leaves[child.start - tree.start]
            for child in node.children
        ]
        x, y = nodes[node.spans]
        assert min(below) - 0.11 <= x <= max(below) + 0.11
        path = group[1].get("d", "")
        ends = re.findall(r"([-\d.]+) [-\d.]+V([-\d.]+)(?=M|$)", path)
        reached = {float(across) for across, _ in ends}
        assert set(below) <= reached
        assert all(float(down) > y for _, down in ends)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_needs_no_style_sheet(theme: Theme) -> None:
    drawn = tree_svg(CAT, theme=theme, boundaries=True)
    picture = ElementTree.fromstring(drawn)
    assert picture[0].tag == f"{SVG}rect"
    assert picture[0].get("fill") == PALETTES[theme].paper
    assert all(text.get("fill") for text in picture.iter(f"{SVG}text"))
    assert all(path.get("stroke") for path in picture.iter(f"{SVG}path"))
    assert "style" not in drawn


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ConfigError, match="theme is light, dark or auto, not 'blue'"):
        tree_svg(CAT, theme="blue")  # type: ignore[arg-type]


def test_auto_has_classes_alone() -> None:
    drawn = tree_svg(CAT, theme="auto", boundaries=True)
    assert "#" not in drawn
    assert "<rect" not in drawn
    assert 'class="label kind-' in drawn


def test_the_first_word_of_right_to_left_text_is_at_the_right() -> None:
    picture = ElementTree.fromstring(tree_svg(HEBREW, boundaries=True))
    words = [texts(group)[-1] for group in groups(picture, "word")]
    places = [place(text)[0] for text in words]
    assert places == sorted(places, reverse=True)
    posts = [float(group.get("data-x", "")) for group in groups(picture, "boundary")]
    assert posts == sorted(posts, reverse=True)
    assert [text.get("direction") for text in words] == ["rtl", "rtl", "rtl", "rtl", None]
    assert picture.get("text-anchor") == "middle"


def test_emoji_are_drawn_with_fonts_that_have_all_their_signs() -> None:
    picture = ElementTree.fromstring(tree_svg(Tree.from_brackets("(S (A 👍🏽) (B ok))")))
    emoji, word = (texts(group)[-1] for group in groups(picture, "word"))
    assert "Emoji" in (emoji.get("font-family") or "")
    assert word.get("font-family") is None


def test_unlikely_spans_have_dashed_edges() -> None:
    sentence = Sentence(("a", "b"))
    found = (FoundSpan(0, 2, "S", sentence, 0.5), FoundSpan(0, 1, "X", sentence, 0.4999))
    picture = ElementTree.fromstring(Tree(sentence, found).to_svg())
    dashes = [group[1].get("stroke-dasharray") for group in groups(picture, "span")]
    assert [bool(dash) for dash in dashes] == [False, True]
    titles = [group[0].text for group in groups(picture, "span")]
    assert titles == ["S (0, 2), probability 0.50: a b", "X (0, 1), probability 0.50: a"]
    shown = [group.get("data-probability") for group in groups(picture, "span")]
    assert shown == ["0.5", "0.4999"]


def test_words_without_tags_stand_where_tags_would() -> None:
    bare = tree_svg(Tree(Sentence(("a", "b")), (Span(0, 2, "S"),)))
    tagged = tree_svg(Tree(Sentence(("a", "b"), ("A", "B")), (Span(0, 2, "S"),)))
    heights = [float(ElementTree.fromstring(drawn).get("height", "")) for drawn in (bare, tagged)]
    assert heights[0] < heights[1]
    assert 'class="tag"' not in bare


def test_rows_are_closer_in_deep_trees() -> None:
    def row(levels: int) -> float:
        picture = ElementTree.fromstring(tree_svg(deep(levels)))
        first, second = (place(texts(group)[0])[1] for group in groups(picture, "span")[:2])
        return second - first

    assert row(2) == pytest.approx(46)
    assert row(30) == pytest.approx(40, abs=0.2)
    assert row(300) == pytest.approx(28)


def test_a_very_deep_tree_is_drawn_quickly() -> None:
    tree = deep(10_000)
    started = time.perf_counter()
    drawn = tree_svg(tree, boundaries=True)
    assert time.perf_counter() - started < 20  # a square of the depth would take minutes
    assert len(drawn) < 20_000_000
    assert drawn.count('class="span"') == 10_000
