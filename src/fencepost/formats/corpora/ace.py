"""ACE 2004 and 2005: stand-off entity mentions in news, talk and web pages.

A document is a pair of files, `DOC.sgm` with the text and `DOC.apf.xml` with the annotation:

    <entity TYPE="PER"><entity_mention>
      <extent><charseq START="490" END="498">...</charseq></extent>

Offsets count the characters of the `.sgm` without its tags, from 0; END is the last character.
`&amp;` counts as five characters, and becomes a plain `&`.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from fencepost.errors import DataError
from fencepost.formats.corpora.document import CorpusDocument, Split, document_of
from fencepost.formats.corpora.markup import events
from fencepost.formats.corpora.sources import best_of, corpus_files, listed, text_of
from fencepost.formats.settings import OnCrossing
from fencepost.formats.standoff import Mention, passages, sentence_breaks, without_blanks

_STAGES = ("timex2norm", "adj")  # folders of ACE 2005, the last stage of its annotation first
_FILE = re.compile(r"(.+)\.(apf\.xml|sgm)(?:\.gz)?", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\.apf)?(?:\.xml|\.sgm|\.apf)(?:\.gz)?$", re.IGNORECASE)
_CHARACTER = re.compile(r"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{0,31});")
_MARKUP = re.compile(rf"<[/!?A-Za-z][^<>]*>|{_CHARACTER.pattern}")
_TAG_END = re.compile(r"[\s>]")


class Text(NamedTuple):
    """The text of a document without tags, and a map from the annotation's offsets to its own."""

    text: str
    places: list[int]  # from an offset of the annotation to one in the text
    start: int  # of the annotated part
    end: int


class Charseq(NamedTuple):
    """An extent in the annotation."""

    start: int
    end: int  # the last character, inclusive
    label: str
    text: str
    line: int


def ace_documents(
    source: Path,
    ids: Mapping[str, Path],
    *,
    encoding: str = "utf-8",
    on_crossing: OnCrossing = "error",
) -> Iterator[CorpusDocument]:
    """The documents in three lists.

    Args:
        source: a folder with the pairs of files anywhere below it.
        ids: the list of each split: names of documents, with or without folder and suffix.
        encoding: the encoding of the `.sgm` files.
        on_crossing: the policy for crossing entities.
    """
    pairs: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    for file in corpus_files(source):
        match = _FILE.fullmatch(file.name)
        if match:
            # DOC.sgm takes precedence over DOC.sgm.gz.
            pairs[file.parent, match[1]].setdefault(match[2].lower(), file)
    folders: dict[str, list[Path]] = defaultdict(list)  # those with both files of a document
    for (folder, name), pair in pairs.items():
        if len(pair) == 2:
            folders[name].append(folder)

    def find(entry: str) -> Sequence[str]:
        name = _SUFFIX.sub("", re.split(r"[/\\]", entry)[-1])
        return [name] if name in folders else []

    looked_for = f"DOC.sgm and DOC.apf.xml beside each other below {source}"
    for split, names in listed(ids, find, looked_for=looked_for).items():
        for name in names:
            pair = pairs[best_of(folders[name], _stage), name]
            yield _document(
                name,
                pair["apf.xml"],
                pair["sgm"],
                split=split,
                encoding=encoding,
                on_crossing=on_crossing,
            )


def _stage(folder: Path) -> int:
    name = folder.name.lower()
    return _STAGES.index(name) if name in _STAGES else len(_STAGES)


def _document(
    name: str, apf: Path, sgm: Path, *, split: Split, encoding: str, on_crossing: OnCrossing
) -> CorpusDocument:
    read = read_sgm(text_of(sgm, (encoding,)).replace("\r\n", "\n"), sgm)
    mentions: list[Mention] = []
    outside = 0
    for charseq in read_apf(apf):
        try:
            mention = _mention(charseq, read, name)
        except DataError as error:
            raise error.at(str(apf), charseq.line) from None
        if mention is None:
            outside += 1
        else:
            mentions.append(mention)
    try:
        return document_of(
            passages(read.text[read.start : read.end], mentions, name=name, breaks=sentence_breaks),
            split=split,
            name=name,
            on_crossing=on_crossing,
            outside=outside,
        )
    except DataError as error:
        raise error.at(str(apf), None) from None


def read_sgm(raw: str, path: Path) -> Text:
    """The text of an `.sgm` file; its annotated part is TEXT, or else BODY."""
    parts: list[str] = []
    places: list[int] = []
    edges: dict[str, int] = {}  # first places of `<TEXT` and `</TEXT`
    length = position = 0
    for match in _MARKUP.finditer(raw):
        plain, mark = raw[position : match.start()], match.group()
        position = match.end()
        parts.append(plain)
        places += range(length, length + len(plain))
        length += len(plain)
        if mark.startswith("<"):
            edges.setdefault(_TAG_END.split(mark, maxsplit=1)[0].upper(), length)
        else:
            meant = html.unescape(mark)
            parts.append(meant)
            places += [length] * len(mark)
            length += len(meant)
    parts.append(raw[position:])
    places += range(length, length + len(raw) - position + 1)
    text = "".join(parts)
    for name in ("TEXT", "BODY"):
        if f"<{name}" in edges:
            return Text(text, places, edges[f"<{name}"], edges.get(f"</{name}", len(text)))
    raise DataError("this document has neither <TEXT> nor <BODY>", path=str(path))


def read_apf(path: Path) -> Iterator[Charseq]:
    """The full extents of the entity mentions in an `.apf.xml` file."""
    holders: list[str] = []  # the elements that are open
    parts: list[str] = []
    label = ""
    place: dict[str, str] = {}
    for kind, value, attributes, line in events(path):
        if kind == "text":
            parts.append(value)
        elif kind == "start":
            holders.append(value)
            parts.clear()
            if value == "entity":
                label = attributes.get("TYPE", "")
            elif value == "charseq":
                place = attributes
        else:
            # Heads, relations and events have such extents too.
            if holders[-3:] == ["entity_mention", "extent", "charseq"]:
                try:
                    start, end = int(place["START"]), int(place["END"])
                except (KeyError, ValueError) as error:
                    raise DataError(
                        'a charseq needs two numbers, as in START="490" END="498"',
                        line=line,
                        path=str(path),
                    ) from error
                yield Charseq(start, end, label, "".join(parts), line)
            holders.pop()


def _mention(charseq: Charseq, read: Text, name: str) -> Mention | None:
    """The mention with offsets in the annotated text; None if it is outside of it."""
    start, end, label, said, _ = charseq
    if not label:
        raise DataError("the entity of this mention has no TYPE")
    if not 0 <= start <= end < len(read.places) - 1:
        raise DataError(
            f"document {name}: characters {start} to {end} of {len(read.places) - 1}",
            kind="out of range",
        )
    first, behind = read.places[start], read.places[end + 1]
    if not read.start <= first < behind <= read.end:
        return None
    marked = read.text[first:behind]
    if without_blanks(marked) != without_blanks(_decoded(said)):
        raise DataError(
            f"document {name}: characters {start} to {end} are {marked!r} in the .sgm, "
            f"and {said!r} in the .apf.xml",
            kind="misaligned",
        )
    return Mention(first - read.start, behind - read.start, label)


def _decoded(text: str) -> str:
    return _CHARACTER.sub(lambda match: html.unescape(match.group()), text)
