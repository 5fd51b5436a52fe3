"""Regular expressions with bounded time, for patterns from strangers.

An expression becomes an automaton whose states are built on demand: each character costs one
look-up, or at most one look at each instruction. There is no backtracking, so `(a+)+$` is harmless.
References to groups and lookarounds are refused, since automata cannot do them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

MOST_INSTRUCTIONS = 200
MOST_CHARACTERS = 1_000  # of a label or word; longer ones never match
_CACHE_SIZE = 20_000  # answers, and transitions
_MOST_DEPTH = 20  # nested groups

_ATOM = re.compile(
    r"\\[dDwWsS]|\\[^a-zA-Z0-9]|\\[tnrfv]|\.|[^\\()|*+?^$\[{]|\{(?!\d*,?\d*\})", re.S
)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)
_COUNT = re.compile(r"(?P<low>\d*)(?P<comma>,?)(?P<high>\d*)\}")

_Instruction = tuple[Literal["char", "split", "start", "end", "match"], int, int]
_Part = Callable[[], object]  # appends instructions
_State = frozenset[int]


class RegexError(Exception):
    """An invalid expression: the reason, and the index of the wrong character."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class Regex:
    """A regular expression that matches anywhere in a text, as `re.search` does.

    >>> Regex("^NN").search("NNP"), Regex("^NNP?$").search("NNS")
    (True, False)
    >>> Regex("(a+)+$").search("a" * 99 + "b")
    False
    """

    def __init__(self, source: str) -> None:
        self.source = source
        reader = _Reader(source)
        self._program = reader.program
        self._atoms = reader.atoms
        self._answers: dict[str, bool] = {}
        self._steps: dict[tuple[_State, str], _State] = {}
        self._first = self._closure([0], "start")
        self._again = self._closure([0], None)

    def search(self, text: str) -> bool:
        """Whether the expression matches a part of a text."""
        matches = self._answers.get(text)
        if matches is None:
            if len(self._answers) >= _CACHE_SIZE:
                self._answers.clear()
            matches = self._answers[text] = len(text) <= MOST_CHARACTERS and self._matches(text)
        return matches

    def _matches(self, text: str) -> bool:
        last = len(self._program) - 1
        state = self._first
        for char in text:
            if last in state:
                return True
            after = self._steps.get((state, char))
            if after is None:
                if len(self._steps) >= _CACHE_SIZE:
                    self._steps.clear()
                after = self._steps[state, char] = self._step(state, char)
            state = after
        return last in self._closure(state, "end" if text else "both")

    def _step(self, state: _State, char: str) -> _State:
        behind = [
            at + 1
            for at in state
            if self._program[at][0] == "char" and self._atoms[self._program[at][1]](char)
        ]
        return self._closure(behind, None) | self._again

    def _closure(self, places: _State | list[int], at: str | None) -> _State:
        """All instructions that can be reached without reading a character."""
        waiting, reached = list(places), set(places)
        while waiting:
            place = waiting.pop()
            kind, one, other = self._program[place]
            following: tuple[int, ...] = ()
            if kind == "split":
                following = (one, other)
            elif kind == at or (kind in ("start", "end") and at == "both"):
                following = (place + 1,)
            for target in following:
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
        return frozenset(reached)


@lru_cache(maxsize=4096)
def _atom(source: str, flags: int) -> Callable[[str], object]:
    """A function that tests a character by `re`."""
    return lru_cache(maxsize=4096)(re.compile(source, flags).fullmatch)


class _Reader:
    """Compiles an expression to a program."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.place = 0
        self.flags = 0
        self.program: list[_Instruction] = []
        self.atoms: list[Callable[[str], object]] = []
        if source.startswith("(?i)"):
            self.flags, self.place = re.IGNORECASE, 4
        part = self._alternatives(0)
        if self.place < len(source):
            raise RegexError("this ) closes nothing", self.place)
        part()
        self._write("match")

    def _write(self, kind: Literal["char", "split", "start", "end", "match"], a: int = 0) -> int:
        if len(self.program) >= MOST_INSTRUCTIONS:
            raise RegexError("a shorter expression, or smaller counts, were expected", 0)
        self.program.append((kind, a, 0))
        return len(self.program) - 1

    def _split(self, at: int, one: int, other: int) -> None:
        self.program[at] = ("split", one, other)

    @property
    def _next(self) -> str:
        return self.source[self.place : self.place + 1]

    def _alternatives(self, depth: int) -> _Part:
        parts = [self._sequence(depth)]
        while self._next == "|":
            self.place += 1
            parts.append(self._sequence(depth))

        def write() -> None:
            ends = []
            for part in parts[:-1]:
                split = self._write("split")
                part()
                ends.append(self._write("split"))
                self._split(split, split + 1, len(self.program))
            parts[-1]()
            for end in ends:
                self._split(end, len(self.program), len(self.program))

        return write

    def _sequence(self, depth: int) -> _Part:
        parts = []
        while self._next not in ("", "|", ")"):
            parts.append(self._repeated(depth))

        def write() -> None:
            for part in parts:
                part()

        return write

    def _repeated(self, depth: int) -> _Part:
        part = self._one(depth)
        while self._next and self._next in "*+?{":
            low, high = self._count()
            if low is None:
                break
            if self._next == "?":  # lazy: matches the same texts
                self.place += 1
            elif self._next == "+":
                raise RegexError("possessive repeats are not supported", self.place)
            part = self._times(part, low, high)
        return part

    def _count(self) -> tuple[int | None, int | None]:
        """The least and the largest count of a repeat; a brace that is no count is literal."""
        place, sign = self.place, self._next
        self.place += 1
        if sign != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        count = _COUNT.match(self.source, self.place)
        if count is None or count.group() in ("}", ",}"):
            self.place = place
            return None, None
        low, high = (int(count[name][:9] or 0) for name in ("low", "high"))
        self.place = count.end()
        most = (high if count["high"] else None) if count["comma"] else low
        if low > MOST_INSTRUCTIONS or (most or 0) > MOST_INSTRUCTIONS:
            raise RegexError(f"a count of at most {MOST_INSTRUCTIONS} was expected", place)
        if most is not None and most < low:
            raise RegexError("the second count is less than the first", place)
        return low, most

    def _times(self, part: _Part, low: int, high: int | None) -> _Part:
        def write() -> None:
            for _ in range(low):
                before = len(self.program)
                part()
                if len(self.program) == before:  # an empty part
                    return
            if high is None:
                split = self._write("split")
                part()
                self._split(self._write("split"), split, split)
                self._split(split, split + 1, len(self.program))
                return
            splits = []
            for _ in range(high - low):
                splits.append(self._write("split"))
                part()
            for split in splits:
                self._split(split, split + 1, len(self.program))

        return write

    def _one(self, depth: int) -> _Part:
        place, sign = self.place, self._next
        if sign == "(":
            return self._group(depth)
        if sign == "^" or sign == "$":
            self.place += 1
            kind: Literal["start", "end"] = "start" if sign == "^" else "end"
            return lambda: self._write(kind)
        atom_match = (_CLASS if sign == "[" else _ATOM).match(self.source, place)
        if atom_match is None:
            raise RegexError(_reason(self.source[place : place + 2]), place)
        self.place = atom_match.end()
        try:
            atom = _atom(atom_match.group(), self.flags)
        except re.error as error:
            raise RegexError(error.msg, place) from None
        number = len(self.atoms)
        self.atoms.append(atom)
        return lambda: self._write("char", number)

    def _group(self, depth: int) -> _Part:
        place = self.place
        if depth >= _MOST_DEPTH:
            raise RegexError(f"at most {_MOST_DEPTH} groups in groups were expected", place)
        self.place += 1
        if self._next == "?":
            if self.source[self.place : self.place + 2] != "?:":
                raise RegexError("of groups with (? only (?:…), and (?i) at the start, work", place)
            self.place += 2
        part = self._alternatives(depth + 1)
        if self._next != ")":
            raise RegexError("this ( is never closed", place)
        self.place += 1
        return part


def _reason(source: str) -> str:
    if source[:1] == "[":
        return "this [ is never closed"
    if source[:1] in ("*", "+", "?", "{"):
        return "there is nothing before it to repeat"
    if source == "\\":
        return "a character was expected after the backslash"
    return f"{source} is not supported; classes such as \\d and escaped signs are"
