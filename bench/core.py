"""How fast the core is, as ratios within one run: `make bench`.

Times are processor times of this process, each the median of several rounds that take turns, so
that what else the machine does touches all of them alike. With the benchmark corpora beside the
checkout, GENIA's treebank is used; without them, trees made here.
"""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import nltk

from fencepost import Sentence, Span, Tree, read
from fencepost.scoring import Comparison, side_of_tree
from fencepost.structure.span import by_place
from fencepost.tasks import constituency
from fencepost.transition import pointings, replay

SHARED = Path(__file__).parents[2] / "shared/data/genia/const/train.ptb"
ROUNDS = 5
SEED = 1


def made_up_trees(count: int) -> str:
    """Lines of brackets, if there is no corpus."""
    random = Random(SEED)
    lines = []
    for _ in range(count):
        n = random.randint(5, 45)
        stretches, spans = [(0, n)], []
        while stretches:
            start, end = stretches.pop()
            spans.append(Span(start, end, random.choice(("NP", "VP", "PP", "S", "ADJP"))))
            if end - start > 2:
                middle = random.randint(start + 1, end - 1)
                stretches += [(start, middle), (middle, end)]
        sentence = Sentence(("word",) * n, ("NN",) * n)
        lines.append(str(Tree(sentence, tuple(by_place(spans)))))
    return "\n".join(lines) + "\n"


def timed(job: Callable[[], object]) -> float:
    """Processor seconds that a job takes."""
    gc.collect()
    start = time.process_time()
    job()
    return time.process_time() - start


def perturbed(tree: Tree, random: Random) -> Tree:
    """A tree with some spans missing and some labels wrong."""
    kept = [span for index, span in enumerate(tree.spans) if not index or random.random() > 0.1]
    spans = (span if random.random() > 0.1 else span._replace(label="QP") for span in kept)
    return Tree(tree.sentence, tuple(spans))


def core(path: Path) -> None:
    """Reading, the oracle and replay, scoring: all over one file of brackets."""
    lines = path.read_text(encoding="utf-8").splitlines()
    trees = [parse.tree for parse in read(path) if parse.tree is not None]
    random = Random(SEED)
    predicted = [perturbed(tree, random) for tree in trees]
    comparison = Comparison()
    encoded = [constituency.encode(tree) for tree in trees]

    def through(parses: object) -> None:
        for _ in parses:  # type: ignore[attr-defined]
            pass

    jobs: dict[str, Callable[[], object]] = {
        "nltk reads": lambda: through(nltk.Tree.fromstring(line) for line in lines),
        "we read": lambda: through(read(path)),
        "oracle and replay": lambda: through(replay(pointings(spans)) for spans in encoded),
        "  with joining of labels": lambda: through(
            replay(pointings(constituency.encode(tree))) for tree in trees
        ),
        "we score": lambda: through(
            comparison.compare(side_of_tree(gold), side_of_tree(tree))
            for gold, tree in zip(trees, predicted, strict=True)
        ),
        "we write": lambda: through(str(tree) for tree in trees),
    }
    # The objects kept above would otherwise be gone over again and again.
    gc.freeze()
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            times[name].append(timed(job))
    median = {name: statistics.median(taken) for name, taken in times.items()}
    print(f"{path.name}: {len(trees):,} trees, median of {ROUNDS} rounds\n")
    for name, taken in times.items():
        spread = f"{min(taken):.2f}-{max(taken):.2f}"
        each = median[name] / len(trees) * 1e6
        print(f"  {name:26} {median[name]:6.2f} s ({spread})  {each:6.1f} µs a tree")
    print()
    check("reading, against nltk", median["we read"] / median["nltk reads"], 1.0)
    pointing = median["  with joining of labels"]
    check("oracle and replay with joining, against reading", pointing / median["we read"], 1)
    check("scoring, against reading", median["we score"] / median["we read"], 2.0)


def memory(path: Path) -> None:
    """Peak memory of a streaming convert: of the file twice over, and of ten times as much."""
    text = path.read_text(encoding="utf-8")
    code = (
        "import sys, fencepost\n"
        "fencepost.write(fencepost.read(sys.argv[1]), sys.argv[2])\n"
        # Not getrusage, whose peak is inherited from the process that started this one.
        "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))\n"
    )
    peaks, sizes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for times in (2, 20):
            source, out = Path(folder, f"{times}.ptb"), Path(folder, f"{times}.jsonl")
            source.write_text(text * times, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, "-c", code, source, out],
                capture_output=True,
                check=True,
                text=True,
            )
            peaks.append(int(done.stdout) / 1024)
            sizes.append(source.stat().st_size / 2**20)
            print(
                f"  convert of {sizes[-1]:5.1f} MiB to JSON lines: peak memory {peaks[-1]:.0f} MiB"
            )
    print()
    grown = (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])
    check("bytes of memory for a byte more of file", grown, 0.05)


def starting() -> None:
    """Processor time until the library is there, and until the command has helped."""
    for name, arguments, most in (
        ("import fencepost", ["-c", "import fencepost"], 0.15),
        ("fencepost --help", ["-m", "fencepost", "--help"], 0.5),
    ):
        taken = []
        for _ in range(ROUNDS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        check(f"{name}, seconds", statistics.median(taken), most)


def check(name: str, value: float, most: float) -> None:
    """Print a figure beside what it should be at most."""
    print(f"  {name:50} {value:5.2f}   at most {most:.2f}: {'yes' if value <= most else 'NO'}")


def main() -> None:
    """Run all of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = SHARED
        if not path.is_file():
            path = Path(folder, "made-up.ptb")
            path.write_text(made_up_trees(5_000), encoding="utf-8")
        core(path)
        print()
        memory(path)
        print()
        starting()


if __name__ == "__main__":
    main()
