"""Annotations that a model finds unlikely, the least likely first: where to look for errors."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, NamedTuple

from fencepost.batching.batches import by_words
from fencepost.checkpoints.model import Model
from fencepost.errors import ConfigError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.annotations import data_of
from fencepost.formats.files import atomic_output
from fencepost.formats.labelstudio import list_of, prediction_of
from fencepost.parser.encoding import encode
from fencepost.parser.options import checked_options
from fencepost.parser.predict import BATCH_WORDS, layers_of
from fencepost.parser.steps import Step, forced_steps
from fencepost.run.progress import Watch, unwatched
from fencepost.structure import Parse, Sentence, Span
from fencepost.structure.entity import FoundSpan
from fencepost.structure.span import in_order
from fencepost.tasks.labels import split_spans

_CHUNK_WORDS = 4 * BATCH_WORDS  # that wait, so that sentences of similar length can go together

Path = str | os.PathLike[str]


class Placed(NamedTuple):
    """A gold parse, and where it stands."""

    path: str
    line: int
    parse: Parse


@dataclass(frozen=True, slots=True)
class Finding:
    """A layer of a sentence, with the gold steps in it that the model would not take."""

    path: str
    line: int
    sentence: Sentence
    layer: str
    steps: tuple[Step, ...]  # the least likely first
    entities: tuple[Span, ...] = ()  # all of the sentence, if the layer is theirs

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "path": self.path,
            "line": self.line,
            "id": self.sentence.id,
            "layer": self.layer,
            "words": self.sentence.words,
            "steps": [_of_step(step, self.sentence) for step in self.steps],
        }


def _of_step(step: Step, sentence: Sentence) -> dict[str, Any]:
    return {
        **_of_span(step.span, sentence),
        "probability": step.probability,
        "rather": {
            "boundary": step.rather_boundary,
            **_of_span(step.rather, sentence),
            "probability": step.rather.probability,
        },
    }


def _of_span(span: Span, sentence: Sentence) -> dict[str, Any]:
    text = sentence.text_between(span.start, span.end)
    return {"start": span.start, "end": span.end, "label": span.label, "text": text}


@dataclass(slots=True)
class Unknown:
    """A label that the model does not know: how often it is there, and where first."""

    layer: str
    label: str
    path: str
    line: int
    count: int = 0


@dataclass(slots=True)
class Audit:
    """The findings of a model in an annotation."""

    findings: list[Finding] = field(default_factory=list)  # the least likely first
    sentences: int = 0
    words: int = 0
    steps: Counter[str] = field(default_factory=Counter)  # gold steps of each layer
    doubted: Counter[str] = field(default_factory=Counter)  # those that the model would not take
    unknown: dict[tuple[str, str], Unknown] = field(default_factory=dict)  # by layer and label

    @property
    def unknown_labels(self) -> list[Unknown]:
        """Labels that the model does not know, the most frequent first."""
        return sorted(self.unknown.values(), key=lambda one: -one.count)

    def add(self, placed: Placed, layers: Mapping[str, Sequence[Step]]) -> list[Finding]:
        """Count a sentence, and return what is to be found in it."""
        path, line, parse = placed
        self.sentences += 1
        self.words += len(parse.words)
        findings = []
        for layer, steps in layers.items():
            self.steps[layer] += len(steps)
            for step in steps:
                if not step.is_known:
                    label = step.span.label or ""
                    unknown = Unknown(layer, label, path, line)
                    self.unknown.setdefault((layer, label), unknown).count += 1
            doubted = [step for step in steps if step.is_doubted]
            self.doubted[layer] += len(doubted)
            if doubted:
                doubted.sort(key=lambda step: step.log_prob)
                entities = (parse.entities or ()) if layer == "entities" else ()
                findings.append(
                    Finding(path, line, parse.sentence, layer, tuple(doubted), entities)
                )
        return findings

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "sentences": self.sentences,
            "words": self.words,
            "layers": {
                layer: {"steps": count, "doubted": self.doubted[layer]}
                for layer, count in self.steps.items()
            },
            "unknown_labels": [
                {
                    "layer": one.layer,
                    "label": one.label,
                    "count": one.count,
                    "path": one.path,
                    "line": one.line,
                }
                for one in self.unknown_labels
            ],
            "findings": [finding.to_dict() for finding in self.findings],
        }


def audit(
    model: Model,
    paths: Iterable[Path],
    *,
    tasks: Collection[str] | None = None,
    top: int | None = 20,
    format: str | None = None,
    settings: ReadSettings | None = None,
    watch: Watch = unwatched,
) -> Audit:
    """Go through annotated files, and keep what the model finds least likely.

    Files are read as one goes through them, so they may be larger than memory.

    Args:
        model: to judge with.
        paths: files or folders.
        tasks: any of `tree` and `entities`; None: all that model and files have.
        top: how many findings are kept; None: all.
        format: of the files; None: what the suffix tells.
        settings: how they are read.
        watch: is shown how far it is.
    """
    # All at first, so that a file that is not there is told before the others are judged.
    readings = [ParseReader(path, format=format, settings=settings) for path in paths]
    placed = (Placed(*reading.place, parse) for reading in readings for parse in watch(reading))
    return audit_parses(model, placed, tasks=tasks, top=top)


def audit_parses(
    model: Model,
    parses: Iterable[Placed],
    *,
    tasks: Collection[str] | None = None,
    top: int | None = 20,
) -> Audit:
    """Go through gold parses, and keep what the model finds least likely.

    Args:
        model: to judge with.
        parses: with their places.
        tasks: any of `tree` and `entities`; None: all that model and parses have.
        top: how many findings are kept; None: all.
    """
    layers = layers_of(model, checked_options(model, tasks=tasks))
    found = Audit()
    with model.network.evaluating():
        for chunk in _chunks(parses, layers):
            fresh = _findings(model, chunk, layers, found)
            most = len(found.findings) + len(fresh) if top is None else top
            # Where two are as likely, the one that was read first stays first.
            found.findings = nsmallest(
                most, found.findings + fresh, key=lambda finding: finding.steps[0].log_prob
            )
    return found


def _chunks(parses: Iterable[Placed], layers: Collection[str]) -> Iterator[list[Placed]]:
    """Sentences with any of the layers, as many as are judged together."""
    chunk: list[Placed] = []
    words = 0
    for placed in parses:
        if placed.parse.words and any(getattr(placed.parse, name) is not None for name in layers):
            chunk.append(placed)
            words += len(placed.parse.words)
        if words >= _CHUNK_WORDS:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk


def _findings(
    model: Model, chunk: Sequence[Placed], layers: Sequence[str], found: Audit
) -> list[Finding]:
    """The findings in some sentences, in order."""
    walked: dict[int, dict[str, tuple[Step, ...]]] = {}
    for rows in by_words([len(placed.parse.words) for placed in chunk], most=BATCH_WORDS):
        parses = [chunk[row].parse for row in rows]
        encoded = encode(model, [parse.sentence for parse in parses], tasks=())
        steps = {layer: forced_steps(model, encoded, parses, layer=layer) for layer in layers}
        for index, row in enumerate(rows):
            walked[row] = {layer: some[index] for layer, some in steps.items() if some[index]}
    return [
        finding for row, placed in enumerate(chunk) for finding in found.add(placed, walked[row])
    ]


def check_suffix(path: Path) -> None:
    """Refuse a file whose name does not tell in which form findings are to be written."""
    if _suffix(path) not in _LINES:
        raise ConfigError(f"{path}: findings are written to {', '.join(_LINES)}")


def write_findings(findings: Iterable[Finding], path: Path) -> None:
    """Write findings to a file, whole or not at all.

    Args:
        findings: the least likely first.
        path: `.jsonl` has an object for each finding, `.tsv` a row for each step, `.json` a task
            for Label Studio; `.gz` packs it.
    """
    check_suffix(path)
    with atomic_output(path) as file:
        for line in _LINES[_suffix(path)](findings):
            # Half a character that a file held is no reason to stop.
            file.write(line.encode("utf-8", "backslashreplace"))


def _suffix(path: Path) -> str:
    return os.path.splitext(str(path).removesuffix(".gz"))[1]


def _objects(findings: Iterable[Finding]) -> Iterator[str]:
    for finding in findings:
        yield json.dumps(finding.to_dict(), ensure_ascii=False) + "\n"


COLUMNS = (
    *("rank", "path", "line", "id", "layer"),
    *("start", "end", "label", "text", "probability"),
    *("rather_boundary", "rather_start", "rather_end", "rather_label", "rather_text"),
    *("rather_probability", "sentence"),
)


def _rows(findings: Iterable[Finding]) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for rank, finding in enumerate(findings, 1):
        sentence = finding.sentence
        for step in finding.steps:
            cells = (
                *(rank, finding.path, finding.line, sentence.id or "", finding.layer),
                *_cells(step.span, sentence),
                f"{step.probability:.6g}",
                step.rather_boundary,
                *_cells(step.rather, sentence),
                f"{step.rather.probability:.6g}",
                sentence.text_between(0, len(sentence)),
            )
            # A tab or the end of a line within a cell would begin another.
            yield "\t".join(" ".join(str(cell).split()) for cell in cells) + "\n"


def _cells(span: Span, sentence: Sentence) -> tuple[int, int, str, str]:
    return span.start, span.end, span.label or "", sentence.text_between(span.start, span.end)


def _tasks(findings: Iterable[Finding]) -> Iterator[str]:
    """A task of Label Studio for each finding, with two predictions: the gold and the model's."""
    return list_of(map(_task, findings))


def _task(finding: Finding) -> dict[str, Any]:
    parse, steps = Parse(finding.sentence), finding.steps
    data = data_of(parse) | {"file": f"{finding.path}:{finding.line}", "layer": finding.layer}
    doubted = split_spans(
        FoundSpan(*step.span, finding.sentence, step.probability) for step in steps
    )
    gold = in_order({*doubted, *finding.entities})
    rather = in_order({*split_spans(step.rather for step in steps)})
    sides = (("annotation", gold, steps[0].probability), ("model", rather, 1.0))
    predictions = [
        prediction_of(parse, spans, score=score, version=version) for version, spans, score in sides
    ]
    return {"data": data, "predictions": predictions}


_LINES: dict[str, Callable[[Iterable[Finding]], Iterator[str]]] = {
    ".tsv": _rows,
    ".jsonl": _objects,
    ".json": _tasks,
}
