"""Drawings of annotated sentences, as files: SVG, PDF, PNG, or a page of HTML."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from fencepost.drawing.html import parse_html
from fencepost.drawing.svg import entities_svg, tree_svg
from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader, WriteSettings
from fencepost.formats.files import (
    STANDARD,
    atomic_output,
    is_folder,
    output_errors,
    output_path,
    without_surrogates,
)
from fencepost.formats.html import page_of
from fencepost.formats.registry import bare_suffix
from fencepost.run.progress import Watch, unwatched
from fencepost.run.typeset import fonts, typeset, typeset_one
from fencepost.structure import Parse

Kind = Literal["svg", "pdf", "png", "html"]
KINDS: dict[str, Kind] = {
    ".svg": "svg",
    ".pdf": "pdf",
    ".png": "png",
    ".html": "html",
    ".htm": "html",
}
Layer = Literal["tree", "entities"]
LAYERS: tuple[Layer, ...] = ("tree", "entities")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which drawings are made, and how they look."""

    task: Layer | None = None  # None: the layers that are there
    limit: int | None = None  # only so many sentences
    sentence: int | None = None  # only this one, counted from 1
    theme: Literal["light", "dark"] | None = None  # None: light; on a page, what its reader prefers
    boundaries: bool = False

    def __post_init__(self) -> None:
        if self.sentence is not None and self.limit is not None:
            raise ConfigError("--sentence and --limit: one of them, not both")

    def layers(self, parse: Parse) -> list[Layer]:
        """The layers of a parse that are drawn."""
        wanted = LAYERS if self.task is None else (self.task,)
        return [layer for layer in wanted if getattr(parse, layer) is not None]


class Drawing(NamedTuple):
    """One layer of one sentence."""

    number: int  # of the sentence, from 1
    layer: Layer
    svg: str


def draw(
    reading: ParseReader,
    out: str | os.PathLike[str],
    *,
    kind: Kind | None = None,
    wanted: Wanted | None = None,
    watch: Watch = unwatched,
) -> tuple[int, list[DataError]]:
    """Draw what is read, whole or not at all; in a folder, as many drawings as can be made.

    Args:
        reading: annotated sentences.
        out: a folder (one that is there, or a name that ends with a slash) for one file each; a
            `.pdf` or `.html` for all of them; an `.svg` or `.png` for a single one. `.gz` packs
            it, and `-` is standard output.
        kind: of the files; None: what the suffix tells, and SVG in a folder.
        wanted: the drawings to make.
        watch: shows how far it is.

    Returns:
        How many drawings were written, and which could not be made.

    Raises:
        DataError: there is nothing to draw, or too much for one file.
        ConfigError: the kind is not known, or there is no typst, which PDF and PNG need.
    """
    wanted = wanted or Wanted()
    kind, folder = _target(str(out), kind)
    if folder is None and str(out) != STANDARD:
        output_path(out)  # before anything is drawn for it
    chosen = _Chosen(reading, watch=watch, wanted=wanted)
    missed: list[DataError] = []
    if kind == "html":
        with atomic_output(out) as file:
            for piece in page_of(_parts(chosen, wanted), WriteSettings()):
                file.write(piece.encode())
    elif kind == "pdf" and folder is None:
        found = fonts()
        _write(out, typeset((drawing.svg for drawing in _drawings(chosen, wanted)), "pdf", found))
    else:
        make = str.encode if kind == "svg" else partial(typeset_one, kind=kind, fonts=fonts())
        if folder is None:
            (drawing,) = _drawings(_only(chosen, wanted, str(out)), wanted)
            _write(out, _made(drawing, make, reading))
        else:
            for drawing in _drawings(chosen, wanted):
                try:
                    made = _made(drawing, make, reading)
                except DataError as error:
                    missed.append(error)
                    continue
                with output_errors(folder):
                    folder.mkdir(parents=True, exist_ok=True)
                _write(folder / f"{drawing.number:04}-{drawing.layer}.{kind}", made)
    return chosen.drawings - len(missed), missed


def _target(out: str, kind: Kind | None) -> tuple[Kind, Path | None]:
    """The file names to write, and their folder if there is one."""
    if is_folder(out):
        if kind == "html":
            raise ConfigError("html is one page for all drawings: name a file, as in -o x.html")
        return kind or "svg", Path(out)
    told = KINDS.get(bare_suffix(out))
    if kind is not None and told is not None and kind != told:
        raise ConfigError(f"{out} says {told}, and --to says {kind}")
    if kind is None and told is None and out != STANDARD:
        raise ConfigError(
            f"{out}: a drawing ends with .svg, .pdf, .png or .html; a folder that is not there "
            f"yet, with a slash, as in {out}/"
        )
    return kind or told or "svg", None


class _Chosen:
    """The sentences that are drawn, each with its number, and how many drawings that makes."""

    def __init__(self, reading: ParseReader, *, watch: Watch, wanted: Wanted) -> None:
        self.reading, self.watch, self.wanted = reading, watch, wanted
        self.drawings = 0

    def __iter__(self) -> Iterator[tuple[int, Parse]]:
        wanted = self.wanted
        parses = islice(self.watch(self.reading), wanted.sentence or wanted.limit)
        number = 0
        for number, parse in enumerate(parses, 1):
            layers = wanted.layers(parse)
            if layers and (wanted.sentence is None or number == wanted.sentence):
                self.drawings += len(layers)
                yield number, parse
        place = self.reading.place[0]
        if not number:
            left_out = [f"{count:,} {reason}" for reason, count in self.reading.counts.items()]
            told = f"; left out: {', '.join(left_out)}" if left_out else ""
            raise DataError(f"nothing to draw: there are no sentences in it{told}", path=place)
        if wanted.sentence is not None and number < wanted.sentence:
            raise DataError(f"there is no sentence {wanted.sentence}, only {number}", path=place)
        if not self.drawings:
            layer = {"tree": "a tree", "entities": "entities"}.get(wanted.task or "", "either")
            what = "this sentence does not have" if wanted.sentence else "no sentence has"
            raise DataError(f"nothing to draw: {what} {layer}", path=place)


def _only(chosen: Iterable[tuple[int, Parse]], wanted: Wanted, out: str) -> list[tuple[int, Parse]]:
    """The one sentence for a file that holds one drawing."""
    first = list(islice(chosen, 2))
    if len(first) > 1:
        raise DataError(
            "there are several sentences, and this holds one drawing; choose one with --sentence "
            "N, or name a folder (-o DIR/), a .pdf or an .html",
            path=out,
        )
    if len(wanted.layers(first[0][1])) > 1:
        raise DataError(
            "this sentence has a tree and entities, and this holds one drawing; choose with "
            "--task tree or --task entities",
            path=out,
        )
    return first


def _drawings(chosen: Iterable[tuple[int, Parse]], wanted: Wanted) -> Iterator[Drawing]:
    for number, parse in chosen:
        for layer in wanted.layers(parse):
            svg = _svg(parse, layer, theme=wanted.theme or "light", boundaries=wanted.boundaries)
            yield Drawing(number, layer, without_surrogates(svg))


def _made(drawing: Drawing, make: Callable[[str], bytes], reading: ParseReader) -> bytes:
    """The content of a file of one drawing; an error names the drawing."""
    try:
        return make(drawing.svg)
    except DataError as error:
        told = f"sentence {drawing.number}, {drawing.layer}: {error.message}"
        raise DataError(told, path=reading.place[0]) from error


def _svg(
    parse: Parse, layer: Layer, *, theme: Literal["light", "dark", "auto"], boundaries: bool
) -> str:
    if layer == "entities":
        return entities_svg(parse, theme=theme, boundaries=boundaries)
    assert parse.tree is not None
    return tree_svg(parse.tree, theme=theme, boundaries=boundaries)


def _parts(chosen: Iterable[tuple[int, Parse]], wanted: Wanted) -> Iterator[str]:
    """The sentences of a page, in its reader's colours or in those that are wanted."""
    theme = wanted.theme
    if theme is not None:
        yield f"<style>:root{{color-scheme:{theme}}}</style>"
    for _, parse in chosen:
        part = _part(parse, wanted)
        yield part if theme is None else f'<div data-theme="{theme}">{part}</div>'


def _part(parse: Parse, wanted: Wanted) -> str:
    """A sentence on a page."""
    layers = wanted.layers(parse)
    if wanted.boundaries:
        svgs = (_svg(parse, layer, theme="auto", boundaries=True) for layer in layers)
        drawn = "".join(f'<div class="wide">{svg}</div>' for svg in svgs)
        return f'<div class="fencepost fencepost-sheet"><section>{drawn}</section></div>'
    tree = parse.tree if "tree" in layers else None
    entities = parse.entities if "entities" in layers else None
    return parse_html(replace(parse, tree=tree, entities=entities))


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    with atomic_output(path) as file:
        file.write(data)
