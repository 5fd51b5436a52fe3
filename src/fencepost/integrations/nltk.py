"""fencepost as an NLTK parser."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any, Unpack

from fencepost.config import whole_number
from fencepost.errors import ConfigError, DataError
from fencepost.parser import parser as fencepost
from fencepost.parser.inputs import typed_repr
from fencepost.parser.options import ParseOptions
from fencepost.structure import Document, Parse, Sentence

try:
    from nltk.parse.api import ParserI
    from nltk.tree import ProbabilisticTree, Tree
except ImportError as error:
    raise ImportError('NLTK is needed for this: pip install "fencepost[nltk]"') from error


Input = Sentence | Exception  # a sentence, or the error to raise for it


class Parser(ParserI):  # type: ignore[misc]
    """A parser with the interface of NLTK's own parsers.

    Args:
        model: the name of a model that ships with fencepost, the folder of any other, or a loaded
            parser.
        n_best: the number of trees of each sentence, the best first.
        probabilities: whether to return `ProbabilisticTree`s, with the probability of the tree.
        options: as for `fencepost.Parser.parse`; `tasks` is always the tree.
    """

    def __init__(
        self,
        model: str | Path | fencepost.Parser | None = None,
        *,
        n_best: int = 1,
        probabilities: bool = False,
        **options: Unpack[ParseOptions],
    ) -> None:
        self.parser = model if isinstance(model, fencepost.Parser) else fencepost.load(model)
        self.n_best = whole_number("n_best", n_best)
        self.probabilities = probabilities
        tasks = options.get("tasks")
        if tasks is not None and list(tasks) != ["tree"]:
            raise ConfigError(f"tasks: NLTK's trees are all there is, not {tasks!r}")
        options["tasks"] = ["tree"]
        self._asked = self.parser.check_options(**options)
        self._asked_for_several = self.parser.check_options(best=n_best, **options)

    def parse(self, sent: Sequence[str], *, n_best: int | None = None) -> Iterator[Tree]:
        """The trees of a sentence, the best first.

        Args:
            sent: the words of the sentence.
            n_best: the number of trees; by default that of the parser.

        Raises:
            DataError: the sentence cannot be parsed; the message says why.
            TypeError: `sent` is not words.
        """
        return next(self._found(iter([_sentence(sent)]), n_best))

    def parse_sents(
        self, sents: Iterable[Sequence[str]], *, n_best: int | None = None
    ) -> Iterator[Iterator[Tree]]:
        """The trees of each sentence, in order; sentences are parsed in batches.

        A sentence that cannot be parsed raises an error when its trees are iterated over, and does
        not affect others.
        """
        if isinstance(sents, str):
            raise TypeError(
                f"sentences were expected, not one text; for that there is raw_parse({sents!r})"
            )
        return self._found((_attempted(_sentence, sent) for sent in sents), n_best)

    def raw_parse(self, sentence: str, *, n_best: int | None = None) -> Iterator[Tree]:
        """The trees of a text, which is split into words as one sentence."""
        return next(self._found(iter([self._sentence_of_text(sentence)]), n_best))

    def raw_parse_sents(
        self, sentences: Iterable[str], *, n_best: int | None = None
    ) -> Iterator[Iterator[Tree]]:
        """The trees of each text, which is split into words as one sentence."""
        if isinstance(sentences, str):
            raise TypeError(
                f"many texts were expected, not one; for that there is raw_parse({sentences!r})"
            )
        return self._found((_attempted(self._sentence_of_text, text) for text in sentences), n_best)

    def _sentence_of_text(self, text: object) -> Sentence:
        if not isinstance(text, str):
            raise TypeError(
                f"text was expected, not {typed_repr(text)}; for words there is parse({text!r})"
            )
        return self.parser.model.splitter.sentence(text)

    def _found(self, sentences: Iterator[Input], n_best: int | None) -> Iterator[Iterator[Tree]]:
        k = self.n_best if n_best is None else whole_number("n_best", n_best)
        return (
            self._best_of_each(sentences)
            if k == 1
            else (self._several(one, k) for one in sentences)
        )

    def _best_of_each(self, inputs: Iterator[Input]) -> Iterator[Iterator[Tree]]:
        """The best tree of each sentence, parsed in batches."""
        errors: deque[Exception | None] = deque()  # for each sentence that the parser has read

        def sentences() -> Iterator[Sentence]:
            for one in inputs:
                errors.append(one if isinstance(one, Exception) else None)
                yield Sentence(()) if isinstance(one, Exception) else one

        for document in self.parser.stream(sentences(), self._asked):
            yield self._best(document, errors.popleft())

    def _best(self, document: Document, error: Exception | None) -> Iterator[Tree]:
        if error is not None:
            raise error
        if not document.is_ok:
            raise DataError(document.status)
        for parse in document.sentences:
            yield self._tree(parse)

    def _several(self, sentence: Input, k: int) -> Iterator[Tree]:
        if isinstance(sentence, Exception):
            raise sentence
        if sentence.words:
            (readings,) = self.parser.n_best_many([sentence], k, self._asked_for_several)
            yield from map(self._tree, readings)

    def _tree(self, parse: Parse) -> Tree:
        assert parse.tree is not None
        assert parse.log_prob is not None
        tree = parse.tree.to_nltk()
        if not self.probabilities:
            return tree
        # NLTK uses logarithms to base two.
        return ProbabilisticTree(tree.label(), list(tree), logprob=parse.log_prob / log(2))


def _attempted(make: Callable[[Any], Sentence], value: object) -> Input:
    """A sentence, or the error in it."""
    try:
        return make(value)
    except (DataError, TypeError) as error:
        return error


def _sentence(words: object) -> Sentence:
    if isinstance(words, str):
        raise TypeError(
            f"words were expected, not one text; for that there is raw_parse({words!r})"
        )
    if isinstance(words, bytes) or not isinstance(words, Iterable):
        raise TypeError(f"words were expected, not {typed_repr(words)}")
    checked = tuple(words)
    for word in checked:
        if not isinstance(word, str):
            raise TypeError(f"words were expected, not {typed_repr(word)}{_hint(word)}")
    return Sentence(checked)


def _hint(word: object) -> str:
    """A hint at what a wrong word may have been meant to be."""
    match word:
        case tuple((str(), str() | None)):
            return "; of tagged words, pass parse([word for word, _ in tagged])"
        case list() | tuple():
            return "; for several sentences there is parse_sents"
    return ""
