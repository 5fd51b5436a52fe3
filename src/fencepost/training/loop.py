"""The training loop: batches in, steps out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import torch
from accelerate import Accelerator
from torch import Tensor
from torch.nn import functional

from fencepost.batching.augmenting import Augmenting
from fencepost.batching.batches import gold_steps, padded, shares, shuffled
from fencepost.batching.examples import Example
from fencepost.batching.inputs import Inputs, Reader
from fencepost.batching.joining import Joining
from fencepost.batching.sampling import sampled
from fencepost.errors import TrainingError
from fencepost.model.loss import Over, pointing_loss
from fencepost.model.network import Network, device_of
from fencepost.training.average import Average
from fencepost.training.gradients import sum_gradients
from fencepost.training.processes import Processes

Losses = Callable[  # the loss of each head, summed over steps
    [Network, Sequence[Example], Inputs, "Recipe"], dict[str, Tensor]
]

MOST_SKIPPED = 10  # consecutive steps without a finite loss


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings of the loop; the defaults of `config.TrainingSettings` are the paper's."""

    epochs: int
    batch_words: int
    accumulate: int
    warmup: float
    clip: float
    over: Over
    label_smoothing: float
    average: float
    weights: Mapping[str, float]  # of the heads' losses
    seed: int
    augment: Augmenting | None = None
    join: Joining | None = None


@dataclass(slots=True)
class Progress:
    """The progress of training: all that a resume needs beside weights and random states."""

    epoch: int = 0  # the current epoch
    done: int = 0  # its batches so far
    steps: int = 0
    skipped: int = 0  # steps without a finite loss
    skipped_in_a_row: int = 0


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """One step of the optimizer."""

    epoch: int
    batch: int  # the number of its last batch
    batches: int  # in the epoch
    loss: float  # mean over steps, summed over heads
    words: int  # of all processes, as the loss is
    seconds: float
    rate: float


def rate_factor(progress: float, warmup: float) -> float:
    """The share of the learning rate: up linearly while warming up, then down to zero (3.3).

    >>> [round(rate_factor(share, 0.1), 2) for share in (0, 0.05, 0.1, 0.55, 1)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    if progress < warmup:
        return progress / warmup
    return max(0.0, (1 - progress) / (1 - warmup))


def optimizer_for(
    network: Network,
    *,
    rate: float,
    encoder_rate: float,
    betas: tuple[float, float],
    weight_decay: float,
    layer_decay: float = 1.0,
) -> torch.optim.Optimizer:
    """Adam with a separate learning rate for a pretrained encoder (section 3.3).

    Args:
        network: the network to train.
        rate: the learning rate of all weights that start from random values.
        encoder_rate: the learning rate of the last layer of a pretrained encoder.
        betas: betas of Adam.
        weight_decay: weight decay of Adam.
        layer_decay: the factor of the rate from each layer of the encoder to the one below.
    """
    layers = network.encoder.pretrained_layers()
    pretrained = {id(parameter) for layer in layers for parameter in layer}
    random = [parameter for parameter in network.parameters() if id(parameter) not in pretrained]
    rates = [rate, *(encoder_rate * layer_decay**depth for depth in range(len(layers)))]
    groups = [
        {"params": [p for p in group if p.requires_grad], "lr": full_rate, "full_rate": full_rate}
        for group, full_rate in zip([random, *layers], rates, strict=True)
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=rate,
        betas=betas,
        weight_decay=weight_decay,
        fused=device_of(network).type in ("cpu", "cuda"),  # one pass over the weights, not ten
    )


def batch_losses(
    network: Network, batch: Sequence[Example], inputs: Inputs, recipe: Recipe
) -> dict[str, Tensor]:
    """The loss of each head, summed over steps; heads without gold in the batch are left out."""
    device = device_of(network)
    states = network.states(inputs)
    boundaries, lengths = network.boundaries(states), torch.from_numpy(inputs.lengths).to(device)
    losses: dict[str, Tensor] = {}
    weights = torch.tensor([example.weight for example in batch], device=device)
    for name, head in network.named_heads():
        rows, gold = gold_steps(batch, name)
        if rows:
            row_losses = pointing_loss(
                head,
                boundaries[rows],
                lengths[rows],
                gold,
                over=recipe.over,
                label_smoothing=recipe.label_smoothing,
            )
            losses[name] = (row_losses * weights[rows]).sum()
    rows = [row for row, example in enumerate(batch) if example.tags is not None]
    if network.tags is not None and rows:
        scores = network.tag_scores(states)[rows]
        gold_tags = torch.from_numpy(
            padded([batch[row].tags or () for row in rows], value=-100)
        ).to(device)
        tag_losses = functional.cross_entropy(
            scores[:, : gold_tags.shape[1]].transpose(1, 2), gold_tags, reduction="none"
        )
        losses["tags"] = (tag_losses.sum(1) * weights[rows]).sum()
    return losses


def train(
    network: Network,
    optimizer: torch.optim.Optimizer,
    examples: Sequence[Example],
    read: Reader,
    *,
    recipe: Recipe,
    progress: Progress,
    accelerator: Accelerator,
    average: Average | None = None,
    losses: Losses | None = None,
) -> Iterator[TrainingStep]:
    """Train to the end of the current epoch, one step at a time.

    A checkpoint is possible between two steps: `progress`, the network, the optimizer and torch's
    random state determine all later steps.

    Several processes go through the same batches, each with its share of every batch; the sum of
    their gradients is that of the whole batch. So a step does not depend on their number, except
    for rounding and for random numbers, which each draws for itself.

    Args:
        network: the network to train.
        optimizer: its optimizer.
        examples: the training examples.
        read: turns sentences into inputs of the encoder.
        recipe: the settings of training.
        progress: the progress so far; it is updated.
        accelerator: knows the device and the other processes.
        average: the average of weights to update, if there is one.
        losses: the training objective; None: `batch_losses`, the paper's.
    """
    seed = recipe.seed * 1_000_003 + progress.epoch
    examples = _of_epoch(network, examples, recipe, seed)
    lengths = [len(example.words) for example in examples]
    batches = shuffled(examples, lengths, most=recipe.batch_words, seed=seed)
    processes = Processes.of(accelerator)
    network.train()
    while progress.done < len(batches):
        started = time.perf_counter()
        group = batches[progress.done : progress.done + recipe.accumulate]
        share = (progress.epoch + progress.done / len(batches)) / recipe.epochs
        # Half a batch later, since the rate of the very first step would be zero.
        factor = rate_factor(share + 0.5 / len(batches) / recipe.epochs, recipe.warmup)
        for parameters in optimizer.param_groups:
            parameters["lr"] = parameters["full_rate"] * factor
        loss = _accumulate(
            network, group, read, recipe, accelerator, processes, losses or batch_losses
        )
        finite = isfinite(loss)
        if finite:  # gradients may still be infinite
            norm = accelerator.clip_grad_norm_(network.parameters(), recipe.clip)
            finite = norm is None or isfinite(norm)
        if finite:
            optimizer.step()
            progress.skipped_in_a_row = 0
            if average is not None:
                average.add(network, progress.steps)
        else:
            progress.skipped += 1
            progress.skipped_in_a_row += 1
        optimizer.zero_grad(set_to_none=True)
        progress.done += len(group)
        progress.steps += 1
        words = sum(len(example.words) for batch in group for example in batch)
        if progress.skipped_in_a_row >= MOST_SKIPPED:
            raise processes.agreed(
                TrainingError(
                    f"{MOST_SKIPPED} steps in a row had no finite loss (the last batch has "
                    f"{words} words); lower training.rate or training.encoder_rate, in a new run. "
                    "The last checkpoint is intact"
                )
            )
        yield TrainingStep(
            progress.epoch,
            progress.done,
            len(batches),
            loss,
            words,
            time.perf_counter() - started,
            optimizer.param_groups[0]["lr"],
        )
    progress.epoch += 1
    progress.done = 0


def _of_epoch(
    network: Network, examples: Sequence[Example], recipe: Recipe, seed: int
) -> Sequence[Example]:
    """Sample, augment and join examples; the same seed gives the same ones after a resume."""
    examples = sampled(examples, seed=seed)
    if recipe.augment is None and recipe.join is None:
        return examples  # heads of other systems have no label for unlabelled roots
    bare = network.head("tree").bare if "tree" in network.heads else None
    if recipe.augment is not None:
        examples = recipe.augment(examples, bare=bare, seed=seed)
    if recipe.join is not None:
        examples = recipe.join(examples, bare=bare, seed=seed)
    return examples


def _accumulate(
    network: Network,
    batches: Sequence[Sequence[Example]],
    read: Reader,
    recipe: Recipe,
    accelerator: Accelerator,
    processes: Processes,
    losses: Losses,
) -> float:
    """Accumulate the gradients of batches in all processes, and return their loss.

    The loss of a head is summed over steps and divided by their number in all batches together, so
    it does not depend on the division into batches or among processes.
    """
    totals = {
        name: max(1, sum(_size(example, name) for batch in batches for example in batch))
        for name in recipe.weights
    }
    local = [_share(batch, processes) for batch in batches]
    failure: TrainingError | None = None
    loss = 0.0
    try:
        loss = _accumulate_locally(network, local, read, recipe, accelerator, totals, losses)
    except TrainingError as error:
        if processes.count == 1:
            raise
        failure = error  # raised below, in all processes
    loss, has_failed = sum_gradients(
        network.parameters(), loss, processes, has_failed=failure is not None
    )
    if has_failed:
        with processes.together():
            if failure is not None:
                raise failure
    return loss


def _share(batch: Sequence[Example], processes: Processes) -> list[Example]:
    """The share of this process in a batch; it may be empty."""
    parts = shares([len(example.words) for example in batch], processes.count)
    return [batch[index] for index in parts[processes.rank]]


def _accumulate_locally(
    network: Network,
    batches: Sequence[Sequence[Example]],
    read: Reader,
    recipe: Recipe,
    accelerator: Accelerator,
    totals: Mapping[str, int],
    losses: Losses,
) -> float:
    """Accumulate the gradients of this process's shares of batches, and return their loss."""
    total = 0.0
    for batch in filter(None, batches):
        try:
            with accelerator.autocast():
                inputs = read([example.words for example in batch])
                by_head = losses(network, batch, inputs, recipe)
            if not by_head:  # no sentence of the share has a layer of the heads
                continue
            loss = torch.stack(
                [by_head[name] * recipe.weights[name] / totals[name] for name in by_head]
            ).sum()
            accelerator.backward(loss)
        except (MemoryError, torch.OutOfMemoryError) as error:
            words = max(len(example.words) for example in batch) * len(batch)
            raise TrainingError(
                f"out of memory with a batch of {len(batch)} sentences and {words} words; lower "
                "training.batch_words and raise training.accumulate"
            ) from error
        total += float(loss.detach())
    return total


def _size(example: Example, head: str) -> int:
    if head == "tags":
        return len(example.tags or ())
    return len(example.steps.get(head, ()))
