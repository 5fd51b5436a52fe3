"""Parsing what people bring, and writing what was found.

All of it goes through the parser as one stream, so that many small files are parsed as quickly as
one large one; the results are told apart again by where their sentences came from.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.errors import ConfigError, ConstraintError, DataError
from fencepost.formats import write
from fencepost.formats.files import STANDARD, OutputError, check_not_read, place_of
from fencepost.formats.registry import Format, files_of
from fencepost.run.explain import explain
from fencepost.run.texts import Ended, Item, Texts
from fencepost.structure import Parse, Sentence

if TYPE_CHECKING:
    from fencepost.parser.asking import Asked
    from fencepost.parser.parser import Parser
    from fencepost.parser.predict import Done


@dataclass(slots=True)
class Unparsed:
    """What could not be parsed, and why."""

    path: str
    line: int
    status: str

    def __str__(self) -> str:
        return f"{self.path or 'text'}:{self.line}: {self.status}"


def parse_texts(
    parser: Parser, texts: Texts, asked: Asked | None = None, *, done: Done | None = None
) -> Iterator[Parse | Unparsed]:
    """The parses of all sentences, in order; each has only its own part of the text.

    Args:
        parser: which finds them.
        texts: what is to be parsed.
        asked: what to find; None: all.
        done: is told how many words were parsed, batch by batch.
    """
    for found in _found(parser, texts, asked or parser.asked(), done=done):
        if isinstance(found, Unparsed):
            yield found
        elif not isinstance(found, Ended):
            yield from found


def read_several(
    parser: Parser, texts: Texts, asked: Asked, *, best: int, done: Done | None = None
) -> Iterator[tuple[Parse, ...] | Unparsed]:
    """Several readings of each sentence, in order, the best first.

    Args:
        parser: which finds them.
        texts: what is to be parsed.
        asked: what to find.
        best: how many readings; one alone is found in batches, as by `parse_texts`.
        done: is told how many words were parsed.
    """
    for found in _found(parser, texts, asked, best=best, done=done):
        if not isinstance(found, Ended):
            yield found


def parse_into(
    folder: Path,
    parser: Parser,
    *,
    texts: Texts,
    asked: Asked,
    format: Format,
    best: int = 1,
    done: Done | None = None,
) -> list[Unparsed | DataError]:
    """Write a file for each input, whole or not at all, and return what was not parsed.

    An input that cannot be read gives no file, nor does one of which a sentence cannot be written
    in this format; neither takes another down.

    Args:
        folder: where the files go; it is made if it is not there.
        parser: which finds what is written.
        texts: what is to be parsed; its `names` are those of the files.
        asked: what to find.
        format: of the files.
        best: how many readings of each sentence.
        done: is told how many words were parsed.
    """
    check_layers(format, asked.tasks)
    missed: list[Unparsed | DataError] = []
    found = _found(parser, texts, asked, best=best, done=done, forgiving=True)
    for target, path in zip(targets(texts, folder, format), texts.paths, strict=True):
        parses = _one_input(found, missed)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write(parses, target, format=format.name)
        except OSError as error:
            raise OutputError(
                f"cannot be written: {error.strerror}", path=str(target.parent)
            ) from error
        except OutputError:
            raise
        except _BrokenOffError as error:
            missed.append(error.reason)
        except DataError as error:
            missed.append(DataError(error.message, path=path or "text"))
            _pass_over(parses, missed)
    return missed


def check_layers(format: Format, tasks: Iterable[str]) -> None:
    """Refuse a format that says nothing of what is looked for."""
    if format.layers.isdisjoint(tasks):
        raise ConfigError(
            f"{format.name} says nothing of {' and '.join(tasks)}, only of "
            f"{' and '.join(sorted(format.layers))}; jsonl says all"
        )


def check_target(texts: Texts, out: str, format: Format) -> None:
    """Refuse a single file for the output that cannot be written, or that is itself an input."""
    if out != STANDARD:
        place_of(out)
        check_not_read(files_of(out, format), texts.files)


def targets(texts: Texts, folder: Path, format: Format) -> list[Path]:
    """The files that are written to a folder, one for each input.

    Raises:
        DataError: two of them are the same, or one is itself an input.
    """
    found: dict[Path, str] = {}
    for name, given in zip(texts.names, texts.paths, strict=True):
        target, path = folder / f"{name}{format.suffix}", given or "a text"
        if target in found and os.path.realpath(path) == os.path.realpath(found[target]):
            raise DataError("this input was given twice", path=path)
        if target in found:
            raise DataError(
                f"{path} and {found[target]} would both be written to this file; parse them one "
                "after the other, into different folders",
                path=str(target),
            )
        found[target] = path
        check_not_read(files_of(target, format), texts.files)
    return list(found)


class _BrokenOffError(Exception):
    """The input of a file that is being written cannot be read."""

    def __init__(self, reason: DataError) -> None:
        super().__init__(str(reason))
        self.reason = reason


def _one_input(
    found: Iterator[tuple[Parse, ...] | Unparsed | Ended], missed: list[Unparsed | DataError]
) -> Iterator[Parse]:
    """What was found in the next input; what was not parsed is kept apart."""
    for one in found:
        if isinstance(one, Unparsed):
            missed.append(one)
        elif not isinstance(one, Ended):
            yield from one
        elif one.error is not None:
            raise _BrokenOffError(one.error)
        else:
            return


def _pass_over(parses: Iterable[Parse], missed: list[Unparsed | DataError]) -> None:
    """Go on to the end of an input of which nothing more is needed."""
    try:
        deque(parses, maxlen=0)
    except _BrokenOffError as error:
        missed.append(error.reason)


def _found(
    parser: Parser,
    texts: Texts,
    asked: Asked,
    *,
    best: int = 1,
    done: Done | None = None,
    forgiving: bool = False,
) -> Iterator[tuple[Parse, ...] | Unparsed | Ended]:
    """The readings of all sentences, with a mark at the end of each input."""
    seen: deque[Item | Ended] = deque()
    sentences = _sentences(texts, asked, seen, forgiving=forgiving)
    for result in (
        _streamed(parser, sentences, asked, done)
        if best == 1
        else _one_by_one(parser, sentences, asked, best=best, done=done)
    ):
        while isinstance(item := seen.popleft(), Ended):
            yield item
        if isinstance(result, str):
            yield Unparsed(item.path, item.line, result)
        else:
            yield tuple(parse.over(parse.sentence.alone()) for parse in result)
    yield from (item for item in seen if isinstance(item, Ended))


def _streamed(
    parser: Parser, sentences: Iterable[Sentence], asked: Asked, done: Done | None
) -> Iterator[tuple[Parse, ...] | str]:
    """The parse of each sentence, or why there is none."""
    for document in parser.stream(sentences, asked, done=done):
        yield document.sentences if document.is_ok else document.status


def _one_by_one(
    parser: Parser, sentences: Iterable[Sentence], asked: Asked, *, best: int, done: Done | None
) -> Iterator[tuple[Parse, ...] | str]:
    """Several readings of each sentence, or why there are none."""
    for sentence in sentences:
        try:
            (readings,) = parser.n_best_many([sentence], best, asked)
        except (ConstraintError, DataError) as error:
            yield str(error)
        else:
            yield readings
        if done is not None:
            done(len(sentence))


def explain_texts(parser: Parser, texts: Texts, asked: Asked) -> Iterator[str]:
    """Lines of text: all steps of all sentences."""
    return explain(parser.steps_many(_sentences(texts, asked, deque()), asked))


def _sentences(
    texts: Texts, asked: Asked, seen: deque[Item | Ended], *, forgiving: bool = False
) -> Iterator[Sentence]:
    """The sentences of texts, each with a note of where it came from."""
    count = 0
    for item in texts.pieces(forgiving=forgiving):
        if isinstance(item, Ended):
            seen.append(item)
            continue
        for one in item.sentences:
            seen.append(item)
            count += 1
            if asked.is_placed and count > 1:
                raise ConstraintError(
                    "must and forbid count the words of one sentence, and there are several"
                )
            # Tags of a file are those of its annotators; the model is asked for its own.
            yield replace(one, tags=None) if "tags" in asked.tasks else one
