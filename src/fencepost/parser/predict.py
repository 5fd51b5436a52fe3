"""Parses of sentences, batched by words and in the order that they came in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest

from fencepost.batching.batches import by_words
from fencepost.decoding.beam import beam
from fencepost.decoding.constraints import RowLimits, limits_of
from fencepost.decoding.walk import greedy
from fencepost.parser.asking import Asked
from fencepost.parser.encoding import Encoded, encode
from fencepost.parser.model import Model
from fencepost.parser.readings import Reading, parse_of, readings_of
from fencepost.structure import Parse, Sentence, Span
from fencepost.tasks.layers import POINTING
from fencepost.transition import Constraints

BATCH_WORDS = 3000  # read at a time
Done = Callable[[int], None]  # is told how many words more are done


def unheard(words: int) -> None:
    """Nobody wants to know how many words more are done."""


def predict(
    model: Model,
    sentences: Sequence[Sentence],
    *,
    tasks: Collection[str] | None = None,
    beams: int = 1,
    canonical: bool = True,
    batch_words: int = BATCH_WORDS,
    done: Done = unheard,
) -> list[Parse]:
    """The best parse of each sentence, with the layers that the model has heads for.

    Args:
        model: which finds them.
        sentences: with their words; tags that they have are kept.
        tasks: which heads are asked; None: all.
        beams: 1 is greedy search.
        canonical: whether search keeps to the canonical rules; the paper's does not.
        batch_words: how many words are read at a time.
        done: is told how many words were parsed, batch by batch.
    """
    asked = Asked(model.heads.names if tasks is None else tuple(tasks), beams, canonical)
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
        model: which finds them.
        sentences: with their words.
        asked: what to find.
        keep: is given the sentences as they were read.
    """
    waiting = [row for row, sentence in enumerate(sentences) if sentence.words]
    found = {row: Parse(sentence) for row, sentence in enumerate(sentences)}
    if waiting:
        constraints = [asked.of(sentences[row]) for row in waiting]
        check_constraints(model, [sentences[row] for row in waiting], constraints, asked)
        was_training = model.network.training
        model.network.eval()
        try:
            encoded = encode(model, [sentences[row] for row in waiting], tasks=asked.tasks)
            parses = search(model, encoded, asked, constraints=constraints)
        finally:
            model.network.train(was_training)
        found.update(zip(waiting, (best for best, *_ in parses), strict=True))
        if keep is not None:
            keep(encoded)
    return [found[row] for row in range(len(sentences))]


def check_constraints(
    model: Model,
    sentences: Sequence[Sentence],
    constraints: Sequence[Mapping[str, Constraints]],
    asked: Asked,
) -> None:
    """Refuse what no parse can obey.

    Raises:
        ConstraintError: it names what contradicts what.
    """
    lengths = [len(sentence) for sentence in sentences]
    for layer in layers_of(model, asked):
        own = [one.get(layer) for one in constraints]
        row_limits(model, layer, own, lengths)


def search(
    model: Model,
    encoded: Encoded,
    asked: Asked,
    *,
    constraints: Sequence[Mapping[str, Constraints]],
    best: int = 1,
) -> list[list[Parse]]:
    """The best parses of sentences that have been read: at least one each, the best first.

    Args:
        model: which finds them.
        encoded: the sentences.
        asked: what to find, and how.
        constraints: what each sentence's layers have to obey.
        best: how many parses are wanted of each.
    """
    ways: list[list[dict[str, Reading]]] = [[{}] for _ in encoded.sentences]
    for layer in layers_of(model, asked):
        # Entities that have to agree with the tree are looked for anew for each tree.
        follows = asked.consistent and layer == "entities"
        longer: list[list[dict[str, Reading]]] = [[] for _ in ways]
        for rank in range(max(map(len, ways)) if follows else 1):
            own = [one.get(layer) for one in constraints]
            if follows:
                trees = [row[min(rank, len(row) - 1)]["tree"] for row in ways]
                own = [beside(one, tree.spans) for one, tree in zip(own, trees, strict=True)]
            readings = _readings(model, encoded, layer, asked=asked, constraints=own, best=best)
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
                min_probability=asked.min_probability,
            )
            for way in row
        ]
        for sentence, row in zip(encoded.sentences, ways, strict=True)
    ]


def layers_of(model: Model, asked: Asked) -> list[str]:
    """The layers that are looked for, the tree first."""
    return [name for name in POINTING if name in asked.tasks and name in model.network.heads]


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
    constraints: Sequence[Constraints | None],
    best: int,
) -> list[list[Reading]]:
    """The readings of a layer of each sentence, best first."""
    labels = model.numbers.labels[layer]
    limits = row_limits(model, layer, constraints, [len(one) for one in encoded.sentences])
    rules = model.rules(layer, canonical=asked.canonical, limits=limits)
    search_in = (model.stepper(layer), encoded.boundaries, encoded.lengths, rules)
    beams = max(asked.beams, best)
    wide: list[list[Reading]] = []
    if beams > 1:
        wide = readings_of(beam(*search_in, beams=beams), labels)
        if best == 1 and limits is None:
            return wide
    narrow = readings_of(greedy(*search_in), labels)
    return list(map(_both, wide, narrow)) if wide else narrow


def row_limits(
    model: Model, layer: str, constraints: Sequence[Constraints | None], lengths: Sequence[int]
) -> RowLimits | None:
    """The steps that constraints leave to the sentences of a batch; None if there are none.

    Raises:
        ConstraintError: no parse can obey.
    """
    labels, head = model.numbers.labels[layer], model.network.head(layer)
    limits = limits_of(
        constraints,
        labels,
        lengths,
        open_root=head.open_root,
        wrapper=None if head.open_root else model.numbers.wrapper,
    )
    return RowLimits.of(limits, labels, boundaries=max(lengths, default=0) + 1)


def _both(wide: list[Reading], narrow: list[Reading]) -> list[Reading]:
    """The readings of a beam with the greedy one, which may have fallen out of it.

    It does so where a constraint makes unlikely steps necessary: what had to be taken late then
    looks worse for a while than what will have to be taken later.
    """
    known = {reading.spans for reading in wide}
    more = [reading for reading in narrow if reading.spans not in known]
    return sorted(wide + more, key=lambda reading: -reading.log_prob)
