"""Models by name: those that ship with the package, folders, and those of the hub."""

from __future__ import annotations

import os
from pathlib import Path

from fencepost.errors import ConfigError, ModelError

DEFAULT = "en-small"
MODELS = Path(__file__).parent.parent / "models"


def shipped_models() -> tuple[str, ...]:
    """The names of the models that ship with the package."""
    return tuple(sorted(path.parent.name for path in MODELS.glob("*/config.json")))


def find_model(name_or_path: str | os.PathLike[str], *, revision: str | None = None) -> Path:
    """The folder of a model.

    A name means the first of these that is there: a model that ships with the package
    (`en-small`), a folder (`runs/mine`, `./en-small`, `~/model`), and a repository of the Hugging
    Face hub (`owner/name`, or `owner/name@revision` with a commit, a tag or a branch).

    Args:
        name_or_path: the name.
        revision: of a repository of the hub.

    Raises:
        ModelError: nothing has such a name, or the hub cannot be reached.
        ConfigError: a revision is given for what has none.
    """
    name = os.fspath(name_or_path)
    shipped = name in shipped_models()
    folder = MODELS / name if shipped else Path(os.path.expanduser(name))
    if shipped or os.path.isdir(folder):  # which is false, too, for what cannot be a name at all
        if revision is not None:
            what = "ships with fencepost" if shipped else "is a folder"
            raise ConfigError(
                f"revision: {name} {what}; only models of the hub (owner/name) have revisions"
            )
        return folder
    from fencepost.checkpoints.hub import fetch, hub_name

    found = hub_name(name)
    if found is not None:
        if revision is not None:
            if found.revision is not None:
                raise ConfigError(f"revision: {name!r} names one already: one of them, not both")
            found = found._replace(revision=revision)
        return fetch(found)
    names = ", ".join(shipped_models()) or "none"
    raise ModelError(
        f"{name[:500]}: there is no such folder, no model of that name ships with fencepost "
        f"({names}), and one of the Hugging Face hub has a name such as owner/name"
    )
