"""Table 5: how many sentences a second, without a pretrained encoder; and time against length.

    python -m experiments.table5                         # GUM, on one core
    python -m experiments.table5 --corpora ptb-words     # the paper's, with settings of your own

All systems are timed in turn within one run, several rounds, one thread, processor time: compare
figures of one run only. Reading the sentences is part of it, and the same for all. For time against
length, the words of the scored part are cut anew into sentences of one length.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from statistics import median

import torch

from experiments.commands import arguments, start
from experiments.keeping import keep, picture_path
from experiments.pictures import Series, lines
from experiments.running import Run, run
from experiments.table2 import SYSTEMS, plan
from fencepost.checkpoints.trainable import TrainableModel
from fencepost.cli.tables import table
from fencepost.structure import Sentence

ROUNDS = 5
SEED = 1  # speed hardly hangs on it
LENGTHS = (10, 20, 40, 80, 160, 320)
PAPER = {"splitting": 1127, "pointing": 855, "chart": 924}  # on a graphics card (Table 5)


def timed(
    systems: Sequence[tuple[Run, TrainableModel]], sentences: Sequence[Sentence], *, rounds: int
) -> dict[str, float]:
    """The median seconds in which each system parses all sentences, by name."""
    seconds: dict[str, list[float]] = {one.plan.name: [] for one, _ in systems}
    for number in range(rounds + 1):
        for one, model in systems:
            started = time.process_time()
            one.plan.system.predict(model, sentences)
            if number:  # the first round warms up
                seconds[one.plan.name].append(time.process_time() - started)
    return {name: median(each) for name, each in seconds.items()}


def cut(sentences: Sequence[Sentence], length: int) -> list[Sentence]:
    """The words of all sentences as sentences of one length."""
    words = [word for sentence in sentences for word in sentence.words]
    starts = range(0, len(words) - length + 1, length)
    return [Sentence(tuple(words[start : start + length])) for start in starts]


def main() -> None:
    """Train what is missing, and time it."""
    parser = arguments(__doc__, corpora=("gum-trees-words",), seeds=False)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"without it: {ROUNDS}")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    torch.set_num_threads(1)
    for corpus in options.corpora:
        done = [run(plan(corpus, name), SEED, options) for name in SYSTEMS]
        systems = [(one, one.model()) for one in done]
        sentences = [Sentence(parse.words) for parse in done[0].gold()]
        seconds = timed(systems, sentences, rounds=rounds)
        speeds = {name: len(sentences) / each for name, each in seconds.items()}
        rows = [["", "sentences/s", "against splitting", "F1"]]
        f1 = {one.plan.name: one.result.figure("tree") for one in done}
        for name, speed in speeds.items():
            ratio = speed / speeds["splitting"]
            rows.append([name, f"{speed:.0f}", f"{ratio:.2f}", f"{f1[name]:.2f}"])
        scored = done[0].result.scored
        print(f"{corpus}, {scored}, {len(sentences):,} sentences\n{table(rows)}\n")
        lengths = LENGTHS[:3] if options.quick else LENGTHS
        by_length = [
            (length, len(some) * length, timed(systems, some, rounds=rounds))
            for length in lengths
            if (some := cut(sentences, length)[: 6000 // length])
        ]
        each_length = {
            name: [1e3 * 1e3 * each[name] / words for _, words, each in by_length]
            for name in seconds
        }
        found = [length for length, _, _ in by_length]
        rows = [["ms for 1,000 words", *(f"n = {length}" for length in found)]]
        rows += [[name, *(f"{one:.0f}" for one in each)] for name, each in each_length.items()]
        print(table(rows))
        lines(
            [Series(name, each) for name, each in each_length.items()],
            found,
            path=picture_path(f"table5-{corpus}", options),
            title=f"Time against length, {corpus}, one thread",
            across="words in a sentence",
            along="milliseconds for 1,000 words",
            logarithmic=True,
        )
        data = {
            "corpus": corpus,
            "of": scored,
            "rounds": rounds,
            "sentences": len(sentences),
            "sentences_a_second": speeds,
            "f1": f1,
            "lengths": found,
            "ms_for_1000_words": each_length,
            "paper": PAPER,
        }
        keep(f"table5-{corpus}", data, options)


if __name__ == "__main__":
    start(main)
