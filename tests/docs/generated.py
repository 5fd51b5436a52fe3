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
        parts += [f"## {title}", inspect.getdoc(kind) or "", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def _row(kind: type[BaseModel], name: str, info: FieldInfo) -> str:
    default = _default(info.get_default(call_default_factory=True))
    value = _bounded(info.annotation, info.metadata)
    assert info.description, f"{kind.__name__}.{name}: describe it in {config.__name__}"
    return f"| `{name}` | {value} | {default} | {info.description} |"


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
        items = re.sub("number|text|table", r"\g<0>s", _type(inner[0]), count=1)
        return f"list of {items}" if several else f"{len(inner)} {items}"
    if origin is dict:
        return f"table of {_type(inner[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    return {bool: "true or false", int: "whole number", float: "number", str: "text"}[annotation]


def _bounded(annotation: Any, metadata: Iterable[object]) -> str:
    bounds = _bounds(metadata)
    return _type(annotation) + (", not empty" if bounds and annotation is str else bounds)


def _bounds(metadata: Iterable[object]) -> str:
    bounds = []
    for item in metadata:
        for bound in getattr(item, "metadata", [item]):
            for sign, key in ((">", "gt"), ("≥", "ge"), ("<", "lt"), ("≤", "le")):
                if (limit := getattr(bound, key, None)) is not None:
                    bounds.append(f" {sign} {limit}")
            if (least := getattr(bound, "min_length", None)) is not None:
                bounds.append(f", at least {least}")
    return " and".join(bounds)
