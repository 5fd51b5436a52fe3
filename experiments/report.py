"""Make docs/experiments.md: the text of page.md with the figures in experiments/results.

    python -m experiments.report

Nothing is computed here but means and spreads, so that every figure of the page stands in a file of
experiments/results, with its command, seed and commit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Any

from experiments.keeping import RESULTS
from experiments.running import Result
from experiments.tables import spread
from fencepost.scoring.bootstrap import Difference

TEXT = Path("experiments/page.md")
PAGE = Path("docs/experiments.md")

PARTS = ("precision", "recall", "f1")
NOT_RUN = "not run"
BESIDE = ["", "paper P", "paper R", "paper F1", "our P", "our R", "our F1"]
# What the paper reports, on test parts and with large encoders.
TABLE2 = {
    "pointing": ("96.19", "95.83", "96.01"),
    "splitting": ("", "", "95.7"),
    "chart": ("95.85", "95.53", "95.69"),
}
TABLE3 = {"pointing": ("91.66", "91.31", "91.49"), "chart": ("91.73", "91.38", "91.55")}
TABLE4 = (
    ("ACE2004", 86.94, 86.27),
    ("ACE2005", 85.53, 85.01),
    ("GENIA", 78.16, 78.22),
)
NAMES = {
    "pointing": "bottom-up pointing",
    "splitting": "top-down splitting",
    "chart": "chart, CRF",
    "gum-trees": "GUM",
    "gum-entities": "GUM",
    "gum-trees-words": "GUM",
    "genia-trees": "GENIA",
    "genia-entities": "GENIA",
    "germeval": "GermEval",
    "sinica": "Sinica",
    "icepahc": "IcePaHC",
    "candidates": "loss over candidates only (the paper's ablation)",
    "canonical": "loss over what the canonical rules allow",
    "smoothing": "label smoothing 0.1",
    "average": "moving average of weights, 0.99",
    "lstm-1": "1 layer of BiLSTM on the encoder",
    "lstm-3": "3 layers of BiLSTM on the encoder",
    "exploring": "half of the sentences along own steps, dynamic oracle",
    "both": "trees and entities together",
}
HEADS = (  # corpora and the systems compared on them; all scored on dev with the last weights
    ("GUM, 2 epochs", "gum-trees", ("pointing", "beyond", "beyond-lstm", "chart-authors")),
    ("GUM, 6 epochs", "gum-trees", ("beyond-6-epochs", "chart-authors-6-epochs")),
    ("MASC", "masc-trees", ("beyond", "chart-authors")),
    ("Sinica", "sinica", ("beyond", "chart-authors")),
    ("GUM, entities", "gum-entities", ("pointing", "beyond", "classifier")),
    ("GENIA, entities", "genia-entities", ("pointing", "beyond", "classifier")),
    ("LitBank, entities", "litbank", ("pointing", "beyond", "classifier")),
)
HEAD_NAMES = {
    "pointing": "pointing, the paper's head",
    "beyond": "pointing, new head",
    "beyond-lstm": "pointing, new head with the LSTM",
    "chart-authors": "chart, same perceptrons",
    "classifier": "classifier of spans",
}
HEAD_FIGURES = ("greedy", "beam 4", "greedy, long", "beam 4, long")


@cache
def kept(name: str) -> Any:
    """What was kept under a name."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def is_kept(name: str) -> bool:
    """Whether there is anything under a name."""
    return (RESULTS / f"{name}.json").exists()


def figures(corpus: str, name: str) -> list[str]:
    """Precision, recall and F1 of trees: means over seeds, and the spread of several."""
    files = [f"{corpus}-{name}-{seed}" for seed in (1, 2, 3)]
    found = [kept(file)["scores"]["tree"] for file in files if is_kept(file)]
    if not found:
        return [NOT_RUN] * len(PARTS)
    return [spread([scores[part] for scores in found]) for part in PARTS]


def f1(corpus: str, name: str = "pointing", layer: str = "tree") -> float | None:
    """The F1 with seed 1; None if that was not run."""
    file = f"{corpus}-{name}-1"
    return float(kept(file)["scores"][layer]["f1"]) if is_kept(file) else None


def two(one: float | None, other: float | None) -> list[str]:
    """Two figures, and by how much the second is larger."""
    told = [NOT_RUN if figure is None else f"{figure:.2f}" for figure in (one, other)]
    return [*told, "" if one is None or other is None else f"{other - one:+.2f}"]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, figures flush right."""
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table2() -> str:
    """Trees of English."""
    rows = [[NAMES[name], *paper, *figures("gum-trees", name)] for name, paper in TABLE2.items()]
    return table(BESIDE, rows)


def differences(name: str) -> str:
    """How sure the differences between systems are."""
    names = NAMES | HEAD_NAMES if name.startswith("significance-heads") else NAMES
    rows = [
        [
            f"{names[one['first']]} − {names[one['second']]}",
            f"{one['f1']:+.2f}",
            f"{one['low']:+.2f} to {one['high']:+.2f}",
            Difference(**{key: one[key] for key in Difference.__dataclass_fields__}).told_p,
        ]
        for one in (kept(name)["differences"] if is_kept(name) else ())
    ]
    return table(["", "difference of F1", "95 % interval", "p"], rows)


def table3() -> str:
    """Trees of Chinese."""
    rows = [[NAMES[name], *paper, *figures("sinica", name)] for name, paper in TABLE3.items()]
    return table(BESIDE, rows)


def other_trees() -> str:
    """Trees of other corpora."""
    rows = [[NAMES[name], *figures(name, "pointing")] for name in ("genia-trees", "icepahc")]
    return table(["bottom-up pointing on", "P", "R", "F1"], rows)


def table4() -> str:
    """Nested entities, with and without the previous label."""
    rows = [[f"paper, {name}", *two(without, label)] for name, label, without in TABLE4]
    for corpus in ("gum-entities", "genia-entities", "germeval"):
        without = f1(corpus, "no-previous-label", "entities")
        rows.append([f"ours, {NAMES[corpus]}", *two(without, f1(corpus, layer="entities"))])
    return table(["", "without", "with", "gain"], rows)


def by_bins(name: str) -> str:
    """A figure of F1 by bins, as a table."""
    data = kept(f"{name}-gum-trees")
    rows = [
        [f"paper, {NAMES[system]}", *map("{:.2f}".format, each)]
        for system, each in data["paper"].items()
    ]
    rows += [[f"ours, {NAMES[system]}", *map(spread, each)] for system, each in data["f1"].items()]
    rows.append(["gold spans, GUM dev", *(f"{count:,}" for count in data["bins"].values())])
    return table(["", *data["bins"]], rows)


def beam() -> str:
    """Beams against greedy search."""
    rows = [
        ["paper, PTB", "96.01", "96.06", "+0.05"],
        ["paper, CTB7", "91.49", "91.46", "−0.03"],
    ]
    for corpus in ("gum-trees", "sinica"):
        file = f"beam-{corpus}-1"
        found = kept(file)["f1"] if is_kept(file) else {}
        rows += (
            [
                f"ours, {NAMES[corpus]}, {rules} search",
                *two(found.get(f"{rules}-1"), found.get(f"{rules}-20")),
            ]
            for rules in ("canonical", "free")
        )
    return table(["", "greedy", "beam 20", "gain"], rows)


def loss() -> str:
    """The loss over all boundaries against candidates."""
    rows = [
        ["paper, PTB", "96.01", "95.89", "−0.12"],
        ["paper, CTB7", "91.49", "91.39", "−0.10"],
    ]
    rows += (
        [f"ours, {NAMES[corpus]}", *two(f1(corpus), f1(corpus, "candidates"))]
        for corpus in ("gum-trees", "sinica")
    )
    return table(["", "all boundaries", "candidates", "gain"], rows)


def table5() -> str:
    """Speed."""
    if not is_kept("table5-gum-trees-words"):
        return NOT_RUN
    data = kept("table5-gum-trees-words")
    ours, paper = data["sentences_a_second"], data["paper"]
    rows = [
        [
            NAMES[name],
            f"{paper[name]:,}",
            f"{paper[name] / paper['splitting']:.2f}",
            f"{ours[name]:.0f}",
            f"{ours[name] / ours['splitting']:.2f}",
        ]
        for name in paper
    ]
    header = [
        "",
        "paper, sentences/s",
        "against splitting",
        "ours, sentences/s",
        "against splitting",
    ]
    return table(header, rows)


def lengths() -> str:
    """Time against length."""
    if not is_kept("table5-gum-trees-words"):
        return NOT_RUN
    data = kept("table5-gum-trees-words")
    rows = [
        [NAMES[name], *(f"{one:.0f}" for one in each)]
        for name, each in data["ms_for_1000_words"].items()
    ]
    picture = (
        "![Time for 1,000 words against sentence length](experiments/table5-gum-trees-words.svg)"
    )
    header = ["ms for 1,000 words", *(f"n = {n}" for n in data["lengths"])]
    return f"{table(header, rows)}\n\n{picture}"


def steps() -> str:
    """Steps a word."""
    rows = [
        ["paper, PTB, trees", "", "1.13", "0.96"],
        ["paper, ACE2004, entities", "", "0.40", ""],
    ]
    for layer, corpora in (
        ("trees", ("gum-trees", "genia-trees", "sinica", "icepahc")),
        ("entities", ("gum-entities", "genia-entities", "germeval")),
    ):
        for corpus in corpora:
            data = kept(f"steps-{corpus}")
            a_word, splits = f"{data['steps_a_word']:.2f}", f"{data['splits_a_word']:.2f}"
            name = f"ours, {NAMES[corpus]}, {layer}"
            rows.append([name, f"{data['sentences']:,}", a_word, splits])
    return table(["", "train sentences", "steps a word", "n − 1 a word"], rows)


def beyond() -> str:
    """What goes beyond the paper."""
    base = f1("gum-trees")
    names = ("candidates", "canonical", "smoothing", "average", "lstm-1", "lstm-3", "exploring")
    rows = [["the paper's way to train, no BiLSTM", *two(None, base)[1:]]]
    rows += ([NAMES[name], *two(base, f1("gum-trees", name))[1:]] for name in names)
    return table(["GUM dev, trees, seed 1", "F1", "gain"], rows)


def together() -> str:
    """Trees and entities in one network, and apart."""
    rows = [
        ["trees", *two(f1("gum-trees"), f1("gum-both"))],
        ["entities", *two(f1("gum-entities", layer="entities"), f1("gum-both", layer="entities"))],
    ]
    return table(["GUM dev, F1, seed 1", "apart", "together", "gain"], rows)


def heads() -> str:
    """The head beyond the paper, the paper's, and a chart."""
    rows = []
    for title, corpus, systems in HEADS:
        for system in systems:
            runs = (f"{corpus}-{system}-{seed}" for seed in (1, 2, 3))
            seeds = [_head_figures(run) for run in runs if is_kept(run)]
            columns = ([one[name] for one in seeds if name in one] for name in HEAD_FIGURES)
            if seeds:
                figures = [spread(column) if column else "" for column in columns]
                rows.append([title, HEAD_NAMES[system.split("-6-")[0]], *figures, f"{len(seeds)}"])
    header = ["", "", "greedy", "beam 4", "> 40 words, greedy", "> 40 words, beam 4", "seeds"]
    return table(header, rows)


def _head_figures(run: str) -> dict[str, float]:
    """F1 by search and length; of a run of another table greedy search alone."""
    if is_kept(f"heads-{run}"):
        by_search: dict[str, float] = kept(f"heads-{run}")["f1"]
        return by_search
    (scores,) = kept(run)["scores"].values()
    return {"greedy": scores["f1"]}


def joined_spans() -> str:
    """How many spans the head finds in joined sentences."""
    rows = []
    for system in ("pointing", "beyond"):
        files = [f"heads-gum-trees-{system}-{seed}" for seed in (1, 2, 3)]
        seeds = [kept(file)["f1"] for file in files if is_kept(file)]
        if seeds:
            shares = (
                [100 * one[f"spans, {words} words"] for one in seeds] for words in (100, 200, 500)
            )
            rows.append([HEAD_NAMES[system], *(f"{fmean(share):.0f} %" for share in shares)])
    return table(["spans found / gold", "100 words", "200 words", "500 words"], rows)


def run_table() -> str:
    """Every training run, with what it takes to do it again."""
    rows = []
    for path in sorted(RESULTS.glob("*.json")):
        data = kept(path.stem)
        if "scores" not in data:
            continue
        result = Result(**data)
        rows.append(
            [
                f"`{path.stem}`",
                f"`{result.command}`",
                result.commit,
                f"{result.train_sentences:,} × {result.epochs}",
                f"{result.minutes:.1f}",
                result.scored,
                ", ".join(f"{result.figure(layer):.2f}" for layer in result.scores),
            ]
        )
    header = ["result", "command", "commit", "sentences × epochs", "minutes", "of", "F1"]
    return table(header, rows)


def other_commands() -> str:
    """What was counted and timed, not trained."""
    rows = []
    for path in sorted(RESULTS.glob("*.json")):
        data = kept(path.stem)
        if "scores" not in data:
            rows.append([f"`{path.stem}`", f"`{data['command']}`", data["commit"]])
    return table(["result", "command", "commit"], rows)


def page() -> str:
    """The page, with all figures."""
    return Template(TEXT.read_text(encoding="utf-8")).substitute(
        table2=table2(),
        significance=differences("significance-gum-trees"),
        table3=table3(),
        other_trees=other_trees(),
        table4=table4(),
        figure4=by_bins("figure4"),
        figure5=by_bins("figure5"),
        beam=beam(),
        loss=loss(),
        table5=table5(),
        lengths=lengths(),
        steps=steps(),
        beyond=beyond(),
        together=together(),
        heads=heads(),
        head_differences=differences("significance-heads-gum-trees"),
        joined=joined_spans(),
        runs=run_table(),
        others=other_commands(),
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
