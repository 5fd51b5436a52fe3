"""What decoding costs beside the encoder, and what a whole parse costs: part of `make bench`.

    python bench/decoding.py [--quick] [--write] [--against COMMIT]

Sentences are those of GUM dev beside the checkout, in an order drawn with a seed. What is compared
takes turns within one run. A figure is the median over rounds, with the smallest and the largest.
Times are processor times on one thread unless a table says otherwise. `--write` makes
`docs/performance.md` of it, whose text is in `bench/performance.md`. `--against` compares decoding
with that of another commit instead (`against.py`). The status is 1 if a bound is not kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from string import Template
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
from against import FEW, JOBS, ROUNDS, SINGLE, compare
from led import Case, along_trees, joined, paper_sized
from measuring import (
    CHECKOUT,
    PAGE,
    Ratio,
    Spread,
    circumstances,
    draw,
    forget_peak,
    part,
    peak,
    table,
    taking_turns,
)

import fencepost
from fencepost import Parse, Sentence, read
from fencepost.batching.arrays import Floats, Ints
from fencepost.batching.batches import by_words
from fencepost.checkpoints.loading import Precision, load_model
from fencepost.checkpoints.model import Model
from fencepost.checkpoints.shipped import find_model
from fencepost.checkpoints.trainable import load_trainable
from fencepost.decoding.derivations import Derivations
from fencepost.decoding.stepper import Stepper
from fencepost.decoding.walk import derivations, walk
from fencepost.model.stepper import HeadStepper
from fencepost.parser.predict import BATCH_WORDS, predict
from fencepost.tasks.layers import POINTING

SHARED = CHECKOUT.parent / "shared/data/gum"
FILES = ("const/dev.ptb", "ner/dev.jsonl")  # the same sentences, with trees and with entities
SEED = 1
SENTENCES = 1000
PRECISIONS: tuple[Precision, ...] = ("fp32", "int8")

Points = Mapping[int, Sequence[Case]]  # by how long sentences or how large batches are
Growth = Mapping[str, Mapping[int, Spread]]  # what was found of each part, by size
Job = Callable[[], object]
Ready = tuple[Floats, Ints]  # what decoding starts from: boundary vectors and lengths


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    rounds: int
    rows: int  # of a batch, at most
    few: int  # batches, where all would take too long
    lengths: tuple[int, ...]  # of sentences, in words
    sizes: tuple[int, ...]  # of batches, in sentences


FULL = Extent(5, 3000, 2, (10, 20, 50, 100, 200, 500, 1000, 2000), (1, 2, 5, 10, 20, 50, 100))
QUICK = Extent(1, 12, 1, (10, 100), (1, 20))


def encode(model: Model, cases: Iterable[Case]) -> list[Ready]:
    """What decoding starts from: batches, read and encoded one by one."""
    ready = []
    for case in cases:
        inputs = model.read(case.words)
        ready.append((model.network.read(inputs, tags=False).boundaries, inputs.lengths))
    return ready


def decode(
    model: Model,
    name: str,
    ready: Iterable[Ready],
    cases: Iterable[Case],
    stepper: Stepper[Any],
) -> list[Derivations]:
    """The steps of batches, decoded one by one with one of the heads, led or not."""
    rules = model.rules(name)
    return [
        derivations(
            walk(stepper, boundaries, lengths, rules, case.policy(name)),
            len(lengths),
            boundaries,
        )
        for (boundaries, lengths), case in zip(ready, cases, strict=True)
    ]


def decoding(model: Model, name: str, ready: Sequence[Ready], cases: Sequence[Case]) -> Job:
    """The job of decoding with one of the heads; where it is led, it is seen to follow."""
    job = partial(decode, model, name, ready, cases, model.network.stepper(name))
    for case, found in zip(cases, job(), strict=True):
        if name in case.gold:
            gold = case.gold[name]
            assert np.array_equal(found.counts[:, 0], gold.counts)
            assert np.array_equal(found.boundaries[:, 0, : gold.counts.max()], gold.boundaries)
    return job


def share(model: Model, cases: Sequence[Case], *, most: float, rounds: int) -> Ratio:
    """The share of decoding trees in reading, encoding and decoding."""
    decode_trees = decoding(model, "tree", encode(model, cases), cases)
    times = taking_turns(
        {"encode": partial(encode, model, cases), "decode": decode_trees}, rounds=rounds
    )
    both = [a + b for a, b in zip(*times.values(), strict=True)]
    return Ratio(times["decode"], both, most=most)


def whole_parses(model: Model, cases: Sequence[Case], *, rounds: int) -> dict[str, Ratio]:
    """Whole parses against the bare encoder, over the same batches."""
    jobs: dict[str, Job] = {
        "bare": partial(encode, model, cases),
        "tree": partial(predict, model, sentences_of(cases), tasks=["tree"]),
        "all": partial(predict, model, sentences_of(cases)),
    }
    times = taking_turns(jobs, rounds=rounds)
    return {
        "whole parse, trees / bare encoder": Ratio(times["tree"], times["bare"], most=1.25),
        "whole parse, all heads / bare encoder": Ratio(times["all"], times["bare"], most=1.4),
    }


def sentences_of(cases: Iterable[Case]) -> list[Sentence]:
    """All sentences, without tags."""
    return [Sentence(tuple(words)) for case in cases for words in case.words]


def searches(model: Model, cases: Sequence[Case], *, rounds: int) -> dict[str, Ratio]:
    """Plain steps against fast search, in batches and sentence by sentence; a beam of 20."""
    sentences = sentences_of(cases)
    sizes = {"batches": cases, "single": [Case([sentence.words]) for sentence in sentences]}
    steppers: dict[str, Stepper[Any]] = {
        "plain": HeadStepper(load_trainable(find_model("en-small")).network.head("tree")),
        "fast": model.network.stepper("tree"),
    }
    jobs = {
        (how, kind): partial(decode, model, "tree", encode(model, some), some, stepper)
        for how, stepper in steppers.items()
        for kind, some in sizes.items()
    }
    times = taking_turns(jobs, rounds=rounds)
    parse = partial(predict, model, sentences, tasks=["tree"])
    wide = taking_turns({beams: partial(parse, beams=beams) for beams in (1, 20)}, rounds=rounds)
    plain, fast = times["plain", "single"], times["fast", "batches"]
    return {
        "plain steps, single sentences / fast search, batches": Ratio(plain, fast, least=5),
        "plain steps / fast search, both in batches": Ratio(times["plain", "batches"], fast),
        "plain steps / fast search, both single sentences": Ratio(plain, times["fast", "single"]),
        "whole parse of trees, beam of 20 / greedy": Ratio(wide[20], wide[1], most=4),
    }


def of_size(parses: Sequence[Parse], size: int) -> list[Case]:
    """Batches of so many sentences: some 20 sentences in all, at least one batch."""
    words = [parse.words for parse in parses[: max(size, 20)]]
    return [Case(words[start : start + size]) for start in range(0, len(words), size)]


def times_of(model: Model, points: Points, *, rounds: int) -> Growth:
    """Milliseconds a sentence of each part."""
    jobs: dict[tuple[str, int], Job] = {}
    for size, cases in points.items():
        ready = encode(model, cases)
        jobs["encoder", size] = partial(encode, model, cases)
        for name in POINTING:
            jobs[name, size] = decoding(model, name, ready, cases)
    times = taking_turns(jobs, rounds=rounds)
    sentences = {size: sum(len(case.words) for case in cases) for size, cases in points.items()}
    return {
        part: {
            size: Spread.of(1e3 * t / n for t in times[part, size]) for size, n in sentences.items()
        }
        for part in ("encoder", *POINTING)
    }


def loaded() -> Model:
    """The model that ships, on one thread."""
    return load_model(find_model("en-small"), threads=1)


def memory_of(points: Points) -> Growth:
    """MiB that each part needs for one batch, each batch in a new process."""
    found: dict[str, dict[int, Spread]] = {part: {} for part in ("encoder", *POINTING)}
    for size, (case, *_) in points.items():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            for part, needed in pool.submit(peaks, case).result().items():
                found[part][size] = Spread.of([needed])
    return found


def peaks(case: Case) -> dict[str, float]:
    """MiB that each part needs for a batch, beside all that is there before."""
    model = loaded()
    small = [Case([["Yes", "."]] * rows) for rows in (1, 9)]
    for name in POINTING:  # what is made only once belongs to the model
        decoding(model, name, encode(model, small), small)
    before = forget_peak()
    ready = encode(model, [case])
    found = {"encoder": peak() - before}
    for name in POINTING:
        before = forget_peak()
        decode(model, name, ready, [case], model.network.stepper(name))
        found[name] = peak() - before
    return found


def steps_of(model: Model, points: Points) -> Growth:
    """Steps of trees, gold ones and those that the model finds by itself."""
    steps: dict[str, dict[int, Spread]] = {"gold steps": {}, "own steps": {}}
    for size, cases in points.items():
        free = [Case(case.words) for case in cases]
        own = decode(model, "tree", encode(model, cases), free, model.network.stepper("tree"))
        counts = [case.gold["tree"].counts for case in cases], [found.counts[:, 0] for found in own]
        for column, some in zip(steps.values(), counts, strict=True):
            column[size] = Spread.of(np.concatenate(some).tolist())
    return steps


def speed(sentences: Sequence[Sentence], *, rounds: int) -> list[tuple[str, ...]]:
    """Sentences and words a second of whole parses with all heads: rows of a table."""
    jobs = {
        (name, threads): partial(
            predict, fencepost.load(precision=name, threads=threads).model, sentences
        )
        for name in PRECISIONS
        for threads in (1, 2)
    }
    times = taking_turns(jobs, rounds=rounds, clock=time.perf_counter)
    words = sum(map(len, sentences))
    return [
        (
            precision,
            f"{threads}",
            *Spread.of(len(sentences) / seconds for seconds in taken).columns(".0f"),
            *Spread.of(words / seconds for seconds in taken).columns(",.0f"),
        )
        for (precision, threads), taken in times.items()
    ]


def starting(*, rounds: int) -> list[tuple[str, ...]]:
    """Seconds from the start of a process to its first parse: rows of a table."""
    code = "import fencepost; fencepost.load().parse('The cat sat.')"
    command = Path(sys.executable).with_name("fencepost")
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    jobs = {
        f'`python -c "{code}"`': partial(run, [sys.executable, "-c", code]),
        '`fencepost parse "The cat sat."`': partial(run, [command, "parse", "The cat sat."]),
    }
    times = taking_turns(jobs, rounds=rounds, clock=time.perf_counter)
    return [(what, *Spread.of(taken).columns(".2f")) for what, taken in times.items()]


def growth_table(size: str, times: Growth, memory: Growth, steps: Growth) -> str:
    """The medians of all that was found, a row for each size."""
    columns = {f"{part}, ms": found for part, found in times.items()}
    columns |= {f"{part}, MiB": found for part, found in memory.items()}
    columns |= steps
    rows = ([f"{column[n].median:,.1f}" for column in columns.values()] for n in times["encoder"])
    return table(
        [size, *columns], ([f"{n:,}", *row] for n, row in zip(times["encoder"], rows, strict=True))
    )


def against(commit: str, parses: Sequence[Parse], *, rounds: int) -> bool:
    """Compare decoding with that of another commit: whether all bounds are kept."""
    words = [parse.words for parse in parses[:SENTENCES]]
    batches = [
        [words[row] for row in rows] for rows in by_words(list(map(len, words)), most=BATCH_WORDS)
    ]
    every = len(batches) // FEW
    about_25 = [[parse.words] for parse in parses if 23 <= len(parse.words) <= 27]
    sentences = {
        "single": about_25[:SINGLE],
        "batches": batches,
        "few": batches[every // 2 :: every][:FEW],
    }
    ratios = {}
    for what, pairs in compare(commit, sentences, rounds=rounds).items():
        job, _, unit = what.rpartition(": ")
        # What is below the size of a few pages is no figure.
        now, before = zip(*((max(a, 1e-3), max(b, 1e-3)) for a, b in pairs), strict=True)
        most = JOBS[job][3] if unit == "seconds" else 1.0
        ratios[what] = Ratio(now, before, most=most)
    table(
        [f"now / {commit}", "now", "median", "range", "bound", "kept"],
        (
            (what, f"{Spread.of(ratio.above).median:.3g}", *ratio.columns())
            for what, ratio in ratios.items()
        ),
    )
    return all(ratio.is_kept for ratio in ratios.values())


def gold_parses() -> list[Parse]:
    """GUM dev with trees and entities, in an order drawn with the seed."""
    both = (read(SHARED / name, drop_functions=True) for name in FILES)
    parses = [replace(a, entities=b.entities) for a, b in zip(*both, strict=True)]
    Random(SEED).shuffle(parses)
    return parses


def main() -> None:
    """Measure, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(description="What decoding and whole parses cost.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one round of small batches, to see that it works: bounds may not be kept",
    )
    parser.add_argument("--write", action="store_true", help="write docs/performance.md")
    parser.add_argument("--against", metavar="COMMIT", help="compare decoding with a commit's")
    asked = parser.parse_args()
    for name in FILES:
        if not (SHARED / name).is_file():
            sys.exit(f"{os.path.relpath(SHARED / name, CHECKOUT)} is not there: GUM is needed")
    extent = QUICK if asked.quick else FULL
    rounds = extent.rounds
    page = circumstances() | {"seed": f"{SEED}", "rounds": f"{rounds}"}

    parses = gold_parses()
    if asked.against:
        sys.exit(not against(asked.against, parses, rounds=1 if asked.quick else ROUNDS))
    chosen = parses[:SENTENCES]
    about_25 = [parse for parse in parses if 23 <= len(parse.words) <= 27]
    rows = by_words([len(parse.words) for parse in chosen], most=BATCH_WORDS)
    led = [along_trees([chosen[row] for row in batch[: extent.rows]]) for batch in rows]
    every = len(led) // extent.few
    led_few = led[every // 2 :: every][: extent.few]
    few = [Case(case.words) for case in led_few]
    batches = few if asked.quick else [Case(case.words) for case in led]

    model, paper = loaded(), paper_sized(parses, seed=SEED)
    ratios = {
        "share of decoding, batches": share(model, batches, most=0.2, rounds=rounds),
        "share of decoding, batches, a network of the paper's sizes": share(
            paper, led_few, most=0.2, rounds=rounds
        ),
        "share of decoding, single sentences of 25 words": share(
            model, of_size(about_25, 1), most=0.4, rounds=rounds
        ),
        **whole_parses(model, batches, rounds=rounds),
        **searches(model, few, rounds=rounds),
    }
    page["ratios"] = table(
        ["", "median", "range", "bound", "kept"],
        ((what, *ratio.columns()) for what, ratio in ratios.items()),
    )
    lengths: Points = {
        n: [joined(parses, n, rows=max(1, min(BATCH_WORDS // n, extent.rows)))]
        for n in extent.lengths
    }
    single: Points = {n: [Case(case.words[:1])] for n, (case,) in lengths.items()}
    sizes: Points = {size: of_size(about_25, size) for size in extent.sizes}
    names = ("words in a sentence", "sentences in a batch")
    times = [times_of(model, points, rounds=rounds) for points in (lengths, sizes)]
    memory = [memory_of(points) for points in (single, sizes)]
    page["lengths"] = growth_table(names[0], times[0], memory[0], steps_of(model, lengths))
    page["sizes"] = growth_table(names[1], times[1], memory[1], {})
    page["speed"] = table(
        ["precision", "threads", "sentences/s", "range", "words/s", "range"],
        speed(sentences_of(few), rounds=rounds),
    )
    page["starting"] = table(["", "seconds", "range"], starting(rounds=rounds))
    if asked.write:
        pictures = CHECKOUT / "docs/performance"
        draw(pictures / "time.svg", "ms a sentence", dict(zip(names, times, strict=True)))
        draw(pictures / "memory.svg", "MiB", dict(zip(names, memory, strict=True)))
        page["runtime"] = part("runtime")
        text = Template((CHECKOUT / "bench/performance.md").read_text(encoding="utf-8"))
        PAGE.write_text(text.substitute(page), encoding="utf-8")
    sys.exit(not all(ratio.is_kept for ratio in ratios.values()))


if __name__ == "__main__":
    main()
