"""Commands that look inside files: trace, inspect."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import watcher
from fencepost.cli.tables import plural, table

if TYPE_CHECKING:
    from fencepost.run.inspection import FileReport, Inspection, Layer, Problem

_SHOWN = 10  # problems of a kind, and labels, that are listed before the rest is only counted


def trace(
    source: Annotated[str, typer.Argument(metavar="FILE", help="A file, a folder, or - .")],
    task: opt.Task = None,
    limit: Annotated[int | None, typer.Option(help="Stop after so many sentences.")] = None,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    drop_traces: opt.DropTraces = False,
    drop_functions: opt.DropFunctions = False,
) -> None:
    """Show how gold parses are made, one pointing a line.

    A cursor stands at a boundary; each step points to one of the candidates, and the span between
    the two is complete. ∅ marks a filler.

    Example:
      fencepost trace dev.ptb --limit 1
    """
    from itertools import islice

    from fencepost.formats import ParseReader, ReadSettings
    from fencepost.run.trace import trace as run

    settings = ReadSettings(
        encoding=encoding,
        on_crossing=on_crossing,
        entity_columns=opt.columns(entity_columns),
        drop_traces=drop_traces,
        drop_functions=drop_functions,
    )
    gap = ""
    for parse in islice(ParseReader(source, format=from_, settings=settings), limit):
        for layer in ("tree", "entities") if task is None else (task,):
            lines = list(run(parse, layer))
            if lines:
                print(gap + "\n".join(lines))
                gap = "\n"


def inspect(
    sources: Annotated[list[str], typer.Argument(metavar="FILE", help="Files or folders.")],
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    drop_traces: opt.DropTraces = False,
    drop_functions: opt.DropFunctions = False,
    drop_features: opt.DropFeatures = False,
    scheme: opt.Scheme = "auto",
    entity_columns: opt.EntityColumns = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Count what annotated files hold, and list what is wrong.

    Leaves with status 1 if a problem was found; notes, such as a label that is seen only once, are
    no problem.

    Example:
      fencepost inspect train.ptb dev.ptb
    """
    from fencepost.formats import ReadSettings
    from fencepost.run.inspection import inspect as run

    settings = ReadSettings(
        encoding=encoding,
        on_crossing="drop-span",
        drop_traces=drop_traces,
        drop_functions=drop_functions,
        drop_features=drop_features,
        scheme=scheme,
        entity_columns=opt.columns(entity_columns),
    )
    found = run(sources, format=from_, settings=settings, watch=watcher(quiet))
    print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2) if as_json else _told(found))
    if found.problems:
        sys.exit(1)


def _told(found: Inspection) -> str:
    parts = [_told_file(file) for file in found.files]
    parts += _told_problems(found.problems, "problem") or ["No problems found."]
    parts += _told_problems(found.notes, "note")
    return "\n\n".join(parts)


def _told_problems(problems: Sequence[Problem], name: str) -> list[str]:
    """Problems or notes by their kind, the most common first."""
    parts = []
    for kind, count in Counter(problem.kind for problem in problems).most_common():
        shown = [str(p) for p in problems if p.kind == kind][:_SHOWN]
        more = [f"... and {count - _SHOWN:,} more"] if count > _SHOWN else []
        parts.append("\n  ".join([f"{kind}: {plural(count, name)}", *shown, *more]))
    return parts


def _told_file(file: FileReport) -> str:
    mean = file.words / file.sentences if file.sentences else 0.0
    lines = [
        file.path,
        f"  {plural(file.sentences, 'sentence')}, {plural(file.words, 'word')}, "
        f"{mean:.1f} a sentence, at most {file.longest:,}; {file.repeated:,} repeated",
    ]
    lines += [f"  left out: {count:,} {reason}" for reason, count in file.left_out.items()]
    for name, layer in file.layers.items():
        lines += ["", *_told_layer(name, layer)]
    return "\n".join(lines)


def _told_layer(name: str, layer: Layer) -> list[str]:
    deepest = max(layer.depths, default=0)
    mean = sum(depth * count for depth, count in layer.depths.items()) / max(layer.sentences, 1)
    lines = [
        f"  {name}: {plural(layer.spans, 'span')}, {plural(len(layer.labels), 'label')}, "
        f"depth {mean:.1f} on average and {deepest} at most",
        f"    {plural(layer.steps, 'step')}, {layer.steps_per_word:.2f} a word",
        table(_children(layer), indent=4),
        f"    labels: {_most_common(layer.labels)}",
    ]
    if layer.chains:
        chains = plural(layer.chains.total(), "place")
        lines.append(
            f"    several labels on the same words: {chains}, {_most_common(layer.chains)}"
        )
    return lines


def _children(layer: Layer) -> list[list[str]]:
    from fencepost.run.inspection import CHILDREN

    names = [name for name, _ in CHILDREN]
    return [["children", *names], ["spans", *(f"{layer.children[name]:,}" for name in names)]]


def _most_common(labels: Counter[str]) -> str:
    shown = [f"{label or '(none)'} {count:,}" for label, count in labels.most_common(_SHOWN)]
    more = [f"and {len(labels) - _SHOWN} more"] if len(labels) > _SHOWN else []
    return ", ".join(shown + more)
