"""What fencepost raises: each message names the place, what was found and what would be right."""

from __future__ import annotations


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


class ConstraintError(FencepostError):
    """Requirements on a parse contradict each other, or cannot be met by any."""


class TrainingError(FencepostError):
    """Training cannot go on; the last checkpoint is intact."""


class TransitionError(FencepostError):
    """A step that is not allowed: a bug of ours, or pointings that were made by hand."""
