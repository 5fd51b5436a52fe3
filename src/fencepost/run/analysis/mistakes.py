"""The mistakes of a system: by reason, by kind, the most common first, with examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.scoring.breakdown import Layer
from fencepost.scoring.judgements import Judgement
from fencepost.scoring.mistakes import REASONS, Mistake, Reason, entity_mistakes, tree_mistakes
from fencepost.structure import Parse

TOP = 5  # kinds of mistakes for each reason that have examples
_SHORT = 3  # words; a shorter sentence shows little


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence with a mistake."""

    number: int  # of the sentence, from 1
    gold: Parse
    predicted: Parse | None
    mistake: Mistake

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "sentence": self.number,
            "id": self.gold.id,
            "words": list(self.gold.words),
            "missing": [list(span) for span in self.mistake.missing],
            "extra": [list(span) for span in self.mistake.extra],
        }


@dataclass(frozen=True, slots=True)
class Kind:
    """Mistakes that are alike, as in `NP → ADJP`."""

    name: str
    count: int
    missing: int  # gold spans
    extra: int  # predicted spans
    examples: tuple[Example, ...]  # only of the most common kinds

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kind": self.name,
            "count": self.count,
            "missing": self.missing,
            "extra": self.extra,
            "examples": [example.to_dict() for example in self.examples],
        }


@dataclass(frozen=True, slots=True)
class Group:
    """All mistakes that have the same reason."""

    reason: Reason
    kinds: tuple[Kind, ...]  # the most common first

    @property
    def count(self) -> int:
        """How many mistakes there are."""
        return sum(kind.count for kind in self.kinds)

    @property
    def missing(self) -> int:
        """How many gold spans they are about."""
        return sum(kind.missing for kind in self.kinds)

    @property
    def extra(self) -> int:
        """How many predicted spans they are about."""
        return sum(kind.extra for kind in self.kinds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "count": self.count,
            "missing": self.missing,
            "extra": self.extra,
            "kinds": [kind.to_dict() for kind in self.kinds],
        }


def grouped(
    judgements: Sequence[Judgement],
    gold: Sequence[Parse],
    predicted: Sequence[Parse | None],
    *,
    layer: Layer,
    examples: int,
) -> tuple[Group, ...]:
    """The mistakes of a system, by reason and kind.

    Args:
        judgements: of all sentences.
        gold: the same sentences.
        predicted: what the system has found in them.
        layer: that was judged.
        examples: how many sentences are shown for each of the most common kinds.
    """
    find = tree_mistakes if layer == "tree" else entity_mistakes
    found: dict[Reason, dict[str, list[tuple[int, Mistake]]]] = {name: {} for name in REASONS}
    for index, judgement in enumerate(judgements):
        for mistake in find(judgement):
            found[mistake.reason].setdefault(mistake.kind, []).append((index, mistake))

    def shown(mistakes: list[tuple[int, Mistake]]) -> tuple[Example, ...]:
        """The shortest sentences with such a mistake, each once."""
        once = dict(reversed(mistakes))
        lengths = {index: judgements[index].length for index in once}
        ordered = sorted(
            once, key=lambda i: (predicted[i] is None, lengths[i] < _SHORT, lengths[i], i)
        )
        return tuple(
            Example(index + 1, gold[index], predicted[index], once[index])
            for index in ordered[:examples]
        )

    groups = []
    for reason, kinds in found.items():
        ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
        made = [
            Kind(
                name,
                len(mistakes),
                sum(len(mistake.missing) for _, mistake in mistakes),
                sum(len(mistake.extra) for _, mistake in mistakes),
                shown(mistakes) if rank < TOP else (),
            )
            for rank, (name, mistakes) in enumerate(ordered)
        ]
        if made:
            groups.append(Group(reason, tuple(made)))
    return tuple(groups)
