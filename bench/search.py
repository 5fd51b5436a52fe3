"""Five patterns over a treebank, by fencepost and by nltk's tgrep: seconds of the processor.

    python -m bench.search FILE.ptb [--limit N]

Each program finds all five patterns in one run over trees that are in memory, in its own form. The
matches have to be the same.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import islice

from fencepost.formats import read
from fencepost.search import Pattern
from fencepost.structure import Tree

# As both of them write them; nltk does not match words through tags, so all are about phrases.
PATTERNS = (
    "NP < NN",
    "NP << (PP < IN)",
    "VP < (VBD $.. NP)",
    "NP !<< NP",
    "NN . (IN . DT)",
)


def ours(trees: list[Tree]) -> tuple[list[int], float]:
    """Matches of each pattern, and seconds."""
    start = time.process_time()
    patterns = [Pattern(text) for text in PATTERNS]
    counts = [0] * len(patterns)
    for tree in trees:
        for number, pattern in enumerate(patterns):
            for _ in tree.find(pattern):
                counts[number] += 1
    return counts, time.process_time() - start


def theirs(trees: list[Tree]) -> tuple[list[int], float]:
    """Matches of each pattern by nltk, and seconds, without those for making its trees."""
    from nltk import ParentedTree
    from nltk.tgrep import tgrep_compile, tgrep_positions

    warnings.simplefilter("ignore")
    parented = [ParentedTree.convert(tree.to_nltk()) for tree in trees]
    start = time.process_time()
    counts = [sum(map(len, tgrep_positions(tgrep_compile(text), parented))) for text in PATTERNS]
    return counts, time.process_time() - start


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    trees = [parse.tree for parse in islice(read(given.file), given.limit) if parse.tree]
    print(f"{len(trees):,} trees, {sum(map(len, trees)):,} words", flush=True)
    found, seconds = ours(trees)
    print(f"fencepost   {seconds:8.2f} s", flush=True)
    expected, others = theirs(trees)
    print(f"nltk.tgrep  {others:8.2f} s   {others / seconds:.1f} times as long")
    for text, one, other in zip(PATTERNS, found, expected, strict=True):
        print(f"{text:20} {one:9,} matches{'' if one == other else f', nltk {other:,}'}")


if __name__ == "__main__":
    main()
