"""Small heads with random weights, made on the spot."""

from collections.abc import Callable

import pytest
import torch

from fencepost.model.head import PointingHead

MakeHead = Callable[..., PointingHead]


@pytest.fixture
def make_head() -> MakeHead:
    def make(
        *, labels: int = 3, previous_label: bool = False, open_root: bool = False
    ) -> PointingHead:
        torch.manual_seed(1)
        head = PointingHead(
            boundary_width=8,
            labels=labels,
            mlp=6,
            decoder=5,
            previous_label=previous_label,
            open_root=open_root,
            dropout=0.3,
        )
        for parameter in head.parameters():
            torch.nn.init.normal_(parameter, std=0.4)  # so that choices are far from even
        return head.eval().requires_grad_(False)

    return make
