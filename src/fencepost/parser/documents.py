"""Documents out of inputs: in batches, in order, and none of them takes another one down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

from fencepost.batching.batches import by_words
from fencepost.errors import ConstraintError
from fencepost.parser.asking import Asked
from fencepost.parser.encoding import Encoded
from fencepost.parser.inputs import Input, Waiting, told, waiting
from fencepost.parser.model import Model
from fencepost.parser.predict import BATCH_WORDS, Done, predict_batch, unheard
from fencepost.structure import Document, Parse, Sentence

CHUNK_WORDS = 10 * BATCH_WORDS  # that wait, so that sentences of similar length can go together
CHUNK_TEXTS = 4096  # that wait, even if they are empty

_log = logging.getLogger(__name__)


class _StoppedError(Exception):
    """Nobody waits for the rest."""


@dataclass(frozen=True, slots=True)
class Documents:
    """Makes documents with a model."""

    model: Model
    asked: Asked
    max_words: int
    done: Done = unheard

    def stream(self, xs: Iterator[Input]) -> Iterator[Document]:
        """One document for each input, in order.

        While some are parsed, those before them are given out and those behind them are read.
        """
        stop = Event()

        def parse(chunk: list[Waiting]) -> list[Document]:
            return self.of(chunk, stop=stop)

        with ThreadPoolExecutor(1, thread_name_prefix="fencepost") as worker:
            ahead: Future[list[Document]] | None = None
            try:
                for chunk in _chunks(xs):
                    behind, ahead = ahead, worker.submit(parse, chunk)
                    if behind is not None:
                        yield from behind.result()
                if ahead is not None:
                    yield from ahead.result()
            finally:
                stop.set()

    def of(
        self,
        chunk: Sequence[Waiting],
        *,
        keep: Callable[[Encoded], None] | None = None,
        stop: Event | None = None,
    ) -> list[Document]:
        """One document for each input.

        Args:
            chunk: inputs that are parsed together.
            keep: is given the sentences as they were read.
            stop: is set when nobody waits for the documents any more.
        """
        statuses = [given.status or self._too_long(given) for given in chunk]
        sentences = [
            sentence
            for given, status in zip(chunk, statuses, strict=True)
            if status is None
            for sentence in given.sentences
        ]
        found = iter(self._found(sentences, keep, stop))
        documents = []
        for given, status in zip(chunk, statuses, strict=True):
            parses: tuple[Parse, ...] = ()
            if status is None:
                results = [next(found) for _ in given.sentences]
                parses = tuple(result for result in results if isinstance(result, Parse))
                status = next((result for result in results if isinstance(result, str)), None)
            documents.append(
                Document(parses, given.text) if status is None else Document((), given.text, status)
            )
        return documents

    def _too_long(self, given: Waiting) -> str | None:
        longest = max(map(len, given.sentences), default=0)
        if longest <= self.max_words:
            return None
        return (
            f"a sentence of {longest:,} words is longer than {self.max_words:,}; "
            "a parser with a larger max_words would take it"
        )

    def _found(
        self,
        sentences: Sequence[Sentence],
        keep: Callable[[Encoded], None] | None,
        stop: Event | None,
    ) -> list[Parse | str]:
        """A parse of each sentence, or why there is none."""
        found: dict[int, Parse | str] = {}
        for rows in by_words([len(sentence) for sentence in sentences], most=BATCH_WORDS):
            if stop is not None and stop.is_set():
                raise _StoppedError
            batch = [sentences[row] for row in rows]
            found.update(zip(rows, self._careful(batch, keep), strict=True))
            self.done(sum(map(len, batch)))
        return [found[row] for row in range(len(sentences))]

    def _careful(
        self, sentences: Sequence[Sentence], keep: Callable[[Encoded], None] | None
    ) -> list[Parse | str]:
        """The parses of a batch; a sentence that fails takes no other down."""
        try:
            return list(predict_batch(self.model, sentences, self.asked, keep=keep))
        except Exception as error:
            if len(sentences) == 1:
                if isinstance(error, ConstraintError):
                    return [f"could not be parsed: {error}"]
                _log.warning("a sentence could not be parsed", exc_info=True)
                return [f"could not be parsed: {told(error)}"]
        half = len(sentences) // 2
        return [
            result
            for part in (sentences[:half], sentences[half:])
            for result in self._careful(part, keep)
        ]


def _chunks(xs: Iterator[Input]) -> Iterator[list[Waiting]]:
    """Inputs as sentences, as many as are parsed together."""
    chunk: list[Waiting] = []
    words = 0
    for x in xs:
        chunk.append(waiting(x))
        words += chunk[-1].words
        if words >= CHUNK_WORDS or len(chunk) >= CHUNK_TEXTS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk
