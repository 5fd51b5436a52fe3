"""The pages that are made from the code: the command line, options of parsing, settings."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fencepost import config
from fencepost.cli.app import app
from fencepost.parser.options import OPTIONS, ParseOptions
from tests.docs.running import own

COMMANDS = tuple(
    command.callback.__name__.replace("_", "-")
    for command in app.registered_commands
    if command.callback
)


@cache
def help_of(*command: str) -> str:
    """What `fencepost COMMAND --help` prints."""
    return own([*command, "--help"], columns=90).strip()


def command_line_page() -> str:
    """The page of the command line."""
    parts = [
        "# Command line\n\n"
        "Results go to standard output, notes and progress bars to standard error (bars only if\n"
        "that is a terminal). The status is 0 if all went well, 1 if `inspect` found problems,\n"
        "and 2 if something was wrong with the input or the options.\n",
        f"```text\n{help_of()}\n```\n",
    ]
    parts += (f"## {name}\n\n```text\n{help_of(name)}\n```\n" for name in COMMANDS)
    return "\n".join(parts)


def options_page() -> str:
    """The page of the options of parsing."""
    hints = get_type_hints(ParseOptions)
    rows = [
        f"| `{name}` | `{_python(hints[name])}` | `{option.default!r}` | {option.help} |"
        for name, option in OPTIONS.items()
    ]
    return "\n".join(
        [
            "# Options of parsing\n",
            "`Parser.parse`, `parse_many`, `n_best`, `edit` and `steps` take them as keywords, "
            "`fencepost parse` as flags\n([command line](command-line.md)), the server as fields "
            "of a request ([serve it](../guides/serve.md)), and spaCy in\nthe config of the "
            "component ([spaCy](../guides/spacy.md), all but `gazetteer`). Those for one sentence "
            "are not for\n`parse_many`, a corpus or spaCy. All others are in the record of a "
            "corpus: `--resume` refuses another value.\n\n"
            "This page is made from `fencepost.parser.options`.\n",
            "| option | type | default | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _python(hint: Any) -> str:
    """A type as it is written in code, but for the sign that would end a cell."""
    name = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", name).replace(" | ", " or ")


TABLES: dict[str, type[BaseModel]] = {
    "At the top": config.Settings,
    "`[data]`": config.DataSettings,
    "Each of `data.train` and `data.dev`": config.Corpus,
    "Each of `relabel`": config.RelabelSettings,
    "`[network]`": config.NetworkSettings,
    '`network.encoder`, `kind = "words"`': config.WordsSettings,
    '`network.encoder`, `kind = "transformer"`': config.TransformerSettings,
    "`[heads]`": config.HeadsSettings,
    "`[heads.tree]`": config.TreeSettings,
    "`[heads.entities]`": config.EntitiesSettings,
    "`[heads.tags]`": config.TagsSettings,
    "`[search]`": config.SearchSettings,
    "`[training]`": config.TrainingSettings,
    "`[training.augment]`": config.AugmentSettings,
    "`[training.join]`": config.JoinSettings,
}

# What a setting means. Where nothing is said here, the comment beside it in config.py is shown.
MEANINGS = {
    "Settings.seed": "of all that is drawn: first weights, order of batches, dropout",
    "Settings.data": "the files; see below",
    "Settings.network": "the encoder that all heads share; see below",
    "Settings.heads": "what is found; see below",
    "Settings.search": "how the model searches; see below",
    "Settings.training": "the recipe; see below",
    "SearchSettings.beams": "parses that are kept at each step, unless a caller names another "
    "number; 1 is greedy search. It is written into the model's folder, and dev scores in "
    "training use it, too",
    "Corpus.path": "a file or a folder, in any format; looked up from where the command is given",
    "Corpus.format": "of the file; without it, what the suffix tells",
    "Corpus.entity_columns": "of CoNLL files, counted from 0; without them, those that look like a "
    "scheme",
    "Corpus.sample": "how many times each sentence is seen in an epoch; 0.25: a quarter of them, "
    "drawn anew each time; only in `data.train`",
    "Corpus.layers": "which layers are used; without it, all that the file has",
    "Corpus.skip": "patterns of ids, as `GUM_essay_*`; sentences whose id matches are left out",
    "Corpus.rename": "labels of phrases, without functions, and their new names",
    "RelabelSettings.label": "of the phrase",
    "RelabelSettings.tags": "that its only word may have",
    "RelabelSettings.to": "its new label",
    "DataSettings.train": "the files to train on",
    "DataSettings.dev": "the files that choose the best epoch; these or `hold_out`",
    "DataSettings.hold_out": "the share of the training sentences that choose it instead; which "
    "ones, their words decide",
    "DataSettings.drop_traces": "leave out `-NONE-` and what holds nothing else",
    "DataSettings.drop_functions": "`NP-SBJ-1` becomes `NP`",
    "DataSettings.drop_features": "cut SPMRL's `##…##`",
    "DataSettings.on_crossing": "what happens to entities that cross others",
    "DataSettings.encoding": "of the files",
    "WordsSettings.kind": "words and characters learned from scratch",
    "WordsSettings.word_width": "numbers in the vector of a word",
    "WordsSettings.character_width": "numbers in the vector of a character",
    "WordsSettings.vectors": "static word vectors, as wide as `word_width`: "
    "[train](../guides/train.md#encoder)",
    "TransformerSettings.kind": "a pretrained transformer",
    "TransformerSettings.model": "its name on the hub, or a folder",
    "TransformerSettings.frozen": "whether its weights stay as they are",
    "NetworkSettings.encoder": "one of the two kinds below",
    "NetworkSettings.splitter": "whose rules split text into sentences and words",
    "NetworkSettings.lstm_layers": "two-way LSTM layers on top; 0 for none",
    "NetworkSettings.dropout": "share of numbers that are hidden in training",
    "HeadsSettings.tree": "the head for trees",
    "HeadsSettings.entities": "the head for entities",
    "HeadsSettings.tags": "the head for part-of-speech tags: one linear layer",
    "HeadSettings.previous_label": "whether the decoder is told the label of the last span",
    "HeadSettings.mlp": "width of the perceptrons",
    "HeadSettings.decoder": "width of the decoder's LSTM, if there is one",
    "HeadSettings.perceptrons": "`paper`: two layers, as its text has them; `authors`: one layer, "
    "LayerNorm for labels, and first weights as in the authors' program",
    "HeadSettings.pointing": "`softmax` over candidates, or `nearest-first`: asked one after the "
    'other, with `training.pointing_loss = "canonical"`',
    "HeadSettings.standing": "whether the cursor's own boundary is part of the query",
    "HeadSettings.context": "whether the query and labels look at the newest span and the stack",
    "HeadSettings.grid": "hidden size of the scores of all spans, as in 100; 0: no such scores",
    "HeadSettings.recurrent": "`false` leaves out the LSTM; needs `standing` and `context`, and no "
    "`previous_label`",
    "HeadSettings.weight": "of its loss, beside those of the other heads",
    "TagsSettings.weight": "of its loss, beside those of the other heads",
    "TrainingSettings.epochs": "how often all sentences are gone through",
    "TrainingSettings.batch_words": "words in a batch, about",
    "TrainingSettings.rate": "of all weights but those of a pretrained transformer",
    "TrainingSettings.betas": "of Adam",
    "TrainingSettings.weight_decay": "of Adam",
    "TrainingSettings.warmup": "share of all steps over which the rate rises",
    "TrainingSettings.clip": "the longest gradient",
    "TrainingSettings.pointing_loss": "over what pointing is normalised; `canonical`: what search "
    "allows, and then labels are, too",
    "TrainingSettings.label_smoothing": "share that is given to all labels alike",
    "TrainingSettings.augment": "sentences in another form; without it, none; see below",
    "TrainingSettings.join": "sentences joined into long ones; without it, none; see below",
    "AugmentSettings.forms": "all capitals, no capitals, no final stop, other quotation marks; "
    "each changed sentence has one of them",
    "JoinSettings.longest": "words of a joined sentence, at most",
    "TrainingSettings.precision": "`bf16` only where the device has it for LSTMs",
    "TrainingSettings.threads": "of the processor; without it, as many as torch takes",
    "TrainingSettings.init": "a model to start from: a folder, or one that ships. It fills in "
    "what the file leaves out: [start from a model](../guides/train.md#start-from-a-model)",
    "TrainingSettings.keep_labels": "heads that keep labels of `init` which the sentences lack",
    "TrainingSettings.rehearse": "weight of what `init` finds in the sentences, for heads whose "
    "layer no sentence has; 0: these heads are frozen",
}


def settings_page() -> str:
    """The page of all settings."""
    parts = [
        "# Settings",
        "A training run has its settings in a TOML file: `fencepost train FILE.toml --out RUN`. "
        "Anything that is not in the\nfile has its default; defaults are the paper's (section 3.3) "
        "wherever it names a value. A name that is not on this\npage is refused. "
        "`--set training.epochs=3` on the command line goes before the file. "
        "[Your own treebank](../guides/treebank.md)\nand [train](../guides/train.md) show whole "
        "files.\n\nThis page is made from `fencepost.config`.",
    ]
    for title, kind in TABLES.items():
        lines = ["| setting | value | default | meaning |", "|---|---|---|---|"]
        lines += (_row(kind, name, info) for name, info in kind.model_fields.items())
        parts += [f"## {title}", f"{_told(kind)}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _told(kind: type[BaseModel]) -> str:
    return inspect.getdoc(kind) or ""


def _row(kind: type[BaseModel], name: str, info: FieldInfo) -> str:
    default = _default(info.get_default(call_default_factory=True))
    value = _bounded(info.annotation, info.metadata)
    return f"| `{name}` | {value} | {default} | {_meaning(kind, name)} |"


def _default(value: object) -> str:
    if value is PydanticUndefined:
        return "required"
    return "" if value is None or isinstance(value, BaseModel) else f"`{json.dumps(value)}`"


def _type(annotation: Any) -> str:
    """A type as a person who writes TOML would say it."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(inner[0], inner[1:])
    if origin is Literal:
        return " or ".join(f"`{json.dumps(value)}`" for value in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_type(kind) for kind in inner if kind is not NoneType))
    if origin is tuple:
        several = len(inner) == 2 and inner[1] is Ellipsis
        each = _type(inner[0]) if get_origin(inner[0]) is Literal else f"{_type(inner[0])}s"
        return f"list of {each}" if several else f"{len(inner)} {each}"
    if origin is dict:
        return f"table of {_type(inner[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return {bool: "true or false", int: "whole number", float: "number", str: "text"}[annotation]


def _bounded(annotation: Any, metadata: Iterable[object]) -> str:
    bounds = _bounds(metadata)
    return _type(annotation) + (", not empty" if bounds and annotation is str else bounds)


def _bounds(metadata: Iterable[object]) -> str:
    found = []
    for item in metadata:
        for bound in getattr(item, "metadata", [item]):
            for sign, key in ((">", "gt"), ("≥", "ge"), ("<", "lt"), ("≤", "le")):
                if (limit := getattr(bound, key, None)) is not None:
                    found.append(f" {sign} {limit}")
            if (least := getattr(bound, "min_length", None)) is not None:
                found.append(f", at least {least}")
    return " and".join(found)


def _meaning(kind: type[BaseModel], name: str) -> str:
    """What a setting means: from the table above, or the comment beside it in the code."""
    for owner in kind.__mro__:
        if (told := MEANINGS.get(f"{owner.__name__}.{name}")) is not None:
            return told
    for owner in kind.__mro__:
        if owner.__module__ == config.__name__ and name in owner.__annotations__:
            line = re.search(rf"^    {name}: .*?  # (.+)$", inspect.getsource(owner), re.MULTILINE)
            if line is not None:
                return line[1].replace("|", "\\|")
    raise AssertionError(f"{kind.__name__}.{name}: say in MEANINGS what it means")
