"""Text or words in, parses out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from fencepost.errors import ConfigError, ConstraintError, DataError
from fencepost.model.precision import Precision, with_precision
from fencepost.parser.asking import Asked, Asking, Options, asked_of, parts_of
from fencepost.parser.documents import Documents
from fencepost.parser.encoding import Encoded, Recent, encode
from fencepost.parser.inputs import Input, is_doc, only_sentence, shown, waiting
from fencepost.parser.loading import load_model
from fencepost.parser.marginals import Marginals, draw, marginals_of
from fencepost.parser.memory import Upkeep
from fencepost.parser.model import Model, save_model
from fencepost.parser.predict import Done, beside, check_constraints, layers_of, search, unheard
from fencepost.parser.scores import Analysis, Scored, analysis_of, scored
from fencepost.parser.shipped import DEFAULT, find_model
from fencepost.parser.steps import Step, greedy_steps
from fencepost.parser.threads import set_threads
from fencepost.structure import Document, Parse, Sentence, Span
from fencepost.tasks.layers import POINTING
from fencepost.text.gazetteer import Gazetteer

MOST_WORDS = 20_000  # of a sentence


class Parser:
    """Finds trees and entities with a model.

    Args:
        model: which finds them.
        card: the text of its model card.
        max_words: longer sentences are refused, with a status that says so.
    """

    def __init__(self, model: Model, *, card: str = "", max_words: int = MOST_WORDS) -> None:
        self.model = model
        self.model.network.eval()
        self.card = card
        self.max_words = max_words
        self._recent = Recent()
        self._upkeep = Upkeep()

    @property
    def tasks(self) -> tuple[str, ...]:
        """What the model can find: any of `tree`, `entities` and `tags`."""
        return self.model.heads.names

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels that the model knows, of each of its tasks, in order of their letters."""
        return {name: tuple(sorted(parts_of(self.model, name))) for name in self.tasks}

    def __repr__(self) -> str:
        return f"<fencepost.Parser: {', '.join(self.tasks)}>"

    def parse(
        self,
        x: Input,
        *,
        tasks: Collection[str] | None = None,
        beams: int = 1,
        must: Iterable[Asking] = (),
        forbid: Iterable[Asking] = (),
        labels: Iterable[str] | None = None,
        root: str | None = None,
        consistent: bool = False,
        gazetteer: Gazetteer | Mapping[str, str] | None = None,
        min_probability: float = 0.0,
    ) -> Document:
        """The parses of one text, or of words.

        Constraints are kept by every parse that is found. Each label in them is that of the head
        that knows it; a span without one is asked of the tree, if trees are found.

        Args:
            x: a text; or a list of words, which is one sentence; or a list of such lists; or a
                Doc of spaCy's. Words are never split again.
            tasks: what to find, of `tree`, `entities` and `tags`; None: all that the model can. A
                tree comes with its tags.
            beams: how many parses are kept at each step; 1 is greedy, and quick.
            must: spans that have to be there: start, end, and a label or None for any.
            forbid: spans that must not be there: with that label, or None for any.
            labels: the only labels to use, of those heads that know any of them.
            root: the label of the whole sentence.
            consistent: whether entities never cross a span of the tree, which is found first.
            gazetteer: phrases and their labels, which are entities wherever they occur; where they
                overlap, the leftmost longest counts.
            min_probability: entities below it are left out.

        Returns:
            A document, with a status that says why if it could not be parsed.

        Raises:
            TypeError: x is neither text nor words.
            ConstraintError: what is asked contradicts itself; the message names what.
        """
        asked = self.asked(
            tasks=tasks,
            beams=beams,
            must=must,
            forbid=forbid,
            labels=labels,
            root=root,
            consistent=consistent,
            gazetteer=gazetteer,
            min_probability=min_probability,
        )
        given = waiting(x, strict=True)
        self._check(given.sentences, asked)
        return self._documents(asked).of([given], keep=self._recent.keep)[0]

    def parse_many(
        self,
        xs: Iterable[Input],
        *,
        tasks: Collection[str] | None = None,
        beams: int = 1,
        labels: Iterable[str] | None = None,
        root: str | None = None,
        consistent: bool = False,
        gazetteer: Gazetteer | Mapping[str, str] | None = None,
        min_probability: float = 0.0,
        done: Done | None = None,
    ) -> Iterator[Document]:
        """The parses of many texts: one document each, in order.

        They are read as they are needed, some ten thousand words at a time, so a stream may be
        longer than fits in memory; while some are parsed, the next are read. What is neither text
        nor words comes back with a status, and so does what cannot obey.

        Args:
            xs: texts, or words, as for `parse`.
            tasks: as for `parse`; so are all others, but for `done`.
            beams: 1 is greedy.
            labels: the only ones to use.
            root: the label of each whole sentence.
            consistent: whether entities never cross a span of the tree.
            gazetteer: phrases that are entities.
            min_probability: entities below it are left out.
            done: is told how many words were parsed, batch by batch.

        Raises:
            TypeError: xs is one text or sentence, and not many.
        """
        asked = self.asked(
            tasks=tasks,
            beams=beams,
            labels=labels,
            root=root,
            consistent=consistent,
            gazetteer=gazetteer,
            min_probability=min_probability,
        )
        return self.stream(xs, asked, done=done)

    def stream(
        self, xs: Iterable[Input], asked: Asked, *, done: Done | None = None
    ) -> Iterator[Document]:
        """The parses of many texts, for what has been asked with `asked`."""
        if isinstance(xs, str | bytes | bytearray | Sentence) or is_doc(xs):
            raise TypeError(f"many texts were expected, not {shown(xs)}: parse_many([text])")

        def parsed(words: int) -> None:
            self._upkeep.look()
            (done or unheard)(words)

        return self._documents(asked, parsed).stream(iter(xs))

    def asked(self, **options: Unpack[Options]) -> Asked:
        """What is asked for, by the options of `parse`, checked."""
        return asked_of(self.model, **options)

    def n_best(self, x: Input, k: int, **options: Unpack[Options]) -> tuple[Parse, ...]:
        """The best parses of one sentence, the best first, each with its log-probability.

        They are all different. With several heads, a parse is a tree with entities. What two of
        them say differently is told by `fencepost.differences`.

        Args:
            x: a text of one sentence, or its words.
            k: how many; there are fewer if the beam ends in fewer.
            options: as for `parse`; without `beams`, as many are kept as are wanted, and no fewer
                than 10.
        """
        if k < 1:
            raise ConfigError(f"k: at least 1, not {k}")
        options.setdefault("beams", max(k, 10))
        asked = self.asked(**options)
        (best,) = self.n_best_many([only_sentence(x)], k, asked)
        return best

    def n_best_many(
        self, sentences: Iterable[Sentence], k: int, asked: Asked
    ) -> Iterator[tuple[Parse, ...]]:
        """The best parses of each sentence, for what has been asked with `asked`."""
        for sentence in sentences:
            best = enumerate(self._search(sentence, asked, best=k), 1)
            yield tuple(replace(parse, rank=rank) for rank, parse in best)

    def edit(
        self,
        parse: Parse | Document,
        **options: Unpack[Options],
    ) -> Parse:
        """A parse of the same sentence that obeys: correct a bracket, and see the rest follow.

        A sentence that was parsed lately is not read again. Layers of which nothing is asked stay
        as they are; in the others, all that is asked has to be said, also what was said before.

        Args:
            parse: what was found.
            options: as for `parse`.
        """
        if isinstance(parse, Document):
            parse = parse.only()
        has = [name for name in POINTING if getattr(parse, name) is not None]
        options.setdefault("tasks", [name for name in has if name in self.tasks])
        asked = self.asked(**options)
        changed = asked.tasks if asked.consistent else tuple(asked.of(parse.sentence))
        (found,) = self._search(parse.sentence, replace(asked, tasks=changed))
        return Parse(
            parse.sentence,
            found.tree if "tree" in changed else parse.tree,
            found.entities if "entities" in changed else parse.entities,
            log_probs={**(parse.log_probs or {}), **(found.log_probs or {})},
        )

    def score(self, x: Input, analysis: Analysis) -> Scored:
        """How probable a given analysis of one sentence is, as a whole and step by step.

        Args:
            x: a text of one sentence, or its words.
            analysis: a tree, brackets, entities (start, end, label), or a parse with both.
        """
        sentence = only_sentence(x)
        parse = analysis_of(sentence, analysis)
        layers = [name for name in POINTING if name in self.tasks]
        (found,) = scored(self.model, self._encoded(sentence, Asked(())), [parse], layers=layers)
        return found

    def marginals(
        self,
        x: Input,
        *,
        samples: int = 100,
        seed: int = 1,
        tasks: Collection[str] | None = None,
    ) -> Marginals:
        """How probable each labelled span of one sentence is, whatever else is in the parse.

        Parses are drawn by their probability, and the share of those that have a span is an
        estimate of its own, with a standard error. What most of them agree on is a parse, too: the
        one with the fewest wrong and missing spans to be expected.

        Args:
            x: a text of one sentence, or its words.
            samples: how many parses are drawn.
            seed: the same seed draws the same parses.
            tasks: as for `parse`.
        """
        if samples < 1:
            raise ConfigError(f"samples: at least 1, not {samples}")
        sentence, asked = only_sentence(x), self.asked(tasks=tasks)
        encoded = self._encoded(sentence, asked)
        return marginals_of(
            draw(self.model, encoded, layers_of(self.model, asked), samples=samples, seed=seed)
        )

    def steps(self, x: Input, **options: Unpack[Options]) -> Iterator[Step]:
        """The steps of greedy search, one after the other, as they are made.

        Args:
            x: a text, or words: sentence by sentence, and the tree before the entities.
            options: as for `parse`, but for beams.
        """
        asked = self.asked(**options)
        given = waiting(x, strict=True)
        if given.status is not None:
            raise DataError(given.status)
        self._check(given.sentences, asked)
        return self.steps_many(given.sentences, asked)

    def steps_many(self, sentences: Iterable[Sentence], asked: Asked) -> Iterator[Step]:
        """The steps of each sentence, for what has been asked with `asked`."""
        for sentence in sentences:
            self._check([sentence], asked)
            yield from self._steps(sentence, asked)

    def save(self, folder: str | Path, *, half: bool = False) -> None:
        """Write the model into a folder, from which `fencepost.load` gets it back.

        Args:
            folder: it is made if it is not there.
            half: whether weights are rounded to 16 bits, for half the size.
        """
        save_model(self.model, Path(folder), card=self.card, half=half)

    def _documents(self, asked: Asked, done: Done = unheard) -> Documents:
        return Documents(self.model, asked, max_words=self.max_words, done=done)

    def _check(self, sentences: Collection[Sentence], asked: Asked) -> None:
        """Refuse constraints that no parse can obey, before anything is read."""
        if asked.is_placed and len(sentences) > 1:
            raise ConstraintError(
                f"must and forbid count the words of one sentence, and there are {len(sentences)}; "
                "pass one of them, as in parser.parse(document.sentences[0].sentence, must=...)"
            )
        some = [sentence for sentence in sentences if sentence.words]
        check_constraints(self.model, some, [asked.of(one) for one in some], asked)

    def _encoded(self, sentence: Sentence, asked: Asked) -> Encoded:
        """A sentence as the network reads it, or has read it lately."""
        if len(sentence) > self.max_words:
            raise DataError(
                f"a sentence of {len(sentence):,} words is longer than {self.max_words:,}"
            )
        known = self._recent.find(sentence)
        if known is not None and (sentence.tags is not None or "tags" not in asked.tasks):
            return known
        encoded = encode(self.model, [sentence], tasks=asked.tasks)
        self._recent.keep(encoded)
        return encoded

    def _search(self, sentence: Sentence, asked: Asked, *, best: int = 1) -> list[Parse]:
        """The best parses of a sentence."""
        self._check([sentence], asked)
        encoded = self._encoded(sentence, asked)
        constraints = [asked.of(sentence)]
        (found,) = search(self.model, encoded, asked, constraints=constraints, best=best)
        return found

    def _steps(self, sentence: Sentence, asked: Asked) -> Iterator[Step]:
        encoded, constraints = self._encoded(sentence, asked), asked.of(sentence)
        tree: list[Span] = []
        for layer in layers_of(self.model, asked):
            own = constraints.get(layer)
            if asked.consistent and layer == "entities":
                own = beside(own, tree)
            for step in greedy_steps(self.model, encoded, layer, own):
                if layer == "tree":
                    tree.append(step.span)
                yield step


def load(
    name_or_path: str | Path | None = None,
    *,
    device: str = "cpu",
    threads: int | None = None,
    max_words: int = MOST_WORDS,
    precision: Precision = "fp32",
) -> Parser:
    """A parser with the model of a name, or in a folder.

    Args:
        name_or_path: a model that ships with the package, or the folder of any other; None: the
            one for English, `en-small`.
        device: `cpu`, `cuda`, `cuda:1` or `mps`.
        threads: of the processor, for all of this process; None: as many as torch thinks right and
            this process may use.
        max_words: longer sentences are refused, with a status that says so.
        precision: of the encoder's numbers: `fp32`; `bf16`, for processors that have it; or `int8`,
            which is quicker in batches, and a little less exact.

    Raises:
        ModelError: there is no such model, or it cannot be loaded; the message says why.
        ConfigError: the device cannot be used, or there are no threads.
    """
    folder = find_model(DEFAULT if name_or_path is None else name_or_path)
    set_threads(threads)
    model = load_model(folder)
    try:
        model.network.to(device)
    except (RuntimeError, AssertionError) as error:  # which one, depends on the build of torch
        raise ConfigError(f"device {device!r} cannot be used: {error}") from error
    model = replace(model, network=with_precision(model.network, precision))
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8", errors="replace") if card.exists() else ""
    return Parser(model, card=text, max_words=max_words)
