"""Our way, trained on its own errors with a dynamic oracle.

Teacher forcing only ever shows a decoder what follows right steps. Here some of the sentences of
each batch are walked as the model itself would walk them, and at every configuration on that way it
learns the step that loses no gold span any more (`dynamic_oracle`). Head and search are the
library's.

Decisions:

- Each sentence explores with probability `share`, from the first batch on. A later start would have
  to count batches, and a run that is resumed would count from zero; the draws are torch's, which a
  checkpoint keeps. Sentences that do not explore follow the gold path, where the loss is the usual
  one, so that one pass through the decoder does for both.
- The way is found from the boundaries of the very pass that is trained. They have dropout in them;
  a second pass without it would cost nearly as much again, and makes few errors on sentences that
  have been seen before. The head searches without dropout, with the library's fast steps.
- The oracle knows no canonical rules. After a wrong filler it may want another one beside it and a
  merge over both, which canonical search cannot do. Where that is to be ruled out, `canonical` can
  be switched off, for own paths and prediction alike, as in the paper.
- A sentence counts as much as it would on the gold path, however long its way is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional

from experiments.systems.dynamic_oracle import best_places
from fencepost.batching.batches import StepTensors, step_tensors
from fencepost.batching.examples import Example, Steps
from fencepost.batching.inputs import Inputs
from fencepost.batching.vocabulary import FILLER
from fencepost.errors import ConfigError
from fencepost.model.head import PointingHead
from fencepost.model.loss import allowed_along
from fencepost.model.network import Network, device_of
from fencepost.model.search import greedy
from fencepost.parser.model import Model
from fencepost.parser.predict import predict
from fencepost.structure import Parse, Sentence
from fencepost.training.loop import Recipe


@dataclass(frozen=True, slots=True)
class Exploring:
    """Bottom-up pointing that also learns from where its own steps lead it.

    Args:
        share: of sentences that are trained along the model's own path; 0 is the usual training.
        canonical: whether search keeps to the canonical rules, on own paths and in prediction.
    """

    share: float = 0.5
    canonical: bool = True

    def fit(self, model: Model) -> None:
        """Leave the library's heads as they are.

        Raises:
            ConfigError: the model has tags, which would never be trained.
        """
        if model.network.tags is not None:
            raise ConfigError("heads.tags: exploring trains trees and entities; leave tags out")

    def losses(
        self, network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
    ) -> dict[str, Tensor]:
        """The loss of each head along gold paths and own ones, summed over the sentences."""
        device = device_of(network)
        inputs = inputs.to(device)
        boundaries = network.boundaries(network.states(inputs))
        lengths = inputs.lengths.to(device)
        explores = (torch.rand(len(batch)) < self.share).tolist()
        losses: dict[str, Tensor] = {}
        for name, head in network.named_heads():
            rows = [row for row, example in enumerate(batch) if name in example.steps]
            if not rows:
                continue
            paths = {row: batch[row].steps[name] for row in rows}
            own = [row for row in rows if explores[row]]
            if own:
                found = own_paths(head, boundaries[own], lengths[own], canonical=self.canonical)
                paths.update(zip(own, found, strict=True))
            path, best = along([batch[row] for row in rows], name, [paths[row] for row in rows])
            losses[name] = path_loss(
                head,
                boundaries[rows],
                lengths[rows],
                path.to(device),
                best.to(device),
                over_candidates=recipe.over != "all",
                label_smoothing=recipe.label_smoothing,
            )
        return losses

    def predict(self, model: Model, sentences: Sequence[Sentence]) -> list[Parse]:
        """What greedy search finds."""
        return predict(model, sentences, canonical=self.canonical)


def own_paths(
    head: PointingHead, boundaries: Tensor, lengths: Tensor, *, canonical: bool
) -> list[Steps]:
    """The steps of the head's own greedy parses.

    Args:
        head: which parses.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        canonical: whether the rules of `transition.canonical` hold
    """
    was_training = head.training
    head.eval()
    try:
        with torch.autocast(boundaries.device.type, enabled=False):
            found = greedy(head, boundaries.detach().float(), lengths, canonical=canonical)
    finally:
        head.train(was_training)  # this also tells search that weights will change
    columns = (found.boundaries[:, 0], found.labels[:, 0], found.steps[:, 0])
    return [
        _steps(points[:count], labels[:count])
        for points, labels, count in zip(*(column.tolist() for column in columns), strict=True)
    ]


def _steps(boundaries: Sequence[int], labels: Sequence[int]) -> Steps:
    """Steps with the spans that they make."""
    starts, ends = [], []
    cursor = 0
    for boundary in boundaries:
        starts.append(min(cursor, boundary))
        ends.append(cursor := max(cursor, boundary))
    return Steps(tuple(boundaries), tuple(starts), tuple(ends), tuple(labels))


def best_along(path: Steps, gold: Steps, n: int) -> Steps:
    """The best step at each configuration of a path, with the span that it would make.

    Args:
        path: of `n` words.
        gold: the steps of the ordinary oracle.
        n: the number of words.
    """
    labels = dict(zip(zip(gold.starts, gold.ends, strict=True), gold.labels, strict=True))
    # The root comes last, and counts without a label, too.
    wanted = [place for place, label in labels.items() if label != FILLER or place == (0, n)]
    boundaries, starts, ends = zip(*best_places(path.boundaries, wanted, n), strict=True)
    numbers = (labels.get(place, FILLER) for place in zip(starts, ends, strict=True))
    return Steps(boundaries, starts, ends, tuple(numbers))


def along(
    examples: Sequence[Example], layer: str, paths: Sequence[Steps]
) -> tuple[StepTensors, StepTensors]:
    """The steps of paths, and the best ones at each of their configurations.

    Args:
        examples: which all have the layer.
        layer: that is learned.
        paths: one for each.
    """
    taken, best = [], []
    for example, path in zip(examples, paths, strict=True):
        gold = example.steps[layer]
        ours = best_along(path, gold, len(example.words))
        weight = example.weight * len(gold.labels) / len(path.labels)
        taken.append(replace(example, steps={layer: path}))
        best.append(replace(example, steps={layer: ours}, weight=weight))
    one, other = step_tensors(taken, layer), step_tensors(best, layer)
    assert one is not None
    assert other is not None
    return one, other


def path_loss(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    path: StepTensors,
    best: StepTensors,
    *,
    over_candidates: bool = False,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of the best steps along a path, summed; on the gold path, that of `pointing_loss`.

    The decoder reads the spans of the path. Labels are learned for the spans that the best steps
    would make, since those of the path may be nothing.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        path: the steps that are taken
        best: those that would be best in their places, with what each row counts
        over_candidates: normalise pointing over the candidates instead of all boundaries
        label_smoothing: share of the target that all labels get
    """
    rows, width = boundaries.shape[:2]
    later = head.inputs(boundaries, path.starts[:, :-1], path.ends[:, :-1], path.labels[:, :-1])
    states, _ = head.decode(
        torch.cat((head.first_inputs(rows), later), dim=1), head.first_state(rows)
    )
    points = head.pointing_scores(head.sides(boundaries), states)
    labels = head.label_scores(boundaries, states, best.starts, best.ends)
    if over_candidates:
        allowed, _ = allowed_along(path, lengths, width)
    else:
        allowed = (torch.arange(width, device=points.device) <= lengths[:, None])[:, None]
    points = points.masked_fill(~allowed, float("-inf"))
    each = functional.cross_entropy(
        points.transpose(1, 2), best.boundaries, reduction="none"
    ) + functional.cross_entropy(
        labels.transpose(1, 2), best.labels, reduction="none", label_smoothing=label_smoothing
    )
    each = each.masked_fill(~best.mask, 0.0)  # padded steps may have any score, even none
    return (each.sum(1) * best.weights).sum()
