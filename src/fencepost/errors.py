"""Exceptions. A message names the place, what is wrong there, and what would be right."""

from __future__ import annotations

from unicodedata import east_asian_width

_AROUND = 70  # characters of a pattern that are shown on each side of a mistake


def clipped(text: str, most: int = 100) -> str:
    """Shorten a text for a message, at the end of a word.

    >>> clipped("['The cat sat on the mat.', 'Dogs bark.']", 22)
    "['The cat sat on the …"
    """
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return f"{head.rsplit(' ', 1)[0].rstrip() or head} …"


class FencepostError(Exception):
    """An error that a user can mend; the command line prints it and exits with status 2."""


class DataError(FencepostError):
    """A file or an annotation is wrong.

    Args:
        message: the problem, and what would be right.
        kind: the kind of problem that `fencepost inspect` counts.
        line: line number in the file, from 1.
        path: the file.
    """

    def __init__(
        self, message: str, *, kind: str = "malformed", line: int | None = None, path: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.line = line
        self.path = path

    def __str__(self) -> str:
        if not self.path:
            return f"line {self.line}: {self.message}" if self.line else self.message
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"

    def at(self, path: str, line: int | None) -> DataError:
        """Fill in the place if it is not set, and return this error."""
        self.path = self.path or path
        self.line = self.line or line
        return self


class CrossingSpansError(DataError):
    """Two spans overlap and neither holds the other."""

    def __init__(self, message: str, *, line: int | None = None, path: str = "") -> None:
        super().__init__(message, kind="crossing", line=line, path=path)


class ConfigError(FencepostError):
    """A setting is unknown or out of range."""


class ModelError(FencepostError):
    """A folder does not hold a model that can be loaded."""


class PatternError(FencepostError):
    """A pattern cannot be read; the message has a caret under the place.

    Args:
        message: the problem, and what was expected.
        pattern: the whole pattern.
        place: index of the character where reading failed.
    """

    def __init__(self, message: str, pattern: str = "", place: int = 0) -> None:
        super().__init__(message, pattern, place)
        self.message = message
        self.pattern = pattern
        self.place = place

    def __str__(self) -> str:
        before, rest = self.pattern[: self.place], self.pattern[self.place :]
        start = before.rpartition("\n")[2][-_AROUND:]
        line = start + rest.partition("\n")[0][:_AROUND]
        shown = "".join(char if char.isprintable() else "�" for char in line)
        columns = sum(1 + (east_asian_width(char) in "WF") for char in start)
        return f"pattern: {self.message}\n  {shown}\n  {' ' * columns}^"


class ConstraintError(FencepostError):
    """Requirements on a parse contradict each other, or cannot be met by any."""


class TrainingError(FencepostError):
    """Training cannot go on; the last checkpoint is intact."""


class TransitionError(FencepostError):
    """A step is not allowed: a bug in fencepost, or pointings from elsewhere."""
