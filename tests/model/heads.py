"""Small heads with random weights, made on the spot."""

import torch

from fencepost.model.head import PointingHead


def make_head(
    *, labels: int = 3, previous_label: bool = False, open_root: bool = False
) -> PointingHead:
    """The same head each time, for boundaries of width 8."""
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


def random_head(seed: int, *, previous_label: bool, open_root: bool) -> PointingHead:
    """A head with four labels and some temperature, for boundaries of width 6."""
    torch.manual_seed(seed)
    head = PointingHead(
        boundary_width=6,
        labels=4,
        mlp=5,
        decoder=7,
        previous_label=previous_label,
        open_root=open_root,
        dropout=0.2,
    )
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    head.temperature = 0.5 + seed % 4 / 2
    return head.eval().requires_grad_(False)
