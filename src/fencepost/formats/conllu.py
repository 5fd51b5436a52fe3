"""CoNLL-U: comments, then one word per line in ten columns, then an empty line.

    # sent_id = 1
    # text = Ann slept.
    # constituency = (ROOT (S (NP (NNP Ann)) (VP (VBD slept)) (. .)))
    # entities = [[0, 1, "PER"]]
    1   Ann     _   _   NNP   _   _   _   _   _
    2   slept   _   _   VBD   _   _   _   _   SpaceAfter=No
    3   .       _   _   .     _   _   _   _   _

Trees and entities are comments, which other programs ignore; Stanza has the same comment for trees.
Words are the syntactic words (1, 2, 3, …). Their tags are XPOS, or UPOS in a sentence without XPOS.
Multiword tokens (`1-2`) and empty nodes (`1.1`) are not words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from fencepost.errors import DataError
from fencepost.formats import jsonl
from fencepost.formats.annotations import with_text
from fencepost.formats.entries import Entry
from fencepost.formats.files import Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.structure import Parse, Sentence, Tree

_COMMENT = re.compile(r"#\s*([\w.]+)\s*=\s?(.*)", re.DOTALL)
_RANGE = re.compile(r"[0-9]{1,9}[-.][0-9]{1,9}")  # a multiword token, or an empty node
_NOTHING = "_"
_ID, _FORM, _UPOS, _XPOS, _MISC = 0, 1, 3, 4, 9
_COLUMNS = 10
_NO_SPACE = "SpaceAfter=No"


class _Row(NamedTuple):
    line: int
    columns: list[str]


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of a file."""
    comments: dict[str, str] = {}
    rows: list[_Row] = []
    for number, line in enumerate(chain(source.lines(), [""]), 1):
        if line.startswith("#"):
            match = _COMMENT.fullmatch(line)
            if match and not rows:
                comments.setdefault(*match.groups())
        elif line.strip():
            rows.append(_Row(number, line.split("\t")))
        else:
            if rows:
                yield Entry(rows[0].line, partial(_read, rows, comments, settings))
            comments, rows = {}, []


def _read(
    rows: Sequence[_Row], comments: Mapping[str, str], settings: ReadSettings
) -> Iterator[Parse]:
    words = [row for row in rows if _is_word(row)]
    for number, (line, columns) in enumerate(words, 1):
        if columns[_ID] != str(number):
            raise DataError(f"word {number} has the number {columns[_ID]!r:.100}", line=line)
    forms = tuple(columns[_FORM] for _, columns in words)
    tags = _tags(words, _XPOS) or _tags(words, _UPOS)
    text, offsets = _text(rows, forms, comments.get("text"))
    tree, entities = comments.get("constituency"), comments.get("entities")
    data: dict[str, Any] = {
        "words": list(forms),
        "tree": tree if tree is None or not tree.startswith("[") else _from_json("tree", tree),
        "entities": None if entities is None else _from_json("entities", entities),
    }
    parse = jsonl.parse_of(data, settings)
    yield parse.over(Sentence(forms, tags, text, offsets, comments.get("sent_id")))


def _is_word(row: _Row) -> bool:
    """Whether a line is a word, not a multiword token or an empty node."""
    if len(row.columns) != _COLUMNS:
        raise DataError(
            f"{len(row.columns)} columns, where CoNLL-U has {_COLUMNS}, with tabs between them",
            line=row.line,
        )
    if not row.columns[_FORM]:
        raise DataError("the word is empty", kind="empty", line=row.line)
    return not _RANGE.fullmatch(row.columns[_ID])


def _tags(words: Iterable[_Row], column: int) -> tuple[str, ...] | None:
    """The tags in a column; None if it has none."""
    values = (row.columns[column] for row in words)
    tags = tuple("" if value == _NOTHING else value for value in values)
    return tags if any(tags) else None


def _from_json(name: str, comment: str) -> Any:
    try:
        return json.loads(comment)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the comment on the {name} is no JSON: {error}") from error


def _text(
    rows: Sequence[_Row], words: Sequence[str], text: str | None
) -> tuple[str | None, tuple[tuple[int, int], ...] | None]:
    """The text of a sentence and the offsets of its words.

    The words of a multiword token may not be in the text, as French `de le` for `du`. Then there
    are no offsets.
    """
    if text is None and any(_NO_SPACE in row.columns[_MISC].split("|") for row in rows):
        text = "".join(_with_space(row) for row in _tokens(rows)).rstrip(" ")
    if text is None:
        return None, None
    try:
        return text, tuple(jsonl.find_words(words, text))
    except DataError:
        return text, None


def _tokens(rows: Iterable[_Row]) -> Iterator[_Row]:
    """The lines that make up the text: multiword tokens instead of their words, no empty nodes."""
    behind = 0
    for row in rows:
        first, dash, last = row.columns[_ID].partition("-")
        if dash:
            behind = int(last)
        if dash or (first.isdecimal() and int(first) > behind):
            yield row


def _with_space(row: _Row) -> str:
    return row.columns[_FORM] + ("" if _NO_SPACE in row.columns[_MISC].split("|") else " ")


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: comments, words, an empty line."""
    for parse in parses:
        if not parse.words:
            raise DataError("a sentence without words cannot be said in columns", kind="empty")
        yield "".join(f"{line}\n" for line in (*_comments(parse), *_lines(parse), ""))


def _comments(parse: Parse) -> Iterator[str]:
    entities = None if parse.entities is None else json.dumps(parse.entities, ensure_ascii=False)
    for name, value in (
        ("sent_id", parse.id),
        ("text", _spaced(parse.sentence).text),
        ("constituency", None if parse.tree is None else _constituency(parse.tree)),
        ("entities", entities),
    ):
        if value is not None:
            if value != value.strip(" ") or re.search(r"[\n\r]", value):
                raise DataError(f"the {name} {value!r:.100} cannot be said in a line")
            yield f"# {name} = {value}"


def _constituency(tree: Tree) -> str:
    """A tree as brackets, or as spans if brackets cannot express a word or label."""
    try:
        return tree.to_brackets()
    except DataError:
        return json.dumps(tree.spans)


def _spaced(sentence: Sentence) -> Sentence:
    """A sentence with one blank or nothing between words."""
    whole = with_text(sentence)
    spaces = [" " if gap else "" for gap in (whole.whitespace or ())[:-1]]
    return Sentence.from_whitespace(whole.words, [*spaces, ""], tags=whole.tags)


def _lines(parse: Parse) -> Iterator[str]:
    spaced = _spaced(parse.sentence)
    gaps = (*(spaced.whitespace or ())[:-1], " ")
    tags = parse.tags or (("",) * len(parse.words))
    for number, (word, tag, gap) in enumerate(zip(parse.words, tags, gaps, strict=True), 1):
        for value in (word, tag):
            if re.search(r"[\t\n\r]", value) or value != value.strip(" "):
                raise DataError(f"{value!r} cannot be said in columns")
        if tag == _NOTHING:
            raise DataError("the tag '_' stands for none here, so it cannot be said")
        misc = _NOTHING if gap else _NO_SPACE
        yield "\t".join((str(number), word, *"__", tag or _NOTHING, *"____", misc))
