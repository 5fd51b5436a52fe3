"""The head that goes beyond the paper, against the paper's head and a chart.

    python -m experiments.heads --seeds 1 2 3               # two epochs, the budget of Table 2
    python -m experiments.heads --epochs 6 --systems beyond chart-authors
    python -m experiments.heads --corpora gum-entities --systems paper beyond classifier

paper           the paper's head
beyond          nearest-first pointing with standing, context and grid, the authors' perceptrons,
                and no LSTM
beyond-lstm     the same with the LSTM
chart           span scores and CKY, perceptrons as in the paper's text
chart-authors   the same with the authors' perceptrons and first weights
classifier      a biaffine classifier of spans, for entities

All on the same encoder and data, with the same number of steps. Pointing is scored greedily and
with a beam of 4. Of trees, sentences of over 40 words are also scored by themselves, and sentences
that are joined from several show how many spans are found, as a share of gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from experiments.commands import arguments, start
from experiments.corpora import chosen
from experiments.keeping import keep
from experiments.running import Plan, Run, seed_runs
from experiments.systems.chart import Chart
from experiments.systems.classifier import Classifier
from experiments.systems.pointing import Pointing
from experiments.table2 import suffix
from experiments.tables import difference_table, differences, score_table, spread
from fencepost.cli.tables import table
from fencepost.parser.predict import predict
from fencepost.run.evaluate import compared, evaluate, main_figure
from fencepost.structure import Parse, Sentence

AUTHORS = ("perceptrons=authors",)
BEYOND = (
    *AUTHORS,
    "pointing=nearest-first",
    "standing=true",
    "context=true",
    "grid=100",
)
WITHOUT = ("recurrent=false", "previous_label=false")
SYSTEMS = ("paper", "beyond", "beyond-lstm", "chart", "chart-authors", "classifier")
TREE_SYSTEMS = SYSTEMS[:-1]
LONG = 40  # words; sentences of more are scored by themselves, too
JOINED = (100, 200, 500)  # words


def plan(corpus: str, name: str, epochs: int | None, *, layer: str = "tree") -> Plan:
    """The plan of a system; those that Tables 2 and 4 have are theirs."""
    changes = () if epochs is None else (f"training.epochs={epochs}",)
    more = "" if epochs is None else f"-{epochs}-epochs"  # as in `suffix`

    def head(settings: Sequence[str]) -> tuple[str, ...]:
        return changes + tuple(f"heads.{layer}.{setting}" for setting in settings)

    canonical = ("training.pointing_loss=canonical",)
    match name:
        case "paper":
            return Plan(corpus, f"pointing{more}", changes)
        case "beyond":
            return Plan(corpus, f"beyond{more}", canonical + head(BEYOND + WITHOUT))
        case "beyond-lstm":
            return Plan(corpus, f"beyond-lstm{more}", canonical + head(BEYOND))
        case "chart":
            return Plan(corpus, f"chart{more}", changes, Chart())
        case "classifier":
            return Plan(corpus, f"classifier{more}", changes, Classifier())
    return Plan(corpus, f"chart-authors{more}", head(AUTHORS), Chart())


def figures(done: Run, layer: str) -> dict[str, float]:
    """F1 of a run by search and length, and spans in joined sentences as shares of gold."""
    gold, model = done.gold(), done.model()
    long = [parse for parse in gold if len(parse.words) > LONG] if layer == "tree" else []
    f1 = {"greedy": done.result.figure(layer)}
    system = done.plan.system
    if not isinstance(system, Pointing):
        if long:
            predicted = system.predict(model, [parse.sentence for parse in long])
            f1["greedy, long"] = main_figure(compared(long, predicted)[layer])
        return f1
    f1["beam 4"] = main_figure(evaluate(model, gold, beams=4)[layer])
    if long:
        for name, beams in (("greedy", 1), ("beam 4", 4)):
            f1[f"{name}, long"] = main_figure(evaluate(model, long, beams=beams)[layer])
    for words in JOINED if layer == "tree" else ():
        some = list(joined(gold, words))
        if some:
            parses = predict(model, [sentence for sentence, _ in some])
            spans = sum(len(parse.tree.spans) for parse in parses if parse.tree is not None)
            f1[f"spans, {words} words"] = spans / sum(count for _, count in some)
    return f1


def joined(parses: Iterable[Parse], words: int) -> Iterator[tuple[Sentence, int]]:
    """Sentences joined up to so many words, each with the number of their gold spans."""
    together: list[str] = []
    spans = 0
    for parse in parses:
        assert parse.tree is not None
        together += parse.words
        spans += len(parse.tree.spans)
        if len(together) >= words:
            yield Sentence(tuple(together)), spans
            together, spans = [], 0


def figure_table(rows: Sequence[tuple[str, Sequence[dict[str, float]]]]) -> str:
    """A table of figures, mean and spread over seeds."""
    names = list(dict.fromkeys(name for _, seeds in rows for one in seeds for name in one))
    lines = [["", *names]]
    for system, seeds in rows:
        columns = ([one[name] for one in seeds if name in one] for name in names)
        lines.append([system, *(spread(column) if column else "" for column in columns)])
    return table(lines)


def main() -> None:
    """Train and score each."""
    parser = arguments(__doc__, corpora=("gum-trees",))
    parser.add_argument("--systems", nargs="+", default=TREE_SYSTEMS, choices=SYSTEMS)
    parser.add_argument("--epochs", type=int, help="more or fewer than the settings say")
    options = parser.parse_args()
    for corpus in options.corpora:
        runs, rows = [], []
        (layer,) = chosen(corpus, options).settings.heads.names
        for name in options.systems:
            own = plan(corpus, name, options.epochs, layer=layer)
            runs.append(seed_runs(own, options))
            seeds = [figures(one, layer) for one in runs[-1]]
            rows.append((f"{corpus}, {own.name}, {runs[-1][0].result.scored}", seeds))
            for one, f1 in zip(runs[-1], seeds, strict=True):
                data = {"of": one.result.scored, "f1": f1}
                keep(f"heads-{corpus}-{own.name}-{one.result.seed}", data, options)
        print(score_table(runs, layer))
        print(figure_table(rows))
        if len(runs) > 1 and layer == "tree":
            found = differences(runs)
            print(difference_table(found))
            each = [{"first": one, "second": other, **by.to_dict()} for one, other, by in found]
            keep(f"significance-heads-{corpus}{suffix(options)}", {"differences": each}, options)


if __name__ == "__main__":
    start(main)
