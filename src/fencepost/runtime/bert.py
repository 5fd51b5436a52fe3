"""The sizes of a transformer that is built like BERT: those whose encoders have a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from fencepost.errors import ModelError, clipped

# The layers are BERT's; the last three count positions from past that of padding.
_FROM_PADDING = ("camembert", "roberta", "xlm-roberta")
_LIKE_BERT = ("bert", "electra", *_FROM_PADDING)
_USUAL = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}
_MOST_LAYERS, _MOST = 100, 2**24  # whoever made the settings, no transformer is larger


@dataclass(frozen=True, slots=True)
class BertSizes:
    """Sizes by the names that `transformers` has for them."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    first_position: int = 0

    @classmethod
    def of(cls, config: Any) -> BertSizes | None:
        """The sizes in the settings of a transformer; None if it is built in another way.

        Raises:
            ModelError: it is built like BERT, and a size is missing or no such number.
        """
        if not isinstance(config, Mapping) or config.get("model_type") not in _LIKE_BERT:
            return None
        if any((config.get(key) or value) != value for key, value in _USUAL.items()):
            return None
        if config.get("embedding_size") not in (None, config.get("hidden_size")):
            return None
        names = [field.name for field in fields(cls)][:-1]
        sizes: dict[str, Any] = {name: config.get(name) for name in names}
        for name, value in sizes.items():
            most = _MOST_LAYERS if "layers" in name else _MOST
            is_count = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
            is_share = isinstance(value, float) and isfinite(value) and value >= 0
            if not (is_share if name == "layer_norm_eps" else is_count):
                kind = "number" if name == "layer_norm_eps" else f"size of at most {most:,}"
                raise ModelError(
                    f"transformer.{name}: {clipped(repr(value))}, where a {kind} is right"
                )
        padding = config.get("pad_token_id") if config["model_type"] in _FROM_PADDING else -1
        if not isinstance(padding, int) or not -1 <= padding < _MOST:
            raise ModelError(f"transformer.pad_token_id: {clipped(repr(padding))} is no piece")
        transformer = cls(**sizes, first_position=padding + 1)
        if transformer.hidden_size % transformer.num_attention_heads:
            raise ModelError(
                f"transformer.hidden_size: {transformer.hidden_size} cannot be divided among "
                f"{transformer.num_attention_heads} heads"
            )
        return transformer

    @property
    def window(self) -> int:
        """How many pieces fit, special ones included."""
        return self.max_position_embeddings - self.first_position

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of its weights."""
        width, inner = self.hidden_size, self.intermediate_size
        shapes: dict[str, tuple[int, ...]] = {
            "embeddings.word_embeddings.weight": (self.vocab_size, width),
            "embeddings.position_embeddings.weight": (self.max_position_embeddings, width),
            "embeddings.token_type_embeddings.weight": (self.type_vocab_size, width),
        }
        linear = {
            "attention.self.query": (width, width),
            "attention.self.key": (width, width),
            "attention.self.value": (width, width),
            "attention.output.dense": (width, width),
            "intermediate.dense": (inner, width),
            "output.dense": (width, inner),
        }
        norms = ["embeddings.LayerNorm"]
        for number in range(self.num_hidden_layers):
            layer = f"encoder.layer.{number}."
            for name, shape in linear.items():
                shapes[f"{layer}{name}.weight"] = shape
                shapes[f"{layer}{name}.bias"] = shape[:1]
            norms += (f"{layer}attention.output.LayerNorm", f"{layer}output.LayerNorm")
        shapes |= {f"{norm}.{part}": (width,) for norm in norms for part in ("weight", "bias")}
        return shapes
