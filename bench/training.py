"""How fast training is, against the plainest way to write the same network: `make bench-training`.

The plain way takes sentences as they come, pads to the longest, spells every word anew, and reads
with three padded LSTM calls in each direction. Both take turns, on one thread, over the same
sentences; the figure is words per second of ours over that of the plain way. Then it prints where
our time goes.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from torch import Tensor, nn

from fencepost import Parse, read
from fencepost.batching.batches import gold_steps, padded, shuffled
from fencepost.batching.examples import Example
from fencepost.batching.vocabulary import BEGIN, END
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.config import Settings, checked
from fencepost.model.boundaries import boundary_vectors
from fencepost.model.encoder import WordEncoder
from fencepost.model.loss import pointing_loss
from fencepost.run.training.train import prepare_training, recipe_of
from fencepost.training.loop import batch_losses, optimizer_for

SHARED = Path(__file__).parents[2] / "shared/data/gum/const/train.ptb"
SENTENCES, WORDS, ROUNDS, SEED = 600, 1000, 3, 1


class PlainNetwork(nn.Module):
    """The same network without any care for speed."""

    def __init__(self, model: TrainableModel) -> None:
        super().__init__()
        network = model.network
        assert isinstance(network.encoder, WordEncoder)
        self.words = network.encoder.words
        self.characters = network.encoder.characters
        self.spelling = network.encoder.spelling
        self.head = network.head("tree")
        self.dropout = network.lstm.dropout
        hidden, width = network.lstm.width // 2, network.encoder.width
        sizes = [width, 2 * hidden, 2 * hidden]
        self.there = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.back = nn.ModuleList(nn.LSTM(size, hidden, batch_first=True) for size in sizes)
        self.numbers = model.numbers

    def forward(self, batch: Sequence[Example]) -> Tensor:
        """The loss of a batch, summed over steps."""
        words, characters = self.numbers.words, self.numbers.characters
        assert words is not None
        assert characters is not None
        rows = torch.from_numpy(
            padded([BEGIN, *map(words.number, example.words), END] for example in batch)
        )
        longest = rows.shape[1]
        spelled = [
            [[BEGIN], *([BEGIN, *map(characters.number, w), END] for w in example.words), [END]]
            for example in batch
        ]
        for row in spelled:
            row += [[0]] * (longest - len(row))
        letters = torch.from_numpy(padded(word for row in spelled for word in row))
        _, (last, _) = self.spelling(self.characters(letters))
        spellings = torch.cat((last[0], last[1]), -1).view(len(batch), longest, -1)
        vectors = torch.cat((self.words(rows), spellings), -1)
        for there, back in zip(self.there, self.back, strict=True):
            vectors = self.dropout(vectors)
            forward, _ = there(vectors)
            backward, _ = back(vectors.flip(1))
            vectors = torch.cat((forward, backward.flip(1)), -1)
        _, gold = gold_steps(batch, "tree")
        lengths = torch.tensor([len(example.words) for example in batch])
        return pointing_loss(self.head, boundary_vectors(vectors), lengths, gold).sum()


def settings() -> Settings:
    """The sizes of configs/gum-trees.toml."""
    nowhere = [{"path": "-"}]
    return checked(
        Settings,
        {
            "data": {"train": nowhere, "dev": nowhere},
            "network": {"encoder": {"kind": "words"}, "lstm_layers": 3, "lstm_hidden": 400},
            "heads": {"tree": {"mlp": 300, "decoder": 400}},
            "training": {"batch_words": WORDS},
        },
        where="bench",
    )


def plain_batches(examples: Sequence[Example]) -> list[list[Example]]:
    """Sentences as they come, about as many words in each batch, however much is padding."""
    batches: list[list[Example]] = [[]]
    for example in examples:
        if sum(len(other.words) for other in batches[-1]) + len(example.words) > WORDS:
            batches.append([])
        batches[-1].append(example)
    return [batch for batch in batches if batch]


def step(network: nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """What comes after the loss, the same for both."""
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 5.0)
    optimizer.step()
    optimizer.zero_grad()


def shares(model: TrainableModel, batches: Sequence[Sequence[Example]]) -> dict[str, float]:
    """Seconds of each part of a forward pass, and of the backward pass."""
    network = model.network
    taken = dict.fromkeys(("numbering", "words and characters", "LSTM", "head", "backward"), 0.0)
    for batch in batches:
        marks = [time.perf_counter()]
        inputs = model.read([example.words for example in batch])
        _, gold = gold_steps(batch, "tree")
        marks.append(time.perf_counter())
        vectors = network.encoder(inputs)
        lengths = torch.from_numpy(inputs.lengths)
        marks.append(time.perf_counter())
        states = network.lstm(vectors, lengths + 2)
        marks.append(time.perf_counter())
        boundaries = boundary_vectors(states)
        loss = pointing_loss(network.head("tree"), boundaries, lengths, gold).sum()
        marks.append(time.perf_counter())
        loss.backward()
        marks.append(time.perf_counter())
        for name, start, end in zip(taken, marks, marks[1:], strict=False):
            taken[name] += end - start
    return taken


def main() -> None:
    """Time both ways in turn."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    parses: list[Parse] = list(read(SHARED, drop_functions=True))
    parses = Random(SEED).sample(parses, SENTENCES)
    chosen = settings()
    model, examples = prepare_training(chosen, [(chosen.data.train[0], parse) for parse in parses])
    recipe = recipe_of(chosen)
    plain = PlainNetwork(model)
    lengths = [len(example.words) for example in examples]
    words = sum(lengths)
    fast_optimizer = optimizer_for(
        model.network,
        rate=1e-4,
        encoder_rate=1e-4,
        betas=(0.9, 0.9),
        weight_decay=0.0,
    )
    plain_optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-4)
    times: dict[str, list[float]] = {"plain": [], "ours": []}
    model.network.train()
    for number in range(ROUNDS):
        started = time.process_time()
        for batch in plain_batches(examples):
            step(plain, plain_optimizer, plain(batch) / 1000)
        times["plain"].append(time.process_time() - started)
        started = time.process_time()
        for batch in shuffled(examples, lengths, most=WORDS, seed=number):
            inputs = model.read([example.words for example in batch])
            losses = batch_losses(model.network, batch, inputs, recipe)
            step(model.network, fast_optimizer, losses["tree"] / 1000)
        times["ours"].append(time.process_time() - started)
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"{name:6} {words / median:6.0f} words/s  ({min(taken):.1f}-{max(taken):.1f} s)")
    ratio = statistics.median(times["plain"]) / statistics.median(times["ours"])
    print(f"ours is {ratio:.2f} times as fast; at least 1.50: {'yes' if ratio >= 1.5 else 'NO'}")
    parts = shares(model, shuffled(examples, lengths, most=WORDS, seed=0))
    total = sum(parts.values())
    print("\nwhere the time goes:")
    for name, seconds in parts.items():
        print(f"  {name:22} {100 * seconds / total:5.1f} %")


if __name__ == "__main__":
    main()
