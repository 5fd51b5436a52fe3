"""Widths of text: columns in a terminal, and ems in a proportional font."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

REPLACEMENT = "\ufffd"  # for characters that cannot be shown

_JOINER = "\u200d"
_AS_PICTURE = "\ufe0f"  # makes the sign before it a picture, which is wide
_SKINS = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_NEW_EMOJI = range(
    0x1F300, 0x1FB00
)  # those among them that Python does not know yet are emoji, too
_EAST_ASIAN = range(0x2E80, 0xA000)  # letters, and signs as wide as letters

# Advance widths of ASCII, from the blank on, in hundredths of an em, rounded up from a font that is
# wider than most (DejaVu Sans): what fits by this table fits in Arial, Roboto and Segoe, too.
_ASCII = (
    *(32, 41, 46, 84, 64, 95, 78, 28, 40, 40, 50, 84, 32, 37, 32, 34),
    *(64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54),
    *(100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79),
    *(61, 79, 70, 64, 62, 74, 69, 99, 69, 62, 69, 40, 34, 40, 84, 50),
    *(50, 62, 64, 55, 64, 62, 36, 64, 64, 28, 28, 58, 28, 98, 64, 62),
    *(64, 64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84),
)
_BOLD = 1.14  # factor of bold letters
_PICTURE = 1.4
_BY_CATEGORY = {"Lu": 0.9, "Lt": 1.4, "Ll": 0.75, "Nd": 0.66, "Mc": 0.7, "Lm": 0.7, "Zs": 0.35}
_LIGATURES = "ÆŒæœ"
_BY_SCRIPT = (  # letters without case, and a few that are wider than others
    (range(0x0590, 0x0600), 0.72),
    (range(0x0633, 0x0637), 1.25),
    (range(0x069A, 0x069F), 1.25),
    (range(0x0600, 0x0800), 0.8),
    (range(0x0900, 0x0B80), 0.8),
    (range(0x0E00, 0x0F00), 0.7),
    (range(0xFDFD, 0xFDFE), 12.0),  # a sentence in one sign
)


def cells(text: str) -> int:
    """The columns that a text takes in a terminal.

    >>> cells("cat"), cells("猫"), cells("e\u0301"), cells("👨\u200d👩\u200d👧"), cells("🇳🇴")
    (3, 2, 1, 2, 2)
    """
    if text.isascii() and text.isprintable():
        return len(text)
    return int(_total(text, _cells, 2))


@lru_cache(maxsize=16384)
def advance(text: str, *, bold: bool = False) -> float:
    """The width of a text in ems, in a sans-serif font that is wider than most."""
    ems = _total(text, _ems, _PICTURE)
    return ems * _BOLD if bold else ems


def reads_right_to_left(words: tuple[str, ...]) -> bool:
    """Whether most letters of a sentence are written from right to left."""
    return sum(map(_leaning, words)) < 0


def direction(word: str, *, mirrored: bool) -> str:
    """The direction of a word, `rtl` or `ltr`; without letters that of its sentence."""
    leaning = _leaning(word)
    return "rtl" if leaning < 0 or (mirrored and not leaning) else "ltr"


@lru_cache(maxsize=16384)
def _leaning(word: str) -> int:
    """The number of letters written from left to right, minus those from right to left."""
    directions = [unicodedata.bidirectional(char) for char in word]
    return directions.count("L") - directions.count("R") - directions.count("AL")


@lru_cache(maxsize=16384)
def is_picture(word: str) -> bool:
    """Whether a word has emoji and no letters."""
    if word.isascii() or any(map(str.isalpha, word)):
        return False
    return _AS_PICTURE in word or any(
        ord(char) in _FLAG_LETTERS or _is_emoji(char) for char in word
    )


def _total(text: str, width: Callable[[str], float], picture: float) -> float:
    """The sum of the widths of characters; emoji sequences count once."""
    total = last = 0.0
    joined = pictured = False
    base = ""
    for char in text:
        if char == _JOINER:
            joined = pictured
        elif joined:  # a family is as wide as one of its members
            joined = False
        elif char == _AS_PICTURE:
            if base and unicodedata.category(base) in {"So", "Sm", "Po", "Nd"}:
                total += max(0.0, picture - last)
                last, pictured = max(last, picture), True
        elif not (pictured and ord(char) in _SKINS):
            size = width(char)
            if size:
                base, last = char, size
                pictured = _is_emoji(char)
            total += size
    return total


@lru_cache(maxsize=16384)
def _is_emoji(char: str) -> bool:
    """Whether a character is shown as a picture by default."""
    if not _is_wide(char) or ord(char) in _EAST_ASIAN:
        return False
    return unicodedata.category(char) in {"So", "Cn"}


def _is_wide(char: str) -> bool:
    if unicodedata.east_asian_width(char) in {"W", "F"}:
        return True
    return ord(char) in _NEW_EMOJI and unicodedata.category(char) == "Cn"


@lru_cache(maxsize=16384)
def _cells(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf", "Cc"} or _is_inner_jamo(char):
        return 0
    return 2 if _is_wide(char) else 1


def _is_inner_jamo(char: str) -> bool:
    """Whether a character is a vowel or final consonant drawn into a Korean syllable."""
    return "\u1160" <= char <= "\u11ff" or "\ud7b0" <= char <= "\ud7ff"


@lru_cache(maxsize=16384)
def _ems(char: str) -> float:
    code = ord(char)
    if 32 <= code < 127:
        return _ASCII[code - 32] / 100
    category = unicodedata.category(char)
    if category in {"Mn", "Me", "Cf"}:
        return 0.0
    if code in _FLAG_LETTERS:
        return _PICTURE / 2
    if _is_wide(char):
        return _PICTURE if _is_emoji(char) or code in _SKINS else 1.0
    if char in _LIGATURES:
        return 1.1
    for letters, ems in _BY_SCRIPT:
        if code in letters:
            return ems
    parts = unicodedata.normalize("NFKD", char)
    if parts != char:  # a letter with accents, or a sign such as … for several
        accented = unicodedata.normalize("NFD", char) != char
        return max(sum(map(_ems, parts)), 0.0 if accented else _BY_CATEGORY.get(category, 0.0))
    return _BY_CATEGORY.get(category, 1.1)
