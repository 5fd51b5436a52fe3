"""Answers as JSON: documents with readings, drawings and steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from fencepost.errors import DataError
from fencepost.parser.steps import Step
from fencepost.scoring.differences import differences
from fencepost.structure import Parse, Span, Tree
from fencepost.structure.serialization import plain_parse
from fencepost.web.jobs import Answered


def answer(
    model: str, answers: Iterable[Answered], *, probabilities: bool = True, draw: bool = False
) -> bytes:
    """The answer to a request as JSON.

    Args:
        model: the name of the model.
        answers: the answer for each input.
        probabilities: whether to include probabilities.
        draw: whether to include drawings.
    """
    documents = [plain_document(one, probabilities=probabilities, draw=draw) for one in answers]
    data = {"model": model, "documents": documents}
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


def plain_document(
    answered: Answered, *, probabilities: bool = True, draw: bool = False
) -> dict[str, Any]:
    """A document as plain data, which `Document.from_dict` reads."""
    document = answered.document
    if not probabilities:
        document = replace(
            document, sentences=tuple(map(without_probabilities, document.sentences))
        )
    data = document.to_dict()
    for number, (plain, parse) in enumerate(
        zip(data["sentences"], document.sentences, strict=True)
    ):
        plain.update(_extras(parse, draw=draw))
        if answered.readings:
            plain["readings"] = _readings(
                answered.readings[number], document.text, probabilities=probabilities, draw=draw
            )
        if answered.steps:
            plain["steps"] = _steps(answered.steps[number])
    return data


def _readings(
    readings: Sequence[Parse], text: str | None, *, probabilities: bool, draw: bool
) -> list[dict[str, Any]]:
    first = readings[0]
    data = []
    for number, reading in enumerate(readings, 1):
        parse = reading if probabilities else without_probabilities(reading)
        plain = plain_parse(parse)
        if "offsets" in plain and plain.get("text") == text:
            del plain["text"]  # the document has it
        plain.update(_extras(parse, draw=draw))
        if number > 1:
            text_of_differences = differences(first, reading).told("reading 1", f"reading {number}")
            plain["differences"] = text_of_differences
        data.append(plain)
    return data


def without_probabilities(parse: Parse) -> Parse:
    """The same parse without probabilities."""
    tree = parse.tree
    return Parse(
        parse.sentence,
        None if tree is None else Tree(parse.sentence, tuple(Span(*span) for span in tree.spans)),
        None if parse.entities is None else tuple(Span(*span) for span in parse.entities),
        rank=parse.rank,
    )


def _extras(parse: Parse, *, draw: bool) -> dict[str, Any]:
    """Additions to a parse in an answer: brackets and drawings."""
    extras: dict[str, Any] = {}
    if parse.tree is not None:
        # Brackets cannot express a word that contains a blank.
        with suppress(DataError):
            extras["brackets"] = parse.tree.to_brackets()
    if draw:
        extras["svg"] = _drawings(parse)
    return extras


def _drawings(parse: Parse) -> dict[str, str]:
    from fencepost.drawing.svg import entities_svg, tree_svg

    drawings = {}
    if parse.tree is not None:
        drawings["tree"] = tree_svg(parse.tree, theme="auto", boundaries=True)
    if parse.entities is not None:
        drawings["entities"] = entities_svg(parse, theme="auto", boundaries=True)
    return drawings


def _steps(steps: Iterable[Step]) -> dict[str, list[dict[str, Any]]]:
    """The steps of a sentence, by layer."""
    layers = groupby(steps, key=lambda step: step.layer)
    return {layer: [_step(step) for step in some] for layer, some in layers}


def _step(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "cursor": step.cursor,
        "boundary": step.boundary,
        # Each step has one for each boundary, so digits that nobody sees are cut off.
        "candidates": [[b, float(f"{chance:.6g}")] for b, chance in step.candidates],
        "start": step.span.start,
        "end": step.span.end,
        "label": step.span.label,
        "probability": step.probability,
        "label_probability": step.label_probability,
        "runner_up": None if step.runner_up is None else [*step.runner_up],
    }
