"""What JavaScript needs to cut texts as Python does: sentences, words and pieces."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from tokenizers import Tokenizer

from fencepost.errors import ModelError
from fencepost.run.browser.patterns import javascript
from fencepost.text import sentences, words
from fencepost.text.lexicon import LEADING, SPEECH, STARTERS, TWO_IN_ONE

_KEEP, _DROP, _BLANK, _APART, _SPELLED = range(5)  # what a tokenizer makes of a character
_SYLLABLES = range(0xAC00, 0xD7A4)  # Korean ones are taken apart by a formula
# Of planes where nothing is assigned, or all is private, the first and the last characters tell.
_ASKED = (
    range(0xD800),
    range(0xE000, 0x32401),
    *(range((plane << 16) - 2, (plane << 16) + 1) for plane in range(4, 15)),
    range(0xE0001, 0xE1001),
    *(range((plane << 16) - 2, (plane << 16) + 1) for plane in (15, 16)),
    range(0x10FFFE, 0x110000),
)


def splitter_tables() -> dict[str, Any]:
    """The rules of `text.words` and `text.sentences` as plain data."""
    return {
        "word": javascript(words.WORD),
        "ending": javascript(words.ENDING),
        "mostCuts": words.MOST_CUTS,
        "twoInOne": {word: list(cuts) for word, cuts in TWO_IN_ONE.items()},
        "picture": javascript(sentences.PICTURE),
        "item": javascript(sentences.ITEM),
        "narrow": sentences.NARROW,
        **{
            name.lower(): sorted(getattr(sentences, name))
            for name in (
                *("WIDE", "STOPS", "MARKS", "QUOTES", "CLOSING", "OPENING"),
                *("BULLETS", "DASHES", "UNFINISHED"),
            )
        },
        "leading": sorted(LEADING),
        "starters": sorted(STARTERS),
        "speech": sorted(SPEECH),
    }


def tokenizer_tables(tokenizer: Tokenizer, *, path: object) -> dict[str, Any]:
    """A tokenizer as plain data, if it is one of BERT's kind.

    What it makes of each character is found by asking it, so that its version of Unicode counts
    and not that of a browser.

    Args:
        tokenizer: of a model.
        path: where it comes from, for the message if it is of another kind.

    Raises:
        ModelError: it is of another kind; the message says which.
    """
    plain = json.loads(tokenizer.to_str())
    model, kinds = plain["model"], {}
    for part, kind in (
        ("model", "WordPiece"),
        ("normalizer", "BertNormalizer"),
        ("pre_tokenizer", "BertPreTokenizer"),
    ):
        kinds[part] = (plain[part] or {}).get("type")
        if kinds[part] != kind:
            raise ModelError(
                f"{path}: {part} {kinds[part]}: in a browser, only tokenizers like BERT's work, "
                f"whose {part} is {kind}"
            )
    if any(not added["special"] for added in plain["added_tokens"]):
        raise ModelError(f"{path}: added tokens that are not special do not work in a browser")
    names = [""] * (max(model["vocab"].values()) + 1)
    for name, number in model["vocab"].items():
        names[number] = name
    runs, spelled = _characters(tokenizer)
    return {
        "names": names,
        "unknown": model["vocab"][model["unk_token"]],
        "prefix": model["continuing_subword_prefix"],
        "longest": model["max_input_chars_per_word"],
        "runs": runs,
        "spelled": spelled,
        "syllables": tokenizer.normalizer.normalize_str("각") != "각",
    }


def _characters(tokenizer: Tokenizer) -> tuple[list[int], dict[str, str]]:
    """What becomes of characters: the first one of each run and its kind; those spelled anew."""
    spelled: dict[str, str] = {}
    normalize: Callable[[str], str] = tokenizer.normalizer.normalize_str
    cut = tokenizer.pre_tokenizer.pre_tokenize_str

    def kind(char: str) -> int:
        if ord(char) in _SYLLABLES:
            return _KEEP
        text = normalize(char)
        if text == f" {char} ":
            return _APART
        if text == char:
            if char.isalnum():
                return _KEEP
            return {1: _KEEP, 2: _BLANK, 3: _APART}[len(cut(f"a{char}a"))]
        if not text:
            return _DROP
        if text == " ":
            return _BLANK
        spelled[char] = text
        return _SPELLED

    return _runs((code, kind(chr(code))) for code in chain(*_ASKED)), spelled


def _runs(kinds: Iterable[tuple[int, int]]) -> list[int]:
    """Numbers and their kinds as runs: the first of each run and its kind, one after the other."""
    runs: list[int] = []
    for code, kind in kinds:
        if not runs or runs[-1] != kind:
            runs += (code, kind)
    return runs
