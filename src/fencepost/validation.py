"""What is wrong in a file of settings, in the words of TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails


def problems(kind: type[BaseModel], items: Sequence[ErrorDetails]) -> Iterator[str]:
    """Each setting that is wrong: its key, what is wrong, and what would be right.

    Args:
        kind: of the settings.
        items: what pydantic says of them.
    """
    if any(item["type"] == "extra_forbidden" and len(item["loc"]) == 1 for item in items):
        # A table that is missing is likely the one that is misspelt.
        items = [item for item in items if (item["type"], len(item["loc"])) != ("missing", 1)]
    for item in items:
        if not _follows(item, items):
            yield f"{'.'.join(map(str, item['loc']))}: {_problem(kind, item)}"


def _follows(item: ErrorDetails, items: Iterable[ErrorDetails]) -> bool:
    """Whether a list is said to be empty because its items are wrong."""
    place = item["loc"]
    return item["type"] == "too_short" and any(
        place == one["loc"][: len(place)] for one in items if one is not item
    )


def _problem(kind: type[BaseModel], item: ErrorDetails) -> str:
    """What is wrong with a setting, and what would be right, in the words of a TOML file."""
    *tables, name = item["loc"] or ("",)
    value, context = item["input"], item.get("ctx", {})
    if item["type"] == "extra_forbidden":
        named = [  # without the numbers of items and the kind of encoder
            str(part)
            for index, part in enumerate(tables)
            if any(part in one.model_fields for one in _kinds_at(kind, tables[:index]))
        ]
        return _no_such_setting(kind, named, str(name))
    if item["type"] in ("tuple_type", "model_type") and _names_files(kind, item["loc"]):
        path = value.get("path") if isinstance(value, dict) else value
        example = path if isinstance(path, str) else "train.ptb"
        return f"a list of files is expected, as in [{{ path = {json.dumps(example)} }}]"
    if item["type"] == "tuple_type" and isinstance(value, str):
        return f"a list is expected, as in [{json.dumps(value)}]"
    if item["type"] == "union_tag_invalid":
        kinds = context["expected_tags"].replace("'", '"').replace(", ", " or ")
        return f"kind = {json.dumps(context['tag'])}: no such kind; {kinds} is right"
    return item["msg"]


def _names_files(kind: type[BaseModel], location: Iterable[str | int]) -> bool:
    """Whether tables with a path stand at a place: corpora."""
    return any("path" in one.model_fields for one in _kinds_at(kind, location))


def _no_such_setting(kind: type[BaseModel], tables: Sequence[str], name: str) -> str:
    """That a setting is not there, with the one that was likely meant."""
    here = [key for kind in _kinds_at(kind, tables) for key in kind.model_fields]
    everywhere = dict(_settings_of(kind))
    elsewhere = [place for place, key in everywhere.items() if key == name]
    near = get_close_matches(name, here, 1)
    if near and not elsewhere:
        return f"no such setting; did you mean {'.'.join([*tables, near[0]])}?"
    nearest = get_close_matches(name, everywhere.values(), 1)
    elsewhere += [place for place, key in everywhere.items() if key in nearest]
    if elsewhere:
        table = elsewhere[0].rpartition(".")[0]
        under = f" It belongs under [{table}]" if table else ""
        return f"no such setting; did you mean {elsewhere[0]}?{under}"
    known = f"; known here: {', '.join(here)}" if here else ""
    return f"no such setting{known}"


def _settings_of(kind: type[BaseModel], table: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a table and of those within, as keys with dots and as names."""
    for name, field in kind.model_fields.items():
        yield f"{table}{name}", name
        for inner in _kinds_of(field.annotation):
            yield from _settings_of(inner, f"{table}{name}.")


def _kinds_at(kind: type[BaseModel], location: Iterable[str | int]) -> list[type[BaseModel]]:
    """The kinds of table that may stand at a place."""
    kinds = [kind]
    for part in location:
        fields = [one.model_fields[str(part)] for one in kinds if str(part) in one.model_fields]
        if fields:  # else it is the number of an item, or a kind of encoder
            kinds = [each for field in fields for each in _kinds_of(field.annotation)]
    return kinds


def _kinds_of(annotation: Any) -> list[type[BaseModel]]:
    """The kinds of table in a type such as `tuple[Corpus, ...]` or `TreeSettings | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [kind for part in get_args(annotation) for kind in _kinds_of(part)]
