"""Pretrained transformers and their tokenizers, from the hub, a folder or a model folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer
from torch import nn

from fencepost.batching.pieces import Cutter, Pieces
from fencepost.errors import ModelError
from fencepost.runtime.tokenizer import NO_LIMIT, brief

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

DEFAULT_WINDOW = 512  # pieces, where a transformer names no limit

# Bounds of the numbers in a config.json, which anybody may have written: larger ones would take
# very long, or fill the memory, before the shapes of weights are compared.
_MOST_LAYERS, _MOST_PARTS, _MOST = 100, 1024, 2**24

# Settings that no network depends on. With them, `transformers` would look for code or kernels
# elsewhere, or build a table of a billion labels.
_LEFT_OUT = ("auto_map", "id2label", "label2id", "num_labels", "quantization_config")


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A transformer with its tokenizer and its settings."""

    transformer: PreTrainedModel
    cutter: Cutter
    config: Mapping[str, Any]


def window_of(transformer: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> int:
    """The maximal number of pieces of a transformer, special ones included."""
    positions = getattr(transformer.config, "max_position_embeddings", None)
    limits = [tokenizer.model_max_length, positions, *_position_rows(transformer)]
    return min((int(x) for x in limits if x and 0 < x < NO_LIMIT), default=DEFAULT_WINDOW)


def _position_rows(transformer: nn.Module) -> list[int]:
    """The number of positions in models whose first position follows the padding's."""
    return [
        module.num_embeddings - module.padding_idx - 1
        for name, module in transformer.named_modules()
        if name.endswith("position_embeddings")
        and isinstance(module, nn.Embedding)
        and module.padding_idx is not None
    ]


def fetch_pretrained(name: str) -> Pretrained:
    """Load a transformer from the hub or a folder.

    No code in a repository is run, and nothing is unpickled: weights are safetensors.
    """
    from transformers import AutoModel, AutoTokenizer

    folder = Path(name).expanduser()
    if not folder.is_dir() and (folder.is_absolute() or name.startswith((".", "~"))):
        raise ModelError(f"{name}: there is no such folder")
    source = str(folder) if folder.is_dir() else name
    if not any(folder.glob("*.safetensors")) and any(folder.glob("pytorch_model*.bin")):
        raise ModelError(
            f"{name}: its weights are pickled (pytorch_model.bin), and a pickle may run code, so "
            "it is not read; if you trust it, have transformers convert it once: "
            f"AutoModel.from_pretrained({source!r}).save_pretrained('NEW'), and the same with "
            "AutoTokenizer"
        )
    try:
        with _bars_on_terminals_only():
            tokenizer: Any = AutoTokenizer.from_pretrained(
                source, use_fast=True, trust_remote_code=False
            )
            model, report = AutoModel.from_pretrained(
                source, trust_remote_code=False, use_safetensors=True, output_loading_info=True
            )
    except Exception as error:  # the types depend on the versions of several libraries
        where = "the folder" if folder.is_dir() else "the hub, and no folder has that name,"
        raise ModelError(f"{name}: cannot be loaded from {where}: {brief(error)}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{name}: its tokenizer has no fast version, which is needed")
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ModelError(
            f"{name}: {len(missing)} of its weights are missing: {', '.join(missing[:3])}"
        )
    config = json.loads(model.config.to_json_string(use_diff=False))
    config.pop("_name_or_path", None)  # a path of the machine that it was trained on
    encoder = _encoder_part(model)
    return Pretrained(encoder, cutter_of(tokenizer, window=window_of(encoder, tokenizer)), config)


def cutter_of(tokenizer: PreTrainedTokenizerFast, *, window: int) -> Cutter:
    """The cutter that works like a tokenizer of `transformers`."""
    before, after = sentinels(tokenizer)
    return Cutter(
        Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()),  # a copy, since it is changed
        before,
        after,
        tokenizer.pad_token_id or 0,
        _special_piece(tokenizer, "unk_token_id", "pad_token_id"),
        window,
    )


@contextmanager
def _bars_on_terminals_only() -> Iterator[None]:
    """Disable the progress bars of `transformers`, unless standard error is a terminal."""
    from transformers.utils import logging

    was_enabled = logging.is_progress_bar_enabled()
    if was_enabled and not sys.stderr.isatty():
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def restore_transformer(config: Any, folder: Path) -> PreTrainedModel:
    """Build the transformer of a model folder, with random weights.

    Args:
        config: the settings of the transformer.
        folder: the folder of the model.
    """
    from transformers import AutoConfig, AutoModel

    try:
        _check_config(config)
        settings = AutoConfig.for_model(**_without_code(config))
        return _encoder_part(AutoModel.from_config(settings, trust_remote_code=False))
    except Exception as error:  # the types depend on the versions of several libraries
        raise ModelError(
            f"{folder}/config.json: transformer: cannot be built from this: {brief(error)}"
        ) from error


def _check_config(config: Any, name: str = "") -> None:
    """Refuse numbers that are too large, and settings that would fetch another model."""
    if isinstance(config, list):
        for value in config:
            _check_config(value, name)
    elif isinstance(config, dict):
        for key, value in config.items():
            _check_config(value, str(key))
    elif "backbone" in name or "pretrained" in name:
        if config:
            raise ModelError(f"{name}: {config!r} would be fetched from elsewhere")
    elif isinstance(config, int | float) and "theta" not in name:
        is_layer, is_part = "layer" in name, name.endswith(("blocks", "groups", "experts"))
        most = _MOST_LAYERS if is_layer else _MOST_PARTS if is_part else _MOST
        if name not in _LEFT_OUT and config > most:
            raise ModelError(f"{name}: {config}, where at most {most:,} is right")


def _without_code(config: Any) -> Any:
    """Remove settings that name code, kernels or labels, at any depth."""
    if isinstance(config, list):
        return [_without_code(value) for value in config]
    if not isinstance(config, dict):
        return config
    return {
        key: _without_code(value)
        for key, value in config.items()
        if key not in _LEFT_OUT and not key.endswith("_implementation")
    }


def _encoder_part(model: PreTrainedModel) -> PreTrainedModel:
    """The part of a model that turns pieces into vectors, in fp32."""
    encoder: Any = model.get_encoder() if model.config.is_encoder_decoder else model
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    if hasattr(encoder.config, "use_cache"):
        encoder.config.use_cache = False
    return encoder.float()  # type: ignore[no-any-return]


def sentinels(tokenizer: PreTrainedTokenizerFast) -> tuple[Pieces, Pieces]:
    """The special pieces that a tokenizer puts before and after a text.

    Where it puts none, they are its begin or end piece, or else its unknown or padding piece:
    boundaries at the edge of a sentence need a vector on both sides.
    """
    encoding = tokenizer("a", return_special_tokens_mask=True, truncation=False, padding=False)
    pieces, special = list(encoding["input_ids"]), list(encoding["special_tokens_mask"])
    first = special.index(0) if 0 in special else len(special) // 2
    last = len(special) - special[::-1].index(0) if 0 in special else first
    others = ("unk_token_id", "pad_token_id")
    before = pieces[:first] or [_special_piece(tokenizer, "bos_token_id", "cls_token_id", *others)]
    after = pieces[last:] or [_special_piece(tokenizer, "eos_token_id", "sep_token_id", *others)]
    return tuple(before), tuple(after)


def _special_piece(tokenizer: PreTrainedTokenizerFast, *names: str) -> int:
    """The first of these special pieces that a tokenizer has, or any special piece."""
    pieces = [getattr(tokenizer, name, None) for name in names]
    for piece in (*pieces, *tokenizer.all_special_ids):
        if piece is not None:
            return int(piece)
    raise ModelError("the tokenizer has no special pieces; at least an unknown one is needed")
