"""How probable given analyses are, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checkpoints.model import Model
from fencepost.errors import ConfigError, DataError
from fencepost.parser.encoding import Encoded
from fencepost.parser.inputs import shown
from fencepost.parser.steps import Step, given_steps
from fencepost.structure import Parse, Sentence, Span, Tree

Analysis = Parse | Tree | str | Iterable[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Scored:
    """How probable an analysis is."""

    sentence: Sentence
    steps: Mapping[str, tuple[Step, ...]]  # by layer

    @property
    def log_probs(self) -> dict[str, float]:
        """Of each layer."""
        return {layer: sum(step.log_prob for step in steps) for layer, steps in self.steps.items()}

    @property
    def log_prob(self) -> float:
        """Of the whole analysis: `Parse.log_prob` of the same parse, had the parser found it."""
        return sum(self.log_probs.values())


def analysis_of(sentence: Sentence, given: Analysis) -> Parse:
    """A given analysis as a parse.

    Args:
        sentence: the words of the analysis.
        given: a parse, a tree, brackets, or entities.

    Raises:
        DataError: it stands over other words.
        ConfigError: it is no analysis.
    """
    if isinstance(given, str):
        given = Tree.from_brackets(given)
    if isinstance(given, Parse | Tree) and given.words != sentence.words:
        raise DataError(
            f"the analysis stands over other words: {' '.join(given.words)!r}, "
            f"not {' '.join(sentence.words)!r}"
        )
    if isinstance(given, Parse):
        return given.over(sentence)
    if isinstance(given, Tree):
        return Parse(sentence, Tree(sentence, given.spans))
    try:
        return Parse(sentence, entities=tuple(Span(*row) for row in given))
    except TypeError as error:
        raise ConfigError(
            "analysis: a parse, a tree, brackets, or entities as [(start, end, label)], not "
            f"{shown(given)}"
        ) from error


def scored(
    model: Model, encoded: Encoded, parses: Sequence[Parse], *, layers: Iterable[str]
) -> list[Scored]:
    """The scores of an analysis of each sentence, for the layers that it has.

    Args:
        model: scores them.
        encoded: the sentences.
        parses: an analysis of each.
        layers: any of `tree` and `entities`.
    """
    steps: list[dict[str, tuple[Step, ...]]] = [{} for _ in parses]
    for layer in layers:
        for own, some in zip(steps, given_steps(model, encoded, parses, layer=layer), strict=True):
            if some:
                own[layer] = some
    return [Scored(sentence, own) for sentence, own in zip(encoded.sentences, steps, strict=True)]
