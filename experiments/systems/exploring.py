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
from dataclasses import dataclass

import torch
from torch import Tensor

from experiments.systems.dynamic_oracle import best_places
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs
from fencepost.batching.steps import Numbered, Steps, places
from fencepost.batching.vocabulary import FILLER
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import greedy
from fencepost.errors import ConfigError
from fencepost.model.head import PointingHead
from fencepost.model.loss import Over, pointing_loss
from fencepost.model.network import Network, device_of
from fencepost.model.stepper import stepper_of
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

    def fit(self, model: TrainableModel) -> None:
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
        boundaries = network.boundaries(network.states(inputs))
        lengths = torch.from_numpy(inputs.lengths).to(device)
        weights = torch.tensor([example.weight for example in batch], device=device)
        explores = (torch.rand(len(batch)) < self.share).tolist()
        losses: dict[str, Tensor] = {}
        for name, head in network.named_heads():
            gold = {row: one.steps[name] for row, one in enumerate(batch) if name in one.steps}
            if not gold:
                continue
            paths, rows = dict(gold), list(gold)
            own = [row for row in rows if explores[row]]
            if own:
                found = own_paths(head, boundaries[own], lengths[own], canonical=self.canonical)
                paths.update(zip(own, found, strict=True))
            each = path_losses(
                head,
                boundaries[rows],
                lengths[rows],
                list(paths.values()),
                list(gold.values()),
                over="all" if recipe.over == "all" else "candidates",
                label_smoothing=recipe.label_smoothing,
            )
            losses[name] = (each * weights[rows]).sum()
        return losses

    def predict(self, model: TrainableModel, sentences: Sequence[Sentence]) -> list[Parse]:
        """What greedy search finds."""
        return predict(model, sentences, canonical=self.canonical)


def own_paths(
    head: PointingHead, boundaries: Tensor, lengths: Tensor, *, canonical: bool
) -> list[Numbered]:
    """The steps of the head's own greedy parses.

    Args:
        head: the pointing head to decode with.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        canonical: whether the rules of `transition.canonical` hold
    """
    rules = Rules(head.open_root, nearest_first=head.nearest_first, canonical=canonical)
    vectors = boundaries.detach().float().cpu().numpy()
    was_training = head.training
    head.eval()
    try:
        with torch.autocast(boundaries.device.type, enabled=False):
            found = greedy(stepper_of(head), vectors, lengths.cpu().numpy(), rules)
    finally:
        head.train(was_training)  # this also tells `stepper_of` that weights will change
    columns = (found.boundaries[:, 0], found.labels[:, 0], found.counts[:, 0])
    return [
        tuple(zip(points[:count], labels[:count], strict=True))
        for points, labels, count in zip(*(column.tolist() for column in columns), strict=True)
    ]


def best_along(path: Numbered, gold: Numbered) -> Numbered:
    """The best step at each configuration of a path, from the steps of the ordinary oracle."""
    spans = places(gold)
    n = spans[-1][1]
    labels = {(start, end): label for start, end, label in spans}
    # The root comes last, and counts without a label, too.
    wanted = [place for place, label in labels.items() if label != FILLER or place == (0, n)]
    best = best_places((boundary for boundary, _ in path), wanted, n)
    return tuple((boundary, labels.get((start, end), FILLER)) for boundary, start, end in best)


def path_losses(
    head: PointingHead,
    boundaries: Tensor,
    lengths: Tensor,
    paths: Sequence[Numbered],
    gold: Sequence[Numbered],
    *,
    over: Over,
    label_smoothing: float = 0.0,
) -> Tensor:
    """The loss of the best steps along the path of each row, as if it were as long as the gold one.

    Args:
        head: whose scores are trained.
        boundaries: (rows, n + 1, width)
        lengths: in words, (rows,)
        paths: the steps that are taken
        gold: the steps of the ordinary oracle
        over: the boundaries to normalise over; not `canonical`, which the oracle does not know
        label_smoothing: share of the target that all labels get

    Returns:
        (rows,)
    """
    best = Steps.of([best_along(*pair) for pair in zip(paths, gold, strict=True)])
    each = pointing_loss(
        head,
        boundaries,
        lengths,
        best,
        path=Steps.of(paths),
        over=over,
        label_smoothing=label_smoothing,
    )
    counts = [len(steps) / len(path) for steps, path in zip(gold, paths, strict=True)]
    return each * torch.tensor(counts, device=each.device)
