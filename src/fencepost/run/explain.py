"""A parse as it was made, one step a line: where it could have pointed, and how sure it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from fencepost.run.trace import columns, numbered

if TYPE_CHECKING:
    from fencepost.parser.steps import Step

_SHOWN = 3  # candidates, the most likely ones
_HEADINGS = ("step", "cursor", "points to", "of", "completes", "label", "or", "probability")


def explain(steps: Iterable[Step]) -> Iterator[str]:
    """Lines of text: for each layer of each sentence, its boundaries and a row for each step."""
    layers = groupby(steps, key=lambda step: (id(step.sentence), step.layer))
    for number, ((_, layer), some) in enumerate(layers):
        made = list(some)
        rows = [_HEADINGS, *map(_row, made)]
        if number:
            yield ""
        yield f"# {layer}, {len(made)} step{'s' * (len(made) != 1)}"
        yield numbered(made[0].sentence.words)
        yield from columns(rows, numbers=(0, 1, 2, 7))


def _row(step: Step) -> tuple[str, ...]:
    likely = sorted(step.candidates, key=lambda candidate: -candidate.probability)
    shown = [f"{boundary} ({chance:.2f})" for boundary, chance in likely[:_SHOWN]]
    rest = len(likely) - _SHOWN
    start, end, label = step.span
    other = step.runner_up
    return (
        str(step.number),
        str(step.cursor),
        str(step.boundary),
        " ".join(shown) + (f" and {rest} more" if rest > 0 else ""),
        f"({start}, {end})",
        f"{_named(label)} ({step.label_probability:.2f})",
        "" if other is None else f"{_named(other.label)} ({other.probability:.2f})",
        f"{step.probability:.3f}",
    )


def _named(label: str | None) -> str:
    return "∅" if label is None else label
