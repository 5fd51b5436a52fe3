"""What parsing without torch costs beside parsing with it: part of `make bench`.

    python bench/runtime.py [--quick] [--write]

Sentences are those of GUM dev beside the checkout. Both backends take turns within one run, on one
thread. `--write` puts the figures into `docs/performance.md`. The status is 1 if a bound is not
kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from measuring import CHECKOUT, Ratio, circumstances, table, taking_turns, write_part

import fencepost
from decoding import FILES, SEED, SHARED, gold_parses
from fencepost import Parse, Parser
from fencepost.run.evaluate import evaluate, main_figure

MOST_MEGABYTES = 330
MOST_APART, MOST_OTHERS = 1e-4, 2  # of log-probabilities; parses that differ
MOST_LOST = 0.2  # F1 or accuracy, by int8

TEXT = f"""\
Parsing with onnxruntime and numpy beside parsing with torch. From one run of `$command`
at commit $commit on $machine, $versions; sentences of GUM dev in an order drawn with seed {SEED},
one thread. Each ratio is the median over $rounds rounds, with the smallest and the largest.

$ratios

- **Cold**: `fencepost parse "The cat sat."`, from the start of the process to its end, by the
  clock on the wall; with onnxruntime it took $seconds seconds.
- **Single sentences** have 23 to 27 words. **Batches** are those of `parse_many`. Both are whole
  parses: trees, tags and entities, from words to Python objects.
- **Memory** is the peak of a process that parses all of GUM dev, with Python and its libraries.

A new environment after `pip install` of the wheel has $megabytes MB, pip and the model included.

The same model, the same sentences: of $sentences parses, $others differ between the backends in
fp32 (tree, tags or entities), and log-probabilities of the others by $apart at most.

$scores
"""


def parse_all(parser: Parser, sentences: Sequence[Sequence[str]]) -> None:
    """Parse sentences together."""
    for _ in parser.parse_many(map(list, sentences)):
        pass


def parse_each(parser: Parser, sentences: Sequence[Sequence[str]]) -> None:
    """Parse sentences one by one."""
    for words in sentences:
        parser.parse(list(words))


PEAK = """\
import json, sys
import fencepost
parser = fencepost.load(backend=sys.argv[1], threads=1)
for _ in parser.parse_many(json.load(sys.stdin)): pass
lines = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""


def peaks(sentences: Sequence[Sequence[str]]) -> dict[str, float]:
    """MiB that a process needs at most to parse sentences, by backend."""
    return {
        backend: int(
            subprocess.run(
                [sys.executable, "-c", PEAK, backend],
                input=json.dumps([list(words) for words in sentences]),
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        / 1024
        for backend in ("torch", "onnx")
    }


def installed() -> float:
    """MB of a new environment with the package and what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        run = partial(subprocess.run, check=True, capture_output=True, cwd=CHECKOUT)
        run([sys.executable, "-m", "venv", folder])
        pip = [f"{folder}/bin/pip", "--disable-pip-version-check", "install", "--quiet"]
        run([*pip, "--constraint", "constraints.txt", "."])
        return sum(path.lstat().st_size for path in Path(folder).rglob("*")) / 1e6


def apart(one: Sequence[Parse], other: Sequence[Parse]) -> tuple[int, float]:
    """How many parses differ, and by how much log-probabilities of the others do at most."""
    others, most = 0, 0.0
    for a, b in zip(one, other, strict=True):
        if a != b:
            others += 1
        else:
            assert a.log_prob is not None
            assert b.log_prob is not None
            most = max(most, abs(a.log_prob - b.log_prob))
    return others, most


def main() -> None:
    """Measure, print, and write if asked to."""
    options = argparse.ArgumentParser(description="What parsing without torch costs.")
    options.add_argument("--quick", action="store_true", help="few sentences, to see that it works")
    options.add_argument("--write", action="store_true", help="write into docs/performance.md")
    asked = options.parse_args()
    for name in FILES:
        if not (SHARED / name).is_file():
            sys.exit(f"{os.path.relpath(SHARED / name, CHECKOUT)} is not there: GUM is needed")
    rounds = 1 if asked.quick else 7
    gold = gold_parses()[: 60 if asked.quick else None]
    words = [parse.words for parse in gold]
    about_25 = [some for some in words if 23 <= len(some) <= 27][:60]

    run = partial(subprocess.run, check=True, capture_output=True)
    command = [sys.executable, "-m", "fencepost", "parse", "The cat sat."]
    cold: dict[str, Callable[[], object]] = {
        name: partial(run, [*command, "--backend", name]) for name in ("torch", "onnx")
    }
    starts = taking_turns(cold, rounds=rounds, clock=time.perf_counter)
    parsers = {
        "torch": fencepost.load(backend="torch", threads=1),
        "onnx": fencepost.load(backend="onnx", threads=1),
        "int8": fencepost.load(precision="int8", threads=1),
    }
    single = taking_turns(
        {name: partial(parse_each, one, about_25) for name, one in parsers.items()}, rounds=rounds
    )
    batches = taking_turns(
        {name: partial(parse_all, one, words) for name, one in parsers.items()},
        rounds=min(rounds, 3),
    )
    memory = peaks(words)
    ratios = {
        "cold, onnxruntime / torch": Ratio(starts["onnx"], starts["torch"], most=0.35),
        "single sentences, torch / onnxruntime": Ratio(single["torch"], single["onnx"], least=1.5),
        "single sentences, fp32 / int8": Ratio(single["onnx"], single["int8"]),
        "batches, torch / onnxruntime": Ratio(batches["torch"], batches["onnx"], least=1),
        "batches, fp32 / int8": Ratio(batches["onnx"], batches["int8"], least=1.4),
        "memory, onnxruntime / torch": Ratio([memory["onnx"]], [memory["torch"]], most=0.6),
    }
    page = circumstances() | {"rounds": f"{rounds} (3 for batches)"}
    page["seconds"] = f"{sorted(starts['onnx'])[rounds // 2]:.2f}"
    page["ratios"] = table(
        ["", "median", "range", "bound", "kept"],
        ((what, *ratio.columns()) for what, ratio in ratios.items()),
    )
    found = {
        name: [document.sentences[0] for document in one.parse_many(map(list, words))]
        for name, one in parsers.items()
    }
    others, most = apart(found["torch"], found["onnx"])
    megabytes = installed()
    page |= {"sentences": f"{len(words):,}", "others": f"{others}", "apart": f"{most:.1g}"}
    page["megabytes"] = f"{megabytes:.0f}"
    scores = {
        name: {layer: main_figure(report) for layer, report in evaluate(one.model, gold).items()}
        for name, one in parsers.items()
    }
    page["scores"] = table(
        ["F1, or accuracy of tags", *scores["onnx"]],
        ((name, *(f"{figure:.2f}" for figure in row.values())) for name, row in scores.items()),
    )
    print(f"{megabytes:.0f} MB installed; {others} parses differ, log-probabilities by {most:.1g}")
    if asked.write:
        write_part("runtime", TEXT, page)
    lost = max(scores["onnx"][layer] - figure for layer, figure in scores["int8"].items())
    kept = [ratio.is_kept for ratio in ratios.values()]
    kept += [megabytes <= MOST_MEGABYTES, others <= MOST_OTHERS, most <= MOST_APART]
    sys.exit(not all([*kept, lost <= MOST_LOST]))


if __name__ == "__main__":
    main()
