"""BERT's layers and nothing else: the quick twin of `transformers.BertModel` without its pooler.

Loading `transformers` takes longer than parsing a page, so models whose transformer is a BERT are
read with this. Weights have the same names, and tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from fencepost.errors import ModelError


@dataclass(frozen=True, slots=True)
class BertSizes:
    """What a BERT is like, by the names that `transformers` has for it."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float
    hidden_dropout_prob: float
    attention_probs_dropout_prob: float

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> BertSizes | None:
        """The sizes in the settings of a transformer; None if it is not a plain BERT."""
        usual = {
            "model_type": "bert",
            "hidden_act": "gelu",
            "position_embedding_type": "absolute",
            "is_decoder": False,
            "add_cross_attention": False,
            "chunk_size_feed_forward": 0,
        }
        if any(config.get(key, value) != value for key, value in usual.items()):
            return None
        if "model_type" not in config:
            return None
        found: dict[str, Any] = {name: config.get(name) for name in cls.__dataclass_fields__}
        for name, value in found.items():
            if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
                raise ModelError(f"transformer.{name}: a number is expected, not {value!r}")
        sizes = cls(**found)
        if sizes.num_attention_heads < 1 or sizes.hidden_size % sizes.num_attention_heads:
            raise ModelError(
                f"transformer.hidden_size: {sizes.hidden_size} cannot be divided among "
                f"{sizes.num_attention_heads} heads"
            )
        return sizes


@dataclass(frozen=True, slots=True)
class BertStates:
    """What a BERT has read."""

    last_hidden_state: Tensor  # (rows, pieces, width)
    hidden_states: tuple[Tensor, ...]  # of the embeddings and of each layer


class Bert(nn.Module):
    """Reads pieces in both directions at once."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.config = sizes
        self.embeddings = _Embeddings(sizes)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(_Layer(sizes) for _ in range(sizes.num_hidden_layers))}
        )

    def get_input_embeddings(self) -> nn.Embedding:
        """The vectors of pieces."""
        return self.embeddings.word_embeddings

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> BertStates:
        """Read pieces, or their vectors.

        Args:
            input_ids: (rows, pieces)
            attention_mask: (rows, pieces): which are pieces, and not padding
            inputs_embeds: (rows, pieces, width), in place of pieces
            output_hidden_states: there for the other twin; all states are always given
        """
        if inputs_embeds is None:
            assert input_ids is not None
            inputs_embeds = self.embeddings.word_embeddings(input_ids)
        states = [self.embeddings(inputs_embeds)]
        seen = None if attention_mask is None else attention_mask.bool()[:, None, None]
        layers = self.encoder["layer"]
        assert isinstance(layers, nn.ModuleList)
        for layer in layers:
            states.append(layer(states[-1], seen))
        return BertStates(states[-1], tuple(states))


class _Embeddings(nn.Module):
    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        width = sizes.hidden_size
        self.word_embeddings = nn.Embedding(sizes.vocab_size, width)
        self.position_embeddings = nn.Embedding(sizes.max_position_embeddings, width)
        self.token_type_embeddings = nn.Embedding(sizes.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, eps=sizes.layer_norm_eps)
        self.dropout = nn.Dropout(sizes.hidden_dropout_prob)

    def forward(self, vectors: Tensor) -> Tensor:
        places = self.position_embeddings.weight[: vectors.shape[1]]
        return self.dropout(  # type: ignore[no-any-return]
            self.LayerNorm(vectors + self.token_type_embeddings.weight[0] + places)
        )


class _Layer(nn.Module):
    """Attention and a perceptron, each added to what it read.

    The parts have the names of the other twin, dots and all, so that weights fit both.
    """

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        width, inner, eps = sizes.hidden_size, sizes.intermediate_size, sizes.layer_norm_eps
        self.heads = sizes.num_attention_heads
        self.share = sizes.attention_probs_dropout_prob
        self.attention = nn.ModuleDict(
            {
                "self": nn.ModuleDict(
                    {name: nn.Linear(width, width) for name in ("query", "key", "value")}
                ),
                "output": _added(width, width, eps),
            }
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = _added(inner, width, eps)
        self.dropout = nn.Dropout(sizes.hidden_dropout_prob)

    def forward(self, vectors: Tensor, seen: Tensor | None) -> Tensor:
        rows, pieces, width = vectors.shape
        asked = self.attention["self"]
        assert isinstance(asked, nn.ModuleDict)
        query, key, value = (
            asked[name](vectors).view(rows, pieces, self.heads, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        read = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=seen, dropout_p=self.share if self.training else 0.0
        )
        read = read.transpose(1, 2).reshape(rows, pieces, width)
        vectors = self._add(self.attention["output"], read, vectors)
        inner = functional.gelu(self.intermediate["dense"](vectors))
        return self._add(self.output, inner, vectors)

    def _add(self, part: nn.Module, read: Tensor, vectors: Tensor) -> Tensor:
        assert isinstance(part, nn.ModuleDict)
        return part["LayerNorm"](self.dropout(part["dense"](read)) + vectors)  # type: ignore[no-any-return]


def _added(width: int, out: int, eps: float) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(width, out), "LayerNorm": nn.LayerNorm(out, eps=eps)})
