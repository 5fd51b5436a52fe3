"""The folder of a training run: whether it may be used, and with which settings it was begun."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fencepost.config import Settings
from fencepost.errors import ConfigError, TrainingError

FREE = {"training.threads", "training.device", "training.checkpoint_seconds"}  # between two stops
SETTINGS = "settings.json"


@contextmanager
def written(out: Path) -> Iterator[None]:
    """A disk that is full does not look like a fault of ours."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"{error.filename or out}: cannot be written ({error.strerror}); the last checkpoint "
            "is intact, and --resume goes on from it"
        ) from error


@contextmanager
def withdrawn(path: Path) -> Iterator[None]:
    """Remove the settings of a run that fails before it leaves anything else.

    They would block the corrected run, which is one with other settings. A caller that merely
    stops listening (`GeneratorExit`) may go on with the run later.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        with suppress(OSError):
            if all(one.is_dir() or one == path for one in path.parent.rglob("*")):
                path.unlink()
                path.parent.rmdir()
        raise


def check_folder(out: Path, *, resume: bool) -> None:
    """Make the folder of a run; one with something in it is only for a run that goes on."""
    try:
        if not resume and out.exists() and any(out.iterdir()):
            raise ConfigError(
                f"{out}: this folder is not empty; pass --resume to go on with its run"
            )
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{out}: no folder for a run: {error.strerror}") from error


def write_settings(settings: Settings, out: Path) -> None:
    """Write down the settings of a new run; those of one that goes on stay."""
    path = out / SETTINGS
    if path.exists():
        return
    draft = path.with_name(f".{path.name}")
    with written(out):
        data = settings.model_dump(mode="json")
        draft.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        os.replace(draft, path)


def check_same(settings: Settings, out: Path, *, advice: str | None = None) -> None:
    """Refuse to go on with other settings than the run began with.

    The result would be that of neither.

    Args:
        settings: of now.
        out: the folder of the run.
        advice: how to start anew from its model; None: by `training.init`.
    """
    path = out / SETTINGS
    if not path.exists():
        return
    advice = advice or f'set training.init = "{out / "model"}"'
    chosen = settings.model_dump(mode="json")
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: no JSON: {error}") from error
    theirs, ours = dict(flat(_completed(before))), dict(flat(chosen))
    lines = [
        f"  {key}: {theirs.get(key)!r} then, {ours.get(key)!r} now"
        for key in sorted(theirs.keys() | ours.keys())
        if key not in FREE and theirs.get(key) != ours.get(key)
    ]
    if lines:
        raise ConfigError(
            "\n".join([f"{out}: this run was begun with other settings:", *lines])
            + f"\n  To start anew from its model, {advice}."
        )


def _completed(data: Any) -> Any:
    """Settings with the defaults of those that were not there yet when they were written."""
    try:
        return Settings.model_validate(data).model_dump(mode="json")
    except (ValidationError, ConfigError):  # the differences tell what is wrong
        return data


def flat(data: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as keys with dots.

    >>> list(flat({"training": {"rate": 0.1}, "seed": 1}))
    [('training.rate', 0.1), ('seed', 1)]
    """
    if isinstance(data, dict):
        for name, value in data.items():
            yield from flat(value, f"{key}.{name}" if key else name)
    else:
        yield key, data
