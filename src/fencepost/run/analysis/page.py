"""The report of an analysis: a page of HTML that needs nothing else."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator

from fencepost.drawing.html import page
from fencepost.drawing.markup import escaped, visible
from fencepost.errors import ConfigError
from fencepost.formats.files import (
    OutputError,
    atomic_output,
    check_not_read,
    output_path,
    without_surrogates,
)
from fencepost.run.analysis.examples import mistakes_of
from fencepost.run.analysis.markup import STYLE, percents, shown, table
from fencepost.run.analysis.pictures import (
    FEW,
    LABELS,
    TITLES,
    Theme,
    check_matplotlib,
    picture,
)
from fencepost.run.analysis.report import Analysis, LayerAnalysis
from fencepost.scoring.entities import Match

TITLE = "Error analysis"
SUFFIXES = (".html", ".htm")

_NAMES = {"tree": "Trees", "entities": "Entities"}


def check_report(out: str, inputs: Iterable[str]) -> None:
    """Refuse a report that could not be written, before anything is computed."""
    if not out.lower().endswith(SUFFIXES):
        raise ConfigError(f"{out}: the report is a page, and ends with .html")
    target = output_path(out)
    check_not_read([target], inputs)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        problem = "is a folder" if target.is_dir() else "its folder is not open for writing"
        raise OutputError(f"cannot be written: {problem}", path=out)
    check_matplotlib()


def write_report(analysis: Analysis, out: str | os.PathLike[str]) -> None:
    """Write the report, whole or not at all."""
    with atomic_output(out) as file:
        for piece in report(analysis):
            file.write(without_surrogates(piece).encode())


def report(analysis: Analysis) -> Iterator[str]:
    """The text of the report, piece by piece."""
    return page(_parts(analysis), title=f"{TITLE}: {analysis.gold}")


def _parts(analysis: Analysis) -> Iterator[str]:
    yield f'<style>{STYLE}</style><main class="analysis" lang="en"><h1>{TITLE}</h1>'
    yield f"<p>Gold: <code>{escaped(analysis.gold)}</code></p>"
    for layer in analysis.layers:
        yield f"<section><h2>{_NAMES[layer.layer]}</h2>"
        yield _totals(layer)
        yield from _comparisons(layer)
        for by in TITLES[layer.layer]:
            yield _breakdown(layer, by)
        for system in layer.systems:
            yield from mistakes_of(system, layer.layer)
        yield "</section>"
    yield "</main>"


def _totals(layer: LayerAnalysis) -> str:
    head = ["", "precision", "recall", "F1", "exact match", "gold", "matched", "predicted"]
    rows = [
        [
            system.name,
            *percents(system.scores.all),
            f"{system.scores.exact_match:.2f}",
            *(f"{count:,}" for count in _counts(system.scores.all)[:3]),
        ]
        for system in layer.systems
    ]
    files = "".join(
        f"<li>{shown(system.name)}: <code>{escaped(system.path)}</code></li>"
        for system in layer.systems
    )
    notes = [
        f"{shown(system.name)}: {system.scores.unparsed:,} of {system.scores.sentences:,} "
        "sentences could not be parsed. All of their gold spans count as missing; fencepost score "
        "leaves such sentences out, as EVALB does."
        for system in layer.systems
        if system.scores.unparsed
    ]
    rules = (
        "Brackets are counted as EVALB does with COLLINS.prm, but for a wrapper at the top (ROOT, "
        "TOP, S1, VROOT or no label). Predicted brackets stand over the gold words and tags."
        if layer.layer == "tree"
        else "An entity is right if its words and its label are those of a gold one."
    )
    notes.append(f"{rules} Gold data: {layer.fingerprint}.")
    told = "".join(f'<p class="note">{note}</p>' for note in notes)
    return f"<h3>Altogether</h3><ul>{files}</ul>{table(head, rows)}{told}"


def _comparisons(layer: LayerAnalysis) -> Iterator[str]:
    if not layer.pairs:
        return
    rows = []
    for pair in layer.pairs:
        found = pair.difference
        rows.append(
            [
                f"{pair.first} − {pair.second}",
                f"{found.f1:+.2f}",
                f"{found.low:+.2f} to {found.high:+.2f}",
                found.told_p,
            ]
        )
    samples = layer.pairs[0].difference.samples
    yield "<h3>Is the difference more than chance?</h3>"
    yield table(["", "difference of F1", "95 % interval", "p"], rows)
    yield (
        f'<p class="note">Paired bootstrap: as many sentences as there are were drawn with '
        f"replacement, {samples:,} times, and all systems scored on each sample. p is the share of "
        "samples in which the better system is not better. With a small p, another choice of "
        "sentences of the same sort would hardly have turned the two around; it says nothing of "
        "other sorts of text, or of training again with another seed.</p>"
    )


def _breakdown(layer: LayerAnalysis, by: str) -> str:
    heading, meaning = TITLES[layer.layer][by]
    light, dark = (_address(layer, by, theme) for theme in ("light", "dark"))
    names = ", ".join(visible(system.name) for system in layer.systems)
    alt = escaped(f"{heading}: F1 of {names}. The numbers are in the tables below the picture.")
    head = [meaning, "precision", "recall", "F1", "gold", "found", "predicted", "right"]
    tables = "".join(
        table(
            head,
            [
                [name, *percents(match), *(f"{n:,}" for n in _counts(match))]
                for name, match in system.scores.by[by].items()
            ],
            caption=system.name,
        )
        for system in layer.systems
    )
    note = (
        f"The {LABELS} labels that are most frequent in the gold data; the table has all."
        if by == "label"
        else f"Hollow: fewer than {FEW} gold spans, which say little."
    )
    return (
        f'<h3>{heading}</h3><figure><div class="wide" tabindex="0"><picture>'
        f'<source media="screen and (prefers-color-scheme:dark)" srcset="{dark}">'
        f'<img alt="{alt}" src="{light}"></picture></div><figcaption>{note}</figcaption></figure>'
        f"<details><summary>Numbers</summary>{tables}</details>"
    )


def _address(layer: LayerAnalysis, by: str, theme: Theme) -> str:
    """A picture as an address, so that nothing has to be fetched."""
    data = base64.b64encode(picture(layer, by, theme=theme).encode()).decode()
    return f"data:image/svg+xml;base64,{data}"


def _counts(match: Match) -> tuple[int, int, int, int]:
    return match.gold, match.found, match.predicted, match.right
