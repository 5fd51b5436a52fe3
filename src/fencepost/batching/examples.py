"""Training examples: the words of a parse, its tags and the gold steps of each layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fencepost.batching.steps import Numbered, numbered
from fencepost.batching.vocabulary import Labels
from fencepost.errors import DataError
from fencepost.structure import Parse
from fencepost.tasks.labels import NO_LABELS
from fencepost.tasks.layers import layer_spans


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence to train on."""

    words: tuple[str, ...]
    steps: Mapping[str, Numbered]  # by layer
    tags: tuple[int, ...] | None = None
    weight: float = 1.0
    sample: float = 1.0  # how many times it is seen in an epoch, on average


def collect_labels(
    parses: Iterable[Parse], heads: Iterable[str], *, bare: bool = False
) -> dict[str, Labels]:
    """Collect the labels of each head from the parses that have its layer.

    Args:
        parses: the parses to train on.
        heads: the names of the heads.
        bare: add the label of trees without any label, even if no parse has one.
    """
    seen: dict[str, list[str | None]] = {head: [] for head in heads}
    for parse in parses:
        for head, labels in seen.items():
            if head == "tags":
                labels += parse.tags or ()
            else:
                labels += (span.label for span in layer_spans(parse, head) or ())
    for head, labels in seen.items():
        if not labels:
            raise DataError(f"no sentence to train on has the layer {head!r}", kind="layer")
    if bare and "tree" in seen:
        seen["tree"].append(NO_LABELS)
    return {head: Labels.collect(labels) for head, labels in seen.items()}


def usual_wrapper(parses: Iterable[Parse]) -> str | None:
    """The most frequent wrapper of trees; None if most have none, or there are no trees."""
    counts = Counter(parse.tree.wrapper for parse in parses if parse.tree is not None)
    return counts.most_common(1)[0][0] if counts else None


def example(
    parse: Parse,
    labels: Mapping[str, Labels],
    *,
    layers: Iterable[str] | None = None,
    weight: float = 1.0,
    sample: float = 1.0,
    with_wrapper: bool = False,
) -> Example | None:
    """Build the example of a parse; None if it has none of the layers.

    Args:
        parse: the gold parse.
        labels: the labels of each head.
        layers: the layers to use; None: all.
        weight: weight of the sentence in the loss.
        sample: times it is seen in an epoch, on average.
        with_wrapper: treat the wrapper of a tree as a label like others.
    """
    wanted = [head for head in labels if layers is None or head in layers]
    steps: dict[str, Numbered] = {}
    for head in wanted:
        spans = None if head == "tags" else layer_spans(parse, head, with_wrapper=with_wrapper)
        if spans is not None:
            for span in spans:
                _number(labels[head], span.label)
            steps[head] = numbered(spans, labels[head])
    tags = (
        tuple(_number(labels["tags"], tag) for tag in parse.tags)
        if "tags" in wanted and parse.tags is not None
        else None
    )
    if not parse.words or (tags is None and not steps):
        return None
    return Example(parse.words, steps, tags, weight, sample)


def _number(labels: Labels, label: str | None) -> int:
    number = labels.number(label)
    if number is None:
        raise DataError(f"the label {label!r} is not among those of the network")
    return number
