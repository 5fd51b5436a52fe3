"""Splitting of words into sentences.

A blank line always ends a sentence. Within a paragraph, a sentence ends with a full stop, a
question mark and the like, with closing quotes and brackets, if the next word can start a sentence.
A line break alone ends no sentence, since texts are wrapped, except before an item of a list, and
where the line had room for the first word of the next one and this word has a capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from fencepost.text.lexicon import LEADING, SPEECH, STARTERS

Offsets = tuple[int, int]

WIDE = frozenset("。．｡？！")  # have no space after them
STOPS = frozenset(".。．｡")
MARKS = frozenset("?!？！‽⁇⁈⁉")
QUOTES = frozenset("\"'”’»") | {"''"}
CLOSING = QUOTES | frozenset(")]}")
OPENING = frozenset("\"'“‘«([{¿¡`") | {"``", "''"}
BULLETS = frozenset("*•‣◦▪●■·")
DASHES = frozenset("-–—")
UNFINISHED = frozenset(",;-–—&/([{“‘")  # at the end of a line: it continues in the next
PICTURE = re.compile(r"[:;=<^].|[\u2600-\u27bf\U0001f000-\U0001faff]")
ITEM = re.compile(r"\d{1,3}\.")
NARROW = 40  # characters; the least width of wrapped text


def split_sentences(text: str, words: Sequence[Offsets]) -> Iterator[Sequence[Offsets]]:
    """The words of a text, sentence by sentence."""
    first = 0
    for end in _ends(text, words):
        yield words[first:end]
        first = end


def _ends(text: str, words: Sequence[Offsets]) -> Iterator[int]:
    """For each sentence, the number of words up to its end."""
    strings = [text[start:end] for start, end in words]
    roomy = _lines_with_room(text)
    ending = ""  # the word that may have ended the sentence, if only closing signs followed it
    quoted = False  # whether one of these signs was a quote
    note = -1  # the last word of a note in square brackets
    for index in range(len(words) - 1):
        word = strings[index]
        if _may_end(word):
            ending, quoted = word, False
        elif ending and index > note:
            attached = words[index - 1][1] == words[index][0]
            if _is_note(strings, index):
                note = index + 2
            elif attached and word in CLOSING:
                quoted = quoted or word in QUOTES
            elif not (attached and word.isdecimal()) and not PICTURE.match(word):
                ending = ""
        gap = text[words[index][1] : words[index + 1][0]]
        breaks = 0 if gap == " " else len(f"{gap}.".splitlines()) - 1
        ended = bool(ending) and index >= note
        if (
            breaks > 1
            or (breaks and _starts_line(strings, index + 1, ended, words[index][1] in roomy))
            or (
                ended
                and (gap or _lacks_space(strings, index))
                and _may_start(strings, index + 1, ending, quoted)
            )
        ):
            yield index + 1
            ending = ""
    if words:
        yield len(words)


def _may_end(word: str) -> bool:
    """Whether a sentence may end with this word."""
    last = word[-1]
    if len(word) == 1:
        return last in STOPS or last in MARKS or last == "…"
    if last == "…" or word.startswith(".."):
        return True
    # The full stop of an initial, an item's number or a title does not end a sentence.
    if last != "." or len(word) == 2 or word[0].isdecimal():
        return False
    return word[:-1].lower() not in LEADING


def _may_start(strings: Sequence[str], index: int, ending: str, quoted: bool) -> bool:
    """Whether a sentence may start with the word at `index` after this ending."""
    if _is_note(strings, index):
        return False
    opening = index
    while index < min(opening + 3, len(strings) - 1) and strings[index] in OPENING:
        index += 1
    word = strings[index]
    if word[0].islower() and word.islower():
        return False
    if ending[-1] == "." and ending.strip("."):  # an abbreviation
        return word.lower() in STARTERS
    if ending in MARKS:
        if index > opening and word[0].isdecimal():  # a title and its year: `Viva! (1965)`
            return False
        if quoted and index + 1 < len(strings) and strings[index + 1] in SPEECH:
            return False
    return word[0].isalnum() or word[0] in "$£€@#" or word in BULLETS


def _lacks_space(strings: Sequence[str], index: int) -> bool:
    """Whether the space after a sentence is missing: `the end.Then`, or as in Chinese."""
    word = strings[index]
    if word in WIDE:
        return True
    before, after = strings[index - 1], strings[index + 1]
    return index > 0 and after.istitle() and (word in MARKS or (word == "." and before.islower()))


def _starts_line(strings: Sequence[str], index: int, ended: bool, room: bool) -> bool:
    """Whether the line that starts with the word at `index` starts a sentence."""
    word, last = strings[index], strings[index - 1]
    if word in BULLETS or word in DASHES or ITEM.match(word):
        return True
    if not room or last in UNFINISHED or last in STARTERS:
        return False
    if last[-1] == "." and not ended:  # a title, or an initial
        return False
    return ended or not word.islower()


def _is_note(strings: Sequence[str], index: int) -> bool:
    """Whether a note such as [2] is here."""
    return (
        strings[index] == "["
        and index + 2 < len(strings)
        and strings[index + 1].isdecimal()
        and strings[index + 2] == "]"
    )


def _lines_with_room(text: str) -> frozenset[int]:
    """The ends of the lines that had room for the first word of the next one.

    Their line breaks are intended. A line without room may have been wrapped: with the next word
    it would be longer than any line of its paragraph.
    """
    roomy: list[int] = []
    lines: list[tuple[int, int, int]] = []  # of the paragraph: end, width, width of first word
    position = 0
    for line in (*text.splitlines(keepends=True), ""):
        content = line.rstrip()
        if content:
            first = len(content.split(maxsplit=1)[0])
            lines.append((position + len(content), len(content), first))
        else:
            widest = max((width for _, width, _ in lines), default=0)
            for (end, width, _), (_, _, first) in pairwise(lines):
                if width + 1 + first <= max(widest, NARROW):
                    roomy.append(end)
            lines = []
        position += len(line)
    return frozenset(roomy)
