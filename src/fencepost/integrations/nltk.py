"""fencepost as one of NLTK's parsers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from pathlib import Path
from typing import Unpack

from fencepost.errors import ConfigError, DataError
from fencepost.parser import parser as fencepost
from fencepost.parser.asking import Options
from fencepost.structure import Document, Parse, Sentence
from fencepost.text import split_words

try:
    from nltk.parse.api import ParserI
    from nltk.tree import ProbabilisticTree, Tree
except ImportError as error:
    raise ImportError('NLTK is needed for this: pip install "fencepost[nltk]"') from error


class Parser(ParserI):  # type: ignore[misc]
    """Finds the trees of sentences, as NLTK's own parsers do.

    Args:
        model: one that ships with fencepost, the folder of any other, or a parser that is loaded.
        n_best: how many trees of each sentence, the best first.
        probabilities: whether trees are of NLTK's `ProbabilisticTree`, with the probability of the
            whole tree at its root.
        options: as for `fencepost.Parser.parse`; `tasks` is always the tree.
    """

    def __init__(
        self,
        model: str | Path | fencepost.Parser | None = None,
        *,
        n_best: int = 1,
        probabilities: bool = False,
        **options: Unpack[Options],
    ) -> None:
        self.parser = model if isinstance(model, fencepost.Parser) else fencepost.load(model)
        self.n_best = _checked(n_best)
        self.probabilities = probabilities
        options["tasks"] = ["tree"]
        self._asked = self.parser.asked(**options)
        wide: Options = {"beams": max(n_best, 10), **options}
        self._asked_for_several = self.parser.asked(**wide)

    def parse(self, sent: Sequence[str], *, n_best: int | None = None) -> Iterator[Tree]:
        """The trees of a sentence, the best first.

        Args:
            sent: its words.
            n_best: how many trees; None: as many as this parser was made for.

        Raises:
            DataError: it cannot be parsed; the message says why.
        """
        return next(self.parse_sents([sent], n_best=n_best))

    def parse_sents(
        self, sents: Iterable[Sequence[str]], *, n_best: int | None = None
    ) -> Iterator[Iterator[Tree]]:
        """The trees of each sentence, in order; those of many are found together.

        A sentence that cannot be parsed raises when its own trees are asked for, and takes no
        other down.
        """
        return self._found(map(_sentence, sents), n_best)

    def raw_parse(self, sentence: str, *, n_best: int | None = None) -> Iterator[Tree]:
        """The trees of a text, which is split into words, and taken for one sentence."""
        return next(self.raw_parse_sents([sentence], n_best=n_best))

    def raw_parse_sents(
        self, sentences: Iterable[str], *, n_best: int | None = None
    ) -> Iterator[Iterator[Tree]]:
        """The trees of each text, which is split into words, and taken for one sentence."""
        return self._found(map(_sentence_of_text, sentences), n_best)

    def _found(self, sentences: Iterator[Sentence], n_best: int | None) -> Iterator[Iterator[Tree]]:
        k = self.n_best if n_best is None else _checked(n_best)
        if k == 1:
            return map(self._best, self.parser.stream(sentences, self._asked))
        return (self._several(sentence, k) for sentence in sentences)

    def _best(self, document: Document) -> Iterator[Tree]:
        if not document.is_ok:
            raise DataError(document.status)
        for parse in document.sentences:
            yield self._tree(parse)

    def _several(self, sentence: Sentence, k: int) -> Iterator[Tree]:
        if sentence.words:
            (readings,) = self.parser.n_best_many([sentence], k, self._asked_for_several)
            yield from map(self._tree, readings)

    def _tree(self, parse: Parse) -> Tree:
        assert parse.tree is not None
        assert parse.log_prob is not None
        tree = parse.tree.to_nltk()
        if not self.probabilities:
            return tree
        # NLTK's logarithms are to the base of two.
        return ProbabilisticTree(tree.label(), list(tree), logprob=parse.log_prob / log(2))


def _checked(n_best: int) -> int:
    if n_best < 1:
        raise ConfigError(f"n_best: at least 1, not {n_best}")
    return n_best


def _sentence(words: Sequence[str]) -> Sentence:
    if isinstance(words, str):
        raise TypeError(
            f"words were expected, not one text; for that there is raw_parse({words!r})"
        )
    return Sentence(tuple(words))


def _sentence_of_text(text: str) -> Sentence:
    if not isinstance(text, str):
        raise TypeError(f"text was expected, not {text!r}; for words there is parse({text!r})")
    offsets = split_words(text)
    return Sentence(tuple(text[a:b] for a, b in offsets), text=text, offsets=tuple(offsets))
