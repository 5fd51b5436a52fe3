"""The output of the EVALB program, byte for byte: table, messages and both summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from fencepost.scoring.brackets import Comparison, Counts, Side
from fencepost.scoring.parameters import COLLINS, Parameters
from fencepost.scoring.totals import Totals, per_cent

_RULE = "=" * 76
_HEAD = (
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n"
    f"{_RULE}\n"
)


class Printed(NamedTuple):
    """A piece of output, and whether it goes to standard error."""

    text: str
    is_message: bool = False


class TooManyErrors(Exception):  # noqa: N818  (named for what the program does)
    """More sentences are in error than the parameters allow; EVALB exits with status 1."""


def evalb(
    gold: Iterable[Side], predicted: Iterable[Side], parameters: Parameters = COLLINS
) -> Iterator[Printed]:
    """The program's output, piece by piece.

    Raises:
        TooManyErrors: after all output of the program.
    """
    comparison = Comparison(parameters)
    everything, short = Totals(), Totals()
    errors = 0

    def message(line: int, problem: str) -> Iterator[Printed]:
        nonlocal errors
        yield Printed(f"{line} : {problem}\n", is_message=True)
        errors += 1
        # EVALB compares before it increments, so the limit is exceeded by two.
        if errors > parameters.max_errors + 1:
            raise TooManyErrors

    yield Printed(_HEAD)
    for line, (ours, theirs) in enumerate(zip_longest(gold, predicted), 1):
        if ours is None or theirs is None:
            longer = "test" if ours is None else "gold"
            yield from message(line, f"Number of lines unmatch (too many lines in {longer} file)")
            break
        counts = comparison.compare(ours, theirs)
        if counts.status == 1:
            yield from message(line, counts.problem)
        everything.add(counts)
        if counts.length <= parameters.cut_off:
            short.add(counts)
        yield Printed(_row(line, counts))
    yield Printed(_total_row(everything))
    yield Printed("=== Summary ===\n")
    yield Printed(_summary("All", everything))
    yield Printed(_summary(f"len<={parameters.cut_off}", short))


def _row(line: int, counts: Counts) -> str:
    recall = per_cent(counts.matched, counts.gold)
    precision = per_cent(counts.matched, counts.predicted)
    accuracy = per_cent(counts.right_tags, counts.words)
    return (
        f"{line:4d}  {counts.length:3d}    {counts.status:d}  {recall:6.2f} {precision:6.2f}"
        f"   {counts.matched:3d}    {counts.gold:3d}  {counts.predicted:3d}    {counts.crossing:3d}"
        f"   {counts.words:4d}  {counts.right_tags:4d}   {accuracy:6.2f}\n"
    )


def _total_row(totals: Totals) -> str:
    brackets = ""
    if totals.gold and totals.predicted:
        brackets = (
            f"                {totals.recall:6.2f} {totals.precision:6.2f} {totals.matched:6d}"
            f" {totals.gold:5d} {totals.predicted:5d}  {totals.crossing:5d}"
        )
    return (
        f"{_RULE}\n{brackets}  {totals.words:5d} {totals.right_tags:5d}"
        f"   {totals.tag_accuracy:6.2f}\n"
    )


def _summary(name: str, totals: Totals) -> str:
    # C prints 0/0 like this.
    f_measure = f"{totals.f1:6.2f}" if totals.matched else "  -nan"
    return (
        f"\n-- {name} --\n"
        f"Number of sentence        = {totals.sentences:6d}\n"
        f"Number of Error sentence  = {totals.errors:6d}\n"
        f"Number of Skip  sentence  = {totals.skipped:6d}\n"
        f"Number of Valid sentence  = {totals.valid:6d}\n"
        f"Bracketing Recall         = {totals.recall:6.2f}\n"
        f"Bracketing Precision      = {totals.precision:6.2f}\n"
        f"Bracketing FMeasure       = {f_measure}\n"
        f"Complete match            = {totals.complete_match:6.2f}\n"
        f"Average crossing          = {totals.average_crossing:6.2f}\n"
        f"No crossing               = {totals.no_crossing:6.2f}\n"
        f"2 or less crossing        = {totals.two_or_less_crossing:6.2f}\n"
        f"Tagging accuracy          = {totals.tag_accuracy:6.2f}\n"
    )
