"""Figures 6 and 7: how many steps a sentence takes, against its length; and steps a word.

    python -m experiments.figures6_7                         # open corpora, their train parts
    python -m experiments.figures6_7 --corpora ptb ace2004   # the paper's own

The lines are n - 1, the steps of top-down splitting, and 2 n - 1, the most that ours can need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log1p
from pathlib import Path

from matplotlib.figure import Figure

from experiments.commands import arguments, start
from experiments.corpora import chosen
from experiments.keeping import keep, picture_path
from experiments.pictures import save
from fencepost.cli.tables import table
from fencepost.run.training.corpora import read_corpora
from fencepost.structure import Parse
from fencepost.tasks.layers import layer_spans
from fencepost.transition import pointings

CORPORA = ("gum-trees", "genia-trees", "sinica", "icepahc")
ENTITIES = ("gum-entities", "genia-entities", "germeval")
PAPER = {"ptb": 1.13, "ace2004": 0.40}  # steps a word (appendix A.2)


def counted(parses: Iterable[Parse], layer: str) -> Counter[tuple[int, int]]:
    """How many sentences have so many words and take so many steps."""
    return Counter(
        (len(parse.words), len(pointings(spans)))
        for parse in parses
        if (spans := layer_spans(parse, layer)) and parse.words
    )


def draw(counts: Counter[tuple[int, int]], *, title: str, path: Path) -> None:
    """A point for each number of words and steps, darker the more sentences have both."""
    longest = max(words for words, _ in counts)
    figure = Figure(figsize=(6, 5), layout="constrained")
    axes = figure.subplots()
    axes.scatter(
        [words for words, _ in counts],
        [steps for _, steps in counts],
        s=6,
        c=[log1p(count) for count in counts.values()],
        cmap="Blues",
        vmin=-1,
    )
    ends = (1, longest)
    for told, colour, steps in (
        ("n - 1", "#c0392b", [n - 1 for n in ends]),
        ("2 n - 1", "#1b7837", [2 * n - 1 for n in ends]),
    ):
        axes.plot(ends, steps, color=colour, linewidth=1, label=told)
    axes.set_title(title)
    axes.set_xlabel("words in the sentence, n")
    axes.set_ylabel("steps")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save(figure, path)


def main() -> None:
    """Count and draw."""
    options = arguments(__doc__, corpora=CORPORA + ENTITIES, seeds=False).parse_args()
    rows = [["", "sentences", "words", "steps", "steps a word", "splits a word"]]
    for corpus in options.corpora:
        here = chosen(corpus, options)
        layer = here.settings.heads.names[0]
        read = (parse for _, parse in read_corpora(here.settings.data.train, here.settings.data))
        parses = list(read)[: here.train_sentences if options.quick else None]
        counts = counted(parses, layer)
        sentences = sum(counts.values())
        words, steps = (sum(key[which] * n for key, n in counts.items()) for which in (0, 1))
        a_word, splits = steps / words, (words - sentences) / words
        rows.append(
            [corpus, f"{sentences:,}", f"{words:,}", f"{steps:,}", f"{a_word:.2f}", f"{splits:.2f}"]
        )
        path = picture_path(f"steps-{corpus}", options)
        draw(counts, title=f"{corpus}, train: {a_word:.2f} steps a word", path=path)
        data = {"corpus": corpus, "sentences": sentences, "words": words, "steps": steps}
        keep(f"steps-{corpus}", {**data, "steps_a_word": a_word, "splits_a_word": splits}, options)
    print(table(rows))


if __name__ == "__main__":
    start(main)
