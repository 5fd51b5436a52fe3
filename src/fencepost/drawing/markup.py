"""XML of pictures: escaping, attributes of spans, colours of a theme."""

from __future__ import annotations

import re
from functools import lru_cache

from fencepost.drawing.colours import PALETTES, Theme, kind
from fencepost.drawing.widths import REPLACEMENT, advance, direction, is_picture
from fencepost.errors import ConfigError
from fencepost.structure import Sentence, Span, Tree

FONTS = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, "
    "'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', 'Hiragino Sans', sans-serif"
)
PICTURE_FONTS = "'Apple Color Emoji', 'Segoe UI Emoji', 'Noto Color Emoji', sans-serif"
NO_LABEL = "·"  # drawn for an empty label
UNSURE = 0.5  # spans below this probability are dashed

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_SPECIAL = {ord(char): f"&#{ord(char)};" for char in "&<>\"'\t\n\r"}
_SPECIAL |= {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;"}
NUMBER = 10  # the size of a boundary's number, in pixels
_QUOTED = 80  # characters of the words in a description


@lru_cache(maxsize=16384)
def escaped(text: str) -> str:
    """A text escaped for XML attributes and content; invalid characters are replaced."""
    return _NOT_XML.sub(REPLACEMENT, text).translate(_SPECIAL)


@lru_cache(maxsize=16384)
def visible(text: str) -> str:
    """A word or label to display: runs of blanks as one, control characters replaced."""
    return _NOT_XML.sub(REPLACEMENT, " ".join(re.split(r"[\t\n\r\f\v \x85\u2028\u2029]+", text)))


def shown_label(span: Span) -> str:
    """The label of a span in drawings."""
    return visible(span.label or "") or NO_LABEL


def shown_tags(tree: Tree) -> list[str]:
    """The tags of a tree's words in drawings; empty if unknown."""
    if tree.sentence.tags is None:
        return [""] * len(tree)
    return [visible(tag) for tag in tree.tags]


def shown_word(word: str, *, x: float, y: float, size: int, mirrored: bool, paint: Paint) -> str:
    """The text of a word, isolated so that its neighbours do not change its direction."""
    way = direction(word, mirrored=mirrored)
    turned = ' direction="rtl"' if way == "rtl" else ""
    # A font without all signs of a sequence would draw it in parts.
    font = f' font-family="{PICTURE_FONTS}"' if is_picture(word) else ""
    return (
        f'<text {paint.word()} font-size="{size}"{font}{turned} x="{number(x)}" '
        f'y="{number(y + 0.36 * size)}">{escaped(visible(word))}</text>'
    )


def number(value: float) -> str:
    """A number for an attribute, rounded to tenths."""
    return f"{value:.1f}".removesuffix(".0")


def quoted(sentence: Sentence, start: int, end: int) -> str:
    """The words between two boundaries, shortened for a description."""
    text = visible(sentence.text_between(start, min(end, start + _QUOTED))[: 2 * _QUOTED])
    return f"{text[:_QUOTED]}…" if len(text) > _QUOTED or end > start + _QUOTED else text


def described(span: Span, sentence: Sentence) -> str:
    """The description of a span on hover: `NP (0, 2), probability 0.97: The cat`."""
    sure = "" if span.probability is None else f", probability {span.probability:.2f}"
    words = quoted(sentence, span.start, span.end)
    return f"{span.label or ''} ({span.start}, {span.end}){sure}: {words}".lstrip()


def data_of(span: Span) -> str:
    """The data attributes of a span."""
    data = (
        f'data-start="{span.start}" data-end="{span.end}" data-label="{escaped(span.label or "")}"'
    )
    if span.probability is not None:
        data += f' data-probability="{span.probability:.4g}"'
    return data


def is_unsure(span: Span) -> bool:
    """Whether the probability of a span is below one half."""
    return span.probability is not None and span.probability < UNSURE


class Paint:
    """The attributes for colours: values in a fixed theme, classes in auto."""

    def __init__(self, theme: Theme) -> None:
        if theme != "auto" and theme not in PALETTES:
            raise ConfigError(f"theme is light, dark or auto, not {theme!r}")
        self._palette = None if theme == "auto" else PALETTES[theme]

    def word(self) -> str:
        """The text of a word."""
        return 'class="ink"' if self._palette is None else f'fill="{self._palette.ink}"'

    def muted(self, name: str) -> str:
        """A tag or a number, with a class."""
        if self._palette is None:
            return f'class="{name} muted"'
        return f'class="{name}" fill="{self._palette.muted}"'

    def edge(self) -> str:
        """A neutral line."""
        if self._palette is None:
            return 'class="edge" fill="none"'
        return f'class="edge" fill="none" stroke="{self._palette.line}"'

    def label(self, label: str) -> str:
        """The text of a label."""
        if self._palette is None:
            return f'class="label kind-{kind(label)}"'
        return f'class="label" fill="{self._palette.labels[kind(label)]}"'

    def fill(self, label: str) -> str:
        """The inside of a box."""
        if self._palette is None:
            return f'class="fill kind-{kind(label)}"'
        return f'class="fill" fill="{self._palette.fills[kind(label)]}"'

    def border(self, label: str) -> str:
        """The border of a box."""
        if self._palette is None:
            return f'class="border kind-{kind(label)}" fill="none"'
        return f'class="border" fill="none" stroke="{self._palette.borders[kind(label)]}"'

    def background(self, width: float, height: float) -> str:
        """The background; in auto the page has its own."""
        if self._palette is None:
            return ""
        size = f'width="{number(width)}" height="{number(height)}"'
        return f'<rect class="paper" {size} fill="{self._palette.paper}"/>'


def svg(
    parts: list[str], *, name: str, description: str, width: float, height: float, paint: Paint
) -> str:
    """An SVG picture around its parts."""
    size = f"{number(width)} {number(height)}"
    across, down = size.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fencepost fencepost-{name}" role="img" '
        f'aria-label="{escaped(description)}" viewBox="0 0 {size}" '
        f'width="{across}" height="{down}" font-family="{FONTS}" text-anchor="middle">'
        f"{paint.background(width, height)}{''.join(parts)}</svg>"
    )


def room_for_number(boundary: int) -> float:
    """The least distance of boundary marks with numbers up to this one."""
    return NUMBER * advance(str(boundary)) + 3


def post(boundary: int, *, x: float, y: float, paint: Paint) -> str:
    """The mark of a boundary: a short line, and its number below."""
    place = number(x)
    return (
        f'<g class="boundary" data-boundary="{boundary}" data-x="{place}">'
        f'<path {paint.edge()} d="M{place} {number(y)}v9"/>'
        f'<text {paint.muted("number")} font-size="{NUMBER}" x="{place}" y="{number(y + 20)}">'
        f"{boundary}</text></g>"
    )
