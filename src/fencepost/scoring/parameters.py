"""EVALB's parameter files: which labels are left out, which count as equal."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from fencepost.errors import DataError

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What a parameter file says. The defaults are those of `COLLINS.prm`."""

    labelled: bool = True
    cut_off: int = 40  # the second summary is over sentences up to this length
    max_errors: int = 10
    deleted: frozenset[str] = frozenset({"TOP", "-NONE-", ",", ":", "``", "''", "."})
    deleted_for_length: frozenset[str] = frozenset({"-NONE-"})
    equal_labels: tuple[Pair, ...] = (("ADVP", "PRT"),)
    equal_words: tuple[Pair, ...] = ()
    quotes: frozenset[str] = frozenset()  # tags that a quotation mark may be confused with

    def same_label(self, one: str, other: str) -> bool:
        """Whether two labels count as equal."""
        return one == other or _paired(one, other, self.equal_labels)

    def same_word(self, one: str, other: str) -> bool:
        """Whether two words count as equal."""
        return one == other or _paired(one, other, self.equal_words)

    def counted_label(self, label: str) -> str | None:
        """The label under which a bracket counts; None if it does not.

        It is cut at the first `-` or `=`, even where that leaves nothing (`-NONE-`).
        """
        cut = label.partition("-")[0].partition("=")[0]
        return None if any(self.same_label(cut, name) for name in self.deleted) else cut

    @cached_property
    def representatives(self) -> dict[str, str] | None:
        """For each label with equals, the one that stands for them all; None if that cannot be.

        Pairs need not make classes: with A = B and B = C, the program still tells A from C.
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
    """The parameters in a `.prm` file; what it does not mention is off, as in the program."""
    found = _EMPTY
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path=str(path)) from error
    for number, line in enumerate(lines, 1):
        line = line.rstrip()
        # The program passes over lines that are too short to say anything.
        if line.startswith("#") or len(line) < 3:
            continue
        keyword, *values = line.split(maxsplit=1)
        try:
            found = _set(found, keyword, values[0] if values else "")
        except DataError as error:
            raise error.at(str(path), number) from None
    return found


def _set(found: Parameters, keyword: str, value: str) -> Parameters:
    if not value:
        raise DataError(f"{keyword} needs a value")
    match keyword:
        case "DEBUG":
            return found  # what the program prints for its developers is not imitated
        case "MAX_ERROR":
            return replace(found, max_errors=_number(keyword, value))
        case "CUTOFF_LEN":
            return replace(found, cut_off=_number(keyword, value))
        case "LABELED":
            return replace(found, labelled=_number(keyword, value) != 0)
        case "DELETE_LABEL":
            return replace(found, deleted=found.deleted | {value})
        case "DELETE_LABEL_FOR_LENGTH":
            return replace(found, deleted_for_length=found.deleted_for_length | {value})
        case "QUOTE_LABEL":
            return replace(found, quotes=found.quotes | {value})
        case "EQ_LABEL":
            return replace(found, equal_labels=(*found.equal_labels, _pair(keyword, value)))
        case "EQ_WORD":
            return replace(found, equal_words=(*found.equal_words, _pair(keyword, value)))
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
