"""The pages of the documentation, cut into prose and fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"(`{3,})([\w+-]*) ?(.*)\n?")

RUN = ("python", "console", "sh")
READ = ("toml", "json")
SHOWN = ("text", "diff", "ini", "html", "nginx", "yaml", "bibtex")

# Why a block may stand in a page without being run. There are few good reasons.
REASONS = (
    "installs packages",
    "needs a licensed corpus",
    "needs a corpus that is not in the project",
    "needs a cluster",
    "needs a GPU",
    "needs a model hub",
    "needs another package",
    "takes hours",
    "runs until it is stopped",
    "works on the project itself",
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: ```` ```LANGUAGE INFO ````, its text, and the line that it begins on."""

    line: int
    fence: str
    language: str
    info: str
    text: str

    def __str__(self) -> str:
        head = f"{self.fence}{self.language} {self.info}".rstrip()
        return f"{head}\n{self.text}{self.fence}\n"

    @property
    def not_run(self) -> str | None:
        """Why it is only shown."""
        return self.info[9:].strip() if self.info.startswith("not-run:") else None

    @property
    def status(self) -> int:
        """What its last command leaves with."""
        return int(self.info[7:]) if self.info.startswith("status=") else 0

    @property
    def file(self) -> str | None:
        """The file of the page's folder that it is written to, before what follows is run."""
        return self.info[5:] if self.info.startswith("file=") else None

    @property
    def varies(self) -> bool:
        """Whether its figures may be others on another machine: a network was trained on it."""
        return self.info == "figures=vary"

    def problem(self) -> str | None:
        """What is wrong with its first line."""
        if self.language not in (*RUN, *READ, *SHOWN):
            return (
                f"{self.language!r} is no language of a block: {', '.join((*RUN, *READ, *SHOWN))}"
            )
        if self.not_run is not None:
            known = self.language in RUN and self.not_run in REASONS
            return None if known else f"not-run wants one of: {'; '.join(REASONS)}"
        if self.file is not None:
            return None if re.fullmatch(r"[\w.-]+", self.file) else "file= wants a plain name"
        if re.fullmatch(r"status=\d+", self.info):
            return None if self.language in ("sh", "console") else "status= is for commands"
        if self.varies:
            return None if self.language in ("python", "console") else "nothing is printed here"
        return f"{self.info!r} means nothing here" if self.info else None

    def with_text(self, text: str) -> Block:
        """The same block with another text."""
        return replace(self, text=text)


def parts(text: str) -> Iterator[str | Block]:
    """A page as lines of prose and blocks; joined, they are the page again."""
    lines = text.splitlines(keepends=True)
    number = 0
    while number < len(lines):
        head = FENCE.fullmatch(lines[number])
        if head is None:
            yield lines[number]
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end].rstrip("\n") != head[1]:
            end += 1
        if end == len(lines):
            raise AssertionError(f"the block of line {number + 1} is never closed")
        inside = "".join(lines[number + 1 : end])
        yield Block(number + 1, head[1], head[2], head[3].strip(), inside)
        number = end + 1


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [part for part in parts(page.read_text(encoding="utf-8")) if isinstance(part, Block)]


def prose(page: Path) -> str:
    """A page without its blocks."""
    found = parts(page.read_text(encoding="utf-8"))
    return "".join("\n" if isinstance(part, Block) else part for part in found)


def pages() -> list[Path]:
    """README and all pages of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name(page: Path) -> str:
    """A page as people call it: docs/quickstart.md."""
    return page.relative_to(ROOT).as_posix()
