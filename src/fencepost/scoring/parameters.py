"""EVALB's parameter files: deleted labels, and labels and words that count as equal."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from fencepost.errors import DataError

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters in a file; the defaults are those of `COLLINS.prm`."""

    labelled: bool = True
    cut_off: int = 40  # maximal length of sentences in the second summary
    max_errors: int = 10
    deleted: frozenset[str] = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})
    deleted_for_length: frozenset[str] = frozenset({"-NONE-"})
    equal_labels: tuple[Pair, ...] = (("ADVP", "PRT"),)
    equal_words: tuple[Pair, ...] = ()
    quotes: frozenset[str] = frozenset()  # tags that quotation marks may be confused with

    def same_label(self, one: str, other: str) -> bool:
        """Whether two labels count as equal."""
        return one == other or _paired(one, other, self.equal_labels)

    def same_word(self, one: str, other: str) -> bool:
        """Whether two words count as equal."""
        return one == other or _paired(one, other, self.equal_words)

    def counted_label(self, label: str) -> str | None:
        """The label as which a bracket counts; None if it does not count.

        It is cut at the first `-` or `=`, even if nothing remains (`-NONE-`).
        """
        cut = label.partition("-")[0].partition("=")[0]
        return None if any(self.same_label(cut, name) for name in self.deleted) else cut

    @cached_property
    def representatives(self) -> dict[str, str] | None:
        """For each label with equal ones, the representative of its class; None without classes.

        Pairs need not form classes: with A = B and B = C, EVALB still distinguishes A from C.
        """
        groups: dict[str, set[str]] = {}
        for pair in self.equal_labels:
            merged = set(pair).union(*(groups.get(label, ()) for label in pair))
            groups.update(dict.fromkeys(merged, merged))
        for label, group in groups.items():
            if not all(self.same_label(label, other) for other in group):
                return None
        return {label: min(group) for label, group in groups.items()}


COLLINS = Parameters()

_EMPTY = replace(
    COLLINS,
    deleted=frozenset(),
    deleted_for_length=frozenset(),
    equal_labels=(),
)


def _paired(one: str, other: str, pairs: Iterable[Pair]) -> bool:
    return (one, other) in pairs or (other, one) in pairs


def read_parameters(path: str | os.PathLike[str]) -> Parameters:
    """Read the parameters in a `.prm` file; what it does not mention is off, as in EVALB."""
    parameters = _EMPTY
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path=str(path)) from error
    for number, line in enumerate(lines, 1):
        line = line.rstrip()
        # EVALB ignores lines this short.
        if line.startswith("#") or len(line) < 3:
            continue
        keyword, *values = line.split(maxsplit=1)
        try:
            parameters = _set(parameters, keyword, values[0] if values else "")
        except DataError as error:
            raise error.at(str(path), number) from None
    return parameters


def _set(parameters: Parameters, keyword: str, value: str) -> Parameters:
    if not value:
        raise DataError(f"{keyword} needs a value")
    match keyword:
        case "DEBUG":
            return parameters  # debug output is not imitated
        case "MAX_ERROR":
            return replace(parameters, max_errors=_number(keyword, value))
        case "CUTOFF_LEN":
            return replace(parameters, cut_off=_number(keyword, value))
        case "LABELED":
            return replace(parameters, labelled=_number(keyword, value) != 0)
        case "DELETE_LABEL":
            return replace(parameters, deleted=parameters.deleted | {value})
        case "DELETE_LABEL_FOR_LENGTH":
            return replace(parameters, deleted_for_length=parameters.deleted_for_length | {value})
        case "QUOTE_LABEL":
            return replace(parameters, quotes=parameters.quotes | {value})
        case "EQ_LABEL":
            return replace(
                parameters, equal_labels=(*parameters.equal_labels, _pair(keyword, value))
            )
        case "EQ_WORD":
            return replace(parameters, equal_words=(*parameters.equal_words, _pair(keyword, value)))
    raise DataError(f"the keyword {keyword!r} is unknown")


def _number(keyword: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise DataError(f"{keyword} needs a number, not {value!r}") from None


def _pair(keyword: str, value: str) -> Pair:
    match value.split():
        case [one, other]:
            return one, other
    raise DataError(f"{keyword} needs two values, not {value!r}")
