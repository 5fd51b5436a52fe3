"""Parses of sentences, batched by words and in the order that they came in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest

from fencepost.batching.batches import by_words
from fencepost.checkpoints.model import Model
from fencepost.decoding.beam import beam
from fencepost.decoding.constraints import RowLimits, limits_of
from fencepost.decoding.walk import greedy
from fencepost.parser.assembly import Reading, parse_of, readings_of
from fencepost.parser.encoding import Encoded, encode
from fencepost.parser.options import Asked, beams_of
from fencepost.structure import Parse, Sentence, Span
from fencepost.tasks.layers import POINTING
from fencepost.transition import Constraints

BATCH_WORDS = 3000  # read at a time
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
    batch_words: int = BATCH_WORDS,
    done: Done = no_progress,
) -> list[Parse]:
    """The best parse of each sentence, with the layers that the model has heads for.

    Args:
        model: to parse with.
        sentences: with their words; tags that they have are kept.
        tasks: heads to parse with; None: all.
        beams: 1 is greedy search; None: the model's own width.
        canonical: whether search keeps to the canonical rules; the paper's does not.
        batch_words: how many words are read at a time.
        done: called with the number of words after each batch.
    """
    names = model.heads.names if tasks is None else tuple(tasks)
    asked = Asked(names, beams_of(model, beams), canonical)
    found: dict[int, Parse] = {}
    for batch in by_words([len(sentence) for sentence in sentences], most=batch_words):
        parses = predict_batch(model, [sentences[row] for row in batch], asked)
        found.update(zip(batch, parses, strict=True))
        done(sum(len(sentences[row]) for row in batch))
    return [found[row] for row in range(len(sentences))]


def predict_batch(
    model: Model,
    sentences: Sequence[Sentence],
    asked: Asked,
    *,
    keep: Callable[[Encoded], None] | None = None,
) -> list[Parse]:
    """The best parse of each sentence of a batch.

    Args:
        model: to parse with.
        sentences: with their words.
        asked: what to find.
        keep: called with the encoded sentences.
    """
    waiting = [row for row, sentence in enumerate(sentences) if sentence.words]
    found = {row: Parse(sentence) for row, sentence in enumerate(sentences)}
    if waiting:
        batch = [sentences[row] for row in waiting]
        bounds = Bounds.of(model, batch, asked)
        with model.network.evaluating():
            encoded = encode(model, batch, tasks=asked.tasks)
            parses = search(model, encoded, asked, bounds)
        found.update(zip(waiting, (best for best, *_ in parses), strict=True))
        if keep is not None:
            keep(encoded)
    return [found[row] for row in range(len(sentences))]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The constraints on the sentences of a batch, and the steps that they leave."""

    constraints: list[dict[str, Constraints]]  # of each sentence, by layer
    limits: dict[str, RowLimits | None]  # by layer

    @classmethod
    def of(cls, model: Model, sentences: Sequence[Sentence], asked: Asked) -> Bounds:
        """The bounds that the options set for some sentences, before any layer is found.

        Raises:
            ConstraintError: no parse can obey; it names what contradicts what.
        """
        constraints = [asked.of(sentence) for sentence in sentences]
        lengths = [len(sentence) for sentence in sentences]
        limits = {
            layer: row_limits(model, layer, [one.get(layer) for one in constraints], lengths)
            for layer in layers_of(model, asked)
        }
        return cls(constraints, limits)


def search(
    model: Model,
    encoded: Encoded,
    asked: Asked,
    bounds: Bounds,
    *,
    best: int = 1,
) -> list[list[Parse]]:
    """The best parses of sentences that have been read: at least one each, the best first.

    Args:
        model: to parse with.
        encoded: the sentences.
        asked: what to find, and how.
        bounds: of these sentences.
        best: how many parses are wanted of each.
    """
    ways: list[list[dict[str, Reading]]] = [[{}] for _ in encoded.sentences]
    for layer in layers_of(model, asked):
        # Entities that have to agree with the tree are looked for anew for each tree.
        follows = asked.options["consistent"] and layer == "entities"
        longer: list[list[dict[str, Reading]]] = [[] for _ in ways]
        for rank in range(max(map(len, ways)) if follows else 1):
            limits = bounds.limits[layer]
            if follows:
                trees = [row[min(rank, len(row) - 1)]["tree"] for row in ways]
                own = [
                    beside(one.get(layer), tree.spans)
                    for one, tree in zip(bounds.constraints, trees, strict=True)
                ]
                limits = row_limits(model, layer, own, [len(one) for one in encoded.sentences])
            readings = _readings(model, encoded, layer, asked=asked, limits=limits, best=best)
            for before, after, found in zip(ways, longer, readings, strict=True):
                some = before[rank : rank + 1] if follows else before
                after += ({**way, layer: reading} for way in some for reading in found)
        ways = [nlargest(best, row, key=_log_prob) for row in longer]
    return [
        [
            parse_of(
                sentence,
                way,
                wrapper=model.numbers.wrapper,
                min_probability=asked.options["min_probability"],
                names=asked.options["names"],
            )
            for way in row
        ]
        for sentence, row in zip(encoded.sentences, ways, strict=True)
    ]


def layers_of(model: Model, asked: Asked) -> list[str]:
    """The layers that are looked for, the tree first."""
    return [name for name in POINTING if name in asked.tasks and name in model.network.layers]


def _log_prob(way: Mapping[str, Reading]) -> float:
    return sum(reading.log_prob for reading in way.values())


def beside(constraints: Constraints | None, tree: Iterable[Span]) -> Constraints:
    """Constraints by which nothing crosses the spans of a tree."""
    own = constraints or Constraints()
    places = tuple(span[:2] for span in tree if span.label is not None)
    return replace(own, uncrossed=own.uncrossed + places)


def _readings(
    model: Model,
    encoded: Encoded,
    layer: str,
    *,
    asked: Asked,
    limits: RowLimits | None,
    best: int,
) -> list[list[Reading]]:
    """The readings of a layer of each sentence, best first."""
    labels = model.numbers.labels[layer]
    rules = model.rules(layer, canonical=asked.canonical, limits=limits)
    search_in = (model.network.stepper(layer), encoded.boundaries, encoded.lengths, rules)
    beams = max(asked.beams, best)
    found = greedy(*search_in) if beams == 1 else beam(*search_in, beams=beams)
    return readings_of(found, labels)


def row_limits(
    model: Model, layer: str, constraints: Sequence[Constraints | None], lengths: Sequence[int]
) -> RowLimits | None:
    """The steps that constraints leave to the sentences of a batch; None if there are none.

    Raises:
        ConstraintError: no parse can obey.
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
