"""Settings: TOML in, checked values out. Unknown keys are refused.

Defaults are the paper's (section 3.3) wherever it names a value.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from numbers import Integral
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from fencepost.errors import ConfigError, clipped

Model = TypeVar("Model", bound=BaseModel)

# Settings come with models, too, whoever made these: what is too large for any network is refused
# before anything is made of it.
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(gt=0, le=10**9)]
Width = Annotated[int, Field(gt=0, le=2**15)]
Depth = Annotated[int, Field(gt=0, le=100)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Label = Annotated[str, Field(min_length=1)]

MOST_BEAMS = 1000  # beyond it a batch does not fit into memory

_MOST_BYTES = 1 << 20  # of a file of settings, which has some hundreds


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RelabelSettings(_Settings):
    """A new label for phrases of exactly one word."""

    label: str
    tags: tuple[str, ...] = Field(min_length=1)  # that the word may have
    to: Label  # the new label


class Corpus(_Settings):
    """Files to train on or to score with: how they are read, and how much they count."""

    path: str
    also: str | None = None  # a file with other layers of the same sentences
    format: str | None = None  # None: what the suffix tells
    entity_columns: tuple[int, ...] | None = None  # CoNLL: None: those that look like a scheme
    weight: Rate = 1.0  # of each sentence's loss
    sample: Annotated[float, Field(gt=0, le=1000)] = 1.0  # how often each is seen in an epoch
    layers: tuple[Literal["tree", "entities", "tags"], ...] | None = None  # None: all it has
    skip: tuple[Label, ...] = ()  # patterns of ids; sentences whose id matches are left out
    rename: dict[str, Label] = {}  # labels of phrases, without functions, and their new names
    rename_tags: dict[str, Label] = {}  # tags and their new names
    relabel: tuple[RelabelSettings, ...] = ()  # phrases of one word; see below
    splice: tuple[str, ...] = ()  # labels of phrases that are taken out; their children move up


class DataSettings(_Settings):
    """Which files, and what is read of them."""

    train: tuple[Corpus, ...] = Field(min_length=1)
    dev: tuple[Corpus, ...] = ()
    hold_out: Share = 0.0  # without dev: the share of the training sentences that take its place
    drop_traces: StrictBool = True
    drop_functions: StrictBool = True
    drop_features: StrictBool = True
    on_crossing: Literal["error", "drop-sentence", "drop-span"] = "error"
    encoding: str = "utf-8"

    def model_post_init(self, context: Any) -> None:
        """Refuse to score with nothing, with a part of a file, or with some sentences twice."""
        if bool(self.dev) == bool(self.hold_out):
            raise ConfigError(
                "data.dev: sentences to choose the best epoch by are needed, either files or "
                "hold_out = 0.1, which takes a tenth of the training sentences; "
                + ("both are here" if self.dev else "neither is here")
            )
        for number, corpus in enumerate(self.dev):
            if corpus.sample != 1:
                raise ConfigError(
                    f"data.dev.{number}.sample: {corpus.sample:g}; all sentences of a dev file are "
                    "scored, each once, so 1 is right"
                )


class WordsSettings(_Settings):
    """Words and characters learned from scratch: the paper's runs without BERT."""

    kind: Literal["words"] = "words"
    word_width: Width = 100
    character_width: Width = 50
    character_hidden: Width = 100  # of the LSTM over characters, both directions together
    min_count: Count = 2  # rarer words are unknown
    unknown: NotNegative = 0.25  # how readily rare words are taken for unknown
    vectors: str | None = None  # static word vectors, as wide as words are here: see the guide
    most_vectors: Count = 100_000  # how many of them are read


class TransformerSettings(_Settings):
    """A pretrained transformer, by hub name or folder."""

    kind: Literal["transformer"] = "transformer"
    model: str
    pieces: Literal["last", "first", "mean"] = "last"  # which of a word's pieces stand for it
    layers: Depth = 1  # how many of the last layers are mixed; 1: the last alone
    case: StrictBool = False  # whether it is told of capital letters, if it is uncased
    piece_dropout: Share = 0.0  # how many pieces it does not get to see in training
    frozen: StrictBool = False


class NetworkSettings(_Settings):
    """The encoder that all heads share."""

    encoder: Annotated[WordsSettings | TransformerSettings, Field(discriminator="kind")]
    lstm_layers: Annotated[int, Field(ge=0, le=3)] = 3
    lstm_hidden: Width = 1000  # in each direction
    boundary: Literal["halves", "whole"] = "halves"  # how much a boundary takes of each neighbour
    dropout: Share = 0.33
    splitter: str = "english"  # whose rules split text into sentences and words


class HeadSettings(_Settings):
    """A pointing decoder with its labels; what is off by default goes beyond the paper."""

    previous_label: StrictBool
    mlp: Width = 500
    decoder: Width = 1000
    perceptrons: Literal["paper", "authors"] = "paper"  # as in its text, or in their program
    pointing: Literal["softmax", "nearest-first"] = "softmax"  # how scores become probabilities
    standing: StrictBool = False  # whether the cursor's own boundary is asked, too
    context: StrictBool = False  # whether the newest span and the labels on the stack are
    # Hidden size of the scores of all spans; strict, since true would be 1.
    grid: Annotated[int, Field(ge=0, le=2**15, strict=True)] = 0
    recurrent: StrictBool = True  # whether the LSTM is there
    weight: Rate = 1.0  # of its loss

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        """Refuse a decoder that would have nothing to look at, and a grid that says nothing."""
        missing = [name for name in ("standing", "context") if not getattr(self, name)]
        if not self.recurrent and missing:
            raise PydanticCustomError(
                "head",
                "recurrent = false needs standing = true and context = true, or the decoder has "
                f"nothing to look at; false here: {', '.join(missing)}",
            )
        if not self.recurrent and self.previous_label:
            raise PydanticCustomError(
                "head",
                "recurrent = false needs previous_label = false (true is the default for "
                "entities), since the LSTM reads that label; context = true looks at it instead",
            )
        if self.grid == 1:
            raise PydanticCustomError(
                "head", "grid = 1 scores all spans alike; it is the size of a layer, as in 100"
            )
        return self


class TreeSettings(HeadSettings):
    """The head for trees; the paper leaves out the previous label (section 4)."""

    previous_label: StrictBool = False


class EntitiesSettings(HeadSettings):
    """The head for entities; the paper feeds the previous label (section 4)."""

    previous_label: StrictBool = True


class TagsSettings(_Settings):
    """The head for part-of-speech tags: one linear layer."""

    weight: Rate = 1.0


class HeadsSettings(_Settings):
    """Which heads there are."""

    tree: TreeSettings | None = None
    entities: EntitiesSettings | None = None
    tags: TagsSettings | None = None

    def model_post_init(self, context: Any) -> None:
        """Refuse a network without any head."""
        if not self.names:
            raise ConfigError("heads: at least one of tree, entities, tags has to be there")

    @property
    def names(self) -> tuple[str, ...]:
        """The heads that there are."""
        return tuple(name for name in ("tree", "entities", "tags") if getattr(self, name))

    def differences(self, other: HeadsSettings, name: str) -> list[str]:
        """The settings of a head that are others elsewhere, each with both values."""
        one, two = (getattr(heads, name).model_dump(exclude={"weight"}) for heads in (self, other))
        return [f"{key} {one[key]!r} and {two[key]!r}" for key in one if one[key] != two[key]]


class SearchSettings(_Settings):
    """How parses are searched for, unless a caller says otherwise; dev scores in training, too."""

    # Parses that are kept at each step; 1 is greedy search. Strict, since true would be 1.
    beams: Annotated[int, Field(ge=1, le=MOST_BEAMS, strict=True)] = 1


class JoinSettings(_Settings):
    """Neighbouring sentences joined into long ones, other ones in each epoch."""

    share: Share  # of the sentences of an epoch
    longest: Count = 200  # words


class AugmentSettings(_Settings):
    """Sentences in another form, other ones in each epoch."""

    share: Annotated[float, Field(ge=0, le=1)]  # of the sentences of an epoch
    forms: tuple[Literal["upper", "lower", "no-stop", "quotes"], ...] = Field(
        default=("upper", "lower", "no-stop", "quotes"), min_length=1
    )


class TrainingSettings(_Settings):
    """The paper's recipe (section 3.3)."""

    epochs: Count = 10
    batch_words: Count = 3000
    accumulate: Count = 1  # batches for one step
    rate: Rate = 2.5e-3
    encoder_rate: Rate = 5e-5  # of a pretrained transformer
    layer_decay: Annotated[float, Field(gt=0, le=1)] = 1.0  # of that rate, from layer to layer down
    betas: tuple[Share, Share] = (0.9, 0.9)
    weight_decay: NotNegative = 0.0
    warmup: Share = 0.1  # of all steps
    clip: Rate = 5.0
    # Over which boundaries pointing is normalised; canonical: labels too, over those allowed.
    pointing_loss: Literal["all", "candidates", "canonical"] = "all"
    label_smoothing: Share = 0.0
    augment: AugmentSettings | None = None  # None: sentences are written as they are
    join: JoinSettings | None = None  # None: sentences are as long as they are
    average: Share = 0.0  # decay of the moving average of weights; 0: none
    precision: Literal["fp32", "bf16"] = "fp32"
    device: str = "cpu"  # or cuda, cuda:1, mps
    threads: Annotated[int, Field(gt=0, le=4096)] | None = None
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 300.0  # between two; 0: after each step
    init: str | None = None  # the folder of a model to start from
    # Heads whose labels of that model stay although no sentence to train on has them.
    keep_labels: tuple[Literal["tree", "entities", "tags"], ...] = ()
    # Weight of that model's own output, for heads that no sentence to train on has the layer of.
    rehearse: NotNegative = 1.0

    def model_post_init(self, context: Any) -> None:
        """Refuse to share out a label's target among labels that are not allowed."""
        if self.pointing_loss == "canonical" and self.label_smoothing:
            raise ConfigError(
                "training.label_smoothing: with pointing_loss = canonical some labels are not "
                "allowed, and cannot have a share; 0 is right"
            )


class Settings(_Settings):
    """All settings of a training run."""

    seed: int = 1
    data: DataSettings
    network: NetworkSettings
    heads: HeadsSettings
    search: SearchSettings = SearchSettings()
    training: TrainingSettings = TrainingSettings()

    def model_post_init(self, context: Any) -> None:
        """Refuse to normalise nearest-first pointing over what is never asked."""
        heads = {"tree": self.heads.tree, "entities": self.heads.entities}
        for name, head in heads.items():
            nearest = head is not None and head.pointing == "nearest-first"
            if nearest and self.training.pointing_loss != "canonical":
                raise ConfigError(
                    f"heads.{name}.pointing: nearest-first asks canonical candidates in order; "
                    'training.pointing_loss has to be "canonical" (for all heads), not '
                    f'"{self.training.pointing_loss}"'
                )


def read_settings(path: str | os.PathLike[str], *, changes: Sequence[str] = ()) -> Settings:
    """The settings in a TOML file; what is wrong with it is named key by key.

    Args:
        path: the file.
        changes: settings that differ from it, as in `training.epochs=3`.
    """
    return checked(Settings, read_table(path, changes=changes), where=str(path))


def read_table(path: str | os.PathLike[str], *, changes: Sequence[str] = ()) -> dict[str, Any]:
    """The table in a TOML file, with changes as in `read_settings`, not checked yet."""
    try:
        with open(path, "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if len(raw) > _MOST_BYTES:
        raise ConfigError(
            f"{path}: more than {_MOST_BYTES:,} bytes, where a file of settings (TOML) is expected"
        )
    try:
        data = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # a number or lists may be too much for Python
        raise ConfigError(f"{path}: no TOML: {error}") from error
    for change in changes:
        change_table(data, change)
    return data


def change_table(data: dict[str, Any], change: str) -> None:
    """Set a value in a table, as in `training.epochs=3`."""
    key, equals, text = change.partition("=")
    *tables, name = key.strip().split(".")
    if not equals or not name:
        raise ConfigError(f"{change!r}: a setting is expected, as in training.epochs=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text  # a name without quotation marks
    for table in tables:
        data = data.setdefault(table, {})
        if not isinstance(data, dict):
            raise ConfigError(f"{change!r}: {table} is no table of settings")
    data[name] = value


def checked(kind: type[Model], data: Any, *, where: str) -> Model:
    """Data as settings of a kind; all that is wrong is told in one ConfigError."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        lines = [f"  {_key(item['loc'])}: {item['msg']}" for item in error.errors()]
        raise ConfigError("\n".join([f"{where}:", *lines])) from None


def whole_number(name: str, value: object, *, most: int = MOST_BEAMS) -> int:
    """A number of beams or of readings that somebody asks for.

    >>> whole_number("beams", 2.5)
    Traceback (most recent call last):
    fencepost.errors.ConfigError: beams: a whole number from 1 to 1000, not 2.5
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= most:
        return int(value)
    raise ConfigError(f"{name}: a whole number from 1 to {most}, not {clipped(repr(value))}")


def _key(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)
