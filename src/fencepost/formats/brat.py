"""brat stand-off: a `.txt` with one sentence per line, an `.ann` with character ranges and labels.

    T1<TAB>ORG 4 16<TAB>Bank of Oslo            characters 4 to 16 are an ORG
    T2<TAB>PER 0 4;10 15<TAB>Anna Smith         an entity in fragments

Fragments with only blanks between them are one entity. With words between them, the entity is
discontinuous, and the policy for crossing entities applies. Relations, events, attributes and notes
are ignored.
"""

from __future__ import annotations

import codecs
import os
import re
import shutil
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path

from fencepost.errors import DataError
from fencepost.formats.data import entities_of
from fencepost.formats.entries import Entry, parse_with_entities, refuse
from fencepost.formats.files import Source, atomic_output, check_beginning, output_errors
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.formats.standoff import Mention, Passage, passages, trim, without_blanks
from fencepost.structure import Parse, Sentence

_PLACE = r"[0-9]{1,18} [0-9]{1,18}"
_ENTITY = re.compile(rf"T\S*\t(\S+) ({_PLACE}(?:;{_PLACE})*)\t(.*)", re.ASCII | re.DOTALL)
_LABEL = re.compile(r"\S+", re.ASCII)
_OTHERS = ("R", "E", "A", "M", "N", "#", "*")  # first letters of other annotations
_NUMBER = re.compile(r"-[0-9]+\Z")
_NOT_IN_NAMES = re.compile(r'\A\.|[\x00-\x1f/\\:*?"<>|]')


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The sentences of a document, after the errors in its `.ann`."""
    text_source, notes = _sources(source)
    text = _text(text_source)
    mentions: list[Mention] = []
    gaps: list[int] = []  # starts of discontinuous entities
    for number, line in enumerate(notes.lines(), 1):
        if not line.strip() or line.startswith(_OTHERS):
            continue
        try:
            fragments = _entity(line, text)
        except DataError as error:
            if error.kind in ("misaligned", "out of range"):
                error.message += f" (the text is {text_source.name})"
            yield Entry(number, partial(refuse, error.at(notes.name, number)))
            continue
        if len(fragments) == 1:
            mentions += fragments
        else:
            gaps.append(fragments[0].start)
    gaps.sort()
    source.name = text_source.name  # line numbers of sentences are those of the text
    number, counted = 1, 0
    for passage in passages(text, mentions, name=source.stem):
        number += text.count("\n", counted, passage.start)
        counted = passage.start
        end = passage.start + len(passage.sentence.text or "")
        with_gaps = bisect_left(gaps, end) - bisect_left(gaps, passage.start)
        yield Entry(number, partial(_read, passage, with_gaps, settings), with_gaps)


def pair_of(path: Path) -> tuple[Path, Path] | None:
    """The `.txt` and the `.ann` of a path to either; None for other paths."""
    packed = ".gz" if path.suffix == ".gz" else ""
    bare = path.with_suffix("") if packed else path
    if bare.suffix not in (".txt", ".ann"):
        return None
    return bare.with_suffix(f".txt{packed}"), bare.with_suffix(f".ann{packed}")


def _sources(source: Source) -> tuple[Source, Source]:
    """The sources of the text and of the annotations; `source` is one of them."""
    path_read = Path(source.path)
    pair = pair_of(path_read)
    if pair is None:
        raise DataError("brat is a pair of files: name its .ann or its .txt", path=source.name)
    for path in pair:
        if not path.exists():
            raise DataError(f"there is no such file, to go with {source.name}", path=str(path))
    text, notes = (
        source if path == path_read else Source(path, encoding=source.encoding) for path in pair
    )
    return text, notes


def _text(source: Source) -> str:
    """The characters of a file, all of which annotations count."""
    text = source.read_text()
    # A byte order mark counts as a character, but belongs to no word.
    return f" {text[1:]}" if text.startswith("\ufeff") else text


def _entity(line: str, text: str) -> list[Mention]:
    """The mention on a line, or several with words between them."""
    match = _ENTITY.fullmatch(line)
    if not match:
        raise DataError(
            f"{line!r} is no annotation; `T1<TAB>LABEL start end<TAB>text` is right for an entity"
        )
    label, places, written = match.groups()
    pairs = (map(int, pair.split(" ")) for pair in places.split(";"))
    mentions = [trim(Mention(start, end, label), text) for start, end in pairs]
    # Joining overlapping fragments would let a few bytes ask for any amount of memory.
    if sum(mention.end - mention.start for mention in mentions) > len(text):
        raise DataError(f"the fragments of {label} overlap", kind="misaligned")
    marked = " ".join(text[mention.start : mention.end] for mention in mentions)
    if without_blanks(marked) != without_blanks(written):
        raise DataError(
            f"{label} at characters {places} is {marked!r} in the text, and {written!r} here",
            kind="misaligned",
        )
    mentions.sort()
    joined = [mentions[0]]
    for mention in mentions[1:]:
        last = joined[-1]
        if text[last.end : mention.start].strip():
            joined.append(mention)
        else:
            joined[-1] = Mention(last.start, max(last.end, mention.end), label)
    return joined


def _read(passage: Passage, with_gaps: int, settings: ReadSettings) -> Iterator[Parse]:
    yield parse_with_entities(
        passage.sentence,
        passage.entities,
        on_crossing=settings.on_crossing,
        with_gaps=with_gaps,
    )


def save(parses: Iterable[Parse], path: Path, settings: WriteSettings) -> None:
    """Write one pair of files, or a folder with one pair per document.

    The id of a sentence names its document before the number (`name-1`, `name-2`); sentences
    without an id belong to one called `document`.
    """
    pair = pair_of(path)
    if pair is not None:
        _save_pair(parses, pair, settings)
        return
    with _filled_whole(path) as folder:
        for name, group in groupby(parses, key=_document):
            pair = pair_of(folder / f"{_NOT_IN_NAMES.sub('_', name)}.ann")
            assert pair is not None
            if pair[1].exists():
                raise DataError(
                    f"the document {name!r} would be written to {pair[1].name} as an earlier one "
                    "was; the sentences of a document have to follow each other"
                )
            _save_pair(group, pair, settings)


def _document(parse: Parse) -> str:
    return _NUMBER.sub("", parse.id or "") or "document"


@contextmanager
def _filled_whole(folder: Path) -> Iterator[Path]:
    """A temporary folder, whose files move to `folder` when all are complete."""
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=folder) as place:
            yield Path(place)
            for notes in sorted(Path(place).glob("*.ann")):
                pair = notes, notes.with_suffix(".txt")
                _move([(str(file), folder / file.name) for file in pair])
    except BaseException as error:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise DataError(f"cannot be written: {error.strerror}", path=str(folder)) from error
        raise


@contextmanager
def _moved_together() -> Iterator[Callable[[str, Path], None]]:
    """A function that moves the files of a pair, but only when both are complete."""
    drafts: list[tuple[str, Path]] = []
    try:
        yield lambda draft, target: drafts.append((draft, target))
        _move(drafts)
    finally:
        for draft, _ in drafts:
            Path(draft).unlink(missing_ok=True)


def _move(drafts: Sequence[tuple[str, Path]]) -> None:
    """Move annotations and their text, which is last, to their targets.

    Two files cannot change at once. So the old annotations are removed first and the new ones come
    last: meanwhile the text has no annotations, which the reader refuses, and never wrong ones.
    """
    for _, target in drafts[:-1]:
        with output_errors(target):
            target.unlink(missing_ok=True)
    for draft, target in reversed(drafts):
        with output_errors(target):
            os.replace(draft, target)


def _save_pair(parses: Iterable[Parse], pair: tuple[Path, Path], settings: WriteSettings) -> None:
    writer = codecs.getwriter(settings.encoding)
    position = number = 0
    with (
        _moved_together() as move,
        atomic_output(pair[0], move=move) as text_file,
        atomic_output(pair[1], move=move) as notes_file,
    ):
        text, notes = writer(text_file), writer(notes_file)
        for parse in parses:
            line, offsets = _line(parse.sentence)
            if position == 0:
                check_beginning(parse.words[0])
            text.write(f"{line}\n")
            for first, behind, label in entities_of(parse):
                if not _LABEL.fullmatch(label or ""):
                    raise DataError(f"the label {label!r} is empty or holds a blank")
                start, end = offsets[first][0], offsets[behind - 1][1]
                number += 1
                place = f"{position + start} {position + end}"
                notes.write(f"T{number}\t{label} {place}\t{line[start:end]}\n")
            position += len(line) + 1


def _line(sentence: Sentence) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text of a sentence on one line, and the offsets of its words.

    The gaps between words are those of its text, or one blank where there is more than blanks.
    """
    if not sentence.words:
        raise DataError("a sentence without words is no line of text", kind="empty")
    for word in sentence.words:
        if re.search(r"[\n\r]", word) or word.isspace():
            raise DataError(f"the word {word!r} is no word of a line of text")
    gaps = sentence.whitespace or (" ",) * len(sentence)
    spaces = [" " if gap.strip() or "\n" in gap else gap for gap in gaps[:-1]]
    whole = Sentence.from_whitespace(sentence.words, [*spaces, ""])
    return whole.text or "", whole.offsets or ()
