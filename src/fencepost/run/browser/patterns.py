"""Patterns of Python's `re` as JavaScript has them, to be read with the flag `v`.

Both have the same backtracking, so the same pattern finds the same text. What JavaScript lacks is
written otherwise: possessive repeats as a lookahead and what it captured, classes without case as
all the characters that Python takes for the same, and blanks, digits and words by Python's lists.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

from fencepost.errors import ConfigError

_PARSER: Any = import_module("re._parser")  # what `re` itself reads patterns with
_DIGIT, _WORD = r"\p{Nd}", r"[\p{L}\p{N}_]"
_ANYTHING = r"[\s\S]"


def javascript(pattern: re.Pattern[str]) -> str:
    r"""The source of the same pattern in JavaScript.

    >>> javascript(re.compile(r"(?i:no)\.(?=\d)"))
    '[Nn][Oo]\\x2e(?=\\p{Nd})'
    >>> javascript(re.compile("a++b"))
    '(?=(?<atom0>a+))\\k<atom0>b'
    """
    return _Writer(pattern.flags).sequence(_PARSER.parse(pattern.pattern, pattern.flags))


class _Writer:
    """Writes a pattern part by part."""

    def __init__(self, flags: int) -> None:
        self.flags = flags
        self.numbers = count()
        self.names: dict[int, str] = {}

    def sequence(self, parts: Any) -> str:
        if hasattr(parts, "state"):
            self.names = {number: name for name, number in parts.state.groupdict.items()}
        return "".join(self.part(str(name), value) for name, value in parts)

    def part(self, name: str, value: Any) -> str:
        match name:
            case "LITERAL":
                return self.character(value)
            case "NOT_LITERAL":
                return f"[^{self.character(value)}]"
            case "ANY":
                return _ANYTHING if self.flags & re.DOTALL else r"[^\n]"
            case "IN":
                return self.one_of(value)
            case "BRANCH":
                return f"(?:{'|'.join(self.sequence(way) for way in value[1])})"
            case "SUBPATTERN":
                return self.group(*value)
            case "MAX_REPEAT" | "MIN_REPEAT":
                lazy = "?" if name == "MIN_REPEAT" else ""
                return self.repeat(*value) + lazy
            case "POSSESSIVE_REPEAT":
                return self.atomic(self.repeat(*value))
            case "ATOMIC_GROUP":
                return self.atomic(self.sequence(value))
            case "ASSERT" | "ASSERT_NOT":
                direction, inside = value
                sign = "=" if name == "ASSERT" else "!"
                return f"(?{'<' if direction < 0 else ''}{sign}{self.sequence(inside)})"
            case "AT":
                return self.place(str(value))
        raise ConfigError(f"{name} in a pattern cannot be said in JavaScript")

    def group(self, number: int | None, on: int, off: int, inside: Any) -> str:
        before = self.flags
        self.flags = (before | on) & ~off
        written = self.sequence(inside)
        self.flags = before
        name = None if number is None else self.names.get(number)
        return f"(?<{name}>{written})" if name else written  # repeats and branches bring their own

    def repeat(self, least: int, most: Any, inside: Any) -> str:
        end = "" if str(most) == "MAXREPEAT" else str(most)
        times = {(0, ""): "*", (1, ""): "+", (0, "1"): "?"}.get((least, end))
        written = self.sequence(inside)
        is_one = len(inside) == 1 and str(inside[0][0]) in ("LITERAL", "IN", "ANY", "NOT_LITERAL")
        return f"{written if is_one else f'(?:{written})'}{times or f'{{{least},{end}}}'}"

    def atomic(self, written: str) -> str:
        name = f"atom{next(self.numbers)}"
        return rf"(?=(?<{name}>{written}))\k<{name}>"

    def place(self, name: str) -> str:
        match name:
            case "AT_BEGINNING" if self.flags & re.MULTILINE:
                return r"(?<![^\n])"
            case "AT_BEGINNING" | "AT_BEGINNING_STRING":
                return f"(?<!{_ANYTHING})"
            case "AT_END_STRING":
                return f"(?!{_ANYTHING})"
        raise ConfigError(f"{name} in a pattern cannot be said in JavaScript")

    def character(self, code: int) -> str:
        if self.flags & re.IGNORECASE:
            same = _same_but_case(code, code)
            if len(same) > 1:
                return f"[{''.join(map(escaped, same))}]"
        return escaped(code)

    def one_of(self, parts: Any) -> str:
        negated = str(parts[0][0]) == "NEGATE"
        inside = [self.member(str(name), value) for name, value in parts[negated:]]
        if len(inside) == 1 and not negated and inside[0].startswith(("\\p", "[")):
            return inside[0]
        return f"[{'^' if negated else ''}{''.join(inside)}]"

    def member(self, name: str, value: Any) -> str:
        match name:
            case "LITERAL" | "RANGE":
                first, last = (value, value) if name == "LITERAL" else value
                if self.flags & re.IGNORECASE:
                    return "".join(map(escaped, _same_but_case(first, last)))
                return escaped(first) + ("" if first == last else f"-{escaped(last)}")
            case "CATEGORY":
                kind = str(value)
                base = {"SPACE": _spaces(), "DIGIT": _DIGIT, "WORD": _WORD}[kind.rsplit("_", 1)[1]]
                return f"[^{base}]" if "_NOT_" in kind else base
        raise ConfigError(f"{name} in a class cannot be said in JavaScript")


@cache
def _same_but_case(first: int, last: int) -> tuple[int, ...]:
    """The characters that Python takes for one of a range where case means nothing."""
    inside = re.compile(f"[{re.escape(chr(first))}-{re.escape(chr(last))}]", re.IGNORECASE)
    return tuple(map(ord, inside.findall(_every_character())))


@cache
def _every_character() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))


@cache
def _spaces() -> str:
    """What Python takes for a blank, as a class."""
    return f"[{''.join(escaped(ord(char)) for char in _every_character() if char.isspace())}]"


def escaped(code: int) -> str:
    r"""A character as it may stand anywhere in a pattern.

    >>> escaped(ord("a")), escaped(ord("-")), escaped(0x1F600)
    ('a', '\\x2d', '\\u{1f600}')
    """
    char = chr(code)
    if char.isascii():
        return char if char.isalnum() else f"\\x{code:02x}"
    return f"\\u{{{code:x}}}"
