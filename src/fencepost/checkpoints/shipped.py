"""Models by name: shipped with the package, in folders, and on the hub."""

from __future__ import annotations

import os
from pathlib import Path

from fencepost.errors import ConfigError, ModelError

DEFAULT = "en-small"
MODELS = Path(__file__).parent.parent / "models"
_CONFIG = "config.json"


def shipped_models() -> tuple[str, ...]:
    """The names of the models that ship with the package."""
    return tuple(sorted(path.parent.name for path in MODELS.glob(f"*/{_CONFIG}")))


def find_model(name_or_path: str | os.PathLike[str], *, revision: str | None = None) -> Path:
    """The folder of a model.

    A name stands for the first that exists of: a model that ships with the package (`en-small`),
    a folder (`runs/mine`, `./en-small`, `~/model`), and a repository of the Hugging Face hub
    (`owner/name`, or `owner/name@revision` with a commit, a tag or a branch).

    Args:
        name_or_path: the name.
        revision: the revision of a repository of the hub.

    Raises:
        ModelError: there is no such model, or the hub cannot be reached.
        ConfigError: the model has no revisions, or the name has a revision, too.
    """
    name = os.fspath(name_or_path)
    shipped = name in shipped_models()
    folder = MODELS / name if shipped else Path(os.path.expanduser(name))
    if shipped or os.path.isdir(folder):  # is_dir() would raise for names that are too long
        if revision is not None:
            what = "ships with fencepost" if shipped else "is a folder"
            raise ConfigError(
                f"revision: {name} {what}; only models of the hub (owner/name) have revisions"
            )
        model = folder / "model"
        if not (folder / _CONFIG).exists() and (model / _CONFIG).exists():
            raise ModelError(f"{name}: the folder of a run; the model of this run is {model}")
        return folder
    from fencepost.checkpoints.hub import fetch, hub_name

    ours, at, _ = name.partition("@")
    if at and ours in shipped_models():
        raise ModelError(f"{name}: a model that ships has no revisions; {ours} is right")
    repository = hub_name(name)
    if repository is not None:
        if revision is not None:
            if repository.revision is not None:
                raise ConfigError(f"revision: {name!r} names one already: one of them, not both")
            repository = repository._replace(revision=revision)
        return fetch(repository)
    names = ", ".join(shipped_models()) or "none"
    raise ModelError(
        f"{name[:500]}: there is no such folder, no model of that name ships with fencepost "
        f"({names}), and one of the Hugging Face hub has a name such as owner/name"
    )
