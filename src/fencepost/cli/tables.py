"""Plain tables for people."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], *, indent: int = 0) -> str:
    """Rows as text: the first column flush left, the others flush right.

    >>> print(table([["", "F1"], ["tree", "91.20"]]))
             F1
    tree  91.20
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append(" " * indent + "  ".join(cells).rstrip())
    return "\n".join(lines)


def plural(count: int, name: str) -> str:
    """A number and what it counts.

    >>> plural(1, "sentence"), plural(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{count:,} {name}{'' if count == 1 else 's'}"
