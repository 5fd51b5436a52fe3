"""Markup that the parts of an analysis report share: tables and style."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.drawing.markup import NO_LABEL, escaped, visible
from fencepost.scoring.entities import Match

STYLE = """
body{line-height:1.45;color:CanvasText;background:Canvas}
h2{margin-top:2.5rem}
.wide{overflow-x:auto}
.analysis table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5rem 0}
.analysis th,.analysis td{padding:.15rem .7rem;text-align:right;white-space:nowrap;\
border-bottom:1px solid color-mix(in srgb,CanvasText 20%,transparent)}
.analysis th:first-child,.analysis td:first-child{text-align:left;padding-left:0}
.analysis figure{margin:1rem 0}
.analysis figure img{display:block;min-width:30rem;max-width:100%}
.analysis figcaption,.analysis .note{font-size:.9em;color:var(--quiet)}
.analysis summary{cursor:pointer;padding:.2rem 0}
.analysis .sides{display:flex;flex-wrap:wrap;gap:.5rem 2rem}
.analysis .sides>div{min-width:0}
.analysis .sides p{margin:.25rem 0}
.analysis{--quiet:#4a4f55;--wrong:#c2410c;--marker:#ffe08a}
.analysis .wrong>text.label{stroke:var(--marker);stroke-width:6px;stroke-linejoin:round;\
paint-order:stroke}
.analysis .wrong>path.edge{stroke:var(--wrong);stroke-width:2}
.analysis .moved>text.label{text-decoration:underline dotted 2px}
.analysis mark.wrong{outline:3px solid var(--wrong)}
@media screen and (prefers-color-scheme:dark){\
.analysis{--quiet:#b9bec4;--wrong:#ffb74d;--marker:#5c4300}}
"""


def shown(text: str) -> str:
    """A name or label of the user's, for a page."""
    return escaped(visible(text) or NO_LABEL)


def percents(match: Match) -> list[str]:
    """Precision, recall and F1 as they are shown."""
    return [f"{percent:.2f}" for percent in (match.precision, match.recall, match.f1)]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "") -> str:
    """A table, with a heading for each row and column, that scrolls if it is too wide."""
    told = f"<caption>{shown(caption)}</caption>" if caption else ""
    columns = "".join(
        f'<th scope="col">{escaped(name)}</th>' if name else "<td></td>" for name in head
    )
    body = "".join(
        f'<tr><th scope="row">{shown(first)}</th>'
        f"{''.join(f'<td>{escaped(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f'<div class="wide" tabindex="0"><table>{told}<thead><tr>{columns}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
