"""fencepost in a spaCy pipeline: `nlp.add_pipe("fencepost")`.

spaCy imports this module whenever a pipeline is made, in any program where fencepost is installed.
So it imports quickly, and has no effects before the component is made.
"""

# spaCy checks settings by the annotations of `make`, which have to be types and not strings.
import io
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast
from zipfile import ZipFile

from spacy.language import Language
from spacy.pipeline import Pipe, Sentencizer
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import minibatch

from fencepost.checkpoints.shipped import DEFAULT, find_model, shipped_models
from fencepost.errors import ConfigError
from fencepost.formats.docbin import (
    ENTITIES,
    SENTENCES,
    TAGS,
    TREE,
    Splitter,
    sentence_of,
    sentences_of,
    words_of,
)
from fencepost.integrations.extensions import EXTENSIONS, register
from fencepost.integrations.span_groups import NonConstituentError, Outcome, keep
from fencepost.parser.options import OPTIONS, ManyOptions, Option
from fencepost.structure import Document

if TYPE_CHECKING:
    from fencepost.parser.options import CheckedOptions
    from fencepost.parser.parser import Parser

__all__ = ["Fencepost", "NonConstituentError", "Settings", "make", "register"]

# The files of a model; its folder may also have other files of a training run.
_FILES = (
    "config.json",
    "manifest.json",
    "labels.json",
    "tokenizer.json",
    "encoder.onnx",
    "lstm.onnx",
    *(f"tree-{part}.onnx" for part in ("start", "point", "label")),
    *(f"entities-{part}.onnx" for part in ("start", "point", "label")),
    "weights.safetensors",
    "README.md",
    "LICENSE.md",
)
_LICENCE = _FILES[-1]

_log = logging.getLogger(__name__)


def _configurable(options: Mapping[str, Option]) -> dict[str, Option]:
    """The options of parsing that a pipeline's config can hold.

    A gazetteer cannot: spaCy writes config as INI, which would split a phrase with a colon.
    """
    return {
        name: option
        for name, option in options.items()
        if not option.placed and name != "gazetteer"
    }


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the component in the pipeline's `config`."""

    model: str = DEFAULT  # a shipped model, a folder, or a model of the hub
    spans_key: str = ENTITIES  # the span group for entities
    set_tags: bool = False  # whether to overwrite token.tag_
    set_ents: bool = False  # whether to overwrite doc.ents, with the outermost entities
    sentences: str = "fencepost"  # the splitter for Docs without boundaries; or "spacy"
    max_words: int = 20_000  # longer sentences are not parsed
    device: str = "cpu"
    backend: str = "auto"
    precision: str = "fp32"
    options: ManyOptions = field(
        default_factory=lambda: cast(
            ManyOptions, {name: one.default for name, one in _configurable(OPTIONS).items()}
        )
    )

    def __post_init__(self) -> None:
        if not self.spans_key or self.spans_key in (TREE, TAGS, SENTENCES):
            raise ConfigError(
                f"spans_key: {self.spans_key!r} cannot be the span group for entities; "
                f"{TREE}, {TAGS} and {SENTENCES} are taken, and any other name will do"
            )
        if self.sentences not in _SPLITTERS:
            raise ConfigError(
                f"sentences: {self.sentences!r} is unknown; where a Doc has no boundaries, "
                "'fencepost' finds them by its own rules, 'spacy' as its sentencizer does"
            )
        if self.options.get("tasks") == []:
            raise ConfigError(
                "tasks: is empty; it should name some of tree, entities and tags, or be left out "
                "for all that the model can"
            )


class Fencepost(Pipe):  # type: ignore[misc]
    """A pipeline component that predicts trees and nested entities.

    Args:
        name: the name of the component in its pipeline.
        settings: the settings of the component.
    """

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.settings = settings
        self._folder: Path | None = None  # of a model saved with the pipeline
        self._licence: bytes | None = None  # of the model; the parser does not have it
        self._parser: Parser | None = None
        self._asked: CheckedOptions | None = None

    @property
    def parser(self) -> "Parser":
        """The parser, loaded on first use."""
        if self._parser is None:
            self._load(self._folder or self.settings.model)
        assert self._parser is not None
        return self._parser

    def _load(self, name_or_path: str | Path) -> None:
        from fencepost.checkpoints.loading import read_licence
        from fencepost.parser.parser import load

        settings = self.settings
        parser = load(
            name_or_path,
            device=settings.device,
            max_words=settings.max_words,
            backend=settings.backend,  # type: ignore[arg-type]
            precision=settings.precision,  # type: ignore[arg-type]
        )
        asked = parser.check_options(**settings.options)
        for setting, task in (("set_tags", "tags"), ("set_ents", "entities")):
            if getattr(settings, setting) and task not in asked.tasks:
                raise ConfigError(
                    f"{setting}: needs {task}, and only {', '.join(asked.tasks)} are found; "
                    "it depends on the model, and on tasks"
                )
        self._licence = read_licence(find_model(name_or_path))
        self._parser, self._asked = parser, asked

    def __call__(self, doc: Doc) -> Doc:
        """Parse one Doc."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse many Docs in batches.

        A Doc that fails goes to the error handler, and does not affect others.

        Args:
            stream: Docs.
            batch_size: the number of Docs per batch.
        """
        for docs in minibatch(stream, size=batch_size):
            yield from self._careful(docs)

    def _careful(self, docs: list[Doc]) -> Iterator[Doc]:
        _ = self.parser  # a missing model is not an error of a Doc
        try:
            self._parse(docs)
        except Exception as error:
            if len(docs) == 1:
                self.get_error_handler()(self.name, self, docs, error)
            else:
                for doc in docs:
                    yield from self._careful([doc])
        else:
            yield from docs

    def _parse(self, docs: Sequence[Doc]) -> None:
        """Parse Docs, all of their sentences together, and store the results."""
        parser, asked = self.parser, self._asked
        assert asked is not None
        splitter = partial(_SPLITTERS[self.settings.sentences], parser)
        words = [_words(doc, splitter) for doc in docs]
        inputs = (sentence_of(sentence, None) for sentences in words for sentence in sentences)
        documents = iter(list(parser.stream(inputs, asked)))
        for doc, sentences in zip(docs, words, strict=True):
            outcomes = [self._outcome(sentence, next(documents)) for sentence in sentences]
            keep(doc, outcomes, layers=asked.tasks, entities_key=self.settings.spans_key)
            if self.settings.set_tags:
                for span in doc.spans[TAGS]:
                    if span.label_:  # sentences that were not parsed keep their tags
                        doc[span.start].tag_ = span.label_
            if self.settings.set_ents:
                doc.set_ents(_outermost(doc.spans[self.settings.spans_key]))

    def _outcome(self, words: Sequence[Token], document: Document) -> Outcome:
        if document.is_ok:
            return Outcome(words, document.only())
        _log.warning("%s: a sentence was not parsed: %s", self.name, document.status)
        return Outcome(words, document.status)

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, Any]:
        """Precision, recall and F1 of the entities, in the form of spaCy's `spancat`."""
        key = self.settings.spans_key
        scores: dict[str, Any] = Scorer.score_spans(
            examples,
            f"spans_{key}",
            getter=lambda doc, _: doc.spans.get(key, []),
            has_annotation=lambda doc: key in doc.spans,
            allow_overlap=True,
        )
        return scores

    def to_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> None:
        """Save the model, unless it ships with fencepost: then its name is enough.

        Files of another model in the folder are removed, since they would be loaded.
        """
        folder, files = Path(path), self._files()
        if files:
            folder.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            if name in files:
                (folder / name).write_bytes(files[name])
            else:
                (folder / name).unlink(missing_ok=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def from_disk(self, path: str | Path, *, exclude: Sequence[str] = ()) -> "Fencepost":
        """Load the model that was saved with the pipeline, if any."""
        if (Path(path) / _FILES[0]).is_file():
            self._folder = Path(path)
            self._load(self._folder)  # at once, since the folder may be temporary
        return self

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """The model as bytes; empty if it ships with fencepost."""
        files = self._files()
        packed = io.BytesIO()
        if files:
            with ZipFile(packed, "w") as archive:
                for name, data in files.items():
                    archive.writestr(name, data)
        return packed.getvalue()

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> "Fencepost":
        """Load a model from bytes, if there are any."""
        if data:
            with TemporaryDirectory() as folder, ZipFile(io.BytesIO(data)) as archive:
                archive.extractall(folder)
                self.from_disk(folder)
        return self

    def _files(self) -> dict[str, bytes]:
        """The files of the model; empty if it ships with fencepost."""
        if self._folder is None and self.settings.model in shipped_models():
            return {}
        folder = self._folder or Path(self.settings.model).expanduser()
        if (folder / _FILES[0]).is_file():
            return _read(folder)
        with TemporaryDirectory() as saved:  # there is no folder, or it is gone
            self.parser.save(saved)
            if self._licence is not None:
                (Path(saved) / _LICENCE).write_bytes(self._licence)
            return _read(Path(saved))

    def __reduce__(self) -> tuple[Any, ...]:
        handler = vars(self).get("error_handler")
        return _unpickled, (self.name, self.settings, self.to_bytes(), handler)


def _unpickled(name: str, settings: Settings, data: bytes, handler: Any) -> Fencepost:
    component = Fencepost(name, settings).from_bytes(data)
    register()
    if handler is not None:
        component.set_error_handler(handler)
    return component


def _read(folder: Path) -> dict[str, bytes]:
    paths = (folder / name for name in _FILES)
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def _fencepost_starts(parser: "Parser", doc: Doc) -> Sequence[int]:
    return parser.model.splitter.starts(doc.text)


def _spacy_starts(parser: "Parser", doc: Doc) -> Sequence[int]:
    is_start = Sentencizer().predict([doc])[0]
    return [token.idx for token, starts in zip(doc, is_start, strict=True) if starts]


_SPLITTERS: dict[str, Callable[["Parser", Doc], Sequence[int]]] = {
    "fencepost": _fencepost_starts,
    "spacy": _spacy_starts,
}


def _words(doc: Doc, splitter: Splitter) -> list[list[Token]]:
    """The words of each sentence with words; sets the boundaries of a Doc without any."""
    sentences = sentences_of(doc, splitter)
    if not doc.has_annotation("SENT_START"):
        starts = {sentence.start for sentence in sentences}
        for token in doc:
            token.is_sent_start = token.i in starts
    return [words for words in map(words_of, sentences) if words]


def _outermost(entities: Iterable[Span]) -> list[Span]:
    """The entities that no other holds: `doc.ents` cannot nest."""
    outermost: list[Span] = []
    for span in entities:
        if not outermost or span.start >= outermost[-1].end:
            outermost.append(span)
    return outermost


def make(nlp: Language, name: str, **config: Any) -> Fencepost:
    """Make the component for `nlp.add_pipe("fencepost", config={...})`.

    Args:
        nlp: the pipeline.
        name: the name of the component.
        config: the settings of the component, and the options of `Parser.parse_many`.
    """
    register()
    names = [one.name for one in fields(Settings)]
    own = {key: value for key, value in config.items() if key in names}
    options = {key: value for key, value in config.items() if key not in names}
    return Fencepost(name, Settings(**own, options=cast(ManyOptions, options)))


def signature_of(options: Mapping[str, Option] = OPTIONS) -> Signature:
    """The signature of `make` with the options of parsing, by which spaCy checks config."""

    def parameter(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
        return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)

    return Signature(
        [
            parameter("nlp", Language),
            parameter("name", str),
            *(parameter(one.name, one.type, one.default) for one in fields(Settings)[:-1]),
            *(
                parameter(name, option.json, option.default)
                for name, option in _configurable(options).items()
            ),
        ]
    )


def default_config(signature: Signature) -> dict[str, Any]:
    """The default settings of the component."""
    parameters = signature.parameters.values()
    return {one.name: one.default for one in parameters if one.default is not Parameter.empty}


vars(make)["__signature__"] = signature_of()
Language.factory(
    "fencepost",
    default_config=default_config(signature_of()),
    assigns=["doc.spans", *EXTENSIONS],
    func=make,
)
