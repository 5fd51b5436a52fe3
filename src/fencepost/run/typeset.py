"""PDF and PNG of drawings in SVG, by typst."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import scratch_errors

if TYPE_CHECKING:
    import typst

Printed = Literal["pdf", "png"]

_HEAD = "#set page(width: auto, height: auto, margin: 0pt)\n#set document(date: none)"
_SIZE = re.compile(r'<svg [^>]*?\bwidth="([0-9.]+)" height="([0-9.]+)"')
_POINTS = 0.75  # of a typesetter, in one of SVG's units
_MOST_POINTS = 14_400  # of a side of a page of PDF; some readers show no larger ones
_PIXELS_PER_INCH = 144
_MOST_PIXELS = 100_000_000  # of a PNG; each takes four bytes of memory and more


def fonts() -> typst.Fonts:
    """The fonts for PDF and PNG: looking for them takes longer than a drawing."""
    try:
        import typst
    except ImportError as error:
        raise ConfigError(
            "typst is needed for PDF and PNG: pip install 'fencepost[draw]'; SVG and HTML need "
            "nothing"
        ) from error
    return typst.Fonts()


def typeset_one(svg: str, kind: Printed, fonts: typst.Fonts) -> bytes:
    """One drawing as PDF or PNG."""
    return typeset([svg], kind, fonts)


def typeset(svgs: Iterable[str], kind: Printed, fonts: typst.Fonts) -> bytes:
    """Drawings as PDF, one a page, or as PNG, which holds one."""
    import typst

    with scratch_errors(), tempfile.TemporaryDirectory() as folder:
        lines = [_HEAD]
        for number, svg in enumerate(svgs):
            Path(folder, f"{number}.svg").write_text(svg, encoding="utf-8")
            width, height = _size(svg, kind)
            gap = "#pagebreak()\n" if number else ""
            size = f"width: {width:.2f}pt, height: {height:.2f}pt"
            lines.append(f'{gap}#image("{number}.svg", {size})')
        main = Path(folder, "main.typ")
        main.write_text("\n".join(lines), encoding="utf-8")
        try:
            data = typst.compile(
                main, format=kind, ppi=_PIXELS_PER_INCH, font_paths=fonts, root=Path(folder)
            )
        except typst.TypstError as error:
            raise DataError(f"typst could not draw this: {error.message}") from error
        except BaseException as error:
            # A panic of Rust's is no Exception to Python, so that nobody catches it by accident.
            if type(error).__name__ != "PanicException":
                raise
            raise DataError(f"typst broke off: {error}; .svg and .html do without it") from error
    assert isinstance(data, bytes)
    return data


def _size(svg: str, kind: Printed) -> tuple[float, float]:
    """Width and height of a drawing in points, less than its own if a page cannot be so large."""
    match = _SIZE.search(svg)
    assert match is not None
    width, height = (float(side) * _POINTS for side in match.groups())
    if kind == "pdf":
        share = min(1.0, _MOST_POINTS / max(width, height))
        return width * share, height * share
    across, down = (math.ceil(side * _PIXELS_PER_INCH / 72) for side in (width, height))
    if across * down > _MOST_PIXELS:
        raise DataError(
            f"a PNG of this sentence would have {across:,} times {down:,} pixels, which is too "
            "many; .svg, .pdf and .html can be of any size"
        )
    return width, height
