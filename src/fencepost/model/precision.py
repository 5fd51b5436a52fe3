"""Networks whose encoders compute with fewer bits: they parse, and do nothing else."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import torch
from torch import Tensor, nn

from fencepost.batching.inputs import Inputs
from fencepost.errors import ConfigError
from fencepost.model.bert import Bert, BertStates
from fencepost.model.network import Network, device_of
from fencepost.model.transformer import TransformerEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Precision = Literal["fp32", "bf16", "int8"]

LEAST_WEIGHTS = 2**17  # of a linear layer; a smaller one takes longer to round than it saves
MOST_ROWS = 1024  # rounded and multiplied at a time, so that they stay in the processor's cache

# The largest whole numbers. Some processors add two products of a byte (0 to 255) and a weight in
# 16 bits: 2 * 255 * 64 fits, so that sums are exact on all of them. With 127 it would not.
_WEIGHT, _INPUT = 64, 127
_MIDDLE = 128  # the byte that stands for 0
_LEAST = 1e-30  # a scale is at least this, so that a row of zeros can be divided by it


def with_precision(network: Network, precision: Precision) -> Network:
    """A network that computes with some precision; the given one stays as it is.

    With bf16, the weights of the encoder and of its LSTM layers have 16 bits. With int8, the large
    linear layers of a transformer have whole numbers for weights and inputs. What heads are given
    has 32 bits again, and so have they. Apart from fp32, the result is a copy that can be neither
    trained nor saved; it stays on its device.

    Args:
        network: with fp32; if it has this precision already, it is given back.
        precision: with fp32, nothing changes.

    Raises:
        ConfigError: the precision is unknown, or this network cannot have it here.
    """
    if precision not in get_args(Precision):
        known = ", ".join(get_args(Precision))
        raise ConfigError(f"precision: {precision!r} is unknown; known: {known}")
    own: Precision = network.precision if isinstance(network, RoundedNetwork) else "fp32"
    if precision == own:
        return network
    if own != "fp32":
        raise ConfigError(
            f"precision: this network has been rounded to {own}; "
            f"load the model again to have it with {precision}"
        )
    return RoundedNetwork(network, precision)


def _rounded_parameters(*parts: nn.Module) -> dict[int, object]:
    """What stands in a copy for each parameter, by its id.

    Buffers keep their bits: the rotations of positions that some transformers have need them.
    """
    return {
        id(parameter): nn.Parameter(parameter.detach().bfloat16(), requires_grad=False)
        for part in parts
        for parameter in part.parameters()
    }


def _whole_numbers(network: Network) -> dict[int, object]:
    """What stands in a copy for each large linear layer of the encoder, by its id."""
    if device_of(network).type != "cpu" or not torch.backends.mkldnn.is_available():
        raise ConfigError("precision: int8 needs the CPU, and a torch with oneDNN; use bf16")
    layers: dict[int, object] = {
        id(part): Int8Linear(part)
        for part in network.encoder.modules()
        # Not of a subclass: attention of torch's own has one whose weights it reads itself.
        if type(part) is nn.Linear and part.weight.numel() >= LEAST_WEIGHTS
    }
    if not layers:
        raise ConfigError(
            "precision: int8 is for the large linear layers of a transformer, "
            "and this encoder has none; use fp32"
        )
    return layers


class RoundedNetwork(Network):
    """A copy of a network whose encoder has been rounded.

    Args:
        network: stays as it is.
        precision: bf16 or int8.
    """

    def __init__(self, network: Network, precision: Precision) -> None:
        parts = (network.encoder, network.lstm)
        stand_ins = _rounded_parameters(*parts) if precision == "bf16" else _whole_numbers(network)
        # What has a stand-in is not copied first, so that memory is needed for one of them only.
        encoder, lstm = copy.deepcopy(parts, stand_ins)
        if isinstance(encoder, TransformerEncoder):
            encoder.add_module("transformer", Unpadded(encoder.transformer))
        super().__init__(
            encoder=encoder,
            lstm=lstm,
            heads={name: copy.deepcopy(network.head(name)) for name in network.heads},
            tags=copy.deepcopy(network.tags),
            dropout=network.dropout.share,
            whole=network.whole,
        )
        self.precision = precision
        self.eval().requires_grad_(False)

    def states(self, inputs: Inputs) -> Tensor:
        """The vectors of words and sentinels, with 32 bits: (batch, n + 2, width)."""
        kind = torch.bfloat16 if self.precision == "bf16" else torch.float32
        words = self.encoder(inputs).to(kind)
        return self.lstm(words, torch.from_numpy(inputs.lengths + 2)).float()  # type: ignore[no-any-return]

    def train(self, mode: bool = True) -> Self:
        """Stay as it is; there is no training.

        Raises:
            ConfigError: training was asked for.
        """
        if mode:
            raise ConfigError(self._refusal("trained"))
        return super().train(mode)

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """There is none, so that rounded weights are never saved for those of the model.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(self._refusal("saved"))

    def _refusal(self, what: str) -> str:
        return (
            f"precision: a network with {self.precision} cannot be {what}; "
            "load the model with fp32 for that"
        )


class Unpadded(nn.Module):
    """A transformer that reads windows of one length together, and never any padding.

    Padding changes the last bits of what attention adds up. Now and then that would tip a number
    over when it is rounded, by far more than the last bits. Without it, a sentence has the same
    vectors alone and among others.
    """

    def __init__(self, transformer: PreTrainedModel | Bert) -> None:
        super().__init__()
        self.transformer = transformer
        self.config = transformer.config

    def get_input_embeddings(self) -> nn.Module:
        """The vectors of pieces."""
        return self.transformer.get_input_embeddings()

    def forward(
        self, *, attention_mask: Tensor, output_hidden_states: bool = False, **pieces: Tensor
    ) -> BertStates:
        """Read pieces, or their vectors; where padding was, zeros are given.

        Args:
            attention_mask: (windows, pieces): which are pieces, and not padding
            output_hidden_states: whether the states of lower layers are wanted, too
            pieces: `input_ids`, (windows, pieces); or `inputs_embeds`, (windows, pieces, width)
        """
        lengths = attention_mask.sum(1)
        whole: list[Tensor] = []
        for length in lengths.unique().tolist():
            rows = (lengths == length).nonzero()[:, 0]
            read = self.transformer(
                **{name: given[rows, :length] for name, given in pieces.items()},
                attention_mask=attention_mask[rows, :length],
                output_hidden_states=output_hidden_states,
            )
            lower = read.hidden_states[:-1] if output_hidden_states else ()
            states: tuple[Tensor, ...] = (*lower, read.last_hidden_state)
            if not whole:
                shape = (*attention_mask.shape, states[-1].shape[-1])
                whole = [states[-1].new_zeros(shape) for _ in states]
            for layer, found in zip(whole, states, strict=True):
                layer[rows, :length] = found
        return BertStates(whole[-1], tuple(whole))


class Int8Linear(nn.Module):
    """A linear layer that multiplies whole numbers of 8 bits.

    Weights have one scale for each output, and inputs one for each row: no row is rounded otherwise
    because of another one beside it. Sums are exact.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        weight = linear.weight.detach()
        scales = (weight.abs().amax(1) / _WEIGHT).clamp(min=_LEAST)
        # The kernel wants its own order of weights, and takes them to be in torch's usual one.
        rounded = (weight / scales[:, None]).round().to(torch.int8).contiguous()
        # Some transformers ask what kind of numbers `weight` has, and leave inputs alone for these.
        self.weight: Tensor = torch.ops.onednn.qlinear_prepack(rounded, None)
        self.scales = scales / _INPUT
        self.middles = torch.zeros(self.out_features, dtype=torch.long)
        self.bias = torch.zeros_like(scales) if linear.bias is None else linear.bias.detach()

    def forward(self, vectors: Tensor) -> Tensor:
        """(..., in_features) to (..., out_features)."""
        rows = vectors.reshape(-1, self.in_features)
        products = [self._multiply(few) for few in rows.split(MOST_ROWS)]
        together = products[0] if len(products) == 1 else torch.cat(products)
        return together.view(*vectors.shape[:-1], self.out_features)

    def _multiply(self, rows: Tensor) -> Tensor:
        largest = rows.abs().amax(1, keepdim=True).clamp_(min=_LEAST)
        # To signed bytes, and then past their middle: torch is several times slower the other way.
        signed = (rows * (_INPUT / largest)).round_().to(torch.int8)
        products: Tensor = torch.ops.onednn.qlinear_pointwise(
            signed.view(torch.uint8).bitwise_xor_(_MIDDLE),
            1.0,  # the scale of inputs: rows have their own, below
            _MIDDLE,
            self.weight,
            self.scales,
            self.middles,
            None,  # the bias is added below
            1.0,  # scale and middle of the result, which is not rounded
            0,
            torch.float32,
            "none",  # nothing is done to it afterwards
            [],
            "",
        )
        return torch.addcmul(self.bias, products, largest, out=products)
