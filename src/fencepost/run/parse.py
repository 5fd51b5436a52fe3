"""Parse input files and write the results.

All inputs go through the parser as one stream, so that many small files are parsed as quickly as
one large one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.errors import ConfigError, ConstraintError, DataError
from fencepost.formats import write
from fencepost.formats.files import STANDARD, OutputError, check_not_read, output_path
from fencepost.formats.registry import Format, files_of
from fencepost.run.explain import explain
from fencepost.run.texts import Ended, Item, Texts
from fencepost.structure import Parse

if TYPE_CHECKING:
    from fencepost.parser.options import CheckedOptions
    from fencepost.parser.parser import Parser
    from fencepost.parser.predict import Done
    from fencepost.text.splitters import Splitter


def parse_texts(
    parser: Parser,
    texts: Texts,
    asked: CheckedOptions,
    *,
    best: int = 1,
    forgiving: bool = False,
    done: Done | None = None,
) -> Iterator[tuple[Parse, ...] | DataError | Ended]:
    """The readings of each sentence, best first, with a mark at the end of each input.

    Each parse has only its own part of the text.

    Args:
        parser: with the model.
        texts: the inputs.
        asked: the options of parsing.
        best: how many readings; one alone is found in batches.
        forgiving: whether an input that cannot be read ends there, and the next one follows.
        done: called with the number of words after each batch.
    """
    from fencepost.parser.documents import status_of

    pieces = _pieces(texts, parser.model.splitter, asked, forgiving=forgiving)
    if best == 1:
        parsed: Iterable[tuple[Item | Ended, Iterable[Parse | tuple[Parse, ...] | Exception]]]
        parsed = parser.stream_items(pieces, asked, done=done)
    else:
        parsed = ((piece, _n_best(parser, piece, asked, best, done)) for piece in pieces)
    for piece, results in parsed:
        if isinstance(piece, Ended):
            yield piece
            continue
        for result in results:
            if isinstance(result, Exception):
                yield DataError(status_of(result), path=piece.path or "text", line=piece.line)
            else:
                yield (result,) if isinstance(result, Parse) else result


def least_certain(found: Iterable[tuple[Parse, ...]], count: int) -> Iterator[tuple[Parse, ...]]:
    """The sentences with the least certain spans, the least certain first.

    Args:
        found: the readings of each sentence; the best one counts.
        count: how many sentences.
    """
    yield from nsmallest(count, found, key=lambda readings: _certainty(readings[0]))


def _certainty(parse: Parse) -> float:
    """The probability of the least certain span; 1 if there are no spans."""
    spans = (*(parse.tree.spans if parse.tree else ()), *(parse.entities or ()))
    return min((span.probability for span in spans if span.probability is not None), default=1.0)


def parse_into(
    folder: Path,
    parser: Parser,
    *,
    texts: Texts,
    asked: CheckedOptions,
    format: Format,
    best: int = 1,
    done: Done | None = None,
) -> list[DataError]:
    """Write a file for each input, whole or not at all, and return what was not parsed.

    An input that cannot be read gives no file, nor does one of which a sentence cannot be written
    in this format; neither takes another down.

    Args:
        folder: where the files go; it is made if it is not there.
        parser: with the model.
        texts: the inputs; their `names` are those of the files.
        asked: the options of parsing.
        format: of the files.
        best: how many readings of each sentence.
        done: called with the number of words after each batch.
    """
    check_layers(format, asked.tasks)
    missed: list[DataError] = []
    parsed = parse_texts(parser, texts, asked, best=best, done=done, forgiving=True)
    for target, path in zip(targets(texts, folder, format), texts.paths, strict=True):
        parses = _one_input(parsed, missed)
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
        output_path(out)
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
    parsed: Iterator[tuple[Parse, ...] | DataError | Ended], missed: list[DataError]
) -> Iterator[Parse]:
    """The parses of the next input; sentences without any go to `missed`."""
    for one in parsed:
        if isinstance(one, DataError):
            missed.append(one)
        elif not isinstance(one, Ended):
            yield from one
        elif one.error is not None:
            raise _BrokenOffError(one.error)
        else:
            return


def _pass_over(parses: Iterable[Parse], missed: list[DataError]) -> None:
    """Go on to the end of an input of which nothing more is needed."""
    try:
        deque(parses, maxlen=0)
    except _BrokenOffError as error:
        missed.append(error.reason)


def _n_best(
    parser: Parser, piece: Item | Ended, asked: CheckedOptions, best: int, done: Done | None
) -> Iterator[tuple[Parse, ...] | Exception]:
    """Several readings of each sentence of a piece, or why there are none."""
    for sentence in piece.sentences:
        try:
            (readings,) = parser.n_best_many([sentence], best, asked)
        except (ConstraintError, DataError) as error:
            yield error
        else:
            yield readings
        if done is not None:
            done(len(sentence))


def explain_texts(parser: Parser, texts: Texts, asked: CheckedOptions) -> Iterator[str]:
    """Lines of text: all steps of all sentences."""
    pieces = _pieces(texts, parser.model.splitter, asked)
    sentences = (sentence for piece in pieces for sentence in piece.sentences)
    return explain(parser.steps_many(sentences, asked))


def _pieces(
    texts: Texts, splitter: Splitter, asked: CheckedOptions, *, forgiving: bool = False
) -> Iterator[Item | Ended]:
    """The pieces of texts, whose sentences have their own part of the text alone."""
    count = 0
    for piece in texts.pieces(splitter, forgiving=forgiving):
        count += len(piece.sentences)
        if asked.is_placed and count > 1:
            raise ConstraintError(
                "must and forbid count the words of one sentence, and there are several"
            )
        if isinstance(piece, Item):
            sentences = (sentence.alone() for sentence in piece.sentences)
            if "tags" in asked.tasks:  # the model's own, not those of a file's annotators
                sentences = (replace(sentence, tags=None) for sentence in sentences)
            piece = replace(piece, sentences=tuple(sentences))
        yield piece
