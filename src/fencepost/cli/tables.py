"""Plain tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.drawing.widths import cells


def table(rows: Sequence[Sequence[str]], *, indent: int = 0) -> str:
    """Rows as text: the first column flush left, the others flush right.

    >>> print(table([["", "F1"], ["tree", "91.20"]]))
             F1
    tree  91.20
    """
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        blanks = [" " * (width - cells(text)) for text, width in zip(row, widths, strict=True)]
        parts = [row[0] + blanks[0]]
        parts += (blank + text for text, blank in zip(row[1:], blanks[1:], strict=True))
        lines.append(" " * indent + "  ".join(parts).rstrip())
    return "\n".join(lines)


def plural(count: int, name: str) -> str:
    """A number and what it counts.

    >>> plural(1, "sentence"), plural(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{count:,} {name}{'' if count == 1 else 's'}"
