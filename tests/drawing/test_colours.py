import os
import subprocess
import sys

import pytest

from fencepost.drawing.colours import KINDS, PALETTES, kind


def contrast(first: str, second: str) -> float:
    """The contrast of two colours as defined by the web's accessibility guidelines (WCAG)."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    shares = [channel / 255 for channel in bytes.fromhex(colour[1:])]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(theme: str) -> None:
    palette = PALETTES[theme]
    for colour in (palette.ink, palette.muted, *palette.labels):
        assert contrast(colour, palette.paper) >= 4.5
    for label, fill in zip(palette.labels, palette.fills, strict=True):
        assert contrast(label, fill) >= 4.5
        assert contrast(palette.ink, fill) >= 7


def test_contrast_is_counted_as_the_guidelines_do() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#123456", "#123456") == 1


def test_a_theme_has_a_colour_of_each_kind() -> None:
    for palette in PALETTES.values():
        for colours in (palette.labels, palette.borders, palette.fills):
            assert len(set(colours)) == KINDS == 8


def test_a_label_has_the_same_colour_on_every_run() -> None:
    code = "from fencepost.drawing.colours import kind; print(*map(kind, ['NP', 'VP', '語', '']))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {"{} {} {} {}\n".format(*map(kind, ["NP", "VP", "語", ""]))}


def test_labels_that_are_met_often_are_kept_apart() -> None:
    for labels in (
        ["S", "NP", "VP", "PP", "SBAR", "ADJP", "ADVP"],
        ["PER", "ORG", "LOC", "GPE"],
        ["person", "organization", "place", "time", "event", "object"],
    ):
        assert len({kind(label) for label in labels}) == len(labels)


def test_functions_do_not_change_a_colour() -> None:
    assert kind("NP-SBJ-1") == kind("NP")
    assert 0 <= kind("-LRB-") < KINDS
    assert 0 <= kind("\ud800") < KINDS
