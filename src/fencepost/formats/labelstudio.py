"""Label Studio: a list of tasks in JSON, to import and as exported (JSON, not JSON-MIN).

    [{"data": {"text": "Ann slept", "fencepost": {"offsets": [[0, 3], [4, 9]]}},
      "annotations": [{"result": [
        {"id": "1", "from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}}]}]}]

Gold entities are an annotation. Predicted entities are a prediction: the score of each is its
probability, and the task has the lowest of them. Reading takes the first annotation that is marked
as ground truth, else the last one that was not skipped. A task without annotations has no entities;
predictions are read only from tasks without an `annotations` key, such as ours before their import.

Label Studio counts offsets in UTF-16 and repeats the marked text. Where that text fits only
offsets in characters, offsets count characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from fencepost.errors import DataError
from fencepost.formats import jsonl
from fencepost.formats.annotations import (
    AnnotatedText,
    Utf16,
    data_in,
    data_of,
    places_of,
    text_entries,
)
from fencepost.formats.entries import Entry
from fencepost.formats.files import Source
from fencepost.formats.settings import ReadSettings, WriteSettings
from fencepost.formats.standoff import Mention
from fencepost.structure import Parse, Span

_BLANKS = re.compile(r"[ \t\n\r]*")
_IGNORED = re.compile(r"\\[nrt]|\s+")  # in marked text: line ends are written in several ways


def entries(source: Source, settings: ReadSettings) -> Iterator[Entry]:
    """The tasks of a file, sentence by sentence."""
    try:
        for number, (line, task) in enumerate(_tasks(source.read_text()), 1):
            stem = f"{source.stem}-{number}"
            yield from text_entries(line, partial(_annotated, task), settings, stem=stem)
    except DataError as error:
        raise error.at(source.name, None) from None


def _tasks(text: str) -> Iterator[tuple[int, Any]]:
    """The tasks of a list one by one, each with its line number."""
    decode = json.JSONDecoder().raw_decode
    line, counted, place = 1, 0, _behind_blanks(text, text.startswith("\ufeff"))
    if text[place : place + 1] != "[":
        raise DataError("a list of tasks is expected, as Label Studio exports it as JSON", line=1)
    place = _behind_blanks(text, place + 1)
    is_last = text[place : place + 1] == "]"
    while not is_last:
        line += text.count("\n", counted, place)
        counted = place
        try:
            task, place = decode(text, place)
        except (ValueError, RecursionError) as error:
            raise DataError(f"no JSON: {error}", line=line) from error
        yield line, task
        place = _behind_blanks(text, place)
        if text[place : place + 1] not in ("]", ","):
            line += text.count("\n", counted, place)
            raise DataError("the list of tasks is cut off here, or no list", line=line)
        is_last = text[place] == "]"
        place = place if is_last else _behind_blanks(text, place + 1)
    if _behind_blanks(text, place + 1) != len(text):
        raise DataError("more than one list of tasks is in this file", line=line)


def _behind_blanks(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    assert match is not None
    return match.end()


def _annotated(task: Any) -> AnnotatedText:
    """The text of a task and its annotations."""
    data = task.get("data") if isinstance(task, dict) else None
    if not isinstance(data, dict):
        raise DataError(
            "a task with `data` is expected; Label Studio has to export JSON, not JSON-MIN"
        )
    text = _text(data)
    name = data.get("id", task.get("id"))
    if name is not None and (isinstance(name, bool) or not isinstance(name, str | int)):
        raise DataError("the `id` of a task has to be a string or a number")
    results = _results(task)
    mentions = None if results is None else tuple(_mentions(results, text))
    return AnnotatedText(text, mentions, None if name is None else str(name), data_in(data))


def _text(data: Mapping[str, Any]) -> str:
    texts = [value for value in data.values() if isinstance(value, str)]
    text = data.get("text", texts[0] if len(texts) == 1 else None)
    if not isinstance(text, str):
        names = ", ".join(map(repr, data)) or "nothing"
        raise DataError(f"the data of a task have to hold its text as `text`; here is {names:.100}")
    return text


def _results(task: Mapping[str, Any]) -> Sequence[Any] | None:
    """The labels of one annotator, or of a model; None if there are none."""
    if "annotations" in task:
        done = [one for one in _objects(task["annotations"]) if not one.get("was_cancelled")]
        annotations = [one for one in done if one.get("ground_truth")][:1] or done[-1:]
    else:
        annotations = _objects(task.get("predictions"))[:1]
    if not annotations:
        return None
    result = annotations[0].get("result")
    if not isinstance(result, list):
        raise DataError("the `result` of an annotation has to be a list")
    return result


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _mentions(results: Iterable[Any], text: str) -> Iterator[Mention]:
    """The labelled stretches of text; choices, relations and the like are ignored."""
    places = Utf16(text)
    for result in results:
        value = result.get("value") if isinstance(result, dict) else None
        labels = value.get("labels") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(labels, list):
            continue
        start, end, quoted = value.get("start"), value.get("end"), value.get("text")
        if type(start) is not int or type(end) is not int:
            raise DataError(
                "a label needs `start` and `end` in characters of a text; those of HTML, sound and "
                "pictures cannot be read"
            )
        here = places.characters(start), places.characters(end)
        if isinstance(quoted, str) and not _agrees(text, *here, quoted):
            if not _agrees(text, start, end, quoted):
                raise DataError(
                    f"{quoted!r:.100} is marked at {start} to {end}, where the text has "
                    f"{text[max(0, start) : max(0, end)]!r:.100}",
                    kind="misaligned",
                )
            here = start, end
        for label in labels:
            if not isinstance(label, str) or not label:
                raise DataError(f"a label has to be a string, not {label!r:.100}")
            yield Mention(*here, label)


def _agrees(text: str, start: int, end: int, quoted: str) -> bool:
    return 0 <= start <= end and _IGNORED.sub("", text[start:end]) == _IGNORED.sub("", quoted)


def pieces(parses: Iterable[Parse], settings: WriteSettings) -> Iterator[str]:
    """The text of a file: a list with one task per sentence."""
    return list_of(map(task_of, parses))


def list_of(tasks: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The text of a file with these tasks, one per line."""
    before = "[\n"
    for task in tasks:
        yield before + jsonl.line_of(task)[:-1]
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def task_of(parse: Parse) -> dict[str, Any]:
    """The task of a sentence."""
    task: dict[str, Any] = {"data": data_of(parse)}
    if parse.entities is None:
        return task
    probabilities = [span.probability for span in parse.entities if span.probability is not None]
    if probabilities or "entities" in (parse.log_probs or {}):
        score = min(probabilities, default=1.0)
        return task | {"predictions": [prediction_of(parse, parse.entities, score=score)]}
    return task | {"annotations": [{"result": _written(parse, parse.entities)}]}


def prediction_of(
    parse: Parse, spans: tuple[Span, ...], *, score: float, version: str = "fencepost"
) -> dict[str, Any]:
    """A prediction: spans of a sentence with a score.

    Args:
        parse: the sentence.
        spans: the labelled spans.
        score: the score that Label Studio sorts tasks by.
        version: the name of the model.
    """
    return {"model_version": version, "score": score, "result": _written(parse, spans)}


def _written(parse: Parse, spans: tuple[Span, ...]) -> list[dict[str, Any]]:
    text = data_of(parse)["text"]
    units = Utf16(text)
    results = []
    for number, (span, (start, end, label)) in enumerate(
        zip(spans, places_of(parse, spans), strict=True), 1
    ):
        result: dict[str, Any] = {
            "id": str(number),
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {
                "start": units.of(start),
                "end": units.of(end),
                "text": text[start:end],
                "labels": [label],
            },
        }
        if span.probability is not None:
            result["score"] = round(span.probability, 6)
        results.append(result)
    return results
