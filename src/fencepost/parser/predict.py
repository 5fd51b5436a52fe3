"""Parses of sentences, in batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from fencepost.batching.batches import by_words
from fencepost.checkpoints.model import Model
from fencepost.decoding.beam import beam
from fencepost.decoding.constraints import RowLimits, limits_of
from fencepost.decoding.walk import greedy
from fencepost.parser.assembly import LayerParse, layer_parses, parse_of
from fencepost.parser.encoding import Encoded, encode
from fencepost.parser.options import CheckedOptions, beams_of
from fencepost.structure import Parse, Sentence, Span
from fencepost.tasks.layers import POINTING
from fencepost.transition import Constraints

BATCH_WORDS = 3000
Done = Callable[[int], None]  # called with the number of words after each batch


def no_progress(words: int) -> None:
    """Ignore progress."""


def predict(
    model: Model,
    sentences: Sequence[Sentence],
    *,
    tasks: Collection[str] | None = None,
    beams: int | None = None,
    canonical: bool = True,
    done: Done = no_progress,
) -> list[Parse]:
    """The best parse of each sentence.

    Args:
        model: the model to parse with.
        sentences: the sentences; their own tags stay.
        tasks: the heads to parse with; None: all.
        beams: the width of the beam, 1 for greedy search; None: the model's own.
        canonical: whether search keeps to the canonical rules, which the paper's does not.
        done: called with the number of words after each batch.
    """
    heads = model.heads.names if tasks is None else tuple(tasks)
    options = CheckedOptions(heads, beams_of(model, beams), canonical)
    parses: dict[int, Parse] = {}
    for rows in by_words([len(sentence) for sentence in sentences], most=BATCH_WORDS):
        batch = [sentences[row] for row in rows]
        parses.update(zip(rows, predict_batch(model, batch, options), strict=True))
        done(sum(map(len, batch)))
    return [parses[row] for row in range(len(sentences))]


def predict_batch(
    model: Model,
    sentences: Sequence[Sentence],
    options: CheckedOptions,
    *,
    on_encoded: Callable[[Encoded], None] | None = None,
) -> list[Parse]:
    """The best parse of each sentence of a batch.

    Args:
        model: the model to parse with.
        sentences: the sentences.
        options: the options of parsing.
        on_encoded: called with the encoded sentences.
    """
    parses = [Parse(sentence) for sentence in sentences]
    rows = [row for row, sentence in enumerate(sentences) if sentence.words]
    if rows:
        batch = [sentences[row] for row in rows]
        constraints = BatchConstraints.of(model, batch, options)
        with model.network.evaluating():
            encoded = encode(model, batch, tasks=options.tasks)
            for row, (best, *_) in zip(
                rows, search(model, encoded, options, constraints), strict=True
            ):
                parses[row] = best
        if on_encoded is not None:
            on_encoded(encoded)
    return parses


@dataclass(frozen=True, slots=True)
class BatchConstraints:
    """The constraints on the sentences of a batch, and the steps that they allow."""

    by_layer: list[dict[str, Constraints]]  # of each sentence
    limits: dict[str, RowLimits | None]  # by layer

    @classmethod
    def of(
        cls, model: Model, sentences: Sequence[Sentence], options: CheckedOptions
    ) -> BatchConstraints:
        """The constraints on sentences, before any layer is parsed.

        Raises:
            ConstraintError: no parse satisfies them; the message names the contradiction.
        """
        by_layer = [options.constraints_on(sentence) for sentence in sentences]
        lengths = [len(sentence) for sentence in sentences]
        limits = {
            name: row_limits(model, name, [layers.get(name) for layers in by_layer], lengths)
            for name in layers_of(model, options)
        }
        return cls(by_layer, limits)


def search(
    model: Model,
    encoded: Encoded,
    options: CheckedOptions,
    constraints: BatchConstraints,
    *,
    best: int = 1,
) -> list[list[Parse]]:
    """The best parses of encoded sentences: at least one each, best first.

    Args:
        model: the model to parse with.
        encoded: the sentences.
        options: the options of parsing.
        constraints: the constraints on these sentences.
        best: the number of parses per sentence.
    """
    combinations: list[list[dict[str, LayerParse]]] = [[{}] for _ in encoded.sentences]
    for layer in layers_of(model, options):
        # Entities that must agree with the tree are searched for again with each tree.
        agrees = options.values["consistent"] and layer == "entities"
        longer: list[list[dict[str, LayerParse]]] = [[] for _ in combinations]
        for rank in range(max(map(len, combinations)) if agrees else 1):
            limits = constraints.limits[layer]
            if agrees:
                trees = [row[min(rank, len(row) - 1)]["tree"] for row in combinations]
                uncrossed = [
                    without_crossing(layers.get(layer), tree.spans)
                    for layers, tree in zip(constraints.by_layer, trees, strict=True)
                ]
                limits = row_limits(model, layer, uncrossed, list(map(len, encoded.sentences)))
            parses = _search_layer(model, encoded, layer, options, limits=limits, best=best)
            for before, after, row in zip(combinations, longer, parses, strict=True):
                extended = before[rank : rank + 1] if agrees else before
                after += ({**layers, layer: parse} for layers in extended for parse in row)
        combinations = [
            nlargest(best, row, key=lambda layers: sum(one.log_prob for one in layers.values()))
            for row in longer
        ]
    return [
        [
            parse_of(
                sentence,
                layers,
                wrapper=model.numbers.wrapper,
                min_probability=options.values["min_probability"],
                names=options.values["names"],
            )
            for layers in row
        ]
        for sentence, row in zip(encoded.sentences, combinations, strict=True)
    ]


def layers_of(model: Model, options: CheckedOptions) -> list[str]:
    """The layers to parse, the tree first."""
    return [name for name in POINTING if name in options.tasks and name in model.network.layers]


def without_crossing(constraints: Constraints | None, tree: Iterable[Span]) -> Constraints:
    """Add to constraints that nothing crosses the spans of a tree."""
    constraints = constraints or Constraints()
    places = tuple(span[:2] for span in tree if span.label is not None)
    return replace(constraints, uncrossed=constraints.uncrossed + places)


def _search_layer(
    model: Model,
    encoded: Encoded,
    layer: str,
    options: CheckedOptions,
    *,
    limits: RowLimits | None,
    best: int,
) -> list[list[LayerParse]]:
    """The parses of a layer of each sentence, best first."""
    rules = model.rules(layer, canonical=options.canonical, limits=limits)
    space = (model.network.stepper(layer), encoded.boundaries, encoded.lengths, rules)
    beams = max(options.beams, best)
    derivations = greedy(*space) if beams == 1 else beam(*space, beams=beams)
    return layer_parses(derivations, model.numbers.labels[layer])


def row_limits(
    model: Model, layer: str, constraints: Sequence[Constraints | None], lengths: Sequence[int]
) -> RowLimits | None:
    """The steps that constraints allow in the sentences of a batch; None: all.

    Raises:
        ConstraintError: no parse satisfies them.
    """
    labels, open_root = model.numbers.labels[layer], model.open_root(layer)
    limits = limits_of(
        constraints,
        labels,
        lengths,
        open_root=open_root,
        wrapper=None if open_root else model.numbers.wrapper,
    )
    return RowLimits.of(limits, labels, boundaries=max(lengths, default=0) + 1)
