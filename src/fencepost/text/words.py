"""Splitting of text into words.

The words are those of the Penn Treebank and its successors, with compounds cut at hyphens as in
OntoNotes, GUM and Universal Dependencies. One pass over the text tries the rules of a table in
order; the first that matches makes the next word. Rules that may fail look ahead at most a fixed
number of characters, so the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fencepost.text.lexicon import (
    BEFORE_NUMBER,
    PREFIXES,
    SHORT,
    SHORT_NAMES,
    STARTERS,
    TWO_IN_ONE,
    UNITS,
)

# Characters outside of plain words: controls, punctuation, symbols, emoji. All others belong to
# words, so that letters and marks of any script stay together.
_SIGNS = (
    r"\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\xa9\xab-\xb4\xb6-\xbb\xbf\xd7\xf7"
    r"\u2010-\u2029\u2030-\u205f\u20a0-\u20cf\u2100-\u214f\u2190-\u2bff\u2e00-\u2e7f"
    r"\u3000-\u3020\u3030\ue000-\uf8ff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65\U0001f000-\U0001faff"
)
# Characters that attach to the one before: accents, joiners, direction marks and other invisible
# ones.
_JOINERS = (
    r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff"
)


def _one_of(words: Iterable[str]) -> str:
    """A case-insensitive pattern for any of the words, longest first."""
    escaped = (re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
    return f"(?i:{'|'.join(escaped)})"


_X = rf"[^\s{_SIGNS}]"  # a letter, a digit, a mark
_NO_X = rf"(?![^\s{_SIGNS}{_JOINERS}])"  # the word ends here
_BLANK = r"[^\S\n\r]"  # whitespace within a line
_LINE_START = "(?:^" + "".join(rf"|(?<=^{_BLANK * n})" for n in range(1, 9)) + ")"
_STEP = rf"(?:{_BLANK}{{1,2}}|\r?\n)"  # to the next word of the same paragraph
_PICTURE = r"[\u2190-\u2bff\U0001f000-\U0001faff]"
_ADDRESS = r"[^\s<>\"“”]*[^\s<>\"“”.,;:!?'’)\]}]"  # does not end in punctuation
_NUMERAL = rf"{_STEP}?(?:\d|(?:[VX]|[IVXLC]{{2,9}}){_NO_X})"

_RULES = {
    # The most frequent words first, for speed.
    "letters only": r"[A-Za-z]++(?=[\s,;?!)\"”])",
    "single": r"[,?!\"“”(){}\[\]%]|\.(?=\s)",
    # The number of an item in a list keeps its full stop.
    "item": rf"{_LINE_START}\d{{1,3}}\.(?:\d{{1,2}}\.){{0,5}}(?={_BLANK})",
    # Addresses and names on the web are kept whole.
    "link": rf"(?i:(?:https?|ftp)://|www\.|doi:(?=\d)){_ADDRESS}",
    "mail": rf"[\w.+-]{{1,64}}+@(?:[\w-]{{1,63}}\.){{1,8}}[a-zA-Z]{{2,24}}{_NO_X}",
    "site": rf"(?:[\w-]{{1,63}}+\.){{1,8}}[a-z]{{2,24}}/{_ADDRESS}",
    "@name #tag": r"(?<!\w)[@#]_*+[^\W_]\w*+",
    # Faces and pictures; what is joined to a picture by a joiner is a part of it.
    "smiley": r"(?<!\S)(?:[:;=]['’]?[-^]?[()\[\]DPpO3/\\|*]{1,9}|<3|\^_?\^)(?![^\s.,!?])",
    "keycap": r"[0-9#*]\ufe0f?\u20e3",
    "flag": r"[\U0001f1e6-\U0001f1ff]{2}",
    "emoji": rf"{_PICTURE}(?:[{_JOINERS}]*\u200d{_PICTURE})*+",
    # Abbreviations keep their full stop.
    "U.S.": rf"(?:[^\W\d_]\.){{2,12}}{_NO_X}|(?:[A-Z]\.){{1,12}}[A-Z]{_NO_X}",
    "Ph.D.": r"(?:Ph|M|B|D)\.(?:D|Sc|Phil|Ed|Eng)\.",
    "no. 5": rf"{_one_of(BEFORE_NUMBER)}\.(?={_NUMERAL})",
    "etc.": rf"(?:{_one_of(SHORT)}|(?=[A-Z]){_one_of(SHORT_NAMES)}|(?<=et )al)\.(?!\.\.){_NO_X}",
    "initial": rf"[A-HJ-Z]\.(?:(?=[,;])|(?={_STEP}?[A-Z])(?!{_STEP}{_one_of(STARTERS)}{_NO_X}))",
    "s/he": rf"(?i:s/he|w/o|n/a|c/o){_NO_X}|[A-Z](?:\+\+|\#)(?!\w)",
    # Apostrophes: endings that stand apart, and shortened words.
    "'s": rf"['’](?i:s|re|ve|ll|d|m){_NO_X}",
    "'em": rf"['’‘](?:\d0['’]?s|\d\d|(?i:em|til|cause|cuz|bout|tis|twas)){_NO_X}",
    "'n'": r"['’]n['’]",
    # Numbers with signs in them.
    "10|km": rf"(?:\d{{1,20}}(?:[.,]\d{{1,20}}){{0,9}}|\d\d?:\d\d)(?={_one_of(UNITS)}{_NO_X})",
    "phone": r"\+?(?:\d{1,4}-){0,2}\d{3}-\d{4}(?![\w-])|\+\d{5,15}(?:-\d{1,15})?",
    "date": r"\d{4}-\d\d-\d\d(?![\w-])",
    "-5 .5": r"(?<![^\s(\[])(?:[-−+±]\d++(?:[.,:]\d++)*+|[-−+±]?\.\d++)",
    "US$": r"(?:US|AU|CA|NZ|HK|[ACRS])\$",
    # Any other word: a prefix; the word, with apostrophes, points and the like inside; and a
    # hyphen at which it is broken off.
    "word": rf"(?P<word>(?:{_one_of(PREFIXES)}-(?={_X}))?+{_X}++"
    r"(?:(?:['’_]|(?<=\d)(?:[.:/](?=\d)|,(?=\d{3}(?!\d)))|(?<=[a-z\d])\.(?=[a-z])|(?<=[A-Z])&"
    rf"(?=[A-Z])){_X}++)*+(?:-(?=[\s,.;:!?)\]\"”…]|\Z))?+)",
    # Signs: some form words of several, the others are one word each.
    "run": r"\.{2,}+|…++|-{2,}+|—++|–++|``|''|={2,}+|\*{2,}+|_{2,}+|~{2,}+|\#{2,}+",
    "sign": r"\S",
}
# A match includes the whitespace after a word, so every match starts at a word.
WORD = re.compile(
    "|".join(rf"(?:{rule})[{_JOINERS}]*+\s*+" for rule in _RULES.values()), re.MULTILINE
)
ENDING = re.compile(rf"(?:(?i:n['’]t)|(?<!\d0)['’](?i:s|re|ve|ll|d|m))[{_JOINERS}]*\Z")
MOST_CUTS = 3  # `I'd've`; unlimited cuts would take quadratic time


def split_words(text: str) -> list[tuple[int, int]]:
    """The start and end of each word, in order; they cover all but whitespace.

    >>> text = "I can't, it's $5!"
    >>> [text[start:end] for start, end in split_words(text)]
    ['I', 'ca', "n't", ',', 'it', "'s", '$', '5', '!']
    """
    words: list[tuple[int, int]] = []
    for match in WORD.finditer(text, len(text) - len(text.lstrip())):
        start = match.start()
        word = match[0].rstrip()
        if match.lastgroup == "word" and ("'" in word or "’" in word):
            cuts = _cuts(word)
        else:
            cuts = TWO_IN_ONE.get(word.lower(), ())
        last = start
        for cut in cuts:
            words.append((last, start + cut))
            last = start + cut
        words.append((last, start + len(word)))
    return words


def _cuts(word: str) -> Sequence[int]:
    """The places at which a word with an apostrophe is cut, in order.

    >>> _cuts("shouldn't've"), _cuts("o'clock"), _cuts("1960's")
    ([6, 9], (), ())
    """
    cuts: list[int] = []
    end = len(word)
    while len(cuts) < MOST_CUTS and (ending := ENDING.search(word, 1, end)):
        end = ending.start()
        cuts.append(end)
    return cuts[::-1] or TWO_IN_ONE.get(word.lower(), ())
