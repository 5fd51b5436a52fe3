"""Parses of a stream of sentences: in batches, in order, and none takes another one down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Event, Thread
from time import monotonic
from typing import Generic, Protocol, TypeVar

from fencepost.batching.batches import by_words
from fencepost.checkpoints.model import Model
from fencepost.errors import ConstraintError, DataError
from fencepost.parser.encoding import Encoded
from fencepost.parser.inputs import Prepared, told
from fencepost.parser.options import Asked
from fencepost.parser.predict import BATCH_WORDS, Done, no_progress, predict_batch
from fencepost.structure import Document, Parse, Sentence

CHUNK_WORDS = 10 * BATCH_WORDS  # that wait, so that sentences of similar length can go together
CHUNK_TEXTS = 4096  # that wait, even if they are empty
MAX_WAIT = 0.1  # seconds
_AHEAD = 256  # texts that a thread reads before they are asked for

_log = logging.getLogger(__name__)

Result = Parse | Exception  # of a sentence; an exception says why it has no parse


class HasSentences(Protocol):
    """An input, a row of a corpus, a part of a file: anything with sentences to parse."""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, which may be none."""


Item = TypeVar("Item", bound=HasSentences)


class TooLongError(DataError):
    """A sentence has more words than the parser takes."""

    def __init__(self, words: int, most: int) -> None:
        super().__init__(
            f"a sentence of {words:,} words is longer than {most:,}; "
            "a parser with a larger max_words would take it"
        )


class _StoppedError(Exception):
    """Nobody waits for the rest."""


@dataclass(frozen=True, slots=True)
class BatchParser:
    """Parses sentences with a model, sorted by length and many at a time."""

    model: Model
    asked: Asked
    max_words: int
    done: Done = no_progress

    def stream(
        self, items: Iterator[Item], *, words: int = CHUNK_WORDS, max_wait: float | None = None
    ) -> Iterator[tuple[Item, list[Result]]]:
        """Each item with the results of its sentences, in order.

        While some are parsed, those before them are given out and those behind them are read. If
        reading fails, the results of what was read before come first, and then the error.

        Args:
            items: anything with sentences.
            words: parsed together.
            max_wait: seconds that results wait for more items, which are then read in a thread of
                their own; None: until there is enough.
        """
        read = _Items(items, max_wait)
        stop = Event()
        with ThreadPoolExecutor(1, thread_name_prefix="fencepost") as worker:
            ahead: Future[list[tuple[Item, list[Result]]]] | None = None
            try:
                for chunk in _chunks(read, words):
                    behind = ahead
                    ahead = worker.submit(self.parse, chunk, stop=stop) if chunk else None
                    if behind is not None:
                        yield from behind.result()
                if ahead is not None:
                    yield from ahead.result()
                if read.error is not None:
                    raise read.error
            finally:
                stop.set()
                read.close()

    def parse(
        self,
        items: Sequence[Item],
        *,
        keep: Callable[[Encoded], None] | None = None,
        stop: Event | None = None,
    ) -> list[tuple[Item, list[Result]]]:
        """Each item with the results of its sentences.

        Args:
            items: parsed together.
            keep: called with each batch of encoded sentences.
            stop: set when nobody waits for the results any more.
        """
        sentences = [sentence for item in items for sentence in item.sentences]
        results = iter(self._results(sentences, keep, stop))
        return [(item, [next(results) for _ in item.sentences]) for item in items]

    def _results(
        self,
        sentences: Sequence[Sentence],
        keep: Callable[[Encoded], None] | None,
        stop: Event | None,
    ) -> list[Result]:
        results: dict[int, Result] = {
            row: TooLongError(len(sentence), self.max_words)
            for row, sentence in enumerate(sentences)
            if len(sentence) > self.max_words
        }
        short = [row for row in range(len(sentences)) if row not in results]
        for rows in by_words([len(sentences[row]) for row in short], most=BATCH_WORDS):
            if stop is not None and stop.is_set():
                raise _StoppedError
            batch = [sentences[short[row]] for row in rows]
            parsed = self._separately(batch, keep)
            results.update(zip((short[row] for row in rows), parsed, strict=True))
            self.done(sum(map(len, batch)))
        return [results[row] for row in range(len(sentences))]

    def _separately(
        self, sentences: Sequence[Sentence], keep: Callable[[Encoded], None] | None
    ) -> list[Result]:
        """The results of a batch; a sentence that fails takes no other down."""
        try:
            return list(predict_batch(self.model, sentences, self.asked, keep=keep))
        except Exception as error:
            if len(sentences) == 1:
                if not isinstance(error, ConstraintError):
                    _log.warning("a sentence could not be parsed", exc_info=True)
                return [error]
        half = len(sentences) // 2
        return [
            result
            for part in (sentences[:half], sentences[half:])
            for result in self._separately(part, keep)
        ]


def status_of(error: Exception) -> str:
    """The status of a document with a sentence that has no parse."""
    if isinstance(error, TooLongError):
        return str(error)
    return f"could not be parsed: {error if isinstance(error, ConstraintError) else told(error)}"


def document_of(item: Prepared, results: Iterable[Result]) -> Document:
    """The document of an input whose sentences were parsed, or could not be."""
    parses: list[Parse] = []
    for result in results:
        if not isinstance(result, Parse):
            return Document((), item.text, status_of(result))
        parses.append(result)
    if item.status is not None:
        return Document((), item.text, item.status)
    return Document(tuple(parses), item.text)


class _Items(Generic[Item]):
    """Items, and None where they are slow to come.

    Attributes:
        error: raised when they were read; it ends them.
    """

    def __init__(self, xs: Iterator[Item], max_wait: float | None) -> None:
        self.xs = xs
        self.max_wait = max_wait
        self.error: BaseException | None = None
        self._line: Queue[Item | None] = Queue(_AHEAD)
        self._closed = Event()

    def __iter__(self) -> Iterator[Item | None]:
        if self.max_wait is None:
            return self._here()
        Thread(target=self._read, name="fencepost-reader", daemon=True).start()
        return self._ahead(self.max_wait)

    def close(self) -> None:
        """Stop reading after the next input."""
        self._closed.set()
        with suppress(Empty):
            while True:  # the thread may wait for room
                self._line.get_nowait()

    def _here(self) -> Iterator[Item]:
        while True:
            try:
                x = next(self.xs)
            except StopIteration:
                return
            except Exception as error:
                self.error = error
                return
            yield x

    def _read(self) -> None:
        """Read all in a thread of its own."""
        try:
            for x in self.xs:
                self._line.put(x)
                if self._closed.is_set():
                    return
        except BaseException as error:
            if "thread" in str(error):  # sqlite3 says so, for one
                error.add_note("parse_many(xs, max_wait=None) reads xs in the caller's thread")
            self.error = error
        self._line.put(None)

    def _ahead(self, max_wait: float) -> Iterator[Item | None]:
        """The items that the thread has read; None twice where it waits."""
        pauses, deadline = 2, 0.0
        while True:
            timeout = None if pauses == 2 else max(0.0, deadline - monotonic())
            try:
                one = self._line.get(timeout=timeout)
            except Empty:
                pauses, deadline = pauses + 1, monotonic() + max_wait
                yield None
                continue
            if one is None:
                return
            if pauses:
                pauses, deadline = 0, monotonic() + max_wait
            yield one


def _chunks(items: _Items[Item], words: int) -> Iterator[list[Item]]:
    """Items that are parsed together: enough of them, or all that came before a pause."""
    chunk: list[Item] = []
    count = 0
    for one in items:
        if one is not None:
            chunk.append(one)
            count += sum(map(len, one.sentences))
        if one is None or count >= words or len(chunk) >= CHUNK_TEXTS:
            yield chunk
            chunk, count = [], 0
    if chunk:
        yield chunk
