"""JSON lines: one object per sentence, with any of its layers.

Lines are written as `Parse.to_dict` returns them: `version`, `id`, `words`, `tags`, `tree` and
`entities` (start, end, label and, if predicted, probability), `text`, `offsets` ([start, end] of
each word), `dropped` (entities that were left out because they cross others, and still count as
gold), `log_probs` and `rank`.

More is read than is written: `tokens` for `words`, a tree in brackets, and a `text` without words,
whose entities count characters; its words are the slices of `offsets`, or separated by blanks.

A line with `sentences` is a document, as `Document.to_dict` and corpus runs write it; its sentences
are read one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fencepost.errors import DataError, clipped
from fencepost.formats.entries import Entry, parse_with_entities
from fencepost.formats.files import Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Document, Entity, FoundSpan, Parse, Sentence, Span, Tree
from fencepost.structure.brackets import NO_TAG
from fencepost.structure.serialization import DIGITS, VERSION, checked_version, found_spans
from fencepost.structure.span import spans_of

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTEXT = 20  # characters on each side of a misaligned offset in messages


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of a file."""
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield Entry(number, partial(_read_line, line, settings))


def object_in(line: str) -> Any:
    """The value of a line of JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"no JSON: {error}") from error


def _read_line(line: str, settings: ReadSettings) -> Iterator[Parse]:
    data = object_in(line)
    is_document = isinstance(data, dict) and isinstance(data.get("sentences"), list)
    return _in_document(data) if is_document else iter((parse_of(data, settings),))


def _in_document(data: dict[str, Any]) -> Iterator[Parse]:
    """The sentences of a document, each with its part of the text."""
    document = Document.from_dict(data)
    if not document.is_ok:
        raise DataError(f"this was not parsed: {document.status}", kind="not parsed")
    several = len(document.sentences) > 1
    for number, parse in enumerate(document.sentences, 1):
        id = f"{document.id}-{number}" if document.id and several else document.id
        sentence = parse.sentence.alone()
        yield parse.over(replace(sentence, id=sentence.id or id))


def parse_of(data: Any, settings: ReadSettings) -> Parse:
    """The parse in an object; unknown keys are ignored."""
    if not isinstance(data, dict):
        raise DataError(f"an object is expected on each line, not {_shorten(data)}")
    version = data.get("version")
    if type(version) is int and version > VERSION:  # other values may be another program's
        checked_version(data)
    ours = _OURS if version == VERSION else {}
    for key in (*_EXPECTED, *ours):
        _check(key, data)
    written = Tree.from_brackets(data["tree"]) if isinstance(data.get("tree"), str) else None
    sentence = _sentence(data, written)
    tree = None
    if written is not None:
        _check_same_words(written, sentence)
        tree = Tree(sentence, written.spans)
    elif data.get("tree") is not None:
        tree = Tree(sentence, _spans(data["tree"], FoundSpan, sentence))
    extras: dict[str, Any] = {key: data.get(key) for key in ours}
    if data.get("entities") is None:
        return Parse(sentence, tree, **extras)
    spans = _spans(data["entities"], Entity, sentence)
    dropped = _spans(data.get("dropped") or [], Entity, sentence)
    if data.get("words") is None and data.get("tokens") is None and data.get("text") is not None:
        spans, dropped = _align(spans, sentence), _align(dropped, sentence)
    parse = parse_with_entities(
        sentence, spans, on_crossing=settings.on_crossing, tree=tree, dropped=dropped
    )
    return replace(parse, **extras) if extras else parse


def _spans(rows: list[Any], kind: type[FoundSpan], sentence: Sentence) -> tuple[Span, ...]:
    """Spans from rows; without probabilities they are plain `Span`s, which is far faster."""
    if any(len(row) == 4 for row in rows):
        return found_spans(rows, kind, sentence)
    return spans_of(rows)


def id_of(data: dict[str, Any]) -> str | None:
    """The id in an object; a number becomes a string."""
    _check("id", data)
    return None if data.get("id") is None else str(data["id"])


def _check(key: str, data: dict[str, Any]) -> None:
    fits, wanted = {**_EXPECTED, **_OURS}[key]
    if data.get(key) is not None and not fits(data[key]):
        raise DataError(f"{key!r} has to be {wanted}, not {_shorten(data[key])}")


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _is_name(value: Any) -> bool:
    return _is_string(value) or (isinstance(value, int | float) and not isinstance(value, bool))


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_rows(value: Any, *kinds: tuple[type, ...]) -> bool:
    # To Python a bool is an int, but it is not an offset.
    return isinstance(value, list) and all(
        isinstance(row, list) and tuple(map(type, row)) in kinds for row in value
    )


def _are_spans(value: Any) -> bool:
    return _are_rows(value, (int, int, str), (int, int, str, float), (int, int, str, int))


def _are_pairs(value: Any) -> bool:
    return _are_rows(value, (int, int))


def _is_tree(value: Any) -> bool:
    return _is_string(value) or _are_spans(value)


def _are_log_probs(value: Any) -> bool:
    return isinstance(value, dict) and all(type(one) in (int, float) for one in value.values())


def _is_rank(value: Any) -> bool:
    return type(value) is int


_EXPECTED = {
    "id": (_is_name, "a string or a number"),
    "words": (_are_strings, "a list of strings"),
    "tokens": (_are_strings, "a list of strings"),
    "tags": (_are_strings, "a list of strings"),
    "tree": (_is_tree, "a string of brackets, or a list of [start, end, label]"),
    "entities": (_are_spans, "a list of [start, end, label]"),
    "dropped": (_are_spans, "a list of [start, end, label]"),
    "text": (_is_string, "a string"),
    "offsets": (_are_pairs, "a list of [start, end]"),
}
_OURS = {  # other programs may use these names for anything
    "log_probs": (_are_log_probs, "an object of numbers"),
    "rank": (_is_rank, "a whole number"),
}


def _shorten(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # reading it just worked
        return "lists in lists, too deep to be shown"
    return clipped(text, 60)


def _sentence(data: dict[str, Any], tree: Tree | None) -> Sentence:
    text, offsets, words = data.get("text"), data.get("offsets"), data.get("words")
    words = data.get("tokens") if words is None else words
    if words is None and text is not None:
        if offsets is None:
            offsets = [match.span() for match in re.finditer(r"\S+", text)]
        words = [text[start:end] for start, end in offsets]
    elif words is None:
        if tree is None:
            raise DataError("a sentence needs `words`, `text` or `tree`")
        words = tree.words
    elif text is not None and offsets is None:
        if not words and text.strip():
            raise DataError(
                "`words` is empty, but `text` is not; without `words`, the words are those of the "
                "text"
            )
        offsets = find_words(words, text)
    tags = data.get("tags")
    if tags is None and tree is not None and set(tree.tags) != {NO_TAG}:
        tags = tree.tags
    sentence = Sentence(tuple(words), tags, text, offsets, id_of(data))
    if text is not None and sentence.offsets is not None:
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            if text[start:end] != word:
                raise _misaligned(f"the word {word!r}", start, end, text)
    return sentence


def find_words(words: Sequence[str], text: str) -> list[tuple[int, int]]:
    """The offsets of words that stand in the text one after the other.

    Raises:
        DataError: a word does not follow the one before it.
    """
    offsets: list[tuple[int, int]] = []
    position = 0
    for word in words:
        start = text.find(word, position)
        if start < 0 or text[position:start].strip():
            raise _misaligned(f"the word {word!r}", position, position + len(word), text)
        position = start + len(word)
        offsets.append((start, position))
    return offsets


def _check_same_words(tree: Tree, sentence: Sentence) -> None:
    """Refuse a tree with other words or tags than the sentence."""
    # In brackets the words `-LRB-` and `(` look the same; the sentence says which it is.
    if [_in_brackets(word) for word in tree.words] != [_in_brackets(w) for w in sentence.words]:
        raise DataError("the tree has other words than the sentence")
    for tag, tree_tag in zip(sentence.tags or (), tree.tags, strict=False):
        if tag != tree_tag and (tag, tree_tag) != ("", NO_TAG):
            raise DataError(f"the tree has the tag {tree_tag!r} where the sentence has {tag!r}")


def _in_brackets(word: str) -> str:
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


def _align(spans: Iterable[Span], sentence: Sentence) -> tuple[Span, ...]:
    """Spans of words, from spans of characters."""
    text, offsets = sentence.text or "", sentence.offsets or ()
    starts = {start: index for index, (start, _) in enumerate(offsets)}
    ends = {end: index + 1 for index, (_, end) in enumerate(offsets)}
    aligned: list[Span] = []
    for span in spans:
        start, end, label = span
        if not 0 <= start < end <= len(text):
            raise DataError(
                f"{span} is not within a text of {len(text)} characters", kind="out of range"
            )
        if start not in starts or end not in ends:
            raise _misaligned(f"the entity {label}", start, end, text)
        aligned.append(Span(starts[start], ends[end], label))
    return tuple(aligned)


def _misaligned(what: str, start: int, end: int, text: str) -> DataError:
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    shown = f"{before}[{text[start:end]}]{after}"
    return DataError(
        f"{what} at characters {start} to {end} does not begin and end with words: {shown!r}",
        kind="misaligned",
    )


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: one object per line."""
    return (line_of(parse.to_dict(digits=DIGITS)) for parse in parses)


def line_of(data: dict[str, Any]) -> str:
    """An object as a line of text, including the line end."""
    line = json.dumps(data, ensure_ascii=False)
    # Encodings cannot express a lone surrogate, but an escape in JSON can.
    return f"{json.dumps(data) if _SURROGATE.search(line) else line}\n"
