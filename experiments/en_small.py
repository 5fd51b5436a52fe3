"""Make the model that ships with the package from a training run: weights and card.

    make en-small

Weights are rounded to 16 bits, and both precisions are scored on GUM dev; then probabilities are
calibrated there. The card is put together from these figures, the run's own settings and the text
in `en-small-card.md`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from fencepost.config import NetworkSettings
from fencepost.formats import Reading, ReadSettings
from fencepost.parser.calibration import Calibration, calibrate
from fencepost.parser.loading import load_model
from fencepost.parser.model import Model, save_model
from fencepost.run.convert import merged
from fencepost.run.evaluate import Report, evaluate, main_figure
from fencepost.run.metrics import best_epoch, read_epochs
from fencepost.scoring.parameters import COLLINS
from fencepost.structure import Parse

GUM = Path("../shared/data/gum")
OUT = Path("src/fencepost/models/en-small")
ENCODER = "sentence-transformers/all-MiniLM-L6-v2"

CARD = Path(__file__).with_name("en-small-card.md")


def dev() -> list[Parse]:
    """GUM dev with trees and entities."""
    settings = ReadSettings(drop_functions=True)
    trees, entities = (GUM / "const/dev.ptb", GUM / "ner/dev.jsonl")
    return list(merged(*(Reading(path, settings=settings) for path in (trees, entities))))


def row(name: str, reports: dict[str, Report], sentences: int | None = None) -> str:
    """A row of the table of scores."""
    cells = [name, *([] if sentences is None else [f"{sentences:,}"])]
    cells += [f"{main_figure(reports[head]):.2f}" for head in ("tree", "entities", "tags")]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Score, round, score again, and write the folder."""
    run = Path(sys.argv[1])
    gold = dev()
    model = load_model(run / "model")
    whole = evaluate(model, gold)
    named = replace(model, network_settings=_named(model))
    save_model(named, OUT, half=True)
    model = load_model(OUT)
    rounded = evaluate(model, gold)
    calibrations = calibrate(model, gold, parameters=COLLINS)
    for one in calibrations:
        model.network.head(one.layer).temperature = one.temperature
    save_model(model, OUT, half=True)
    lines = ["| | trees, F1 | entities, F1 | tags, accuracy |", "|---|--:|--:|--:|"]
    lines += [row("32 bits, as trained", whole), row("16 bits, as shipped", rounded)]
    by_genre: dict[str, list[Parse]] = defaultdict(list)
    for parse in gold:
        by_genre[(parse.id or "").split("_")[1]].append(parse)
    genres = ["| genre | sentences | trees | entities | tags |", "|---|--:|--:|--:|--:|"]
    for genre, parses in sorted(by_genre.items()):
        genres.append(row(genre, evaluate(model, parses), len(parses)))
    settings = json.loads((run / "settings.json").read_text())
    best = best_epoch(read_epochs(run))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    card = CARD.read_text(encoding="utf-8").format(
        weights=sum(value.numel() for value in model.network.parameters()),
        megabytes=(OUT / "weights.safetensors").stat().st_size / 1e6,
        epochs=f"{settings['training']['epochs']} (number {best.epoch})",
        seed=settings["seed"],
        commit=commit,
        scores="\n".join(lines),
        genres="\n".join(genres),
        calibration="\n".join(_calibrated(one) for one in calibrations),
        tree_labels=", ".join(_plain_labels(model)),
        entity_labels=", ".join(sorted(model.numbers.labels["entities"].names)),
    )
    (OUT / "README.md").write_text(card, encoding="utf-8")
    print("\n".join([*lines, "", *genres]))


def _calibrated(one: Calibration) -> str:
    """A row of the table of calibration."""
    errors = f"{100 * one.ece_before:.2f} | {100 * one.ece_after:.2f}"
    return f"| {one.layer} | {one.temperature:.2f} | {one.spans:,} | {errors} |"


def _named(model: Model) -> NetworkSettings:
    """The settings of the network with the encoder's name on the hub."""
    encoder = model.network_settings.encoder.model_copy(update={"model": ENCODER})
    return model.network_settings.model_copy(update={"encoder": encoder})


def _plain_labels(model: Model) -> list[str]:
    """The labels of trees, chains taken apart."""
    names = {part for name in model.numbers.labels["tree"].names for part in name.split("+")}
    return sorted(names - {"ROOT", ""})


if __name__ == "__main__":
    main()
