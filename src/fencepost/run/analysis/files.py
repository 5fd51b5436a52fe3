"""Gold and predicted files of the same sentences, side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fencepost.errors import ConfigError, DataError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.cleaning import TRACE, clean
from fencepost.formats.files import STANDARD, Source
from fencepost.formats.ptb import chunks
from fencepost.formats.registry import format_of
from fencepost.run.progress import Watch, unwatched
from fencepost.run.score import difference_of_words, too_short
from fencepost.scoring import side_of_line
from fencepost.scoring.breakdown import Layer
from fencepost.structure import Parse, Sentence, Tree
from fencepost.structure.brackets import read_brackets
from fencepost.structure.span import spans_of

LAYERS: tuple[Layer, ...] = ("tree", "entities")
_NAMES = {"tree": "tree", "entities": "entities layer"}


class Placed(NamedTuple):
    """The annotation of one sentence in a file, and its place."""

    path: str
    line: int
    parse: Parse | None  # None: a line without words, which a parser writes if it fails


@dataclass(frozen=True, slots=True)
class Files:
    """The sentences of a gold file and of predicted ones, which have the same words.

    Predicted trees stand over the gold words and gold tags. A predicted sentence is None if it
    could not be parsed.
    """

    layers: tuple[Layer, ...]  # that all of the files have
    gold: tuple[Parse, ...]
    systems: tuple[tuple[Parse | None, ...], ...]


def read_files(
    gold: str,
    predicted: Sequence[str],
    *,
    layer: Layer | None = None,
    format: str | None = None,
    settings: ReadSettings | None = None,
    watch: Watch = unwatched,
) -> Files:
    """Read the files, and see that they are of the same sentences.

    Trees are read without traces, functions and features, as they are for `evaluate`.

    Args:
        gold: the annotation.
        predicted: what systems have found.
        layer: that is wanted; None: all that every file has.
        format: of all files; None: what the suffix of each tells.
        settings: encoding, and what happens to entities that cross.
        watch: shows how far it is.

    Raises:
        DataError: there are other words or other sentences, or no layer that all have.
    """
    if [gold, *predicted].count(STANDARD) > 1:
        raise ConfigError("only one of the files can be standard input")
    settings = settings or ReadSettings()
    crossing = settings.on_crossing
    settings = replace(
        settings,
        drop_traces=True,
        drop_functions=True,
        drop_features=True,
        # As in scoring: an entity that cannot be found is still one that was missed.
        on_crossing="drop-span" if crossing == "drop-sentence" else crossing,
    )
    ours = list(_parses(gold, format, settings, watch))
    if not ours:
        raise DataError("there are no sentences in it", path=gold)
    systems = []
    for path in predicted:
        is_brackets = not os.path.isdir(path) and format_of(path, format).name == "ptb"
        read = _lines(path, settings) if is_brackets else _parses(path, format, settings, watch)
        systems.append(_aligned(list(read), ours, path=path, gold=gold))
    layers = _common([ours, *systems]) if layer is None else (layer,)
    if not layers:
        names = ", ".join(predicted)
        raise DataError(f"{gold} and {names} have no layer in common that could be analysed")
    for placed in (one for side in (ours, *systems) for one in side):
        _check_layers(placed, layers)
    return Files(
        layers,
        tuple(one.parse for one in ours if one.parse is not None),
        tuple(
            tuple(map(_over_gold, (one.parse for one in system), (one.parse for one in ours)))
            for system in systems
        ),
    )


def _parses(
    path: str, format: str | None, settings: ReadSettings, watch: Watch
) -> Iterator[Placed]:
    reading = ParseReader(path, format=format, settings=settings)
    for parse in watch(reading):
        yield Placed(*reading.place, _plain(parse, parse.sentence))


def _lines(path: str, settings: ReadSettings) -> Iterator[Placed]:
    """The trees of a file of brackets; if each has its line, one without words is a failure."""
    if path != STANDARD and not os.path.exists(path):
        raise DataError("there is no such file", path=path)
    source = Source(path, encoding=settings.encoding)
    lines = list(source.lines())
    is_one_a_line = all(line.count("(") == line.count(")") for line in lines)
    for number, text in enumerate(lines, 1) if is_one_a_line else chunks(lines):
        try:
            for parse in _of_brackets(text, settings):
                yield Placed(source.name, number, parse)
        except DataError as error:
            raise error.at(source.name, number) from None


def _of_brackets(text: str, settings: ReadSettings) -> Iterator[Parse | None]:
    try:
        found = list(read_brackets(text, escapes=settings.escapes))
    except DataError as error:
        if error.kind != "empty" or any(side_of_line(text).words):
            error.line = None  # which would be the one within this text
            raise
        found = []
    if not found:
        yield None
    for words, tags, spans in found:
        if all(tag == TRACE for tag in tags):
            yield None
        else:
            tree = clean(Tree(Sentence(words, tags), spans), settings)
            yield Parse(tree.sentence, tree)


def _aligned(system: list[Placed], ours: Sequence[Placed], *, path: str, gold: str) -> list[Placed]:
    """The predicted sentences, one for each gold one, with the same words."""
    while len(system) > len(ours) and system[-1].parse is None:
        system = system[:-1]  # only an empty line at the end
    if len(system) != len(ours):
        # Empty lines may also only stand between the trees.
        system = [one for one in system if one.parse is not None]
    if len(system) != len(ours):
        shorter = path if len(system) < len(ours) else gold
        raise too_short(shorter, min(len(system), len(ours)))
    for one, other in zip(ours, system, strict=True):
        if one.parse is not None and other.parse is not None:
            problem = difference_of_words(one.parse.words, other.parse.words)
            if problem:
                place = f"{one.path}:{one.line}"
                raise DataError(f"{problem} (gold: {place})").at(other.path, other.line)
    return system


def _common(sides: Sequence[Sequence[Placed]]) -> tuple[Layer, ...]:
    """The layers that the first sentence of every file has."""
    firsts = [next((one.parse for one in side if one.parse), None) for side in sides]
    return tuple(
        layer
        for layer in LAYERS
        if all(
            layer == "tree" if parse is None else getattr(parse, layer) is not None
            for parse in firsts
        )
    )


def _check_layers(placed: Placed, layers: Sequence[Layer]) -> None:
    for layer in layers:
        has_it = (
            layer == "tree" if placed.parse is None else getattr(placed.parse, layer) is not None
        )
        if not has_it:
            raise DataError(f"this sentence has no {_NAMES[layer]}", kind="layer").at(
                placed.path, placed.line
            )


def _over_gold(predicted: Parse | None, gold: Parse | None) -> Parse | None:
    assert gold is not None
    return None if predicted is None else _plain(predicted, gold.sentence)


def _plain(parse: Parse, sentence: Sentence) -> Parse:
    """A parse over a sentence with the same words, without what a parser thought of its spans."""
    return Parse(
        sentence,
        None if parse.tree is None else Tree(sentence, spans_of(parse.tree.spans)),
        None if parse.entities is None else spans_of(parse.entities),
        spans_of(parse.dropped),
    )
