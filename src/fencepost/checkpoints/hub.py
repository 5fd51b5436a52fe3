"""Models on the Hugging Face hub: fetched into its cache, and pushed.

Only files of our layout are fetched, each up to the size that such a file can have: no pickle, no
code. Loading checks their contents, as for any other folder (`loading.py`). `HF_ENDPOINT`,
`HF_HOME`, `HF_HUB_OFFLINE` and the token of `hf auth login` work as in `huggingface_hub`.
"""

from __future__ import annotations

import logging
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fencepost.checkpoints.loading import MOST_CARD, MOST_CONFIG, MOST_LABELS
from fencepost.checkpoints.model import (
    CARD,
    CONFIG,
    GRAPHS,
    LABELS,
    LICENCE,
    WEIGHTS,
    Model,
    save_model,
)
from fencepost.errors import ModelError
from fencepost.runtime.manifest import MANIFEST, MOST_MANIFEST, check_sizes, read_manifest
from fencepost.runtime.tokenizer import MOST_TOKENIZER_BYTES, TOKENIZER
from fencepost.runtime.weights import MOST_WEIGHTS

if TYPE_CHECKING:
    from huggingface_hub import HfApi

MOST_BYTES: Mapping[str, int] = {  # of each file; no others are fetched
    CONFIG: MOST_CONFIG,
    LABELS: MOST_LABELS,
    WEIGHTS: MOST_WEIGHTS,
    TOKENIZER: MOST_TOKENIZER_BYTES,
    MANIFEST: MOST_MANIFEST,
    CARD: MOST_CARD,
    LICENCE: MOST_CARD,
    **dict.fromkeys(GRAPHS, 2**26),  # their weights are in a file of their own
}
_NEEDED = (CONFIG, LABELS, WEIGHTS)
_NAME = re.compile(r"(?P<repository>[\w-][\w.-]*/[\w.-]+)(?:@(?P<revision>[^@\s]+))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")

_log = logging.getLogger(__name__)


class HubName(NamedTuple):
    """A repository on the hub, perhaps with a revision."""

    repository: str
    revision: str | None = None  # a commit, a tag or a branch; None: the newest

    def __str__(self) -> str:
        return self.repository if self.revision is None else f"{self.repository}@{self.revision}"


def hub_name(name: str) -> HubName | None:
    """Parse the name of a repository; None if it is not one.

    >>> hub_name("owner/name@v1.0")
    HubName(repository='owner/name', revision='v1.0')
    >>> hub_name("./owner/name") is None
    True
    """
    match = _NAME.fullmatch(name)
    return None if match is None else HubName(**match.groupdict())


def fetch(name: HubName) -> Path:
    """Fetch a model from the hub, and return its folder in the cache.

    A commit that is in the cache makes no request. Without a connection, or with
    `HF_HUB_OFFLINE=1`, any other revision is the one that was fetched last.

    Raises:
        ModelError: there is no such model, or it cannot be reached; the message says which.
    """
    if name.revision is not None and _COMMIT.fullmatch(name.revision):
        folder = _cached(name)
        if folder is not None:
            return folder
    try:
        sizes = _sizes(name)
    except Exception as error:  # of huggingface_hub, or of the HTTP library below it
        reason = _reason(name, error)
        folder = _cached(name) if reason is None else None
        if folder is None:
            raise ModelError(f"{name}: {reason or _unreachable(error)}") from error
        _log.info("%s: the hub was not reached, so this is what was fetched before", name)
        return folder
    _check(name, sizes)
    try:
        folder = _download(name, sizes, tqdm_class=_bar(), **_AGENT)
    except Exception as error:  # as above
        raise ModelError(f"{name}: {_reason(name, error) or _unreachable(error)}") from error
    _check(name, {path.name: path.stat().st_size for path in folder.iterdir()})
    return folder


_AGENT: Mapping[str, Any] = {"library_name": "fencepost", "library_version": version("fencepost")}


def _api() -> HfApi:
    from huggingface_hub import HfApi

    return HfApi(**_AGENT)


def _download(name: HubName, files: Iterable[str], **options: Any) -> Path:
    from huggingface_hub import snapshot_download

    return Path(
        snapshot_download(
            name.repository, revision=name.revision, allow_patterns=sorted(files), **options
        )
    )


def _sizes(name: HubName) -> dict[str, int]:
    """The sizes of a model's files, as the hub has them."""
    info = _api().model_info(name.repository, revision=name.revision, files_metadata=True)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    return {file: size for file, size in sizes.items() if file in MOST_BYTES}


def _check(name: HubName, sizes: Mapping[str, int]) -> None:
    """Refuse a repository without a model, and files that are too large."""
    for file in _NEEDED:
        if file not in sizes:
            raise ModelError(
                f"{name}: there is no {file} in this repository of the hub, so it holds no model "
                "of fencepost's; one is pushed with parser.push_to_hub"
            )
    for file, size in sizes.items():
        if size > MOST_BYTES.get(file, 0):
            raise ModelError(
                f"{name}: {file} has {size:,} bytes, where at most {MOST_BYTES.get(file, 0):,} are "
                "right"
            )


def _cached(name: HubName) -> Path | None:
    """The folder of a model in the cache; None if it is not there or incomplete."""
    try:
        folder = _download(name, MOST_BYTES, local_files_only=True)
        check_sizes(folder, read_manifest(folder) or {})
    except Exception:  # of huggingface_hub, or a ModelError
        return None
    return folder if all((folder / file).is_file() for file in _NEEDED) else None


def _reason(name: HubName, error: Exception) -> str | None:
    """The hub's reason for an error; None if it was not reached."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if isinstance(error, GatedRepoError):
        return "its owner lets only some people have it; ask on its page, and `hf auth login`"
    if isinstance(error, RepositoryNotFoundError):
        return (
            "there is no such folder, no model of that name ships with fencepost, and the hub has "
            "no such repository, or it is private and `hf auth login` is missing"
        )
    if isinstance(error, RevisionNotFoundError):
        return f"the hub has {name.repository}, but not this revision of it"
    if isinstance(error, HFValidationError):
        return f"no name of a repository: {_first_line(error)}"
    if isinstance(error, HfHubHTTPError) and error.response.status_code < 500:
        return f"the hub refuses: {_first_line(error)}"
    return None


def _unreachable(error: Exception) -> str:
    return (
        "there is no such folder, no model of that name ships with fencepost, and the hub cannot "
        f"be reached, nor was the model fetched before ({_first_line(error):.200})"
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _bar() -> type[Any]:
    """The class of a progress bar that shows on terminals only."""
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]

    class Bar(tqdm):
        """A progress bar on a terminal."""

        def __init__(self, *args: Any, **options: Any) -> None:
            options["disable"] = options.get("disable") or not sys.stderr.isatty()
            super().__init__(*args, **options)  # type: ignore[no-untyped-call]

    return Bar


def push(
    model: Model,
    name: str,
    *,
    card: str,
    private: bool | None = None,
    message: str | None = None,
    half: bool = False,
    licence: bytes | None = None,
) -> HubName:
    """Push a model to a repository of the hub, which is created if it does not exist.

    All files go in one commit; other files of the repository stay.

    Args:
        model: the model to push.
        name: the repository, with a branch if it is not the main one.
        card: the model card, with its metadata.
        private: whether a new repository is private; None: as its owner's settings say.
        message: the message of the commit.
        half: round weights to 16 bits.
        licence: the text of a `LICENSE.md`; None: no such file.

    Returns:
        The repository with the commit, to load exactly this model.

    Raises:
        ModelError: the hub cannot be reached, or refuses.
    """
    target = hub_name(name)
    if target is None:
        raise ModelError(f"{name:.200}: no repository of the hub; owner/name is right")
    with tempfile.TemporaryDirectory(prefix="fencepost-push-") as folder:
        save_model(model, Path(folder), card=card, licence=licence, half=half)
        try:
            api = _api()
            api.create_repo(target.repository, private=private, exist_ok=True)
            if target.revision is not None:
                api.create_branch(target.repository, branch=target.revision, exist_ok=True)
            commit = api.upload_folder(
                repo_id=target.repository,
                folder_path=folder,
                revision=target.revision,
                commit_message=message or "Upload a model with fencepost",
                delete_patterns=[*GRAPHS, TOKENIZER],
            )
        except Exception as error:  # as in `fetch`
            raise ModelError(
                f"{target}: the hub does not take it: {_first_line(error):.300}"
            ) from error
    return HubName(target.repository, commit.oid)
