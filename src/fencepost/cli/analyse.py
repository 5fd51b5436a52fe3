"""The command `analyse`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import watcher
from fencepost.cli.reports import NO_WRAPPER
from fencepost.cli.tables import plural, table
from fencepost.drawing.markup import NO_LABEL, visible

if TYPE_CHECKING:
    from fencepost.run.analysis.report import LayerAnalysis

_KINDS = 3  # that are named for each reason


def analyse(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The annotation.")],
    predicted: Annotated[
        list[str],
        typer.Argument(metavar="PREDICTED", help="What one or several systems have found."),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="Write the report with pictures here: an .html file."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="What a system is called; once for each file, in their order."),
    ] = None,
    task: opt.Task = None,
    examples: Annotated[
        int, typer.Option(min=0, help="Sentences drawn for each common kind of mistake.")
    ] = 1,
    samples: Annotated[
        int, typer.Option(min=1, help="Samples that tell whether a difference is chance.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the drawing of samples.")] = 1,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Show where systems fail, and which one is better.

    Prints scores, differences between systems, whether they are chance, and sorts of mistakes;
    --out writes a page with F1 by length, children, label, depth and sentence length as pictures,
    and with mistakes drawn.

    Brackets are counted as evaluate counts them: by EVALB's rules, without a wrapper at the top
    (TOP, ROOT, S1, VROOT or no label), over the gold words and gold tags, so that other tags in
    PREDICTED do no harm. An empty line in a file of predicted brackets is a sentence that could not
    be parsed; all of its gold spans are missing. Entities count by strict match. The page needs
    matplotlib: pip install 'fencepost[train]'.

    Examples:
      fencepost analyse gold.ptb predicted.ptb -o report.html
      fencepost analyse gold.ptb greedy.ptb beam.ptb -o report.html
      fencepost analyse gold.jsonl predicted.jsonl --task entities --json
    """
    from fencepost.formats import ReadSettings
    from fencepost.run.analysis.report import analyse as run

    if out is not None:
        from fencepost.run.analysis.page import check_report

        check_report(out, [gold, *predicted])
    found = run(
        gold,
        predicted,
        names=name or (),
        layer=task,
        format=from_,
        settings=ReadSettings(
            encoding=encoding,
            on_crossing=on_crossing,
            entity_columns=opt.columns(entity_columns),
        ),
        examples=examples,
        samples=samples,
        seed=seed,
        watch=watcher(quiet),
    )
    if out is not None:
        from fencepost.run.analysis.page import write_report

        write_report(found, out)
    print(
        json.dumps(found.to_dict(), ensure_ascii=False)
        if as_json
        else "\n\n".join(map(_told_layer, found.layers))
    )
    if not quiet:
        if out is not None:
            print(f"report written to {out}", file=sys.stderr)
        elif not as_json:
            print("note: -o report.html writes a page with pictures", file=sys.stderr)


def _shown(text: str) -> str:
    """A name or label of the user's, on one line and without what would steer a terminal."""
    return visible(text) or NO_LABEL


def _told_layer(layer: LayerAnalysis) -> str:
    """Scores, differences and sorts of mistakes."""
    heading = {"tree": "trees", "entities": "entities"}[layer.layer]
    rows = [[heading, "precision", "recall", "F1", "exact match", "gold", "predicted", "matched"]]
    for system in layer.systems:
        every = system.scores.all
        percents = (every.precision, every.recall, every.f1, system.scores.exact_match)
        counts = (every.gold, every.predicted, every.found)
        rows.append(
            [
                _shown(system.name),
                *(f"{p:.2f}" for p in percents),
                *(f"{count:,}" for count in counts),
            ]
        )
    parts = [table(rows)]
    parts += (
        f"{_shown(system.name)}: {plural(system.scores.unparsed, 'sentence')} could not be parsed; "
        "all of the gold spans are missing"
        for system in layer.systems
        if system.scores.unparsed
    )
    if layer.pairs:
        rows = [["difference", "F1", "95 % interval", "p"]]
        for pair in layer.pairs:
            found = pair.difference
            interval = f"{found.low:+.2f} to {found.high:+.2f}"
            rows.append(
                [
                    f"{_shown(pair.first)} - {_shown(pair.second)}",
                    f"{found.f1:+.2f}",
                    interval,
                    found.told_p,
                ]
            )
        parts.append(table(rows))
    for system in layer.systems:
        rows = [[f"mistakes of {_shown(system.name)}", "count", "missing", "extra"]]
        kinds = [""]
        for group in system.mistakes:
            counts = (group.count, group.missing, group.extra)
            rows.append([f"  {group.reason}", *(f"{count:,}" for count in counts)])
            kinds.append(
                "; ".join(f"{_shown(kind.name)} {kind.count:,}" for kind in group.kinds[:_KINDS])
            )
        lines = table(rows).splitlines()
        parts.append(
            "\n".join(f"{line}   {kind}".rstrip() for line, kind in zip(lines, kinds, strict=True))
        )
    rule = f"{NO_WRAPPER}\n" if layer.layer == "tree" else ""
    parts.append(f"{rule}gold data: {layer.fingerprint}")
    return "\n\n".join(parts)
