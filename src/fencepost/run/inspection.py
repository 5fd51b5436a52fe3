"""The data doctor: what annotated files hold, and what is wrong with them."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fencepost.errors import DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.run.progress import Watch, unwatched
from fencepost.structure import Parse, Span
from fencepost.structure.span import holders_of
from fencepost.tasks.layers import POINTING, layer_spans
from fencepost.transition import fill_gaps

Path = str | os.PathLike[str]

CHILDREN = (("1", 1), ("2", 2), ("3", 3), ("4-5", 5), (">5", None))


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong, and where."""

    kind: str
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line) if part)
        return f"{place}: {self.message}"


@dataclass(slots=True)
class Layer:
    """Counts of one layer of a file."""

    sentences: int = 0
    words: int = 0
    steps: int = 0  # pointings that make it, fillers included
    labels: Counter[str] = field(default_factory=Counter)
    chains: Counter[str] = field(default_factory=Counter)  # several labels on the same words
    depths: Counter[int] = field(default_factory=Counter)  # sentences by their deepest span
    children: Counter[str] = field(default_factory=Counter)
    seen_at: dict[str, int] = field(default_factory=dict)  # the line where a label was first seen

    @property
    def spans(self) -> int:
        """Labelled spans."""
        return self.labels.total()

    @property
    def steps_per_word(self) -> float:
        """The paper's appendix A.2: actions per word."""
        return self.steps / self.words if self.words else 0.0

    def add(self, parse: Parse, name: str, line: int) -> None:
        """Add a sentence."""
        spans = parse.tree.spans if name == "tree" and parse.tree else parse.entities or ()
        joined = layer_spans(parse, name) or ()
        self.sentences += 1
        self.words += len(parse.words)
        self.steps += len(fill_gaps(joined))
        for _, _, label in spans:
            self.labels[label or ""] += 1
            self.seen_at.setdefault(label or "", line)
        places = Counter((start, end) for start, end, _ in spans)
        if len(places) < len(spans):
            for start, end, label in joined:
                if places[start, end] > 1:
                    self.chains[label or ""] += 1
        depth, children = _shape(spans)
        self.depths[depth] += 1
        for count in children:
            self.children[next(k for k, most in CHILDREN if most is None or count <= most)] += 1


def _shape(spans: Sequence[Span]) -> tuple[int, list[int]]:
    """The depth of the deepest span, and the number of children of each: spans and bare words.

    >>> _shape((Span(0, 3, "S"), Span(0, 2, "NP")))
    (2, [2, 2])
    """
    depths: list[int] = []
    children = [span.end - span.start for span in spans]  # words, until there are spans
    for span, holder in zip(spans, holders_of(spans), strict=True):
        depths.append(1 if holder is None else depths[holder] + 1)
        if holder is not None:
            children[holder] -= span.end - span.start - 1
    return max(depths, default=0), children


@dataclass(slots=True)
class FileReport:
    """Counts and problems of a file."""

    path: str
    sentences: int = 0
    words: int = 0
    longest: int = 0
    repeated: int = 0  # sentences that the file has had before
    layers: dict[str, Layer] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Inspection:
    """The report on all files."""

    files: list[FileReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)  # perhaps nothing is wrong

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "files": [
                {
                    "path": file.path,
                    "sentences": file.sentences,
                    "words": file.words,
                    "longest_sentence": file.longest,
                    "repeated_sentences": file.repeated,
                    "left_out": dict(file.left_out),
                    "layers": {name: _of_layer(layer) for name, layer in file.layers.items()},
                }
                for file in self.files
            ],
            "problems": [asdict(problem) for problem in self.problems],
            "notes": [asdict(note) for note in self.notes],
        }


def _of_layer(layer: Layer) -> dict[str, Any]:
    return {
        "sentences": layer.sentences,
        "spans": layer.spans,
        "steps": layer.steps,
        "steps_per_word": layer.steps_per_word,
        "labels": dict(layer.labels.most_common()),
        "chains": dict(layer.chains.most_common()),
        "children": {name: layer.children[name] for name, _ in CHILDREN},
        "depths": {str(depth): layer.depths[depth] for depth in sorted(layer.depths)},
    }


def inspect(
    paths: Sequence[Path],
    *,
    format: str | None = None,
    settings: ReadSettings | None = None,
    watch: Watch = unwatched,
) -> Inspection:
    """Go through files, count what is there and collect every problem and what may be one."""
    inspection = Inspection()
    seen: dict[bytes, tuple[int, int]] = {}  # sentences, by file and line where they first stood
    for number, path in enumerate(paths):
        file = FileReport(str(path))
        inspection.files.append(file)

        def note(error: DataError) -> None:
            problem = Problem(error.kind, error.path, error.line or 0, error.message)
            inspection.problems.append(problem)

        reading = ParseReader(path, format=format, settings=settings, on_problem=note)
        try:
            for parse in watch(reading):
                place = reading.place
                _add(file, parse, place[1])
                inspection.problems += _problems_of(parse, *place)
                other, line = seen.setdefault(_key(parse), (number, place[1]))
                if other != number:
                    message = f"the same sentence is in {paths[other]}:{line}"
                    inspection.problems.append(Problem("in two files", *place, message))
                elif line != place[1]:
                    file.repeated += 1
        except DataError as error:  # the file as a whole cannot be read any further
            note(error)
        file.left_out = reading.counts
        if not file.sentences:
            inspection.problems.append(Problem("empty", str(path), 0, "there is no sentence here"))
        for name, layer in file.layers.items():
            for label, count in layer.labels.items():
                if count == 1:
                    message = f"the {name} label {label!r} is seen only once"
                    place = str(path), layer.seen_at[label]
                    inspection.notes.append(Problem("label seen once", *place, message))
    return inspection


def _key(parse: Parse) -> bytes:
    """A short stand-in for the words of a sentence, so that those of many files can be kept."""
    words = "\n".join(parse.words).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(words, digest_size=12).digest()


def _add(file: FileReport, parse: Parse, line: int) -> None:
    file.sentences += 1
    file.words += len(parse.words)
    file.longest = max(file.longest, len(parse.words))
    for name in POINTING:
        if getattr(parse, name) is not None:
            file.layers.setdefault(name, Layer()).add(parse, name, line)


def _problems_of(parse: Parse, path: str, line: int) -> list[Problem]:
    found = [
        Problem("crossing", path, line, f"the entity {span} crosses another")
        for span in parse.dropped
    ]
    for span, count in Counter(parse.entities or ()).items():
        if count > 1:
            message = f"the entity {span} is there {count} times"
            found.append(Problem("duplicate", path, line, message))
    return found
