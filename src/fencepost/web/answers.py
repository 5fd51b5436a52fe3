"""Answers as plain data: documents with readings, drawings and steps."""

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
    model: str, found: Iterable[Answered], *, probabilities: bool = True, draw: bool = False
) -> bytes:
    """The answer to a request, as JSON.

    Args:
        model: its name.
        found: for each input.
        probabilities: whether spans and layers have any.
        draw: whether drawings come along.
    """
    documents = [plain_document(one, probabilities=probabilities, draw=draw) for one in found]
    data = {"model": model, "documents": documents}
    return json.dumps(data, ensure_ascii=False, allow_nan=False).encode()


def plain_document(
    found: Answered, *, probabilities: bool = True, draw: bool = False
) -> dict[str, Any]:
    """A document as plain data, which `Document.from_dict` reads."""
    document = found.document
    if not probabilities:
        document = replace(
            document, sentences=tuple(map(without_probabilities, document.sentences))
        )
    data = document.to_dict()
    for number, (plain, parse) in enumerate(
        zip(data["sentences"], document.sentences, strict=True)
    ):
        plain.update(_extras(parse, draw=draw))
        if found.readings:
            plain["readings"] = _readings(
                found.readings[number], document.text, probabilities=probabilities, draw=draw
            )
        if found.steps:
            plain["steps"] = _steps(found.steps[number])
    return data


def _readings(
    readings: Sequence[Parse], text: str | None, *, probabilities: bool, draw: bool
) -> list[dict[str, Any]]:
    first = readings[0]
    data = []
    for number, given in enumerate(readings, 1):
        parse = given if probabilities else without_probabilities(given)
        plain = plain_parse(parse)
        if "offsets" in plain and plain.get("text") == text:
            del plain["text"]  # said once, with the document
        plain.update(_extras(parse, draw=draw))
        if number > 1:
            told = differences(first, given).told("reading 1", f"reading {number}")
            plain["differences"] = told
        data.append(plain)
    return data


def without_probabilities(parse: Parse) -> Parse:
    """The same parse, without any word of how probable it is."""
    tree = parse.tree
    return Parse(
        parse.sentence,
        None if tree is None else Tree(parse.sentence, tuple(Span(*span) for span in tree.spans)),
        None if parse.entities is None else tuple(Span(*span) for span in parse.entities),
        rank=parse.rank,
    )


def _extras(parse: Parse, *, draw: bool) -> dict[str, Any]:
    """Additions to a parse in an answer: brackets and drawings."""
    found: dict[str, Any] = {}
    if parse.tree is not None:
        # A word that was given may be empty or hold a blank, which brackets cannot say.
        with suppress(DataError):
            found["brackets"] = parse.tree.to_brackets()
    if draw:
        found["svg"] = _drawings(parse)
    return found


def _drawings(parse: Parse) -> dict[str, str]:
    from fencepost.drawing.svg import entities_svg, tree_svg

    found = {}
    if parse.tree is not None:
        found["tree"] = tree_svg(parse.tree, theme="auto", boundaries=True)
    if parse.entities is not None:
        found["entities"] = entities_svg(parse, theme="auto", boundaries=True)
    return found


def _steps(steps: Iterable[Step]) -> dict[str, list[dict[str, Any]]]:
    """The steps of a sentence, by layer."""
    layers = groupby(steps, key=lambda step: step.layer)
    return {layer: [_step(step) for step in some] for layer, some in layers}


def _step(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "cursor": step.cursor,
        "boundary": step.boundary,
        # There are as many as boundaries in each step: what nobody sees is not sent.
        "candidates": [[b, float(f"{chance:.6g}")] for b, chance in step.candidates],
        "start": step.span.start,
        "end": step.span.end,
        "label": step.span.label,
        "probability": step.probability,
        "label_probability": step.label_probability,
        "runner_up": None if step.runner_up is None else [*step.runner_up],
    }
