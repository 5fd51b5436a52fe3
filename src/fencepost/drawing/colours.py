"""Colours of labels: the same on every run, and readable in light and dark."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Literal, NamedTuple

Theme = Literal["light", "dark", "auto"]


class Palette(NamedTuple):
    """The colours of a theme."""

    paper: str
    ink: str  # words
    muted: str  # tags and numbers
    line: str  # edges
    labels: tuple[str, ...]
    borders: tuple[str, ...]  # of boxes
    fills: tuple[str, ...]  # the insides of boxes


def _mixed(colour: str, paper: str, share: float) -> str:
    pairs = zip(_channels(colour), _channels(paper), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _palette(
    labels: tuple[str, ...], *, paper: str, ink: str, muted: str, line: str, share: float
) -> Palette:
    borders = tuple(_mixed(colour, paper, 0.6) for colour in labels)
    fills = tuple(_mixed(colour, paper, share) for colour in labels)
    return Palette(paper, ink, muted, line, labels, borders, fills)


PALETTES = {
    "light": _palette(
        (
            *("#1f5fa8", "#00696f", "#a8285f", "#8a5200"),
            *("#7a3fa0", "#4f5a1a", "#1a6e3c", "#a3341f"),
        ),
        paper="#ffffff",
        ink="#1c2024",
        muted="#5c646d",
        line="#9aa3ad",
        share=0.09,
    ),
    "dark": _palette(
        (
            *("#86b8f2", "#6fcdd2", "#f094bd", "#e3b062"),
            *("#c9a0ea", "#bccb77", "#7fcf9d", "#f0937e"),
        ),
        paper="#16191d",
        ink="#e6e9ec",
        muted="#a0a8b1",
        line="#68717b",
        share=0.16,
    ),
}
_SEED = 16268  # gives the most frequent labels different colours
KINDS = len(PALETTES["light"].labels)


@lru_cache(maxsize=4096)
def kind(label: str) -> int:
    """The index of a label's colour, which ignores function tags such as `-SBJ`."""
    name = label.split("-", 1)[0] or label
    hashed = hashlib.sha256(f"{_SEED}{name}".encode("utf-8", "surrogatepass"))
    return hashed.digest()[0] % KINDS
