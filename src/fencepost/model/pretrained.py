"""Transformers and their tokenizers: from the hub or a folder, and from a model of ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
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

# Of a model's transformer, whoever made it: what is beyond this would take long, or fill the
# memory, before one could see that the weights do not fit.
_MOST_LAYERS, _MOST_PARTS, _MOST = 100, 1024, 2**24

# Not needed to build a transformer. With these, `transformers` would look for code or kernels
# elsewhere, or write down a name for each of a billion labels.
_LEFT_OUT = ("auto_map", "id2label", "label2id", "num_labels", "quantization_config")


@dataclass(frozen=True, slots=True)
class Pretrained:
    """A transformer, what cuts words for it, and the settings that it can be built from again."""

    transformer: PreTrainedModel
    cutter: Cutter
    config: Mapping[str, Any]


def window_of(transformer: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> int:
    """How many pieces a transformer reads at a time, special ones included."""
    named = getattr(transformer.config, "max_position_embeddings", None)
    limits = [tokenizer.model_max_length, named, *_rows(transformer)]
    return min((int(x) for x in limits if x and 0 < x < NO_LIMIT), default=DEFAULT_WINDOW)


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

    No code that comes with it is ever run, and nothing is unpickled: weights are safetensors.
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
        with _bars_for_people():
            tokenizer: Any = AutoTokenizer.from_pretrained(
                source, use_fast=True, trust_remote_code=False
            )
            model, report = AutoModel.from_pretrained(
                source, trust_remote_code=False, use_safetensors=True, output_loading_info=True
            )
    except Exception as error:  # which ones, depends on the versions of several libraries
        where = "the folder" if folder.is_dir() else "the hub, and no folder has that name,"
        raise ModelError(f"{name}: cannot be loaded from {where}: {brief(error)}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{name}: its tokenizer has no fast version, which is needed")
    lost = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if lost:
        raise ModelError(f"{name}: {len(lost)} of its weights are missing: {', '.join(lost[:3])}")
    config = json.loads(model.config.to_json_string(use_diff=False))
    config.pop("_name_or_path", None)  # a path of the machine that it was trained on
    part = _reading_part(model)
    return Pretrained(part, cutter_of(tokenizer, window=window_of(part, tokenizer)), config)


def cutter_of(tokenizer: PreTrainedTokenizerFast, *, window: int) -> Cutter:
    """A cutter of words that does as a tokenizer of `transformers`."""
    before, after = sentinels(tokenizer)
    return Cutter(
        Tokenizer.from_str(tokenizer.backend_tokenizer.to_str()),  # a copy, to be set up our way
        before,
        after,
        tokenizer.pad_token_id or 0,
        _stand_in(tokenizer, ("unk_token_id", "pad_token_id")),
        window,
    )


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


def restore_transformer(config: Any, folder: Path) -> PreTrainedModel:
    """The transformer of a model of ours, with random weights.

    Args:
        config: its settings.
        folder: of the model.
    """
    try:
        _check_counts(config)
        return _built(config)
    except Exception as error:  # which ones, depends on the versions of several libraries
        raise ModelError(
            f"{folder}/config.json: transformer: cannot be built from this: {brief(error)}"
        ) from error


def _check_counts(config: Any, name: str = "") -> None:
    """Refuse numbers that no transformer has, and what would be fetched from elsewhere."""
    if isinstance(config, list):
        for value in config:
            _check_counts(value, name)
    elif isinstance(config, dict):
        for key, value in config.items():
            _check_counts(value, str(key))
    elif "backbone" in name or "pretrained" in name:
        if config:
            raise ModelError(f"{name}: {config!r} would be fetched from elsewhere")
    elif isinstance(config, int | float) and "theta" not in name:
        is_layer, is_part = "layer" in name, name.endswith(("blocks", "groups", "experts"))
        most = _MOST_LAYERS if is_layer else _MOST_PARTS if is_part else _MOST
        if name not in _LEFT_OUT and config > most:
            raise ModelError(f"{name}: {config}, where at most {most:,} is right")


def _built(config: Any) -> PreTrainedModel:
    """Any transformer that `transformers` knows, with random weights."""
    from transformers import AutoConfig, AutoModel

    model = AutoModel.from_config(AutoConfig.for_model(**_plain(config)), trust_remote_code=False)
    return _reading_part(model)


def _plain(config: Any) -> Any:
    """Settings without what names code, kernels or labels, whoever wrote them."""
    if isinstance(config, list):
        return [_plain(value) for value in config]
    if not isinstance(config, dict):
        return config
    return {
        key: _plain(value)
        for key, value in config.items()
        if key not in _LEFT_OUT and not key.endswith("_implementation")
    }


def _reading_part(model: PreTrainedModel) -> PreTrainedModel:
    """The part of a model that turns pieces into vectors, in full precision."""
    part: Any = model.get_encoder() if model.config.is_encoder_decoder else model
    if getattr(part, "pooler", None) is not None:
        part.pooler = None
    if hasattr(part.config, "use_cache"):
        part.config.use_cache = False
    return part.float()  # type: ignore[no-any-return]


def sentinels(tokenizer: PreTrainedTokenizerFast) -> tuple[Pieces, Pieces]:
    """The special pieces that a tokenizer puts before and after a text.

    On a side where it puts none, its begin or end piece stands, or else its unknown or padding
    piece: boundaries at the edge of a sentence need a vector on both sides.
    """
    found = tokenizer("a", return_special_tokens_mask=True, truncation=False, padding=False)
    pieces, special = list(found["input_ids"]), list(found["special_tokens_mask"])
    first = special.index(0) if 0 in special else len(special) // 2
    last = len(special) - special[::-1].index(0) if 0 in special else first
    before = pieces[:first] or [
        _stand_in(tokenizer, ("bos_token_id", "cls_token_id", "unk_token_id", "pad_token_id"))
    ]
    after = pieces[last:] or [
        _stand_in(tokenizer, ("eos_token_id", "sep_token_id", "unk_token_id", "pad_token_id"))
    ]
    return tuple(before), tuple(after)


def _stand_in(tokenizer: PreTrainedTokenizerFast, names: Sequence[str]) -> int:
    """The first of some special pieces that a tokenizer has, or any."""
    found = [getattr(tokenizer, name, None) for name in names]
    for piece in (*found, *tokenizer.all_special_ids):
        if piece is not None:
            return int(piece)
    raise ModelError("the tokenizer has no special pieces; at least an unknown one is needed")
