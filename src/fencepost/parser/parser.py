"""Text or words in, parses out."""

from __future__ import annotations

import logging
import reprlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import torch

from fencepost.batching.batches import by_words
from fencepost.errors import ConfigError, DataError
from fencepost.parser.model import Model, load_model, save_model
from fencepost.parser.predict import BATCH_WORDS, Done, predict, unheard
from fencepost.parser.shipped import DEFAULT, find_model
from fencepost.structure import Document, Parse, Sentence
from fencepost.text import split_text

MOST_WORDS = 20_000  # of a sentence
CHUNK_WORDS = 10 * BATCH_WORDS  # that wait, so that sentences of similar length can go together
CHUNK_TEXTS = 4096  # that wait, even if they are empty

Input = str | Sentence | Sequence[str] | Sequence[Sequence[str] | Sentence]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An input as sentences, or why it is none."""

    sentences: tuple[Sentence, ...]
    text: str | None = None
    status: str | None = None

    @property
    def words(self) -> int:
        return sum(map(len, self.sentences))


class Parser:
    """Finds trees and entities with a model.

    Args:
        model: which finds them.
        card: the text of its model card.
        max_words: longer sentences are refused, with a status that says so.
    """

    def __init__(self, model: Model, *, card: str = "", max_words: int = MOST_WORDS) -> None:
        self.model = model
        self.card = card
        self.max_words = max_words

    @property
    def tasks(self) -> tuple[str, ...]:
        """What the model can find: any of `tree`, `entities` and `tags`."""
        return self.model.heads.names

    def __repr__(self) -> str:
        return f"<fencepost.Parser: {', '.join(self.tasks)}>"

    def parse(self, x: Input, *, tasks: Collection[str] | None = None, beams: int = 1) -> Document:
        """The parses of one text, or of words.

        Args:
            x: a text; or a list of words, which is one sentence; or a list of such lists. Words
                are never split again.
            tasks: what to find, of `tree`, `entities` and `tags`; None: all that the model can. A
                tree comes with its tags.
            beams: how many parses are kept at each step; 1 is greedy, and quick.

        Returns:
            A document, with a status that says why if it could not be parsed.

        Raises:
            TypeError: x is neither text nor words.
        """
        asked = self.asked(tasks, beams=beams)
        return next(self._documents([_waiting(x, strict=True)], asked, beams, unheard))

    def parse_many(
        self,
        xs: Iterable[Input],
        *,
        tasks: Collection[str] | None = None,
        beams: int = 1,
        done: Done | None = None,
    ) -> Iterator[Document]:
        """The parses of many texts: one document each, in order.

        They are read as they are needed, some ten thousand words at a time, so a stream may be
        longer than fits in memory. What is neither text nor words comes back with a status.

        Args:
            xs: texts, or words, as for `parse`.
            tasks: as for `parse`.
            beams: as for `parse`.
            done: is told how many words were parsed, batch by batch.

        Raises:
            TypeError: xs is one text or sentence, and not many.
        """
        if isinstance(xs, str | bytes | bytearray | Sentence):
            raise TypeError(f"many texts were expected, not {_shown(xs)}: parse_many([text])")
        return self._stream(iter(xs), self.asked(tasks, beams=beams), beams, done or unheard)

    def _stream(
        self, xs: Iterator[Input], tasks: tuple[str, ...], beams: int, done: Done
    ) -> Iterator[Document]:
        chunk: list[_Waiting] = []
        words = 0
        for x in xs:
            chunk.append(_waiting(x))
            words += chunk[-1].words
            if words >= CHUNK_WORDS or len(chunk) >= CHUNK_TEXTS:
                yield from self._documents(chunk, tasks, beams, done)
                chunk, words = [], 0
        yield from self._documents(chunk, tasks, beams, done)

    def save(self, folder: str | Path, *, half: bool = False) -> None:
        """Write the model into a folder, from which `fencepost.load` gets it back.

        Args:
            folder: it is made if it is not there.
            half: whether weights are rounded to 16 bits, for half the size.
        """
        save_model(self.model, Path(folder), card=self.card, half=half)

    def asked(self, tasks: Collection[str] | None, *, beams: int = 1) -> tuple[str, ...]:
        """The heads that have to be asked for some tasks; what cannot be asked is refused."""
        if beams < 1:
            raise ConfigError(f"beams: at least 1, not {beams}")
        if tasks is None:
            return self.tasks
        asked = (tasks,) if isinstance(tasks, str) else tuple(tasks)
        if "tree" in asked and "tags" in self.tasks:
            asked += ("tags",)  # a tree has them on its leaves
        for task in asked:
            if task not in self.tasks:
                raise ConfigError(
                    f"this model has no head for {task!r}; it has {', '.join(self.tasks)}"
                )
        return asked

    def _documents(
        self, chunk: Sequence[_Waiting], tasks: tuple[str, ...], beams: int, done: Done
    ) -> Iterator[Document]:
        statuses = [waiting.status or self._too_long(waiting) for waiting in chunk]
        sentences = [
            sentence
            for waiting, status in zip(chunk, statuses, strict=True)
            if status is None
            for sentence in waiting.sentences
        ]
        found = iter(self._found(sentences, tasks, beams, done))
        for waiting, status in zip(chunk, statuses, strict=True):
            parses: tuple[Parse, ...] = ()
            if status is None:
                results = [next(found) for _ in waiting.sentences]
                parses = tuple(result for result in results if isinstance(result, Parse))
                status = next((result for result in results if isinstance(result, str)), None)
            yield (
                Document(parses, waiting.text)
                if status is None
                else Document((), waiting.text, status)
            )

    def _too_long(self, waiting: _Waiting) -> str | None:
        longest = max(map(len, waiting.sentences), default=0)
        if longest <= self.max_words:
            return None
        return (
            f"a sentence of {longest:,} words is longer than {self.max_words:,}; "
            "a parser with a larger max_words would take it"
        )

    def _found(
        self, sentences: Sequence[Sentence], tasks: tuple[str, ...], beams: int, done: Done
    ) -> list[Parse | str]:
        """A parse of each sentence, or why there is none."""
        found: dict[int, Parse | str] = {}
        for rows in by_words([len(sentence) for sentence in sentences], most=BATCH_WORDS):
            batch = [sentences[row] for row in rows]
            found.update(zip(rows, self._careful(batch, tasks, beams), strict=True))
            done(sum(map(len, batch)))
        return [found[row] for row in range(len(sentences))]

    def _careful(
        self, sentences: Sequence[Sentence], tasks: tuple[str, ...], beams: int
    ) -> list[Parse | str]:
        """The parses of a batch; a sentence that fails takes no other down."""
        try:
            return list(predict(self.model, sentences, tasks=tasks, beams=beams))
        except Exception as error:
            if len(sentences) == 1:
                _log.warning("a sentence could not be parsed", exc_info=True)
                return [f"could not be parsed: {_told(error)}"]
        half = len(sentences) // 2
        return [
            result
            for part in (sentences[:half], sentences[half:])
            for result in self._careful(part, tasks, beams)
        ]


def load(
    name_or_path: str | Path | None = None,
    *,
    device: str = "cpu",
    threads: int | None = None,
    max_words: int = MOST_WORDS,
) -> Parser:
    """A parser with the model of a name, or in a folder.

    Args:
        name_or_path: a model that ships with the package, or the folder of any other; None: the
            one for English, `en-small`.
        device: `cpu`, `cuda`, `cuda:1` or `mps`.
        threads: of the processor, for all of this process; None: as many as torch thinks right.
        max_words: longer sentences are refused, with a status that says so.

    Raises:
        ModelError: there is no such model, or it cannot be loaded; the message says why.
        ConfigError: the device cannot be used, or there are no threads.
    """
    folder = find_model(DEFAULT if name_or_path is None else name_or_path)
    if threads is not None:
        if threads < 1:
            raise ConfigError(f"threads: at least 1, not {threads}")
        torch.set_num_threads(threads)
    model = load_model(folder)
    try:
        model.network.to(device)
    except (RuntimeError, AssertionError) as error:  # which one, depends on the build of torch
        raise ConfigError(f"device {device!r} cannot be used: {error}") from error
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8", errors="replace") if card.exists() else ""
    return Parser(model, card=text, max_words=max_words)


def _waiting(x: object, *, strict: bool = False) -> _Waiting:
    """An input as sentences: told apart by type, never guessed."""
    text = x if isinstance(x, str) else None
    try:
        return _Waiting(_given(x) if text is None else split_text(text), text)
    except DataError as error:
        return _Waiting((), text, str(error))
    except Exception as error:  # a list of the caller's own making may raise anything
        if strict:
            raise
        return _Waiting((), text, _told(error))


def _given(x: object) -> tuple[Sentence, ...]:
    """Sentences of words that the caller has split."""
    one = _one_sentence(x)
    if one is not None:
        return (one,) if one.words else ()
    if _is_list(x):
        several = [_one_sentence(item) for item in x]
        if all(sentence is not None for sentence in several):
            return tuple(sentence for sentence in several if sentence)
    raise TypeError(
        f"text or words were expected, not {_shown(x)}: parse('The cat sat.'), "
        "parse(['The', 'cat', 'sat']) or parse([['The', 'cat'], ['It', 'sat']])"
    )


def _one_sentence(x: object) -> Sentence | None:
    if isinstance(x, Sentence):
        return x
    if _is_list(x) and all(isinstance(word, str) for word in x):
        return Sentence(tuple(x))
    return None


def _is_list(x: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes | bytearray | memoryview)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _shown(x: object) -> str:
    try:
        return f"{type(x).__name__} {reprlib.repr(x)}"
    except Exception:  # a number of too many digits, say
        return type(x).__name__
