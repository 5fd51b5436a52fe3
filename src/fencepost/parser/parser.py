"""Text or words in, parses out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Unpack

from fencepost.checkpoints.card import Scores
from fencepost.checkpoints.loading import MOST_CARD, Backend, Precision, load_model, read_card
from fencepost.checkpoints.model import Model, save_model
from fencepost.checkpoints.shipped import DEFAULT, find_model
from fencepost.errors import ConfigError, ConstraintError, DataError
from fencepost.parser.documents import (
    CHUNK_WORDS,
    MAX_WAIT,
    BatchParser,
    Item,
    Result,
    TooLongError,
    document_of,
)
from fencepost.parser.encoding import Encoded, Recent, encode
from fencepost.parser.inputs import Input, Prepared, is_doc, only_sentence, prepared, shown
from fencepost.parser.marginals import Marginals, draw, marginals_of
from fencepost.parser.memory import Upkeep
from fencepost.parser.options import (
    OPTIONS,
    Asked,
    ManyOptions,
    ParseOptions,
    asked_of,
    explained,
    parts_of,
)
from fencepost.parser.predict import (
    Bounds,
    Done,
    beside,
    layers_of,
    no_progress,
    row_limits,
    search,
)
from fencepost.parser.scores import Analysis, Scored, analysis_of, scored
from fencepost.parser.steps import Step, greedy_steps
from fencepost.runtime.manifest import read_bytes
from fencepost.structure import Document, Parse, Sentence, Span
from fencepost.tasks.layers import POINTING

MOST_WORDS = 20_000  # of a sentence
MOST_SAMPLES = 1_000_000


class Parser:
    """Finds trees and entities with a model.

    Args:
        model: to parse with.
        card: the text of its model card.
        max_words: longer sentences are refused, with a status that says so.
    """

    def __init__(self, model: Model, *, card: str = "", max_words: int = MOST_WORDS) -> None:
        _check_whole("max_words", max_words, least=0, most=2**62)
        self.model = model
        self.model.network.eval()
        self.card = card
        self.max_words = max_words
        self._recent = Recent()
        self._upkeep = Upkeep()
        self._folder: Path | None = None  # that it was loaded from
        self._again: Callable[[], Parser] | None = None  # loads it again, in another process

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the model: any of `tree`, `entities` and `tags`."""
        return self.model.heads.names

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels that the model knows, of each of its tasks, in order of their letters."""
        return {name: tuple(sorted(parts_of(self.model, name))) for name in self.tasks}

    def __repr__(self) -> str:
        return f"<Parser: {', '.join(self.tasks)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._again is None:
            raise TypeError(
                "a parser can be pickled if it was loaded from a folder, which is then loaded "
                "again; save this model, and load it with fencepost.load"
            )
        return self._again, ()

    @explained
    def parse(self, x: Input, **options: Unpack[ParseOptions]) -> Document:
        """The parses of one text, or of words.

        Constraints are kept by every parse that is found. Each label in them is that of the head
        that knows it; a span without one is asked of the tree, if trees are found.

        Args:
            x: a text; or a list of words, which is one sentence; or a list of such lists; or a
                Doc of spaCy's. Words are never split again; those that hold blanks are passed as
                `Sentence(words)`, since a list of them is nearly always one of texts.
            options: what to find and what it has to obey; see the list of options.

        Returns:
            A document, with a status that says why if it could not be parsed.

        Raises:
            TypeError: x is neither text nor words, or there is no such option.
            ConfigError: the value of an option is wrong; the message names it.
            ConstraintError: what is asked contradicts itself; the message names what.
        """
        asked = self.asked(**options)
        item = prepared(x, self.model.splitter, strict=True)
        _check_places(item.sentences, asked)
        ((_, results),) = self._batches(asked).parse([item], keep=self._recent.keep)
        for number, result in enumerate(results, 1):
            if isinstance(result, ConstraintError):
                place = f"sentence {number}: " if len(results) > 1 else ""
                raise ConstraintError(f"{place}{result}") from result
        return document_of(item, results)

    @explained
    def parse_many(
        self,
        xs: Iterable[Input],
        *,
        batch_words: int = CHUNK_WORDS,
        max_wait: float | None = MAX_WAIT,
        done: Done | None = None,
        **options: Unpack[ManyOptions],
    ) -> Iterator[Document]:
        """The parses of many texts: one document each, in order.

        They are read as they are needed, so a stream may be longer than fits in memory; while some
        are parsed, the next are read. What is neither text nor words comes back with a status, and
        so does what cannot obey. If reading `xs` raises an error, the documents of what was read
        before come first, and then the error.

        Args:
            xs: texts, or words, as for `parse`. A generator is read in a thread of its own.
            batch_words: how many words are parsed together, sentences of like length side by side:
                with fewer, documents come earlier, and with more they take less time.
            max_wait: seconds that documents wait for more of a slow generator before they are
                parsed and given out; None: until there are `batch_words`, and `xs` is read in the
                caller's thread.
            done: called with the number of words after each batch.
            options: as for `parse`, but for those that count the words of one sentence.

        Raises:
            TypeError: xs is one text or sentence, and not many; or there is no such option.
        """
        for name in options:
            if name in OPTIONS and OPTIONS[name].placed:
                raise TypeError(f"unexpected keyword argument {name!r}: it is for one sentence")
        _check_whole("batch_words", batch_words, least=1, most=2**62)
        if max_wait is not None and not (isinstance(max_wait, Real) and 0 <= max_wait <= 86_400):
            raise ConfigError(f"max_wait: seconds from 0 to 86,400 or None, not {shown(max_wait)}")
        asked = self.asked(**options)
        wait = None if isinstance(xs, Collection) else max_wait  # nobody waits for what is there
        return self.stream(xs, asked, batch_words=batch_words, max_wait=wait, done=done)

    def stream(
        self,
        xs: Iterable[Input | Prepared],
        asked: Asked,
        *,
        batch_words: int = CHUNK_WORDS,
        max_wait: float | None = None,
        done: Done | None = None,
    ) -> Iterator[Document]:
        """The parses of many texts, for what has been asked with `asked`; see `parse_many`."""
        if isinstance(xs, str | bytes | bytearray | Sentence) or is_doc(xs):
            raise TypeError(f"many texts were expected, not {shown(xs)}: parse_many([text])")
        splitter = self.model.splitter
        results = self.stream_items(
            (prepared(x, splitter) for x in xs),
            asked,
            batch_words=batch_words,
            max_wait=max_wait,
            done=done,
        )
        return (document_of(item, found) for item, found in results)

    def stream_items(
        self,
        items: Iterable[Item],
        asked: Asked,
        *,
        batch_words: int = CHUNK_WORDS,
        max_wait: float | None = None,
        done: Done | None = None,
    ) -> Iterator[tuple[Item, list[Result]]]:
        """Each item with the results of its sentences, for what has been asked with `asked`."""

        def parsed(words: int) -> None:
            self._upkeep.look()
            (done or no_progress)(words)

        batches = self._batches(asked, parsed)
        return batches.stream(iter(items), words=batch_words, max_wait=max_wait)

    def asked(self, *, best: int | None = None, **options: Unpack[ParseOptions]) -> Asked:
        """The options of `parse`, checked against the model.

        Args:
            best: how many readings, for `n_best_many`; None: the parse alone.
            options: as for `parse`.
        """
        return asked_of(self.model, best=best, **options)

    def n_best(self, x: Input, k: int, **options: Unpack[ParseOptions]) -> tuple[Parse, ...]:
        """The best parses of one sentence, the best first, each with its log-probability.

        They are all different. With several heads, a parse is a tree with entities. What two of
        them say differently is told by `fencepost.differences`.

        Args:
            x: a text of one sentence, or its words.
            k: how many; there are fewer if the beam ends in fewer.
            options: as for `parse`; without `beams`, as many are kept as are wanted, and no fewer
                than 10 or than the model's own width.
        """
        asked = self.asked(best=k, **options)
        (best,) = self.n_best_many([only_sentence(x, self.model.splitter)], k, asked)
        return best

    def n_best_many(
        self, sentences: Iterable[Sentence], k: int, asked: Asked
    ) -> Iterator[tuple[Parse, ...]]:
        """The best parses of each sentence, for what has been asked with `asked`."""
        for sentence in sentences:
            best = enumerate(self._search(sentence, asked, best=k), 1)
            yield tuple(replace(parse, rank=rank) for rank, parse in best)

    def edit(self, parse: Parse | Document, **options: Unpack[ParseOptions]) -> Parse:
        """A parse of the same sentence that obeys: correct a bracket, and see the rest follow.

        A sentence that was parsed lately is not read again. Layers of which nothing is asked stay
        as they are; in the others, all that is asked has to be said, also what was said before.

        Args:
            parse: what was found.
            options: as for `parse`.
        """
        if isinstance(parse, Document):
            parse = parse.only()
        if not isinstance(parse, Parse):
            raise ConfigError(
                f"parse: a parse or a document, not {shown(parse)}: "
                "parser.edit(parser.parse(text), must=[(0, 2, None)])"
            )
        has = [name for name in POINTING if getattr(parse, name) is not None]
        options.setdefault("tasks", [name for name in has if name in self.tasks])
        asked = self.asked(**options)
        changed = asked.tasks if asked.options["consistent"] else tuple(asked.of(parse.sentence))
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
        sentence = only_sentence(x, self.model.splitter)
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
        _check_whole("samples", samples, least=1, most=MOST_SAMPLES)
        _check_whole("seed", seed, least=0, most=2**64 - 1)
        sentence, asked = only_sentence(x, self.model.splitter), self.asked(tasks=tasks)
        encoded = self._encoded(sentence, asked)
        return marginals_of(
            draw(self.model, encoded, layers_of(self.model, asked), samples=samples, seed=seed)
        )

    def steps(self, x: Input, **options: Unpack[ParseOptions]) -> Iterator[Step]:
        """The steps of greedy search, one after the other, as they are made.

        With a model whose own beam is wider than 1, `parse` may find another parse;
        `parse(x, beams=1)` is the one that these steps make.

        Args:
            x: a text, or words: sentence by sentence, and the tree before the entities.
            options: as for `parse`, but for beams.
        """
        asked = self.asked(**options)
        item = prepared(x, self.model.splitter, strict=True)
        if item.status is not None:
            raise DataError(item.status)
        _check_places(item.sentences, asked)
        # What contradicts itself is refused here, and not at the first step.
        bounds = [Bounds.of(self.model, [sentence], asked) for sentence in item.sentences]
        some = zip(item.sentences, bounds, strict=True)
        return (step for sentence, one in some for step in self._steps(sentence, asked, one))

    def steps_many(self, sentences: Iterable[Sentence], asked: Asked) -> Iterator[Step]:
        """The steps of each sentence, for what has been asked with `asked`."""
        for sentence in sentences:
            yield from self._steps(sentence, asked, Bounds.of(self.model, [sentence], asked))

    def save(self, folder: str | Path, *, half: bool = False, with_steps: bool = False) -> None:
        """Write the model into a folder, from which `fencepost.load` gets it back.

        Args:
            folder: it is made if it is not there.
            half: whether weights are rounded to 16 bits, for half the size.
            with_steps: whether the steps of the decoder are written as ONNX graphs, too, for
                programs that are not in Python, such as a browser.
        """
        save_model(self.model, Path(folder), card=self.card, half=half, with_steps=with_steps)

    def push_to_hub(
        self,
        name: str,
        *,
        private: bool | None = None,
        message: str | None = None,
        half: bool = False,
        licence: str | None = None,
        language: str | Sequence[str] | None = None,
        datasets: Sequence[str] = (),
        tags: Sequence[str] = (),
        scores: Scores | None = None,
    ) -> str:
        """Put the model on the Hugging Face hub, from which `fencepost.load` gets it back.

        Whoever pushes has to be logged in (`hf auth login`), or to have a token in `HF_TOKEN`. The
        model card goes along with what is said here before it, and so does the licence of the
        folder that the model was loaded from. What its card said before and is not said here stays.

        Args:
            name: `owner/name`, or `owner/name@branch`.
            private: whether a new repository is private; None: as its owner's settings say.
            message: of the commit.
            half: whether weights are rounded to 16 bits, for half the size.
            licence: as the hub abbreviates it, such as `apache-2.0` or `cc-by-nc-sa-4.0`.
            language: codes such as `en`.
            datasets: what the model was trained on, by their names on the hub.
            tags: to be found by, besides those of the tasks.
            scores: in per cent, by data set and task, as in `{"GUM dev": {"tree": 88.7}}`.

        Returns:
            The name with the commit, `owner/name@4f2a…`, to load exactly this model.

        Raises:
            ModelError: the hub cannot be reached, or refuses; the message says why.
            ConfigError: something that is said of the model is no such thing.
        """
        from fencepost.checkpoints.card import with_metadata
        from fencepost.checkpoints.hub import LICENCE, push

        card = with_metadata(
            self.card,
            name=name.partition("@")[0].rpartition("/")[2],
            tasks=self.tasks,
            licence=licence,
            language=language,
            datasets=datasets,
            tags=tags,
            scores=scores,
        )
        own = None if self._folder is None else self._folder / LICENCE
        pushed = push(
            self.model,
            name,
            card=card,
            private=private,
            message=message,
            half=half,
            licence=read_bytes(own, most=MOST_CARD) if own is not None and own.is_file() else None,
        )
        return str(pushed)

    def _batches(self, asked: Asked, done: Done = no_progress) -> BatchParser:
        return BatchParser(self.model, asked, max_words=self.max_words, done=done)

    def _encoded(self, sentence: Sentence, asked: Asked) -> Encoded:
        """A sentence as the network reads it, or has read it lately."""
        if len(sentence) > self.max_words:
            raise TooLongError(len(sentence), self.max_words)
        known = self._recent.find(sentence)
        if known is not None and (sentence.tags is not None or "tags" not in asked.tasks):
            return known
        encoded = encode(self.model, [sentence], tasks=asked.tasks)
        self._recent.keep(encoded)
        return encoded

    def _search(self, sentence: Sentence, asked: Asked, *, best: int = 1) -> list[Parse]:
        """The best parses of a sentence."""
        bounds = Bounds.of(self.model, [sentence], asked)
        (parses,) = search(self.model, self._encoded(sentence, asked), asked, bounds, best=best)
        return parses

    def _steps(self, sentence: Sentence, asked: Asked, bounds: Bounds) -> Iterator[Step]:
        encoded = self._encoded(sentence, asked)
        tree: list[Span] = []
        for layer, limits in bounds.limits.items():
            if asked.options["consistent"] and layer == "entities":
                own = beside(bounds.constraints[0].get(layer), tree)
                limits = row_limits(self.model, layer, [own], [len(sentence)])
            for step in greedy_steps(self.model, encoded, layer, limits):
                if layer == "tree":
                    tree.append(step.span)
                yield step


def _check_places(sentences: Collection[Sentence], asked: Asked) -> None:
    """Refuse constraints on certain words where there are several sentences."""
    if asked.is_placed and len(sentences) > 1:
        raise ConstraintError(
            f"must and forbid count the words of one sentence, and there are {len(sentences)}; "
            "pass one of them, as in parser.parse(document[0].sentence, must=...)"
        )


def _check_whole(name: str, value: object, *, least: int, most: int) -> None:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:  # type: ignore[operator]
        raise ConfigError(
            f"{name}: a whole number from {least:,} to {most:,} is expected, not {shown(value)}"
        )


def load(
    name_or_path: str | Path | None = None,
    *,
    revision: str | None = None,
    backend: Backend = "auto",
    device: str = "cpu",
    threads: int | None = None,
    max_words: int = MOST_WORDS,
    precision: Precision = "fp32",
) -> Parser:
    """A parser with the model of a name, or in a folder.

    Args:
        name_or_path: a model that ships with the package, the folder of another, or a repository
            of the Hugging Face hub (`owner/name`, `owner/name@revision`), whichever of these is
            there first; None: the model for English, `en-small`.
        revision: of a repository of the hub: a commit, a tag or a branch; None: the newest.
        backend: what computes the encoder: `onnx` (onnxruntime, on the CPU), `torch`, or `auto`:
            onnxruntime wherever it can.
        device: `cpu`; with torch also `cuda`, `cuda:1` or `mps`.
        threads: of the processor; None: as many as there are processors for this process.
        max_words: longer sentences are refused, with a status that says so.
        precision: of the encoder's numbers: `fp32`; `int8`, which is quicker and a little less
            exact; or `bf16`, with torch, for processors that have it.

    Raises:
        ModelError: there is no such model, or it cannot be loaded; the message says why.
        ConfigError: it cannot be computed in this way here.
    """
    folder = find_model(DEFAULT if name_or_path is None else name_or_path, revision=revision)
    model = load_model(folder, backend=backend, device=device, precision=precision, threads=threads)
    parser = Parser(model, card=read_card(folder), max_words=max_words)
    parser._folder = folder
    parser._again = partial(
        load,
        folder.resolve(),
        backend=backend,
        device=device,
        threads=threads,
        max_words=max_words,
        precision=precision,
    )
    return parser
