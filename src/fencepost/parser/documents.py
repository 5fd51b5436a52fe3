"""Parses of a stream of sentences: in batches and in order; a failure affects no other sentence."""

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
from fencepost.parser.inputs import PreparedInput, error_text
from fencepost.parser.options import CheckedOptions
from fencepost.parser.predict import BATCH_WORDS, Done, no_progress, predict_batch
from fencepost.structure import Document, Parse, Sentence

CHUNK_WORDS = 10 * BATCH_WORDS  # enough for batches of sentences of similar length
CHUNK_TEXTS = 4096  # at most, even if they are empty
MAX_WAIT = 0.1  # seconds
_READ_AHEAD = 256  # items in the queue of the reading thread

_log = logging.getLogger(__name__)

Result = Parse | Exception  # of a sentence; an exception says why it has no parse


class HasSentences(Protocol):
    """An input, a row of a corpus, a part of a file: anything with sentences to parse."""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences; there may be none."""


Item = TypeVar("Item", bound=HasSentences)


class TooLongError(DataError):
    """A sentence has more words than the parser takes."""

    def __init__(self, words: int, most: int) -> None:
        super().__init__(
            f"a sentence of {words:,} words is longer than {most:,}; "
            "a parser with a larger max_words would take it"
        )


class _StoppedError(Exception):
    """The caller has closed the stream."""


@dataclass(frozen=True, slots=True)
class BatchParser:
    """Parses the sentences of many items together, sorted by length."""

    model: Model
    options: CheckedOptions
    max_words: int
    done: Done = no_progress

    def stream(
        self, items: Iterator[Item], *, words: int = CHUNK_WORDS, max_wait: float | None = None
    ) -> Iterator[tuple[Item, list[Result]]]:
        """Each item with the results of its sentences, in order.

        While one chunk is parsed, the results of the one before are yielded and the next is read.
        If reading fails, the results of all earlier items come first, and then the error.

        Args:
            items: anything with sentences.
            words: the number of words in a chunk.
            max_wait: the seconds after which a chunk is parsed before it is full; items are then
                read in a thread of their own. None: only full chunks are parsed.
        """
        reader = _ItemReader(items, max_wait)
        stop = Event()
        with ThreadPoolExecutor(1, thread_name_prefix="fencepost") as worker:
            current: Future[list[tuple[Item, list[Result]]]] | None = None
            try:
                for chunk in _chunks(reader, words):
                    previous = current
                    current = worker.submit(self.parse, chunk, stop=stop) if chunk else None
                    if previous is not None:
                        yield from previous.result()
                if current is not None:
                    yield from current.result()
                if reader.error is not None:
                    raise reader.error
            finally:
                stop.set()
                reader.close()

    def parse(
        self,
        items: Sequence[Item],
        *,
        on_encoded: Callable[[Encoded], None] | None = None,
        stop: Event | None = None,
    ) -> list[tuple[Item, list[Result]]]:
        """Each item with the results of its sentences.

        Args:
            items: the items to parse together.
            on_encoded: called with each batch of encoded sentences.
            stop: ends parsing between two batches when it is set.
        """
        sentences = [sentence for item in items for sentence in item.sentences]
        results: dict[int, Result] = {
            row: TooLongError(len(sentence), self.max_words)
            for row, sentence in enumerate(sentences)
            if len(sentence) > self.max_words
        }
        short = [row for row in range(len(sentences)) if row not in results]
        for indices in by_words([len(sentences[row]) for row in short], most=BATCH_WORDS):
            if stop is not None and stop.is_set():
                raise _StoppedError
            rows = [short[index] for index in indices]
            batch = [sentences[row] for row in rows]
            results.update(zip(rows, self._parse_batch(batch, on_encoded), strict=True))
            self.done(sum(map(len, batch)))
        in_order = (results[row] for row in range(len(sentences)))
        return [(item, [next(in_order) for _ in item.sentences]) for item in items]

    def _parse_batch(
        self, sentences: Sequence[Sentence], on_encoded: Callable[[Encoded], None] | None
    ) -> list[Result]:
        """The results of a batch; one that fails is halved until the bad sentence is alone."""
        try:
            return list(predict_batch(self.model, sentences, self.options, on_encoded=on_encoded))
        except Exception as error:
            if len(sentences) == 1:
                if not isinstance(error, ConstraintError):
                    _log.warning("a sentence could not be parsed", exc_info=True)
                return [error]
        half = len(sentences) // 2
        halves = (sentences[:half], sentences[half:])
        return [result for part in halves for result in self._parse_batch(part, on_encoded)]


def status_of(error: Exception) -> str:
    """The status of a document with a sentence that has no parse."""
    if isinstance(error, TooLongError):
        return str(error)
    reason = error if isinstance(error, ConstraintError) else error_text(error)
    return f"could not be parsed: {reason}"


def document_of(prepared: PreparedInput, results: Iterable[Result]) -> Document:
    """The document of an input, with a status if it could not be parsed."""
    parses: list[Parse] = []
    for result in results:
        if not isinstance(result, Parse):
            return Document((), prepared.text, status_of(result))
        parses.append(result)
    if prepared.status is not None:
        return Document((), prepared.text, prepared.status)
    return Document(tuple(parses), prepared.text)


class _ItemReader(Generic[Item]):
    """Iterates over items, with None for a pause in which a chunk should be parsed.

    Attributes:
        error: raised by the items; ends the iteration.
    """

    def __init__(self, items: Iterator[Item], max_wait: float | None) -> None:
        self.items = items
        self.max_wait = max_wait
        self.error: BaseException | None = None
        self._queue: Queue[Item | None] = Queue(_READ_AHEAD)
        self._closed = Event()

    def __iter__(self) -> Iterator[Item | None]:
        if self.max_wait is None:
            return self._read_here()
        Thread(target=self._fill_queue, name="fencepost-reader", daemon=True).start()
        return self._from_queue(self.max_wait)

    def close(self) -> None:
        """Stop reading after the next item."""
        self._closed.set()
        with suppress(Empty):
            while True:  # the thread may wait for room
                self._queue.get_nowait()

    def _read_here(self) -> Iterator[Item]:
        while True:  # not `yield from`, which would close the items with this generator
            try:
                item = next(self.items)
            except StopIteration:
                return
            except Exception as error:
                self.error = error
                return
            yield item

    def _fill_queue(self) -> None:
        """Run in a thread of its own; None marks the end."""
        try:
            for item in self.items:
                self._queue.put(item)
                if self._closed.is_set():
                    return
        except BaseException as error:
            if "thread" in str(error):  # as in sqlite3's
                error.add_note("parse_many(xs, max_wait=None) reads xs in the caller's thread")
            self.error = error
        self._queue.put(None)

    def _from_queue(self, max_wait: float) -> Iterator[Item | None]:
        """The items of the queue; None twice for a pause: to parse a chunk, then to yield it."""
        pauses, deadline = 2, 0.0
        while True:
            timeout = None if pauses == 2 else max(0.0, deadline - monotonic())
            try:
                item = self._queue.get(timeout=timeout)
            except Empty:
                pauses, deadline = pauses + 1, monotonic() + max_wait
                yield None
                continue
            if item is None:
                return
            if pauses:
                pauses, deadline = 0, monotonic() + max_wait
            yield item


def _chunks(items: _ItemReader[Item], words: int) -> Iterator[list[Item]]:
    """Group items into chunks of so many words, or fewer where there is a pause."""
    chunk: list[Item] = []
    count = 0
    for item in items:
        if item is not None:
            chunk.append(item)
            count += sum(map(len, item.sentences))
        if item is None or count >= words or len(chunk) >= CHUNK_TEXTS:
            yield chunk
            chunk, count = [], 0
    if chunk:
        yield chunk
