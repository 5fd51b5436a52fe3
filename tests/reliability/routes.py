"""The ways into fencepost, and what has to hold at the end of each: a result, or an error of ours.

A route makes one input from a `Random`, sends it through, and returns what came of it: `valid`,
`refused` or `status`. All else that can come of it is a violation, and raised.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from fastapi.testclient import TestClient
from huggingface_hub import constants

from fencepost.checkpoints.shipped import find_model
from fencepost.errors import FencepostError
from fencepost.formats import ParseReader, ReadSettings
from fencepost.formats.corpora.document import SPLITS
from fencepost.formats.registry import FORMATS, READABLE
from fencepost.parser.parser import Parser
from fencepost.run.corpus.plan import make_plan
from fencepost.run.corpus.rows import RowSettings, rows_of
from fencepost.run.prepare import CORPORA, prepare
from fencepost.run.score import score_entities, score_trees
from fencepost.run.texts import Texts
from fencepost.structure import Document, Parse, Sentence, Span, Tree
from fencepost.structure.span import first_crossing
from tests.reliability.strategies import (
    hostile_body,
    hostile_corpus,
    hostile_file,
    hostile_table,
    hostile_text,
    hostile_words,
    valid_corpora,
    valid_files,
)

TOGETHER = 16  # inputs of one `parse_many`


class Violation(AssertionError):  # noqa: N818  (said of what was promised)
    """What was promised does not hold."""


@dataclass(frozen=True, slots=True)
class Route:
    """A way in.

    Attributes:
        name: as the table shows it.
        make: an input from a `Random`.
        send: the input through it; returns the outcomes, one for each input in it.
    """

    name: str
    make: Callable[[Random], Any]
    send: Callable[[Any], Sequence[str]]


def routes(parser: Parser, server: TestClient, folder: Path) -> list[Route]:
    """All of them but those through another model.

    Args:
        parser: a small one.
        server: an application around it.
        folder: for the files that are read; they are written over.
    """
    found = [
        Route("parse, a text", hostile_text, lambda text: [_parse(parser, text)]),
        Route("parse, words", hostile_words, lambda words: [_parse(parser, Sentence(words))]),
        Route("parse_many", _inputs, lambda inputs: _parse_many(parser, inputs)),
        Route("server, POST /v1/parse", hostile_body, lambda body: [_post(server, body)]),
    ]
    for format in READABLE:
        make = _maker(format.name)
        for skip in (False, True):
            how = ", skip_bad" if skip else ""
            send = _reader(folder, format.name, skip)
            found.append(Route(f"read {format.name}{how}", make, send))
        found.append(Route(f"words of {format.name}", make, _words_reader(folder, format.name)))
    found += [
        _score_route("score, trees", folder, "ptb", score=score_trees),
        _score_route("score, entities", folder, "data", score=score_entities),
        _score_route("score, trees of JSON lines", folder, "annotated", score=score_trees),
        _score_route("score, entities of JSON lines", folder, "annotated", score=score_entities),
        Route("names of models", _model_name, _find_model),
        Route("rows of a text", _text_file, _row_reader(folder, "txt")),
        Route("rows of JSON lines", _maker("jsonl"), _row_reader(folder, "jsonl")),
        Route("rows of Parquet", hostile_table, _row_reader(folder, "parquet")),
    ]
    for corpus in valid_corpora():
        change = partial(hostile_corpus, corpus=corpus)
        found.append(Route(f"prepare {corpus}", change, _preparer(folder / corpus, corpus)))
    return found


def model_route(name: str, parser: Parser) -> Route:
    """That of a text through another model."""
    return Route(f"parse, {name}", hostile_text, lambda text: [_parse(parser, text)])


def check_document(document: Document, given: object) -> str:
    """Check that a document is what its input deserves, and return the outcome."""
    if not document.is_ok:
        _hold(not document.sentences, "a document with a status has sentences")
        # This is how an exception of any other kind would look from here.
        _hold(not document.status.startswith("could not be parsed"), document.status)
        return "status"
    if isinstance(given, str):
        _hold(document.text == given, "the text is another")
        offsets = [pair for parse in document.sentences for pair in parse.sentence.offsets or ()]
        covered = "".join(given[start:end] for start, end in offsets)
        _hold(covered == "".join(given.split()), "words are not all that is no whitespace")
    elif given:
        _hold([parse.words for parse in document.sentences] == [tuple(_listed(given))], "words")
    for parse in document.sentences:
        check_parse(parse)
        _hold(parse.tree is not None or len(parse.words) == 0, "no tree was found")
    return "valid"


def _listed(given: Any) -> list[str]:
    return list(given.words if isinstance(given, Sentence) else given)


def check_parse(parse: Parse) -> None:
    """Check that words, offsets, tree and entities of a parse fit each other."""
    sentence = parse.sentence
    _hold(all(sentence.words), "an empty word")
    if sentence.offsets is not None and sentence.text is not None:
        sliced = tuple(sentence.text[start:end] for start, end in sentence.offsets)
        _hold(sliced == sentence.words, "offsets do not slice the text into words")
        _hold(all(a[1] <= b[0] for a, b in pairwise(sentence.offsets)), "offsets overlap")
    if parse.tree is not None:
        _hold(parse.tree.words == sentence.words, "the tree has other words")
        _check_spans(parse.tree.spans, len(sentence))
        Tree(sentence, parse.tree.spans)  # checks itself
    if parse.entities is not None:
        _check_spans(parse.entities, len(sentence))
    # Made anew, all of its own checks are made again.
    Parse(Sentence(*_fields(sentence)), None, parse.entities, parse.dropped)


def _fields(sentence: Sentence) -> tuple[Any, ...]:
    return sentence.words, sentence.tags, sentence.text, sentence.offsets, sentence.id


def _check_spans(spans: Sequence[Span], n: int) -> None:
    _hold(all(0 <= span.start < span.end <= n for span in spans), "a span beyond its sentence")
    _hold(first_crossing(spans) is None, "spans cross")


def _hold(promise: bool, otherwise: str) -> None:
    if not promise:
        raise Violation(otherwise)


def _parse(parser: Parser, given: Any) -> str:
    return check_document(parser.parse(given), given)


def _inputs(random: Random) -> list[Any]:
    # In a list of strings, one with a blank is taken for a text, and refused; in a sentence, not.
    makers = (hostile_text, hostile_words, lambda random: Sentence(tuple(hostile_words(random))))
    return [random.choice(makers)(random) for _ in range(TOGETHER)]


def _parse_many(parser: Parser, inputs: list[Any]) -> list[str]:
    documents = list(parser.parse_many(inputs))
    _hold(len(documents) == len(inputs), "not one document for each input")
    return [check_document(one, given) for one, given in zip(documents, inputs, strict=True)]


def _post(server: TestClient, body: bytes) -> str:
    answer = server.post("/v1/parse", content=body, headers={"Content-Type": "application/json"})
    data = answer.json()
    if answer.status_code != 200:
        _hold(400 <= answer.status_code < 500, f"{answer.status_code}: {answer.text}")
        _hold(isinstance(data["error"]["message"], str), "no message")
        return "refused"
    asked = json.loads(body.decode("utf-8", "surrogatepass"))
    several = asked.get("inputs")
    count = 1 if several is None else len(several)
    _hold(len(data["documents"]) == count, "not one document for each input")
    for one in map(Document.from_dict, data["documents"]):
        _hold(one.is_ok or not one.status.startswith("could not be parsed"), one.status)
        for parse in one.sentences:
            check_parse(parse)
    return "valid"


def _maker(format: str) -> Callable[[Random], tuple[bytes, ...]]:
    return lambda random: hostile_file(random, format)


def _model_name(random: Random) -> str:
    if random.random() < 0.3:
        return hostile_text(random)[:80]
    name = random.choice(("ann/tiny", "ann/tiny@v1.0", "en-small", "./x", "a/b@refs/pr/1", "~/x"))
    if random.random() < 0.2:
        return "en-small"  # a name as it should be
    place = random.randrange(len(name) + 1)
    return name[:place] + random.choice((hostile_text(random)[:3], "/", "@", "..")) + name[place:]


def _find_model(name: str) -> Sequence[str]:
    try:
        with patch.object(constants, "HF_HUB_OFFLINE", True):
            folder = find_model(name)
    except FencepostError as error:
        _hold(bool(str(error)), "an error without a message")
        return ["refused"]
    _hold(folder.is_dir(), "no folder")
    return ["valid"]


def _text_file(random: Random) -> tuple[bytes, ...]:
    lines = (hostile_text(random) for _ in range(random.randrange(1, 4)))
    return ("\n\n".join(lines).encode("utf-8", random.choice(("replace", "surrogatepass"))),)


def _put(folder: Path, suffix: str, files: Sequence[bytes]) -> Path:
    path = folder / f"x{suffix}"
    path.write_bytes(files[0])
    if len(files) > 1:
        path.with_suffix(".txt").write_bytes(files[1])
    return path


def _told(parses: Iterable[Parse]) -> list[str]:
    """The outcome of a reading."""
    try:
        for parse in parses:
            check_parse(parse)
    except FencepostError as error:
        _hold(bool(str(error)), "an error without a message")
        return ["refused"]
    return ["valid"]


def _reader(folder: Path, name: str, skip: bool) -> Callable[[Any], Sequence[str]]:
    settings = ReadSettings(skip_bad=skip, on_crossing="drop-span" if skip else "error")

    def send(files: tuple[bytes, ...]) -> Sequence[str]:
        path = _put(folder, FORMATS[name].suffix, files)
        return _told(ParseReader(path, format=name, settings=settings))

    return send


def _words_reader(folder: Path, name: str) -> Callable[[Any], Sequence[str]]:
    def send(files: tuple[bytes, ...]) -> Sequence[str]:
        path = _put(folder, FORMATS[name].suffix, files)
        items = Texts([str(path)], format=name)
        return _told(Parse(sentence) for item in items for sentence in item.sentences)

    return send


def _score_route(
    name: str, folder: Path, kind: str, *, score: Callable[[Path, Path], Any]
) -> Route:
    """That of predicted files of a kind, against the one as it should be."""
    suffix = ".jsonl" if kind == "annotated" else f".{kind}"
    gold = _put(folder, f"-gold{suffix}", valid_files()[kind])

    def send(files: tuple[bytes, ...]) -> Sequence[str]:
        predicted = _put(folder, suffix, files)
        try:
            report = score(gold, predicted).to_dict()
        except FencepostError:
            return ["refused"]
        _hold(0 <= report["f1"] <= 100, "a score beyond the scale")
        return ["valid"]

    return Route(name, _maker(kind), send)


def _row_reader(folder: Path, suffix: str) -> Callable[[Any], Sequence[str]]:
    settings = RowSettings()

    def send(files: tuple[bytes, ...]) -> Sequence[str]:
        path = _put(folder, f".{suffix}", files)
        try:
            plan = make_plan([str(path)], settings=settings)
            shards = [shard for portion in plan.portions for shard in portion.shards]
            rows = [row for shard in shards for row in rows_of(shard, settings)]
        except FencepostError:
            return ["refused"]
        return ["status" if any(row.problem is not None for row in rows) else "valid"]

    return send


def _preparer(folder: Path, corpus: str) -> Callable[[Any], Sequence[str]]:
    """That of a corpus, in which some files are exchanged: all three splits, or none."""
    source, out = folder / "source", folder / "out"
    files = valid_corpora()[corpus]
    for name, data in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(data)
    lists: dict[str, Path] = {
        name: source / f"{name}.ids" for name in SPLITS if f"{name}.ids" in files
    }

    def send(struck: dict[str, bytes]) -> Sequence[str]:
        shutil.rmtree(out, ignore_errors=True)
        try:
            for name, data in struck.items():
                (source / name).write_bytes(data)
            totals = prepare(corpus, source, out, ids=lists)
        except FencepostError as error:
            _hold(bool(str(error)), "an error without a message")
            _hold(not out.exists(), "something was written")
            return ["refused"]
        finally:
            for name in struck:
                (source / name).write_bytes(files[name])
        for split, counts in totals.items():
            parses = list(ParseReader(out / f"{split}.{CORPORA[corpus].format}"))
            _hold(len(parses) == counts.sentences, "other sentences than were counted")
            for parse in parses:
                check_parse(parse)
        return ["valid"]

    return send
