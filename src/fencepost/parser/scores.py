"""Probabilities of analyses, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fencepost.checkpoints.model import Model
from fencepost.errors import ConfigError, DataError
from fencepost.parser.encoding import Encoded
from fencepost.parser.inputs import typed_repr
from fencepost.parser.steps import Step, forced_steps
from fencepost.structure import Document, Parse, Sentence, Span, Tree

Analysis = Parse | Document | Tree | str | Iterable[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Scored:
    """An analysis with its probability."""

    sentence: Sentence
    steps: Mapping[str, tuple[Step, ...]]  # by layer

    @property
    def log_probs(self) -> dict[str, float]:
        """The log-probability of each layer."""
        return {layer: sum(step.log_prob for step in steps) for layer, steps in self.steps.items()}

    @property
    def log_prob(self) -> float:
        """The log-probability of the whole analysis, comparable with `Parse.log_prob`."""
        return sum(self.log_probs.values())


def parse_of_analysis(sentence: Sentence, analysis: Analysis) -> Parse:
    """Turn an analysis into a parse.

    Args:
        sentence: the words of the analysis.
        analysis: a parse, a document of one sentence, a tree, brackets, or entities.

    Raises:
        DataError: it stands over other words.
        ConfigError: it is no analysis.
    """
    if isinstance(analysis, Document):
        analysis = analysis.only()
    if isinstance(analysis, str):
        analysis = Tree.from_brackets(analysis)
    if isinstance(analysis, Parse | Tree) and analysis.words != sentence.words:
        raise DataError(
            f"the analysis stands over other words: {' '.join(analysis.words)!r}, "
            f"not {' '.join(sentence.words)!r}"
        )
    if isinstance(analysis, Parse):
        return analysis.over(sentence)
    if isinstance(analysis, Tree):
        return Parse(sentence, Tree(sentence, analysis.spans))
    try:
        rows = [(start, end, label) for start, end, label in analysis]
        if all(isinstance(label, str) for _, _, label in rows):
            return Parse(sentence, entities=tuple(Span(*row) for row in rows))
    except (TypeError, ValueError):
        pass
    raise ConfigError(
        "analysis: a parse, a tree, brackets, or entities as [(start, end, label)], not "
        f"{typed_repr(analysis)}"
    )


def score_parses(
    model: Model, encoded: Encoded, parses: Sequence[Parse], *, layers: Iterable[str]
) -> list[Scored]:
    """Score a parse of each sentence, in the layers that it has.

    Args:
        model: the model to score with.
        encoded: the sentences.
        parses: a parse of each sentence.
        layers: any of `tree` and `entities`.
    """
    by_layer = {layer: forced_steps(model, encoded, parses, layer=layer) for layer in layers}
    return [
        Scored(sentence, {layer: rows[row] for layer, rows in by_layer.items() if rows[row]})
        for row, sentence in enumerate(encoded.sentences)
    ]
