"""The parser: text or words in, parses out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Unpack

from fencepost.checkpoints.card import Scores
from fencepost.checkpoints.loading import Backend, Precision, load_model, read_card, read_licence
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
from fencepost.parser.encoding import Encoded, EncodingCache, encode
from fencepost.parser.inputs import (
    Input,
    PreparedInput,
    is_doc,
    only_sentence,
    prepare_input,
    typed_repr,
)
from fencepost.parser.marginals import Marginals, marginals_of, sample_parses
from fencepost.parser.memory import MemoryTrimmer
from fencepost.parser.options import (
    OPTIONS,
    CheckedOptions,
    ManyOptions,
    ParseOptions,
    checked_options,
    documents_options,
    labels_of,
)
from fencepost.parser.predict import (
    BatchConstraints,
    Done,
    layers_of,
    no_progress,
    row_limits,
    search,
    without_crossing,
)
from fencepost.parser.scores import Analysis, Scored, parse_of_analysis, score_parses
from fencepost.parser.steps import Step, greedy_steps
from fencepost.structure import Document, Parse, Sentence, Span
from fencepost.tasks.layers import POINTING

MOST_WORDS = 20_000  # of a sentence
MOST_SAMPLES = 1_000_000


class Parser:
    """Finds trees and entities with a model.

    Args:
        model: the model to parse with.
        card: the text of its model card.
        max_words: the length of the longest sentence; longer ones are not parsed, and a status
            says so.
    """

    def __init__(self, model: Model, *, card: str = "", max_words: int = MOST_WORDS) -> None:
        _check_whole("max_words", max_words, least=0, most=2**62)
        self.model = model
        self.model.network.eval()
        self.card = card
        self.max_words = max_words
        self._encodings = EncodingCache()
        self._memory = MemoryTrimmer()
        self._folder: Path | None = None  # of the model, if it was loaded from one
        self._reload: Callable[[], Parser] | None = None  # in another process

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks of the model: any of `tree`, `entities` and `tags`."""
        return self.model.heads.names

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The sorted labels of each task."""
        return {name: tuple(sorted(labels_of(self.model, name))) for name in self.tasks}

    def __repr__(self) -> str:
        return f"<Parser: {', '.join(self.tasks)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._reload is None:
            raise TypeError(
                "a parser can be pickled if it was loaded from a folder, which is then loaded "
                "again; save this model, and load it with fencepost.load"
            )
        return self._reload, ()

    @documents_options
    def parse(self, x: Input, **options: Unpack[ParseOptions]) -> Document:
        """Parse one text, or words.

        Every parse satisfies the constraints. Each label in them belongs to the head that has it;
        a span without one belongs to the tree, if trees are among the tasks.

        Args:
            x: a text; or a list of words, which is one sentence; or a list of such lists; or a
                spaCy Doc. Words are never split again; those that hold blanks are passed as
                `Sentence(words)`, since a list of them is nearly always one of texts.
            options: tasks, search and constraints; see the list of options.

        Returns:
            A document; if it could not be parsed, its status says why.

        Raises:
            TypeError: x is neither text nor words, or there is no such option.
            ConfigError: the value of an option is wrong; the message names it.
            ConstraintError: constraints contradict each other; the message names them.
        """
        checked = self.check_options(**options)
        prepared = prepare_input(x, self.model.splitter, strict=True)
        _check_places(prepared.sentences, checked)
        batches = BatchParser(self.model, checked, max_words=self.max_words)
        ((_, results),) = batches.parse([prepared], on_encoded=self._encodings.add)
        for number, result in enumerate(results, 1):
            if isinstance(result, ConstraintError):
                place = f"sentence {number}: " if len(results) > 1 else ""
                raise ConstraintError(f"{place}{result}") from result
        return document_of(prepared, results)

    @documents_options
    def parse_many(
        self,
        xs: Iterable[Input],
        *,
        batch_words: int = CHUNK_WORDS,
        max_wait: float | None = MAX_WAIT,
        done: Done | None = None,
        **options: Unpack[ManyOptions],
    ) -> Iterator[Document]:
        """Parse many texts: one document each, in order.

        Texts are read as they are needed, so a stream may be larger than memory; the next ones are
        read while some are parsed. An input that is neither text nor words, or that cannot satisfy
        the constraints, comes back with a status. If reading `xs` raises an error, the documents
        of all earlier inputs come first, and then the error.

        Args:
            xs: texts, or words, as for `parse`. A generator is read in a thread of its own.
            batch_words: the number of words to parse together, in batches of sentences of similar
                length: documents come earlier with fewer words, and take less time with more.
            max_wait: the seconds that documents wait for more texts of a slow generator before
                they are parsed and yielded; None: they wait until there are `batch_words`, and
                `xs` is read in the caller's thread.
            done: called with the number of words after each batch.
            options: as for `parse`, except for those that count the words of one sentence.

        Raises:
            TypeError: xs is one text or sentence, and not many; or there is no such option.
        """
        for name in options:
            if name in OPTIONS and OPTIONS[name].placed:
                raise TypeError(f"unexpected keyword argument {name!r}: it is for one sentence")
        _check_whole("batch_words", batch_words, least=1, most=2**62)
        if max_wait is not None and not (isinstance(max_wait, Real) and 0 <= max_wait <= 86_400):
            raise ConfigError(
                f"max_wait: seconds from 0 to 86,400 or None, not {typed_repr(max_wait)}"
            )
        checked = self.check_options(**options)
        wait = None if isinstance(xs, Collection) else max_wait  # a collection is never slow
        return self.stream(xs, checked, batch_words=batch_words, max_wait=wait, done=done)

    def stream(
        self,
        xs: Iterable[Input | PreparedInput],
        options: CheckedOptions,
        *,
        batch_words: int = CHUNK_WORDS,
        max_wait: float | None = None,
        done: Done | None = None,
    ) -> Iterator[Document]:
        """Parse many texts with options from `check_options`; see `parse_many`."""
        if isinstance(xs, str | bytes | bytearray | Sentence) or is_doc(xs):
            raise TypeError(f"many texts were expected, not {typed_repr(xs)}: parse_many([text])")
        splitter = self.model.splitter
        results = self.stream_items(
            (prepare_input(x, splitter) for x in xs),
            options,
            batch_words=batch_words,
            max_wait=max_wait,
            done=done,
        )
        return (document_of(prepared, row) for prepared, row in results)

    def stream_items(
        self,
        items: Iterable[Item],
        options: CheckedOptions,
        *,
        batch_words: int = CHUNK_WORDS,
        max_wait: float | None = None,
        done: Done | None = None,
    ) -> Iterator[tuple[Item, list[Result]]]:
        """Each item with the results of its sentences, with options from `check_options`."""

        def after_batch(words: int) -> None:
            self._memory.trim_if_due()
            (done or no_progress)(words)

        batches = BatchParser(self.model, options, max_words=self.max_words, done=after_batch)
        return batches.stream(iter(items), words=batch_words, max_wait=max_wait)

    def check_options(
        self, *, best: int | None = None, **options: Unpack[ParseOptions]
    ) -> CheckedOptions:
        """Check the options of `parse` against the model.

        Args:
            best: the number of parses, for `n_best_many`; None: only the best one.
            options: as for `parse`.
        """
        return checked_options(self.model, best=best, **options)

    asked = check_options  # its former name

    def n_best(self, x: Input, k: int, **options: Unpack[ParseOptions]) -> tuple[Parse, ...]:
        """The best parses of one sentence, best first, each with its log-probability.

        They are all different; `fencepost.differences` shows how. With several heads, a parse is a
        tree with entities.

        Args:
            x: a text of one sentence, or its words.
            k: the number of parses; there are fewer if the beam ends in fewer.
            options: as for `parse`; the default of `beams` is `k`, but at least 10 and the model's
                own width.
        """
        from fencepost.config import whole_number

        checked = self.check_options(best=whole_number("n_best", k), **options)
        (best,) = self.n_best_many([only_sentence(x, self.model.splitter)], k, checked)
        return best

    def n_best_many(
        self, sentences: Iterable[Sentence], k: int, options: CheckedOptions
    ) -> Iterator[tuple[Parse, ...]]:
        """The best parses of each sentence, with options from `check_options`."""
        for sentence in sentences:
            best = enumerate(self._search(sentence, options, best=k), 1)
            yield tuple(replace(parse, rank=rank) for rank, parse in best)

    def edit(self, parse: Parse | Document, **options: Unpack[ParseOptions]) -> Parse:
        """Parse a sentence again with constraints: correct a bracket, and the rest follows.

        A recent sentence is not encoded again. Layers without constraints stay as they are; the
        others need all their constraints, those of earlier edits included.

        Args:
            parse: the parse to edit.
            options: as for `parse`.
        """
        if isinstance(parse, Document):
            parse = parse.only()
        if not isinstance(parse, Parse):
            raise ConfigError(
                f"parse: a parse or a document, not {typed_repr(parse)}: "
                "parser.edit(parser.parse(text), must=[(0, 2, None)])"
            )
        layers = [name for name in POINTING if getattr(parse, name) is not None]
        options.setdefault("tasks", [name for name in layers if name in self.tasks])
        checked = self.check_options(**options)
        changed = checked.tasks
        if not checked.values["consistent"]:
            changed = tuple(checked.constraints_on(parse.sentence))
        (edited,) = self._search(parse.sentence, replace(checked, tasks=changed))
        return Parse(
            parse.sentence,
            edited.tree if "tree" in changed else parse.tree,
            edited.entities if "entities" in changed else parse.entities,
            log_probs={**(parse.log_probs or {}), **(edited.log_probs or {})},
        )

    def score(self, x: Input, analysis: Analysis) -> Scored:
        """Score an analysis of one sentence, as a whole and step by step.

        Args:
            x: a text of one sentence, or its words.
            analysis: a tree, brackets, entities (start, end, label), or a parse with both; also
                a document of one sentence.
        """
        sentence = only_sentence(x, self.model.splitter)
        parse = parse_of_analysis(sentence, analysis)
        encoded = self._encoded(sentence, CheckedOptions(tasks=()))
        layers = [name for name in POINTING if name in self.tasks]
        (scored,) = score_parses(self.model, encoded, [parse], layers=layers)
        return scored

    def marginals(
        self,
        x: Input,
        *,
        samples: int = 100,
        seed: int = 1,
        tasks: Collection[str] | None = None,
    ) -> Marginals:
        """The marginal probability of each labelled span of one sentence.

        The share of sampled parses that have a span estimates its probability, with a standard
        error. The spans of the majority of samples make a parse, too: the one with the fewest
        wrong and missing spans in expectation.

        Args:
            x: a text of one sentence, or its words.
            samples: the number of parses to sample.
            seed: the random seed.
            tasks: as for `parse`.
        """
        _check_whole("samples", samples, least=1, most=MOST_SAMPLES)
        _check_whole("seed", seed, least=0, most=2**64 - 1)
        sentence = only_sentence(x, self.model.splitter)
        checked = self.check_options(tasks=tasks)
        encoded = self._encoded(sentence, checked)
        layers = layers_of(self.model, checked)
        return marginals_of(sample_parses(self.model, encoded, layers, samples=samples, seed=seed))

    def steps(self, x: Input, **options: Unpack[ParseOptions]) -> Iterator[Step]:
        """The steps of greedy search, one by one, as it takes them.

        They lead to `parse(x, beams=1)`; `parse` may find another parse with a model whose own
        beam is wider than 1.

        Args:
            x: a text, or words. Steps come sentence by sentence, and the tree before the entities.
            options: as for `parse`, except for beams.
        """
        checked = self.check_options(**options)
        if options.get("beams") not in (None, 1):
            raise ConfigError(f"beams: steps are those of greedy search, not {options['beams']}")
        prepared = prepare_input(x, self.model.splitter, strict=True)
        if prepared.status is not None:
            raise DataError(prepared.status)
        _check_places(prepared.sentences, checked)
        # Contradictions raise an error here, and not at the first step.
        sentences = [
            (sentence, BatchConstraints.of(self.model, [sentence], checked))
            for sentence in prepared.sentences
        ]
        return (
            step
            for sentence, constraints in sentences
            for step in self._steps(sentence, checked, constraints)
        )

    def steps_many(self, sentences: Iterable[Sentence], options: CheckedOptions) -> Iterator[Step]:
        """The steps of each sentence, with options from `check_options`."""
        for sentence in sentences:
            constraints = BatchConstraints.of(self.model, [sentence], options)
            yield from self._steps(sentence, options, constraints)

    def save(self, folder: str | Path, *, half: bool = False, with_steps: bool = False) -> None:
        """Save the model to a folder, for `fencepost.load`.

        Args:
            folder: the folder; it is created if it does not exist.
            half: round weights to 16 bits, for half the size.
            with_steps: also write the steps of the decoder as ONNX graphs, for programs in other
                languages, such as a page in a browser.
        """
        save_model(
            self.model,
            Path(folder),
            card=self.card,
            licence=self._licence(),
            half=half,
            with_steps=with_steps,
        )

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
        """Push the model to the Hugging Face hub, for `fencepost.load`.

        You need to be logged in (`hf auth login`), or to have a token in `HF_TOKEN`. The model
        card is pushed too, with these arguments added to its metadata, and so is the licence file
        of the folder that the model was loaded from.

        Args:
            name: `owner/name`, or `owner/name@branch`.
            private: whether a new repository is private; None: as its owner's settings say.
            message: the message of the commit.
            half: round weights to 16 bits, for half the size.
            licence: the hub's identifier, such as `apache-2.0` or `cc-by-nc-sa-4.0`.
            language: language codes, such as `en`.
            datasets: the training data, by their names on the hub.
            tags: more tags for the hub's search, besides those of the tasks.
            scores: in per cent, by data set and task, as in `{"GUM dev": {"tree": 88.7}}`.

        Returns:
            The name with the commit, `owner/name@4f2a…`, to load exactly this model.

        Raises:
            ModelError: the hub cannot be reached, or refuses; the message says why.
            ConfigError: an argument is wrong, or the metadata of the card cannot be read.
        """
        from fencepost.checkpoints.card import with_metadata
        from fencepost.checkpoints.hub import push

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
        pushed = push(
            self.model,
            name,
            card=card,
            private=private,
            message=message,
            half=half,
            licence=self._licence(),
        )
        return str(pushed)

    def _licence(self) -> bytes | None:
        """The licence of the weights, which passes on to copies of the model."""
        return None if self._folder is None else read_licence(self._folder)

    def _encoded(self, sentence: Sentence, options: CheckedOptions) -> Encoded:
        """Encode a sentence, or take it from the cache."""
        if len(sentence) > self.max_words:
            raise TooLongError(len(sentence), self.max_words)
        cached = self._encodings.get(sentence)
        if cached is not None and (sentence.tags is not None or "tags" not in options.tasks):
            return cached
        encoded = encode(self.model, [sentence], tasks=options.tasks)
        self._encodings.add(encoded)
        return encoded

    def _search(self, sentence: Sentence, options: CheckedOptions, *, best: int = 1) -> list[Parse]:
        constraints = BatchConstraints.of(self.model, [sentence], options)
        encoded = self._encoded(sentence, options)
        (parses,) = search(self.model, encoded, options, constraints, best=best)
        return parses

    def _steps(
        self, sentence: Sentence, options: CheckedOptions, constraints: BatchConstraints
    ) -> Iterator[Step]:
        encoded = self._encoded(sentence, options)
        tree: list[Span] = []
        for layer, limits in constraints.limits.items():
            if options.values["consistent"] and layer == "entities":
                uncrossed = without_crossing(constraints.by_layer[0].get(layer), tree)
                limits = row_limits(self.model, layer, [uncrossed], [len(sentence)])
            for step in greedy_steps(self.model, encoded, layer, limits):
                if layer == "tree":
                    tree.append(step.span)
                yield step


def _check_places(sentences: Collection[Sentence], options: CheckedOptions) -> None:
    """Refuse constraints that count words if there are several sentences."""
    if options.is_placed and len(sentences) > 1:
        raise ConstraintError(
            f"must and forbid count the words of one sentence, and there are {len(sentences)}; "
            "pass one of them, as in parser.parse(document[0].sentence, must=...)"
        )


def _check_whole(name: str, value: object, *, least: int, most: int) -> None:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:  # type: ignore[operator]
        raise ConfigError(
            f"{name}: a whole number from {least:,} to {most:,} is expected, "
            f"not {typed_repr(value)}"
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
    """Load a parser.

    Args:
        name_or_path: the first that exists of: a model that ships with the package, a folder, and
            a repository of the Hugging Face hub (`owner/name`, `owner/name@revision`). None: the
            English model `en-small`.
        revision: a commit, a tag or a branch of a repository of the hub; None: the newest.
        backend: runs the encoder: `onnx` (onnxruntime, on the CPU), `torch`, or `auto`:
            onnxruntime if it can run the model.
        device: `cpu`; with torch also `cuda`, `cuda:1` or `mps`.
        threads: CPU threads; None: one for each processor that this process may use.
        max_words: the length of the longest sentence; longer ones are not parsed, and a status
            says so.
        precision: of the encoder: `fp32`; `int8`, which is faster and a little less exact; or
            `bf16`, with torch, for processors that support it.

    Raises:
        ModelError: there is no such model, or it cannot be loaded; the message says why.
        ConfigError: this backend, device or precision cannot be used here.
    """
    folder = find_model(DEFAULT if name_or_path is None else name_or_path, revision=revision)
    model = load_model(folder, backend=backend, device=device, precision=precision, threads=threads)
    parser = Parser(model, card=read_card(folder), max_words=max_words)
    parser._folder = folder
    parser._reload = partial(
        load,
        folder.resolve(),
        backend=backend,
        device=device,
        threads=threads,
        max_words=max_words,
        precision=precision,
    )
    return parser
