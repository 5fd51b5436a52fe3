"""Settings of reading and writing, the same for all formats."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

from fencepost.errors import ConfigError
from fencepost.structure.brackets import Escapes

OnCrossing = Literal["error", "drop-sentence", "drop-span"]
WrittenScheme = Literal["bio", "iob1", "bioes"]
Scheme = Literal["auto", "bio", "iob1", "bioes"]

_NO_TEXT = ("idna", "punycode", "undefined")  # Python's codecs that are not for text


class Relabel(NamedTuple):
    """A new label for phrases of exactly one word, depending on the word's tag."""

    label: str
    tags: tuple[str, ...]
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSettings:
    """Settings of reading; each format uses those that apply to it."""

    encoding: str = "utf-8"
    on_crossing: OnCrossing = "error"  # for crossing and discontinuous entities
    skip_bad: bool = False  # leave out what cannot be read, and count it

    # Brackets
    drop_traces: bool = False  # removes `-NONE-` and the nodes that this leaves empty
    drop_functions: bool = False  # NP-SBJ-1 and NP=2 become NP
    drop_features: bool = False  # NP##case=n## becomes NP, as in SPMRL's files
    rename: Mapping[str, str] = field(default_factory=dict)  # of phrases: HEADING becomes NP
    rename_tags: Mapping[str, str] = field(default_factory=dict)
    relabel: tuple[Relabel, ...] = ()  # an NP whose only word is tagged WP becomes WHNP
    splice: tuple[str, ...] = ()  # phrases to remove; their children move up
    escapes: Escapes = "round"  # to undo in words: -LRB-; "penn": also -LSB-, -LCB-, \/

    # CoNLL columns
    scheme: Scheme = "auto"
    word_column: int | None = None  # from 0; None: the first that is not a running number
    tag_column: int | None = None  # None: tags are not read
    entity_columns: tuple[int, ...] | None = None  # None: the last columns that look like a scheme

    # spaCy
    span_group: str = "sc"

    def __post_init__(self) -> None:
        _check_encoding(self.encoding)
        _check_choice("on_crossing", self.on_crossing, OnCrossing)
        _check_choice("escapes", self.escapes, Escapes)
        _check_choice("scheme", self.scheme, Scheme)
        _check_labels("splice", self.splice)
        for label, tags, to in self.relabel:
            _check_labels("relabel", tags)
            _check_name("relabel", label, to)
        for setting, names in (("rename", self.rename), ("rename_tags", self.rename_tags)):
            for old, new in names.items():
                _check_name(setting, old, new)

    @property
    def maps_labels(self) -> bool:
        """Whether labels or tags are mapped to others."""
        return bool(self.rename or self.rename_tags or self.relabel or self.splice)

    @property
    def unmapped(self) -> ReadSettings:
        """The same settings without the mapping of labels and tags."""
        return replace(self, rename={}, rename_tags={}, relabel=(), splice=())


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSettings:
    """Settings of writing; each format uses those that apply to it."""

    encoding: str = "utf-8"
    scheme: WrittenScheme = "bio"
    span_group: str = "sc"
    indent: int | None = None  # of brackets: blanks per level; None: one tree per line
    width: int = 100  # of pretty output, in columns

    def __post_init__(self) -> None:
        _check_encoding(self.encoding)
        _check_choice("scheme", self.scheme, WrittenScheme)
        # Without indentation each bracket would begin a line, as if it began a tree.
        if self.indent is not None and self.indent < 1:
            raise ConfigError(f"indent has to be at least 1, not {self.indent}")
        if self.width < 1:
            raise ConfigError(f"width has to be at least 1, not {self.width}")


def _check_encoding(name: str) -> None:
    try:
        "".encode(name)
        is_known = codecs.lookup(name).name not in _NO_TEXT
    except (LookupError, ValueError):  # ValueError: not a name, such as one with a zero byte
        is_known = False
    if not is_known:
        raise ConfigError(f"the encoding {name!r} is unknown")


def _check_labels(setting: str, labels: Any) -> None:
    if isinstance(labels, str):  # each letter would count as a label
        raise ConfigError(f"{setting}: several are expected, as in ({labels!r},), not {labels!r}")


def _check_name(setting: str, old: str, new: str) -> None:
    if not new:
        raise ConfigError(
            f"{setting}: {old!r} needs a new name; splice takes phrases out of a tree"
        )


def _check_choice(setting: str, value: str, choices: Any) -> None:
    if value not in get_args(choices):
        allowed = " or ".join(repr(choice) for choice in get_args(choices))
        raise ConfigError(f"{setting} has to be {allowed}, not {value!r}")
