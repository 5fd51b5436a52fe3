"""Transformers and their tokenizers: from the hub or a folder, and from a model of ours."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from fencepost.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

DEFAULT_WINDOW = 512  # pieces, where a transformer names no limit
_NO_LIMIT = 1_000_000  # tokenizers without one say 10 ** 30


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A transformer, its tokenizer, and the settings that it can be built from again."""

    transformer: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    config: Mapping[str, Any]

    @property
    def window(self) -> int:
        """How many pieces it reads at a time, special ones included."""
        named = getattr(self.transformer.config, "max_position_embeddings", None)
        limits = [self.tokenizer.model_max_length, named, *_rows(self.transformer)]
        return min((int(x) for x in limits if x and 0 < x < _NO_LIMIT), default=DEFAULT_WINDOW)


def _rows(transformer: nn.Module) -> list[int]:
    """How many positions the tables of positions have, in models that count from past padding."""
    return [
        module.num_embeddings - module.padding_idx - 1
        for name, module in transformer.named_modules()
        if name.endswith("position_embeddings")
        and isinstance(module, nn.Embedding)
        and module.padding_idx is not None
    ]


def fetch_pretrained(name: str) -> Pretrained:
    """The transformer with a name on the hub, or in a folder.

    No code that comes with it is ever run.
    """
    from transformers import AutoModel, AutoTokenizer

    folder = Path(name).expanduser()
    if not folder.is_dir() and (folder.is_absolute() or name.startswith((".", "~"))):
        raise ModelError(f"{name}: there is no such folder")
    source = str(folder) if folder.is_dir() else name
    try:
        with _bars_for_people():
            tokenizer: Any = AutoTokenizer.from_pretrained(
                source, use_fast=True, trust_remote_code=False
            )
            model, report = AutoModel.from_pretrained(
                source, trust_remote_code=False, output_loading_info=True
            )
    except Exception as error:  # which ones, depends on the versions of several libraries
        where = "the folder" if folder.is_dir() else "the hub, and no folder has that name,"
        raise ModelError(f"{name}: cannot be loaded from {where}: {_brief(error)}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{name}: its tokenizer has no fast version, which is needed")
    lost = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if lost:
        raise ModelError(f"{name}: {len(lost)} of its weights are missing: {', '.join(lost[:3])}")
    config = json.loads(model.config.to_json_string(use_diff=False))
    config.pop("_name_or_path", None)  # a path of the machine that it was trained on
    return Pretrained(_reading_part(model), tokenizer, config)


@contextmanager
def _bars_for_people() -> Iterator[None]:
    """No progress bars of other libraries, unless standard error is a terminal."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    if shown and not sys.stderr.isatty():
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def restore_pretrained(config: Any, folder: Path) -> Pretrained:
    """The transformer of a model of ours, with random weights; nothing is fetched.

    Args:
        config: settings of the transformer.
        folder: of the model; its tokenizer lies in `tokenizer`.
    """
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    try:
        # Neither code nor kernels from elsewhere, whoever wrote this file.
        known = {
            key: value
            for key, value in config.items()
            if key != "auto_map" and not key.endswith("_implementation")
        }
        model = AutoModel.from_config(AutoConfig.for_model(**known), trust_remote_code=False)
    except Exception as error:
        raise ModelError(
            f"{folder}/config.json: transformer: cannot be built from this: {_brief(error)}"
        ) from error
    try:
        # Not the class that it was fetched with: that may make anew what its file says already.
        tokenizer = PreTrainedTokenizerFast.from_pretrained(
            folder / "tokenizer", local_files_only=True
        )
    except Exception as error:
        raise ModelError(f"{folder}/tokenizer: cannot be read: {_brief(error)}") from error
    return Pretrained(_reading_part(model), tokenizer, dict(config))


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write the files of a tokenizer into a folder, each whole or not at all."""
    draft = folder.with_name(f".{folder.name}")
    shutil.rmtree(draft, ignore_errors=True)
    tokenizer.save_pretrained(draft)
    folder.mkdir(exist_ok=True)
    for path in draft.iterdir():
        os.replace(path, folder / path.name)
    draft.rmdir()


def _reading_part(model: PreTrainedModel) -> PreTrainedModel:
    """What of a model turns pieces into vectors, in full precision: no decoder, no pooler."""
    part: Any = model.get_encoder() if model.config.is_encoder_decoder else model
    if getattr(part, "pooler", None) is not None:
        part.pooler = None
    if hasattr(part.config, "use_cache"):
        part.config.use_cache = False
    return part.float()  # type: ignore[no-any-return]


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
