"""Schemas of requests and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from fencepost.config import whole_number
from fencepost.errors import ConfigError
from fencepost.parser.options import OPTIONS, Option, ParseOptions, Task
from fencepost.search import Layer
from fencepost.search.syntax import MOST_LETTERS
from fencepost.web.settings import MOST_BEAMS, MOST_MATCHES, MOST_PHRASES, MOST_READINGS, MOST_SPANS

_FAR = 1_000_000  # more boundaries than any sentence has

Label = Annotated[str, Field(max_length=200)]
Boundary = Annotated[int, Field(ge=0, le=_FAR)]


def _filled(span: Any) -> Any:
    """A span of two boundaries with any label."""
    if isinstance(span, list | tuple) and len(span) in (2, 3):
        return (*span, None)[:3]
    raise PydanticCustomError("span", "a span is [start, end] or [start, end, label]")


def _input(value: Any) -> str | list[str]:
    """A text, or words."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return value
    raise PydanticCustomError("input", "a text or a list of words was expected")


def _whole(name: str, most: int) -> BeforeValidator:
    """Validate a number of beams or readings as the parser does."""

    def check(value: Any) -> Any:
        try:
            return whole_number(name, value, most=most)
        except ConfigError as error:
            why = str(error).removeprefix(f"{name}: ")
            raise PydanticCustomError("number", "{why}", {"why": why}) from None

    return BeforeValidator(check)


_SPAN_SCHEMA = {
    "type": "array",
    "minItems": 2,
    "maxItems": 3,
    "prefixItems": [
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 1},
        {"type": ["string", "null"]},
    ],
}
_INPUT_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}

AskedSpan = Annotated[
    tuple[Boundary, Boundary, Label | None],
    BeforeValidator(_filled),
    WithJsonSchema(_SPAN_SCHEMA),
]
Beams = Annotated[int, Field(ge=1, le=MOST_BEAMS), _whole("beams", MOST_BEAMS)]
Readings = Annotated[int, Field(ge=1, le=MOST_READINGS), _whole("n_best", MOST_READINGS)]
AnyInput = Annotated[str | list[str], PlainValidator(_input), WithJsonSchema(_INPUT_SCHEMA)]

EXAMPLES: list[JsonDict] = [
    {"text": "The cat sat on the mat. It slept."},
    {"words": ["Ann", "met", "Bo"], "tasks": ["tree"], "draw": True},
    {"words": ["Ann", "met", "Bo"], "must": [[1, 3]], "steps": True},
    {"inputs": ["Dogs bark.", ["It", "is", "red"]], "min_probability": 0.5},
    {"text": "I saw the man with the telescope.", "n_best": 3, "probabilities": False},
]


SEARCH_EXAMPLES: list[JsonDict] = [
    {"pattern": "NP=subject $+ (VP < VBD=verb)", "text": "The cat sat on the mat. It slept."},
    {"pattern": "NP{is person}", "words": ["Ann", "met", "Bo"], "limit": 10},
]


# Null counts as missing.
def _one_of(name: str) -> JsonDict:
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


def _check_one_of(request: BaseModel, *names: str) -> None:
    """Refuse a request that does not have exactly one of some fields."""
    present = [name for name in names if getattr(request, name) is not None]
    if len(present) != 1:
        raise ValueError(
            f"exactly one of {', '.join(names[:-1])} and {names[-1]} was expected, "
            f"not {' and '.join(present) or 'none of them'}"
        )


_ONE_INPUT: list[JsonDict] = [_one_of(name) for name in ("text", "words", "inputs")]

# The types of options for which a server allows less than a parser.
_LIMITED: dict[str, Any] = {
    "tasks": Annotated[list[Task], Field(min_length=1, max_length=3)] | None,
    "beams": Beams | None,
    "must": Annotated[list[AskedSpan], Field(max_length=MOST_SPANS)],
    "forbid": Annotated[list[AskedSpan], Field(max_length=MOST_SPANS)],
    "labels": Annotated[list[Label], Field(max_length=1_000)] | None,
    "root": Label | None,
    "gazetteer": Annotated[
        dict[Annotated[str, Field(max_length=1_000)], Label], Field(max_length=MOST_PHRASES)
    ]
    | None,
}


class RequestBase(BaseModel):
    """The inputs and the form of the answer; `ParseRequest` adds the options of parsing."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        json_schema_extra={"examples": [*EXAMPLES], "oneOf": [*_ONE_INPUT]},
    )

    text: str | None = Field(None, description="A text; it is split into sentences and words.")
    words: list[str] | None = Field(
        None, description="The words of one sentence; they are not split again."
    )
    inputs: list[AnyInput] | None = Field(
        None, description="Several texts, or lists of words, each of which gives one document."
    )
    n_best: Readings = Field(
        1,
        description="Readings of each sentence; without beams, at least 10 beams are kept.",
    )
    probabilities: bool = Field(
        True, description="Whether spans have probabilities, and sentences log_probs."
    )
    draw: bool = Field(False, description="Whether to include drawings as SVG.")
    steps: bool = Field(
        False,
        description="Whether to include the steps of greedy search, which then makes the parse; "
        "not with beams.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_one_of(self, "text", "words", "inputs")
        if self.steps and ((self.options()["beams"] or 1) > 1 or self.n_best > 1):
            raise ValueError("steps are those of greedy search; leave out beams and n_best")
        return self

    def given(self) -> list[str | list[str]]:
        """All inputs."""
        if self.inputs is not None:
            return list(self.inputs)
        if self.words is not None:
            return [self.words]
        assert self.text is not None
        return [self.text]

    def options(self) -> ParseOptions:
        """The options of parsing; with steps, search is greedy."""
        values = {name: value for name, value in self if name not in RequestBase.model_fields}
        options = cast(ParseOptions, values)
        if self.steps:
            options["beams"] = options["beams"] or 1
        return options


def request_of(options: Mapping[str, Option] = OPTIONS) -> type[RequestBase]:
    """The schema of requests with these options of parsing."""
    fields: dict[str, Any] = {
        name: (
            _LIMITED.get(name, option.json),
            Field(
                option.default if option.default != () else [],
                ge=option.minimum,
                le=option.maximum,
                description=option.help,
            ),
        )
        for name, option in options.items()
    }
    return create_model(
        "ParseRequest", __base__=RequestBase, __doc__="Inputs to parse, with options.", **fields
    )


ParseRequest = request_of()


Row = Annotated[
    list[int | str | float | None],
    Field(description="start, end, label and, if it is known, probability"),
]


class StepAnswer(BaseModel):
    """One step of greedy search."""

    number: int = Field(description="The number of the step in its layer, from 1.")
    cursor: int = Field(description="The boundary from which it points.")
    boundary: int = Field(description="The boundary to which it points.")
    candidates: list[tuple[int, float]] = Field(
        description="The boundaries to which it could point, each with its probability."
    )
    start: int = Field(description="The start of the completed span.")
    end: int = Field(description="Its end.")
    label: str | None = Field(description="Its label; null for a filler.")
    probability: float = Field(description="Of boundary and label, given the steps before.")
    label_probability: float = Field(description="Of the label alone, given the boundary.")
    runner_up: tuple[str | None, float] | None = Field(
        description="The second best label with its probability; null if there is no other."
    )


class SvgAnswer(BaseModel):
    """Drawings of a sentence's layers."""

    tree: str | None = None
    entities: str | None = None


class StepsAnswer(BaseModel):
    """The steps of a sentence, by layer."""

    tree: list[StepAnswer] | None = None
    entities: list[StepAnswer] | None = None


class ReadingAnswer(BaseModel):
    """One reading of a sentence; missing parts are left out."""

    words: list[str]
    tags: list[str] | None = None
    offsets: list[tuple[int, int]] | None = Field(
        None, description="Start and end of each word in the text of the document."
    )
    tree: list[Row] | None = Field(None, description="The spans of the tree, from the root down.")
    entities: list[Row] | None = Field(None, description="From left to right, holders first.")
    log_probs: dict[str, float] | None = Field(None, description="Of each layer.")
    rank: int | None = Field(None, description="Among several readings, from 1.")
    brackets: str | None = Field(
        None, description="The tree as in treebanks; not if a word contains a blank."
    )
    svg: SvgAnswer | None = Field(None, description="With draw.")
    differences: str | None = Field(
        None, description="The differences to the first reading, as text."
    )


class SentenceAnswer(ReadingAnswer):
    """A sentence; missing parts are left out."""

    readings: list[ReadingAnswer] | None = Field(
        None, description="With n_best above 1: the best first, which is the sentence itself."
    )
    steps: StepsAnswer | None = Field(None, description="With steps.")


class DocumentAnswer(BaseModel):
    """The parses of one input; `Document.from_dict` reads it."""

    version: int = 1
    status: str = Field("ok", description="ok, or the reason why there are no sentences.")
    text: str | None = Field(description="The text of the request; null for words.")
    sentences: list[SentenceAnswer]


class ParseAnswer(BaseModel):
    """The answer to a request."""

    model: str
    documents: list[DocumentAnswer] = Field(description="One for each input, in order.")


class Problem(BaseModel):
    """The reason of a refusal."""

    status: int
    message: str = Field(description="The problem, and what would be right.")


class ErrorAnswer(BaseModel):
    """A refusal."""

    error: Problem


class HealthAnswer(BaseModel):
    """The state of the server."""

    status: Literal["ok", "closing"]
    model: str
    waiting: int = Field(description="Requests that wait for the parser.")


class ModelAnswer(BaseModel):
    """A model of the server."""

    name: str
    tasks: list[str]
    labels: dict[str, list[str]] = Field(description="The labels of each layer.")
    max_words: int = Field(description="Longer sentences are not parsed.")


class SearchRequest(BaseModel):
    """A pattern, and where to search: in one of text, words, inputs and documents."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        json_schema_extra={
            "examples": [*SEARCH_EXAMPLES],
            "oneOf": [*_ONE_INPUT, _one_of("documents")],
        },
    )

    pattern: str = Field(min_length=1, max_length=MOST_LETTERS, description="A Tregex pattern.")
    layer: Layer | None = Field(
        None, description="The layer to search; by default the tree, or else the entities."
    )
    text: str | None = Field(None, description="A text; it is parsed first.")
    words: list[str] | None = Field(None, description="The words of one sentence.")
    inputs: list[AnyInput] | None = Field(None, description="Several texts, or lists of words.")
    documents: list[dict[str, Any]] | None = Field(
        None, description="Documents from earlier answers; they are not parsed again."
    )
    limit: Annotated[int, Field(ge=1, le=MOST_MATCHES)] = Field(
        100, description="Matches in the answer at most."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_one_of(self, "text", "words", "inputs", "documents")
        return self


class NodeAnswer(BaseModel):
    """A node of a tree: a phrase, the tag of a word, or a word."""

    label: str
    kind: Literal["phrase", "tag", "word"]
    start: int = Field(description="The boundary before its first word, in its sentence.")
    end: int = Field(description="The boundary after its last word.")
    start_char: int | None = Field(None, description="Its first character in the text.")
    end_char: int | None = Field(None, description="The character after its last in the text.")
    text: str
    probability: float | None = None


class MatchAnswer(NodeAnswer):
    """A matching node, and the nodes to which the pattern gives names."""

    document: int = Field(description="The index of its document, from 0.")
    sentence: int = Field(description="The index of its sentence in the document, from 0.")
    names: dict[str, NodeAnswer] = Field(description="By name.")


class SearchAnswer(BaseModel):
    """The matches of a search."""

    matches: list[MatchAnswer]
    more: bool = Field(description="Whether there are more than the limit.")
    statuses: list[str] = Field(description="Of each document: ok, or why it was not parsed.")


class LimitsAnswer(BaseModel):
    """The limits of a request."""

    body: int = Field(description="Bytes of a request.")
    words: int = Field(description="Words of a request.")
    inputs: int = Field(description="Inputs of a request.")
    close_words: int = Field(description="Words of a request with n_best, steps, must or forbid.")
    beam_words: int = Field(description="Words of a request times its beams.")
    wait: float = Field(description="Seconds until a request is parsed; then it is refused.")
    n_best: int
    beams: int
    spans: int = Field(description="Spans in must, and in forbid.")
    phrases: int = Field(description="Phrases of a gazetteer.")
    matches: int = Field(description="Matches of a search.")


class ModelsAnswer(BaseModel):
    """The models of the server, and the limits of requests."""

    models: list[ModelAnswer]
    limits: LimitsAnswer
