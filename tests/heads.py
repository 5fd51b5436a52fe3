"""Small heads with random weights, in every combination of settings that is valid."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal, get_args, get_origin

import numpy as np
import torch
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from fencepost.batching.arrays import Floats, Ints
from fencepost.config import HeadSettings
from fencepost.decoding.configurations import Configurations
from fencepost.errors import ConfigError
from fencepost.model.head import PointingHead, Where

WIDTH = 6  # of boundary vectors
SIZES: dict[str, Any] = {"mlp": 5, "decoder": 7}


def _choices(field: FieldInfo) -> tuple[Any, ...]:
    """The values of a setting; none: it is not a choice but a size or a weight."""
    kind = field.annotation
    if kind is bool:
        return (False, True)
    if any(getattr(limit, "ge", None) == 0 for limit in field.metadata):
        return (0, 3)  # the size of a part that may be left out
    return get_args(kind) if get_origin(kind) is Literal else ()


def head_settings() -> list[HeadSettings]:
    """All combinations of the choices that there are; settings refuse the others."""
    choices = {
        name: _choices(field)
        for name, field in HeadSettings.model_fields.items()
        if _choices(field)
    }
    found = []
    for values in product(*choices.values()):
        try:
            found.append(HeadSettings(**dict(zip(choices, values, strict=True)), **SIZES))
        except (ConfigError, ValidationError):
            continue
    return found


SETTINGS = head_settings()
CHOICES = [settings.model_dump(exclude={"weight", *SIZES}) for settings in SETTINGS]


def head_with(
    seed: int,
    settings: HeadSettings,
    *,
    open_root: bool,
    labels: int = 4,
    temperature: float = 1.0,
) -> PointingHead:
    """A head whose choices are far from even."""
    torch.manual_seed(seed)
    head = PointingHead(
        boundary_width=WIDTH,
        labels=labels,
        open_root=open_root,
        dropout=0.2,
        **settings.model_dump(exclude={"weight"}),
    )
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    head.temperature = temperature
    return head.double().eval().requires_grad_(False)


@st.composite
def heads(draw: st.DrawFn, labels: int = 4) -> PointingHead:
    """Heads of any settings."""
    return head_with(
        draw(st.integers(0, 10_000)),
        draw(st.sampled_from(SETTINGS)),
        open_root=draw(st.booleans()),
        labels=labels,
        temperature=draw(st.sampled_from([0.5, 1.0, 2.0])),
    )


def vectors(*lengths: int, seed: int = 7) -> tuple[Floats, Ints]:
    """Boundary vectors of sentences, padded with noise that must not matter, and the lengths."""
    noise = np.random.default_rng(seed).standard_normal((len(lengths), max(lengths) + 1, WIDTH))
    return noise, np.array(lengths)


def random_head(seed: int, *, open_root: bool, **choices: Any) -> PointingHead:
    """A head of the paper's, or another one, with weights of 32 bits."""
    settings = HeadSettings(**{"previous_label": False, **choices}, **SIZES)
    temperature = 0.5 + seed % 4 / 2
    return head_with(seed, settings, open_root=open_root, temperature=temperature).float()


def make_head(
    *, labels: int = 3, open_root: bool = False, seed: int = 1, **choices: Any
) -> PointingHead:
    """A head for boundary vectors of 8 numbers, the same each time."""
    torch.manual_seed(seed)
    sizes: dict[str, Any] = {"boundary_width": 8, "mlp": 6, "decoder": 5, "dropout": 0.3}
    kind = {"previous_label": False, **choices}
    head = PointingHead(labels=labels, open_root=open_root, **kind, **sizes)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.4)  # so that choices are far from even
    return head.eval().requires_grad_(False)


def nowhere(rows: int) -> Where:
    """Configurations for the paper's head, which does not look at them."""
    return Where.of(Configurations.first(np.ones(rows, dtype=np.intp)), torch.device("cpu"))
