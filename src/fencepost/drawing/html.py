"""HTML for pages and notebooks: fragments, and a page around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.drawing.colours import kind
from fencepost.drawing.flow import heights, spaced
from fencepost.drawing.markup import data_of, described, escaped, is_unsure, shown_label, visible
from fencepost.drawing.style import STYLE
from fencepost.drawing.svg import tree_svg
from fencepost.drawing.widths import direction, reads_right_to_left
from fencepost.structure import Document, Parse

__all__ = ["STYLE", "document_html", "entities_html", "page", "parse_html"]

_STYLED = f"<style>{STYLE}</style>"
_PAGE_STYLE = (
    "body{margin:0 auto;padding:1.5rem;max-width:75rem;font-family:system-ui,sans-serif}"
    ":root{color-scheme:light dark}"
)


def entities_html(parse: Parse) -> str:
    """The entities of a sentence as a fragment of HTML: nested boxes in lines that wrap.

    Its style sheet affects nothing else on a page.
    """
    return _fragment(_entities(parse))


def parse_html(parse: Parse) -> str:
    """A parse as a fragment of HTML: its tree, and its words with boxes around the entities.

    Its style sheet affects nothing else on a page.
    """
    return _fragment(_parse(parse))


def document_html(document: Document, *, entities_only: bool = False) -> str:
    """The parses of a document as a fragment of HTML, or the reason why there are none."""
    if not document.is_ok:
        return _fragment(f'<p class="note">not parsed: {escaped(document.status)}</p>')
    draw = _entities if entities_only else _parse
    return _fragment("".join(map(draw, document.sentences)))


def page(parts: Iterable[str], *, title: str) -> Iterator[str]:
    """A self-contained HTML page around fragments, piece by piece."""
    yield (
        '<!DOCTYPE html>\n<html lang="und"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{_PAGE_STYLE}{STYLE}</style></head>\n<body>\n"
    )
    for part in parts:
        yield f"{part.replace(_STYLED, '')}\n"
    yield "</body></html>\n"


def _fragment(inside: str) -> str:
    return f'<div class="fencepost fencepost-sheet">{_STYLED}{inside}</div>'


def _parse(parse: Parse) -> str:
    parts = ['<section class="fencepost-parse">']
    if parse.tree is not None:
        parts.append(f'<div class="wide">{tree_svg(parse.tree, theme="auto")}</div>')
    if parse.entities is not None or parse.tree is None:
        parts.append(_entities(parse))
    parts.append("</section>")
    return "".join(parts)


def _entities(parse: Parse) -> str:
    spans = parse.entities or ()
    inside = heights(spans)
    mirrored = reads_right_to_left(parse.words)
    parts: list[str] = []
    open_boxes: list[int] = []
    coming = 0
    for index, (word, blank) in enumerate(zip(parse.words, spaced(parse.sentence), strict=True)):
        if blank:
            parts.append(" ")
        while coming < len(spans) and spans[coming].start == index:
            span = spans[coming]
            unsure = " unsure" if is_unsure(span) else ""
            parts.append(
                f'<mark class="span kind-{kind(span.label or "")}{unsure}" {data_of(span)} '
                f'title="{escaped(described(span, parse.sentence))}" '
                f'style="--inside:{inside[coming]}">'
            )
            open_boxes.append(coming)
            coming += 1
        way = direction(word, mirrored=mirrored)
        shown = escaped(visible(word))
        parts.append(f'<bdi class="word" data-word="{index}" dir="{way}">{shown}</bdi>')
        while open_boxes and spans[open_boxes[-1]].end == index + 1:
            label = escaped(shown_label(spans[open_boxes.pop()]))
            parts.append(f'<b class="label">{label}</b></mark>')
    levels = max(inside, default=-1) + 1
    left_out = "".join(
        f"<li>{escaped(described(span, parse.sentence))}</li>" for span in parse.dropped
    )
    note = f'<div class="note">left out, since they cross:<ul>{left_out}</ul></div>'
    opening = f'<p class="boxes" dir="{"rtl" if mirrored else "ltr"}" style="--levels:{levels}">'
    return f"{opening}{''.join(parts)}</p>{note if left_out else ''}"
