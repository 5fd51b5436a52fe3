"""Make the model that ships with the package from a training run: weights, temperatures, card.

    make en-small
    python -m experiments.en_small RUN               # of a run that has ended
    python -m experiments.en_small --score MODEL     # only score a model, and print the tables

Weights are rounded to 16 bits. Temperatures are fitted on GUM dev and MASC dev. The card is put
together from the scores, the run's own settings and the text in `en-small-card.md`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import fencepost
from experiments.report import table
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import Model, save_model
from fencepost.checkpoints.shipped import find_model
from fencepost.checkpoints.trainable import TrainableModel, load_trainable
from fencepost.config import NetworkSettings
from fencepost.formats import ParseReader, ReadSettings
from fencepost.parser.calibration import Calibration, calibrate
from fencepost.parser.predict import predict
from fencepost.run.calibrate import write_temperatures
from fencepost.run.convert import merged
from fencepost.run.evaluate import compared, main_figure, untagged
from fencepost.run.training.metrics import best_epoch, read_epochs
from fencepost.scoring.parameters import COLLINS
from fencepost.structure import Parse

DATA = Path("../shared/data")
OUT = Path("src/fencepost/models/en-small")
ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
CARD = Path(__file__).with_name("en-small-card.md")

LONG = 40  # words; sentences of more are scored by themselves, too
LAYERS = ("tree", "entities", "tags")


def gum() -> list[Parse]:
    """GUM dev with trees and entities."""
    settings = ReadSettings(drop_functions=True)
    trees, entities = (DATA / "gum" / name for name in ("const/dev.ptb", "ner/dev.jsonl"))
    return list(merged(*(ParseReader(path, settings=settings) for path in (trees, entities))))


def corpora() -> dict[str, list[Parse]]:
    """The dev parts, with labels as in training."""
    nml = ("NML",)
    craft = (*nml, "HEADING", "TITLE", "CAPTION")
    return {
        "MASC": trees("masc", splice=nml),
        "GUM": gum(),
        "GENIA": trees("genia"),
        "CRAFT": trees("craft", splice=craft, rename={"CIT": "PRN"}),
    }


def trees(
    corpus: str, *, splice: tuple[str, ...] = (), rename: Mapping[str, str] | None = None
) -> list[Parse]:
    """The trees of a corpus' dev part."""
    settings = ReadSettings(drop_functions=True, splice=splice, rename=rename or {})
    return list(ParseReader(DATA / corpus / "const/dev.ptb", settings=settings))


def masc_genres() -> list[str]:
    """The genre of each sentence of MASC dev."""
    lines = (DATA / "masc/const/dev.ids").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines]


def figures(gold: Sequence[Parse], predicted: Sequence[Parse]) -> list[str]:
    """F1 of trees and entities and accuracy of tags.

    Tags are scored where there are entities too: other corpora follow other guidelines.
    """
    reports = compared(gold, predicted)
    layers = LAYERS if "entities" in reports else LAYERS[:1]
    return [f"{main_figure(reports[name]):.2f}" if name in layers else "" for name in LAYERS]


def corpus_table(parts: Mapping[str, list[Parse]], predicted: Mapping[str, list[Parse]]) -> str:
    """Scores by corpus: all sentences, and long sentences."""
    rows = []
    for name, gold in parts.items():
        pairs = list(zip(gold, predicted[name], strict=True))
        for told, some in (
            (f"**{name}**", pairs),
            (f"{name}, over {LONG} words", [one for one in pairs if len(one[0].words) > LONG]),
        ):
            rows.append([told, f"{len(some):,}", *figures(*zip(*some, strict=True))])
    return table(["dev part", "sentences", *LAYERS], rows)


def genre_table(gold: Sequence[Parse], predicted: Sequence[Parse], genres: Sequence[str]) -> str:
    """Scores by genre."""
    by_genre: dict[str, list[tuple[Parse, Parse]]] = defaultdict(list)
    for one, other, genre in zip(gold, predicted, genres, strict=True):
        by_genre[genre].append((one, other))
    rows = [
        [genre, f"{len(pairs):,}", *filter(None, figures(*zip(*pairs, strict=True)))]
        for genre, pairs in sorted(by_genre.items())
    ]
    return table(["genre", "sentences", *LAYERS][: len(rows[0])], rows)


def raw_table(parser: fencepost.Parser, gold: Sequence[Parse], predicted: Sequence[Parse]) -> str:
    """F1 of brackets and entities by their characters: gold sentences and words, or raw text."""
    lines = (DATA / "gum/text/dev.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    offsets = [
        (number, [tuple(word) for word in sentence["words"]])
        for number, document in enumerate(documents)
        for sentence in document["sentences"]
    ]
    wanted = list(placed(gold, offsets))
    found: list[tuple[str, object]] = []
    for number, document in enumerate(parser.parse_many(one["text"] for one in documents)):
        for parse in document.sentences:
            assert parse.sentence.offsets is not None
            found += placed([parse], [(number, parse.sentence.offsets)])
    rows = [
        ["gold sentences and words", *scores(wanted, list(placed(predicted, offsets)))],
        ["raw text, our own splitting", *scores(wanted, found)],
    ]
    return table(["GUM dev, spans by characters", "trees, F1", "entities, F1"], rows)


def placed(
    parses: Sequence[Parse], offsets: Sequence[tuple[int, Sequence[tuple[int, ...]]]]
) -> Iterator[tuple[str, object]]:
    """Brackets and entities as characters of numbered documents."""
    for parse, (number, words) in zip(parses, offsets, strict=True):
        layers = {"tree": parse.tree.spans if parse.tree else (), "entities": parse.entities or ()}
        for layer, spans in layers.items():
            for span in spans:
                if span.label != "ROOT":
                    place = (number, words[span.start][0], words[span.end - 1][1], span.label)
                    yield layer, place


def scores(
    gold: Sequence[tuple[str, object]], predicted: Sequence[tuple[str, object]]
) -> list[str]:
    """F1 of trees and of entities."""
    cells = []
    for layer in ("tree", "entities"):
        ours = Counter(place for name, place in gold if name == layer)
        theirs = Counter(place for name, place in predicted if name == layer)
        f1 = 200 * (ours & theirs).total() / (ours.total() + theirs.total())
        cells.append(f"{f1:.2f}")
    return cells


def calibration_table(model: Model, parts: Mapping[str, list[Parse]]) -> str:
    """The error of probabilities by corpus, with the model's own temperatures."""
    rows = [
        [name, one.layer, f"{one.spans:,}", f"{100 * one.ece_before:.2f}"]
        for name in ("MASC", "GUM", "GENIA")
        for one in calibrate(model, parts[name], parameters=COLLINS)
    ]
    return table(["dev part", "head", "spans", "error, %"], rows)


def temperature_table(calibrations: Sequence[Calibration]) -> str:
    """The fitted temperatures, with the error of probabilities before and after."""
    rows = []
    for one in calibrations:
        errors = [f"{100 * one.ece_before:.2f}", f"{100 * one.ece_after:.2f}"]
        rows.append([one.layer, f"{one.temperature:.2f}", f"{one.spans:,}", *errors])
    return table(["head", "temperature", "spans", "error before, %", "error after, %"], rows)


def tables(folder: Path) -> dict[str, str]:
    """All tables of the card."""
    model = load_model(folder, threads=1)
    parts = corpora()
    predicted = {name: predict(model, untagged(gold)) for name, gold in parts.items()}
    greedy = [
        [f"{name}, greedy", f"{len(parts[name]):,}", *figures(parts[name], parses)]
        for name in ("MASC", "GUM")
        for parses in [predict(model, untagged(parts[name]), beams=1)]
    ]
    gum_genres = [(parse.id or "").split("_")[1] for parse in parts["GUM"]]
    return {
        "scores": corpus_table(parts, predicted),
        "greedy": table(["dev part", "sentences", *LAYERS], greedy),
        "masc_genres": genre_table(parts["MASC"], predicted["MASC"], masc_genres()),
        "gum_genres": genre_table(parts["GUM"], predicted["GUM"], gum_genres),
        "raw": raw_table(fencepost.load(folder, threads=1), parts["GUM"], predicted["GUM"]),
        "calibration": calibration_table(model, parts),
    }


def main() -> None:
    """Write the folder and its card, or score a model."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("run", type=Path, nargs="?", help="the folder of a run")
    arguments.add_argument("--score", help="a shipped model or a folder, to be scored alone")
    options = arguments.parse_args()
    if options.score:
        print("\n\n".join(tables(find_model(options.score)).values()))
        return
    if options.run is None:
        arguments.error("name the folder of a run, or --score MODEL")
    run: Path = options.run
    trained = load_trainable(run / "model")
    save_model(replace(trained, network_settings=_named(trained)), OUT, half=True)
    fitted = calibrate(
        load_model(OUT, threads=1), [*gum(), *trees("masc", splice=("NML",))], parameters=COLLINS
    )
    write_temperatures(OUT, {one.layer: one.temperature for one in fitted})
    settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    card = CARD.read_text(encoding="utf-8").format(
        weights=sum(value.numel() for value in trained.network.parameters()),
        megabytes=(OUT / "weights.safetensors").stat().st_size / 1e6,
        epochs=settings["training"]["epochs"],
        best=best_epoch(read_epochs(run)).epoch,
        seed=settings["seed"],
        beams=settings["search"]["beams"],
        commit=commit,
        temperatures=temperature_table(fitted),
        tree_labels=", ".join(_plain_labels(trained)),
        entity_labels=", ".join(sorted(trained.numbers.labels["entities"].names)),
        **tables(OUT),
    )
    (OUT / "README.md").write_text(card, encoding="utf-8")
    print(card)


def _named(model: TrainableModel) -> NetworkSettings:
    """The settings of the network with the encoder's name on the hub."""
    encoder = model.network_settings.encoder.model_copy(update={"model": ENCODER})
    return model.network_settings.model_copy(update={"encoder": encoder})


def _plain_labels(model: TrainableModel) -> list[str]:
    """The labels of trees, chains taken apart."""
    names = {part for name in model.numbers.labels["tree"].names for part in name.split("+")}
    return sorted(names - {"ROOT", ""})


if __name__ == "__main__":
    main()
