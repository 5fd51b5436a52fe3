"""Parses and scores as text: what `parse`, `score`, `evaluate` and `train` print."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import exp
from typing import TYPE_CHECKING

import typer

from fencepost.cli.tables import table

if TYPE_CHECKING:
    from fencepost.errors import DataError
    from fencepost.run.evaluate import Report, TagReport
    from fencepost.run.score import EntityReport, TreeReport
    from fencepost.run.training.metrics import Epoch
    from fencepost.run.training.seeds import Summary
    from fencepost.run.training.train import Finished
    from fencepost.scoring.entities import Match
    from fencepost.structure import Parse

_PLACES = 10  # that are named before the rest is only counted
NO_WRAPPER = "a wrapper at the top (ROOT, TOP, S1, VROOT or no label) is not counted"


def told_missed(missed: Iterable[DataError]) -> Iterator[str]:
    """Problems in lines; a message of several places is shown once, with the places."""
    places: dict[str, list[str]] = {}
    for one in missed:
        place = ":".join(str(part) for part in (one.path, one.line) if part)
        places.setdefault(one.message, []).append(place)
    for message, found in places.items():
        if len(found) == 1:
            yield f"{found[0]}: {message}" if found[0] else message
        else:
            more = f" and {len(found) - _PLACES:,} more" if len(found) > _PLACES else ""
            yield f"{len(found):,} times: {message}\n  {', '.join(found[:_PLACES])}{more}"


def tell_missed(missed: Collection[DataError]) -> None:
    """Say on standard error what could not be parsed or drawn; after any of it, the status is 2."""
    for line in told_missed(missed):
        print(f"fencepost: {line}", file=sys.stderr)
    if missed:
        raise typer.Exit(2)


def told_trees(report: TreeReport) -> str:
    """Brackets, as EVALB counts them."""
    rows = [["trees", "all", f"length <= {report.cut_off}"]]
    for name, field, digits in (
        ("sentences", "sentences", 0),
        ("  in error", "errors", 0),
        ("  skipped", "skipped", 0),
        ("gold brackets", "gold", 0),
        ("predicted brackets", "predicted", 0),
        ("matched brackets", "matched", 0),
        ("recall", "recall", 2),
        ("precision", "precision", 2),
        ("F1", "f1", 2),
        ("complete match", "complete_match", 2),
        ("average crossing", "average_crossing", 2),
        ("no crossing", "no_crossing", 2),
        ("2 or less crossing", "two_or_less_crossing", 2),
        ("tag accuracy", "tag_accuracy", 2),
    ):
        if field == "tag_accuracy" and report.gold_tags:
            continue
        values = [getattr(totals, field) for totals in (report.all, report.short)]
        rows.append([name, *(f"{value:,.{digits}f}" for value in values)])
    rule = "a wrapper at the top is left to the parameters" if report.wrapper else NO_WRAPPER
    return f"{table(rows)}\n\n{rule}\ngold data: {report.fingerprint}"


def told_entities(report: EntityReport) -> str:
    """Entities, over all and by what they are like."""
    score = report.score

    def row(name: str, match: Match) -> list[str]:
        percents = (match.precision, match.recall, match.f1)
        counts = (match.gold, match.predicted, match.found)
        return [name, *(f"{p:.2f}" for p in percents), *(f"{c:,}" for c in counts)]

    rows = [["entities", "precision", "recall", "F1", "gold", "predicted", "matched"]]
    rows.append(row("all (micro)", score.all))
    rows.append(["mean of types (macro)", *(f"{p:.2f}" for p in score.macro), "", "", ""])
    for heading, matches in (
        ("by type", {name: score.types[name] for name in sorted(score.types)}),
        ("by nesting", score.depths),
        ("by length in words", score.lengths),
    ):
        rows.append([heading, "", "", "", "", "", ""])
        rows += [row(f"  {name}", match) for name, match in matches.items()]
    return f"{table(rows)}\n\ngold data: {report.fingerprint}"


def told_tags(report: TagReport) -> str:
    """Tags, in the form of the others."""
    return table(
        [["tags", "words", "accuracy"], ["all", f"{report.words:,}", f"{report.accuracy:.2f}"]]
    )


def told_report(report: Report) -> str:
    """Any of them."""
    from fencepost.run.score import EntityReport, TreeReport

    if isinstance(report, TreeReport):
        return told_trees(report)
    return told_entities(report) if isinstance(report, EntityReport) else told_tags(report)


def told_epoch(epoch: Epoch) -> str:
    """The end of an epoch, in a line."""
    figures = ", ".join(f"{name} {value:.2f}" for name, value in epoch.dev.items())
    best = " (best)" if epoch.is_best else ""
    skipped = f", {epoch.skipped} steps skipped" if epoch.skipped else ""
    return (
        f"epoch {epoch.epoch}: loss {epoch.loss:.3f}, dev {figures}{best}, "
        f"{epoch.seconds:.0f} s, {epoch.words_per_second:.0f} words/s{skipped}"
    )


def told_finished(finished: Finished) -> str:
    """The end of a run: where its model is, how good it is, and how to use it."""
    best, model = finished.best, shlex.quote(str(finished.model))
    figures = ", ".join(f"{name} {value:.2f}" for name, value in best.dev.items())
    told = "finished before; " if finished.before else ""
    return (
        f"{told}{finished.model}: dev {figures} (epoch {best.epoch} of {finished.epochs})\n"
        f'use it: fencepost parse "Some text." --model {model}'
    )


def told_summary(summary: Summary) -> str:
    """Mean and spread over seeds, by head."""
    rows = [["dev", "mean", "spread", *(f"seed {seed}" for seed in summary.seeds)]]
    for name, head in summary.heads.items():
        rows.append([name, *(f"{x:.2f}" for x in (head.mean, head.spread, *head.figures))])
    return table(rows)


def told_readings(readings: Sequence[Parse], *, width: int) -> str:
    """The readings of a sentence: the best one, and how others, if there are any, differ from it.

    Args:
        readings: the best first.
        width: columns of the terminal.
    """
    from fencepost.formats.pretty import pretty_parse
    from fencepost.scoring.differences import differences

    first, *others = readings
    parts = [pretty_parse(first, width=width)]
    if others:
        parts.insert(0, f"reading 1 of {len(readings)}")
    for parse in others:
        name = f"reading {parse.rank}"
        told = differences(first, parse).told("reading 1", name).replace("\n", "\n  ")
        share = exp(parse.log_prob or 0.0)
        parts.append(f"{name}, probability {share:.2g}\n  {told}")
    return "\n".join(parts)


def width_of(out: str) -> int:
    """How many columns what is laid out for reading may take: those of a terminal, if it is one."""
    on_screen = out == "-" and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if on_screen else 100
