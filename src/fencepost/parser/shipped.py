"""The models that ship with the package, by name."""

from __future__ import annotations

import os
from pathlib import Path

from fencepost.errors import ModelError

DEFAULT = "en-small"
MODELS = Path(__file__).parent.parent / "models"


def shipped_models() -> tuple[str, ...]:
    """The names of the models that ship with the package."""
    return tuple(sorted(path.parent.name for path in MODELS.glob("*/config.json")))


def find_model(name_or_path: str | os.PathLike[str]) -> Path:
    """The folder of a model: one that ships with the package, or any other.

    A name with a slash, or one that begins with a dot, is a folder; a plain name is one of ours if
    there is one, and else a folder, too.
    """
    name = os.fspath(name_or_path)
    if name in shipped_models():
        return MODELS / name
    folder = Path(os.path.expanduser(name))
    if os.path.isdir(folder):  # which is false, too, for what cannot be a name at all
        return folder
    names = ", ".join(shipped_models()) or "none"
    raise ModelError(
        f"{name[:500]}: there is no such folder, and no model of that name ships with fencepost "
        f"({names})"
    )
