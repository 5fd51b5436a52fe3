"""Fine-tuning: settings chosen by the data and by the model to start from, and their run."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from math import inf
from pathlib import Path
from typing import Any

from fencepost.checkpoints.loading import open_model
from fencepost.checkpoints.shipped import find_model
from fencepost.config import DataSettings, Settings, change_table, checked
from fencepost.errors import DataError
from fencepost.run.training.corpora import read_corpora
from fencepost.run.training.folder import check_folder, check_same, withdrawn, written
from fencepost.run.training.metrics import Epoch
from fencepost.run.training.start import filled
from fencepost.run.training.train import Finished, Note, Stop, never, run_training
from fencepost.structure import Parse
from fencepost.tasks.layers import layer_spans
from fencepost.training.loop import TrainingStep
from fencepost.training.processes import join_processes

SETTINGS = "finetune.toml"
RUN = "training"  # the folder of the run, in that of the model
HEADS = ("tree", "entities", "tags")

# The head that learns fastest from little: docs/guides/train.md, "Which head".
NEW_HEAD: Mapping[str, Any] = {
    "previous_label": False,
    "perceptrons": "authors",
    "pointing": "nearest-first",
    "standing": True,
    "context": True,
    "grid": 100,
    "recurrent": False,
}
_USUAL_MLP = 256

_WORDS = 150_000  # to be seen in all epochs together, if there are not more in a few
_FEWEST, _MOST = 4, 30  # epochs
_BATCHES = ((5_000, 100), (20_000, 200), (200_000, 400), (inf, 600))  # of so many words
_DEV_SHARE, _MOST_DEV = 0.1, 1000  # of the sentences; and so many at most


def run_finetuning(
    settings: Settings, model: Path, *, resume: bool = False, stop: Stop = never
) -> Iterator[TrainingStep | Epoch | Note | Finished]:
    """Run what `planned` has planned; checkpoints are removed at the end.

    Args:
        settings: of the run.
        model: the folder of the new model, with `training/` for what else a run leaves.
        resume: whether to go on from the last checkpoint, if there is one.
        stop: as in `run_training`.
    """
    run, is_main = model / RUN, join_processes().is_main
    with withdrawn(model / SETTINGS) if is_main else nullcontext():
        events = run_training(
            settings, run, resume=resume, model_folder=model, advice=_advice(model), stop=stop
        )
        for event in events:
            if isinstance(event, Finished) and is_main:
                for checkpoint in run.glob("checkpoint-*"):
                    shutil.rmtree(checkpoint, ignore_errors=True)
            yield event


def planned(
    data: Sequence[str],
    model: Path,
    *,
    dev: Sequence[str] = (),
    base: str = "en-small",
    seed: int = 1,
    reading: Mapping[str, Any] | None = None,
    changes: Sequence[str] = (),
    resume: bool = False,
) -> tuple[Settings, str]:
    """The settings to train a model further on annotated files, and what they were chosen by.

    They are written to `model/finetune.toml`, too, unless the run there began with others.

    Args:
        data: files to train on.
        model: the folder of the new model.
        dev: files to choose the best epoch by; none: a part of the sentences is held out.
        base: the model to start from.
        seed: of chance.
        reading: how the files are read: settings of `Corpus`.
        changes: settings that are to be others, as in `training.epochs=3`.
        resume: whether the folder may have a run in it.
    """
    table, told = chosen_settings(
        data, dev=dev, base=base, seed=seed, reading=reading or {}, changes=changes
    )
    settings = checked(Settings, filled(table), where="finetune")
    if join_processes().is_main:
        check_folder(model, resume=resume)
        check_same(settings, model / RUN, advice=_advice(model))
        with written(model):
            (model / SETTINGS).write_text(toml_text(table), encoding="utf-8")
    return settings, told


def _advice(model: Path) -> str:
    return f"pass -m {model} and another folder: -o NEW"


def chosen_settings(
    data: Sequence[str],
    *,
    dev: Sequence[str],
    base: str,
    seed: int,
    reading: Mapping[str, Any],
    changes: Sequence[str],
) -> tuple[dict[str, Any], str]:
    """The table of settings to fine-tune with, and what it was chosen by.

    Raises:
        DataError: no sentence has a layer to learn.
    """
    files: dict[str, Any] = {"train": [{"path": path, **reading} for path in data]}
    if dev:
        files["dev"] = [{"path": path, **reading} for path in dev]
    else:
        files["hold_out"] = _DEV_SHARE
    table: dict[str, Any] = {"seed": seed, "data": files}
    for change in changes:
        change_table(table, change)
    wanted = checked(DataSettings, table["data"], where="data")
    parses = [parse for _, parse in read_corpora(wanted.train, wanted)]
    layers = [name for name in HEADS if any(getattr(one, name) is not None for one in parses)]
    if not layers:
        raise DataError(
            "no sentence has a tree, entities or tags to learn from", path=", ".join(data)
        )
    words = sum(len(parse.words) for parse in parses)
    table["heads"] = chosen_heads(parses, layers, base)
    table["training"] = {"init": base, **recipe_for(words, chosen=table.get("training"))}
    keeping = [name for name in layers if name != "entities" and not table["heads"][name]]
    if keeping:  # a small treebank has not all that there is
        table["training"]["keep_labels"] = keeping
    if not dev and len(parses) * _DEV_SHARE > _MOST_DEV:
        table["data"]["hold_out"] = round(_MOST_DEV / len(parses), 4)
    for change in changes:
        change_table(table, change)
    held = "" if dev else f"; {table['data']['hold_out']:.1%} of them are held out for dev"
    return table, f"{len(parses):,} sentences, {words:,} words, with {', '.join(layers)}{held}"


def chosen_heads(
    parses: Sequence[Parse], layers: Sequence[str], base: str
) -> dict[str, dict[str, Any]]:
    """Settings of the heads, where they are not those of the model to start from.

    A head whose labels are others in the data is a new one.
    """
    with open_model(find_model(base)) as model:
        known, before = model.numbers.labels, model.heads
    sizes = [getattr(before, name).mlp for name in ("tree", "entities") if name in before.names]
    new_head = {"mlp": max(sizes, default=_USUAL_MLP), **NEW_HEAD}
    heads: dict[str, dict[str, Any]] = {}
    for name in HEADS:
        if name in layers:
            names = set(known[name].names) if name in before.names else set()
            labels = list(_labels(parses, name))
            is_known = 2 * sum(label in names for label in labels) >= max(1, len(labels))
            heads[name] = {} if is_known or name == "tags" else dict(new_head)
        elif name in before.names:
            heads[name] = {}
    return heads


def _labels(parses: Sequence[Parse], name: str) -> Iterator[str]:
    """The labels of a layer, as often as they are there."""
    for parse in parses:
        if name == "tags":
            yield from parse.tags or ()
        else:
            spans = layer_spans(parse, name) or ()
            yield from (span.label for span in spans if span.label is not None)


def recipe_for(words: int, *, chosen: Any = None) -> dict[str, Any]:
    """How long to train on so many words, and in which steps.

    Args:
        words: of the training sentences.
        chosen: the table of settings of training that are chosen already, if any.

    >>> recipe_for(26_000)["epochs"], recipe_for(500_000)["epochs"]
    (6, 4)
    """
    epochs = min(_MOST, max(_FEWEST, round(_WORDS / max(1, words))))
    batch_words = next(size for most, size in _BATCHES if words <= most)
    counts = {"epochs": epochs, "batch_words": batch_words, "accumulate": 1}
    if isinstance(chosen, dict):  # what is no count is for the check of settings to refuse
        counts |= {name: chosen[name] for name in counts if _is_count(chosen.get(name))}
    steps = counts["epochs"] * words / (counts["batch_words"] * counts["accumulate"])
    return {
        "epochs": epochs,
        "batch_words": batch_words,
        # An average over about a tenth of the steps.
        "average": round(min(0.998, max(0.9, 1 - 10 / max(1, steps))), 4),
        "pointing_loss": "canonical",
    }


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def toml_text(table: Mapping[str, Any]) -> str:
    """Settings as TOML.

    >>> print(toml_text({"seed": 1, "heads": {"tree": {"mlp": 8}}}), end="")
    # Written by fencepost finetune. To change things: fencepost train THIS --out FOLDER
    seed = 1
    <BLANKLINE>
    [heads.tree]
    mlp = 8
    """
    first = "# Written by fencepost finetune. To change things: fencepost train THIS --out FOLDER"
    return "\n".join([first, *_lines(table)]) + "\n"


def _lines(table: Mapping[str, Any], name: str = "") -> Iterator[str]:
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    plain = {key: value for key, value in table.items() if key not in tables}
    if name and (plain or not tables):
        yield from ("", f"[{name}]")
    yield from (f"{_key(key)} = {_value(value)}" for key, value in plain.items())
    for key, value in tables.items():
        yield from _lines(value, f"{name}.{key}" if name else key)


def _value(value: Any) -> str:
    """A value in TOML: as in JSON, but for tables."""
    if isinstance(value, dict):
        items = [f"{_key(key)} = {_value(one)}" for key, one in value.items()]
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
