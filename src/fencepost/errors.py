"""What fencepost raises: each message names the place, what was found and what would be right."""

from __future__ import annotations

from unicodedata import east_asian_width

_AROUND = 70  # characters of a pattern that are shown on each side of a mistake


def clipped(text: str, most: int = 100) -> str:
    """A text for a message: a long one ends with the last word that there is room for.

    >>> clipped("['The cat sat on the mat.', 'Dogs bark.']", 22)
    "['The cat sat on the …"
    """
    if len(text) <= most:
        return text
    head = text[: most - 1]
    return f"{head.rsplit(' ', 1)[0].rstrip() or head} …"


class FencepostError(Exception):
    """Anything that a user can mend; the command line prints it and leaves with status 2."""


class DataError(FencepostError):
    """A file or an annotation is wrong.

    Args:
        message: what was found, and what would be right.
        kind: the sort of problem, as `fencepost inspect` counts it.
        line: the line of the file, if there is one, counted from 1.
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
        place = ":".join(str(part) for part in (self.path, self.line) if part)
        return f"{place}: {self.message}" if place else self.message

    def at(self, path: str, line: int | None) -> DataError:
        """This error with its place filled in, where it has none yet."""
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
    """A folder does not hold a model that we can load."""


class PatternError(FencepostError):
    """A pattern that cannot be read, shown with a caret under the place.

    Args:
        message: what was found, and what was expected.
        pattern: the whole text.
        place: the character where it went wrong.
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
    """A step that is not allowed: a bug of ours, or pointings that were made by hand."""
