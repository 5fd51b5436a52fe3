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
from fencepost.validation import problems

Model = TypeVar("Model", bound=BaseModel)

# Models bring settings, too, and may come from anyone: the bounds refuse what is too large for any
# network before it is built.
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(gt=0, le=10**9)]
Width = Annotated[int, Field(gt=0, le=2**15)]
Depth = Annotated[int, Field(gt=0, le=100)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Label = Annotated[str, Field(min_length=1)]
HeadName = Literal["tree", "entities", "tags"]
PreviousLabel = Annotated[
    StrictBool,
    Field(description="whether the label of the last span is an input of the decoder"),
]

MOST_BEAMS = 1000  # beyond it a batch does not fit into memory

_MOST_BYTES = 1 << 20  # of a TOML file, which has some hundreds


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RelabelSettings(_Settings):
    """A new label for phrases of exactly one word."""

    label: str = Field(description="label of the phrase")
    tags: tuple[str, ...] = Field(min_length=1, description="tags that its only word may have")
    to: Label = Field(description="its new label")


class Corpus(_Settings):
    """Files to train on or to score with."""

    path: str = Field(
        description="a file or a folder, in any format; relative to the working directory"
    )
    also: str | None = Field(
        default=None, description="a file with other layers of the same sentences"
    )
    format: str | None = Field(
        default=None, description="format of the file; by default, by its suffix"
    )
    entity_columns: tuple[int, ...] | None = Field(
        default=None,
        description="columns of entities in CoNLL files, counted from 0; by default, those that "
        "look like a tagging scheme",
    )
    weight: Rate = Field(default=1.0, description="weight of each sentence's loss")
    sample: float = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="how many times each sentence is seen in an epoch; 0.25: a quarter of them, "
        "drawn anew each time; only in `data.train`",
    )
    layers: tuple[HeadName, ...] | None = Field(
        default=None, description="layers to use; by default, all that the file has"
    )
    skip: tuple[Label, ...] = Field(
        default=(),
        description="patterns of ids, as in `GUM_essay_*`; sentences whose id matches are left out",
    )
    rename: dict[str, Label] = Field(
        default={}, description="new names for labels of phrases, which are given without functions"
    )
    rename_tags: dict[str, Label] = Field(default={}, description="new names for tags")
    relabel: tuple[RelabelSettings, ...] = Field(
        default=(), description="new labels for phrases of one word; see below"
    )
    splice: tuple[str, ...] = Field(
        default=(), description="labels of phrases to remove; their children move up"
    )


class DataSettings(_Settings):
    """The files, and how to read them."""

    train: tuple[Corpus, ...] = Field(min_length=1, description="the files to train on")
    dev: tuple[Corpus, ...] = Field(
        default=(), description="the files that choose the best epoch; these or `hold_out`"
    )
    hold_out: Share = Field(
        default=0.0,
        description="the share of the training sentences that choose the best epoch instead of "
        "`dev`; a hash of their words selects them",
    )
    drop_traces: StrictBool = Field(
        default=True, description="remove `-NONE-`, and phrases that hold nothing else"
    )
    drop_functions: StrictBool = Field(default=True, description="`NP-SBJ-1` becomes `NP`")
    drop_features: StrictBool = Field(default=True, description="remove SPMRL's `##…##`")
    on_crossing: Literal["error", "drop-sentence", "drop-span"] = Field(
        default="error", description="the treatment of entities that cross others"
    )
    encoding: str = Field(default="utf-8", description="character encoding of the files")

    def model_post_init(self, context: Any) -> None:
        """Refuse a run without dev sentences, or with a sample of them."""
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
    """Word and character embeddings trained from scratch: the paper's runs without BERT."""

    kind: Literal["words"] = Field(
        default="words", description="word and character embeddings, trained from scratch"
    )
    word_width: Width = Field(default=100, description="size of word embeddings")
    character_width: Width = Field(default=50, description="size of character embeddings")
    character_hidden: Width = Field(
        default=100, description="size of the BiLSTM over characters, both directions together"
    )
    min_count: Count = Field(default=2, description="words with a lower count are unknown")
    unknown: NotNegative = Field(
        default=0.25,
        description="in training, a word with count c is replaced by the unknown word with "
        "probability unknown / (unknown + c)",
    )
    vectors: str | None = Field(
        default=None,
        description="a file of static word vectors, as wide as `word_width`: "
        "[train](../guides/train.md#encoder)",
    )
    most_vectors: Count = Field(default=100_000, description="number of static vectors to read")


class TransformerSettings(_Settings):
    """A pretrained transformer, by hub name or folder."""

    kind: Literal["transformer"] = Field(
        default="transformer", description="a pretrained transformer"
    )
    model: str = Field(description="its name on the hub, or a folder")
    pieces: Literal["last", "first", "mean"] = Field(
        default="last", description="the piece that represents a word, or the mean of all"
    )
    layers: Depth = Field(
        default=1, description="number of last layers to mix; 1: only the last layer"
    )
    case: StrictBool = Field(
        default=False, description="add an embedding of capitalisation, for uncased transformers"
    )
    piece_dropout: Share = Field(
        default=0.0, description="share of pieces whose embeddings are zeroed in training"
    )
    frozen: StrictBool = Field(default=False, description="do not train the transformer")


class NetworkSettings(_Settings):
    """The encoder that all heads share."""

    encoder: Annotated[WordsSettings | TransformerSettings, Field(discriminator="kind")] = Field(
        description="one of the two kinds below"
    )
    lstm_layers: int = Field(
        default=3, ge=0, le=3, description="BiLSTM layers above the encoder; 0: none"
    )
    lstm_hidden: Width = Field(
        default=1000, description="size of these BiLSTM layers, in each direction"
    )
    boundary: Literal["halves", "whole"] = Field(
        default="halves",
        description="`halves`: a boundary takes the forward half of the word on its left and the "
        "backward half of the one on its right; `whole`: all of both",
    )
    dropout: Share = Field(default=0.33, description="dropout in the BiLSTM and the heads")
    splitter: str = Field(
        default="english", description="rules that split text into sentences and words"
    )


class HeadSettings(_Settings):
    """A pointing decoder with its labels; what is off by default goes beyond the paper."""

    previous_label: PreviousLabel
    mlp: Width = Field(default=500, description="size of the MLPs and of label embeddings")
    decoder: Width = Field(default=1000, description="size of the decoder's LSTM, if there is one")
    perceptrons: Literal["paper", "authors"] = Field(
        default="paper",
        description="`paper`: MLPs of two layers, as its text has them; `authors`: one layer, "
        "LayerNorm for labels, and the initialisation of the authors' program",
    )
    pointing: Literal["softmax", "nearest-first"] = Field(
        default="softmax",
        description="`softmax` over candidates, or `nearest-first`: a decision at each candidate "
        'in turn; it needs `training.pointing_loss = "canonical"`',
    )
    standing: StrictBool = Field(
        default=False, description="whether the cursor's own boundary is part of the query"
    )
    context: StrictBool = Field(
        default=False,
        description="whether the query and label scores use the newest span and the stack",
    )
    grid: int = Field(
        default=0,
        ge=0,
        le=2**15,
        strict=True,  # true would be 1
        description="hidden size of the scores of all spans, as in 100; 0: no such scores",
    )
    recurrent: StrictBool = Field(
        default=True,
        description="whether the decoder has an LSTM; `false` needs `standing` and `context`, and "
        "no `previous_label`",
    )
    weight: Rate = Field(
        default=1.0, description="weight of its loss, relative to those of the other heads"
    )

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        """Refuse a decoder without inputs, and a grid of one hidden unit."""
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

    previous_label: PreviousLabel = False


class EntitiesSettings(HeadSettings):
    """The head for entities; the paper feeds the previous label (section 4)."""

    previous_label: PreviousLabel = True


class TagsSettings(_Settings):
    """The head for part-of-speech tags: one linear layer."""

    weight: Rate = Field(
        default=1.0, description="weight of its loss, relative to those of the other heads"
    )


class HeadsSettings(_Settings):
    """The heads; at least one is needed."""

    tree: TreeSettings | None = Field(default=None, description="the head for trees")
    entities: EntitiesSettings | None = Field(default=None, description="the head for entities")
    tags: TagsSettings | None = Field(
        default=None, description="the head for part-of-speech tags: one linear layer"
    )

    def model_post_init(self, context: Any) -> None:
        """Refuse a network without any head."""
        if not self.names:
            raise ConfigError("heads: at least one of tree, entities, tags has to be there")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the heads."""
        return tuple(name for name in ("tree", "entities", "tags") if getattr(self, name))

    def differences(self, other: HeadsSettings, name: str) -> list[str]:
        """The settings of a head that differ from those of another model, with both values."""
        ours, theirs = (
            getattr(heads, name).model_dump(exclude={"weight"}) for heads in (self, other)
        )
        return [
            f"{key} {value!r} and {theirs[key]!r}"
            for key, value in ours.items()
            if value != theirs[key]
        ]


class SearchSettings(_Settings):
    """The search, unless a caller chooses another; dev scores in training use it, too."""

    beams: int = Field(
        default=1,
        ge=1,
        le=MOST_BEAMS,
        strict=True,  # true would be 1
        description="size of the beam; 1 is greedy search. Saved with the model",
    )


class JoinSettings(_Settings):
    """Neighbouring sentences joined into long ones, other ones in each epoch."""

    share: Share = Field(description="share of the sentences of an epoch")
    longest: Count = Field(default=200, description="maximal number of words of a joined sentence")


class AugmentSettings(_Settings):
    """Sentences in another form, other ones in each epoch."""

    share: float = Field(ge=0, le=1, description="share of the sentences of an epoch")
    forms: tuple[Literal["upper", "lower", "no-stop", "quotes"], ...] = Field(
        default=("upper", "lower", "no-stop", "quotes"),
        min_length=1,
        description="all capitals, no capitals, no final stop, other quotation marks; each changed "
        "sentence has one of them",
    )


class TrainingSettings(_Settings):
    """The paper's recipe (section 3.3)."""

    epochs: Count = Field(default=10, description="passes through the training sentences")
    batch_words: Count = Field(default=3000, description="approximate number of words in a batch")
    accumulate: Count = Field(default=1, description="batches for one step of the optimiser")
    rate: Rate = Field(
        default=2.5e-3,
        description="learning rate of all weights but those of a pretrained transformer",
    )
    encoder_rate: Rate = Field(
        default=5e-5, description="learning rate of a pretrained transformer"
    )
    layer_decay: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="factor of `encoder_rate` from each layer to the next lower",
    )
    betas: tuple[Share, Share] = Field(default=(0.9, 0.9), description="betas of Adam")
    weight_decay: NotNegative = Field(default=0.0, description="weight decay of Adam")
    warmup: Share = Field(default=0.1, description="share of all steps in which the rate rises")
    clip: Rate = Field(default=5.0, description="maximal norm of the gradient")
    pointing_loss: Literal["all", "candidates", "canonical"] = Field(
        default="all",
        description="the boundaries over which pointing is normalised: `all`, the `candidates`, or "
        "those that canonical search allows; `canonical` also normalises over the labels that it "
        "allows",
    )
    label_smoothing: Share = Field(
        default=0.0, description="share of the target that is spread evenly over all labels"
    )
    augment: AugmentSettings | None = Field(
        default=None, description="sentences in another form; by default, none; see below"
    )
    join: JoinSettings | None = Field(
        default=None, description="sentences joined into long ones; by default, none; see below"
    )
    average: Share = Field(
        default=0.0,
        description="decay of the moving average of weights, in step t (1 + t) / (10 + t) at most; "
        "0: no average",
    )
    precision: Literal["fp32", "bf16"] = Field(
        default="fp32", description="`bf16` needs a device that supports it for LSTMs"
    )
    device: str = Field(default="cpu", description="`cpu`, `cuda`, `cuda:1` or `mps`")
    threads: int | None = Field(
        default=None, gt=0, le=4096, description="CPU threads; by default, as many as torch takes"
    )
    checkpoint_seconds: float = Field(
        default=300.0, ge=0, description="time between two checkpoints; 0: one after each step"
    )
    init: str | None = Field(
        default=None,
        description="a model to start from: a folder, or one that ships. It fills in what the file "
        "leaves out: [start from a model](../guides/train.md#start-from-a-model)",
    )
    keep_labels: tuple[HeadName, ...] = Field(
        default=(), description="heads that keep labels of `init` that no training sentence has"
    )
    rehearse: NotNegative = Field(
        default=1.0,
        description="for heads whose layer no training sentence has: the weight of the loss on "
        "the parses of `init`; 0: these heads are frozen",
    )

    def model_post_init(self, context: Any) -> None:
        """Refuse to smooth labels over those that are not allowed."""
        if self.pointing_loss == "canonical" and self.label_smoothing:
            raise ConfigError(
                "training.label_smoothing: with pointing_loss = canonical some labels are not "
                "allowed, and cannot have a share; 0 is right"
            )


class Settings(_Settings):
    """All settings of a training run."""

    seed: int = Field(
        default=1,
        ge=0,
        description="random seed of initial weights, the order of batches and dropout",
    )
    data: DataSettings = Field(description="the files; see below")
    network: NetworkSettings = Field(description="the encoder that all heads share; see below")
    heads: HeadsSettings = Field(description="the layers to predict; see below")
    search: SearchSettings = Field(default=SearchSettings(), description="the search; see below")
    training: TrainingSettings = Field(
        default=TrainingSettings(), description="the recipe; see below"
    )

    def model_post_init(self, context: Any) -> None:
        """Refuse nearest-first pointing without the loss that it is defined for."""
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
    """Read settings from a TOML file; errors name each key that is wrong.

    Args:
        path: the TOML file.
        changes: overrides, as in `training.epochs=3`.
    """
    return checked(Settings, read_table(path, changes=changes), where=str(path))


def read_table(path: str | os.PathLike[str], *, changes: Sequence[str] = ()) -> dict[str, Any]:
    """Read a TOML file, with changes as in `read_settings`, and do not check it."""
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
    """Validate data; one ConfigError lists all that is wrong."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        lines = [f"  {line}" for line in problems(kind, error.errors())]
        raise ConfigError("\n".join([f"{where}:", *lines])) from None


def whole_number(name: str, value: object, *, most: int = MOST_BEAMS) -> int:
    """Check an option that is a whole number from 1 on.

    >>> whole_number("beams", 2.5)
    Traceback (most recent call last):
    fencepost.errors.ConfigError: beams: a whole number from 1 to 1000, not 2.5
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= most:
        return int(value)
    raise ConfigError(f"{name}: a whole number from 1 to {most}, not {clipped(repr(value))}")
