"""Calibration: fit the temperatures of a model's heads, keep them with it, draw how they fit."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

from fencepost.checkpoints.model import Model
from fencepost.checkpoints.shipped import MODELS
from fencepost.errors import ConfigError, DataError
from fencepost.formats.files import output_errors
from fencepost.parser.calibration import Calibration, calibrate
from fencepost.parser.predict import Done, no_progress
from fencepost.runtime.manifest import replace_files
from fencepost.scoring.parameters import COLLINS
from fencepost.structure import Parse

FEW = 300  # spans; with fewer, a bin has less than 20 of them
PICTURES = (".svg", ".png", ".pdf")

_BEFORE, _AFTER = "#d55e00", "#0072b2"  # that most eyes can tell apart


def check_target(folder: Path, out: Path | None) -> None:
    """Refuse to write where a model should not be changed, before anything is computed.

    Args:
        folder: the model's.
        out: where a copy of it goes; None: the model itself is changed.
    """
    if out is None:
        if folder.resolve().parent == MODELS.resolve():
            raise ConfigError(
                f"{folder.name}: this model ships with fencepost and is not changed; "
                "pass --out FOLDER to write a calibrated copy of it"
            )
        if folder.resolve().parent.name == "snapshots":  # of the cache of a hub
            raise ConfigError(
                f"{folder}: this model is kept for the hub and is not changed; pass --out FOLDER "
                "to write a calibrated copy of it"
            )
    elif out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigError(
            f"{out}: there is something already; pass a new folder, "
            "or no --out to change the model itself"
        )


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn, before anything is computed."""
    if path.suffix.lower() not in PICTURES:
        raise ConfigError(f"{path}: a picture ends with {', '.join(PICTURES)}")
    if not path.absolute().parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent} to put the picture in")
    if find_spec("matplotlib") is None:
        raise ConfigError("a picture needs matplotlib: pip install 'fencepost[train]'")


def run_calibration(
    model: Model, gold: Sequence[Parse], *, done: Done = no_progress
) -> tuple[Calibration, ...]:
    """A calibration of each head of a model; brackets count as they do for `evaluate`.

    Args:
        model: not changed.
        gold: the annotation.
        done: called with the number of words after each batch.

    Raises:
        DataError: no sentence has a layer that the model has a pointing head for.
    """
    found = calibrate(model, gold, parameters=COLLINS, done=done)
    if not found:
        heads = ", ".join(model.network.layers) or "none"
        raise DataError(f"no sentence has a layer that the model has a pointing head for ({heads})")
    return found


def notes(calibration: Calibration) -> Iterator[str]:
    """Warnings for a person who is about to trust it."""
    spans, right = calibration.spans, calibration.right
    if spans < FEW:
        yield (
            f"{calibration.layer}: only {spans:,} predicted spans to go by; "
            f"with fewer than {FEW} these figures mean little"
        )
    if right in (0, spans):
        all_of_them = "none" if right == 0 else "all"
        yield (
            f"{calibration.layer}: {all_of_them} of the predicted spans are right, "
            "which says nothing of the temperature; it stays as it was"
        )


def write_temperatures(
    folder: Path, temperatures: Mapping[str, float], *, out: Path | None = None
) -> Path:
    """Set temperatures in a model's folder, or in a copy of it, whole or not at all.

    Args:
        folder: the model's.
        temperatures: by head; heads that are not named keep theirs.
        out: where the copy goes; None: the model itself is changed.

    Returns:
        The folder that has them.
    """
    target = out or folder
    with output_errors(target):
        if out is None:
            _set(folder, temperatures)
        else:
            out.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as around:
                copy = Path(around) / out.name
                copy.mkdir()
                for path in folder.iterdir():
                    if path.is_file():
                        shutil.copyfile(path, copy / path.name)
                _set(copy, temperatures)
                if out.exists():  # and is empty, but not every system would replace it
                    out.rmdir()
                os.replace(copy, out)
    return target


def _set(folder: Path, temperatures: Mapping[str, float]) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["temperatures"] = {**config.get("temperatures", {}), **temperatures}
    draft = path.with_name(f".{path.name}")
    try:
        draft.write_text(json.dumps(config, ensure_ascii=False, indent=1), encoding="utf-8")
        shutil.copymode(path, draft)
        replace_files(folder, {path.name: draft})
    finally:
        draft.unlink(missing_ok=True)


def draw_reliability(calibrations: Sequence[Calibration], path: Path) -> None:
    """Write a reliability diagram, a panel for each head, whole or not at all.

    Args:
        calibrations: of the heads.
        path: whose suffix tells the format.
    """
    # Without pyplot no window system is asked for, and nothing is kept after the drawing.
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    figure = Figure(figsize=(4.6 * len(calibrations), 4.9), layout="constrained")
    panels = figure.subplots(1, len(calibrations), squeeze=False)[0]
    for axes, found in zip(panels, calibrations, strict=True):
        axes.plot((0, 1), (0, 1), color="#999999", linestyle=":", label="as sure as it is right")
        for name, bins, error, colour, marker in (
            ("before", found.bins_before, found.ece_before, _BEFORE, "o"),
            ("after", found.bins_after, found.ece_after, _AFTER, "s"),
        ):
            axes.errorbar(
                [one.probability for one in bins],
                [one.right for one in bins],
                yerr=[sqrt(one.right * (1 - one.right) / one.spans) for one in bins],
                color=colour,
                marker=marker,
                markersize=4,
                linewidth=1,
                elinewidth=0.8,
                label=f"{name}: off by {100 * error:.1f} %",
            )
        axes.set_title(f"{found.layer}: {found.spans:,} spans")
        axes.set_xlabel("mean probability of the spans in a bin")
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.02)
        axes.set_aspect("equal")
        axes.grid(color="#eeeeee")
        axes.spines[["top", "right"]].set_visible(False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        axes.legend(loc="upper left", frameon=False)
    panels[0].set_ylabel("share of them that is right")
    draft = path.with_name(f".{path.name}")
    with output_errors(path):
        figure.savefig(draft, format=path.suffix[1:].lower(), dpi=120)
        os.replace(draft, path)
