"""A parser that waits to be let go, and applications around it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import httpx2
from fastapi.testclient import TestClient

from fencepost.parser.inputs import Input, PreparedInput, prepare_input
from fencepost.parser.options import CheckedOptions
from fencepost.parser.parser import Parser
from fencepost.parser.predict import Done
from fencepost.structure import Document, Parse, Sentence
from fencepost.web.app import make_app
from fencepost.web.settings import Settings
from tests.models import lively_model

PARSER = Parser(lively_model("tree", "entities", "tags"))
BAD = "unparsable"  # a word that the parser below falls over


class Watched(Parser):
    """A parser that counts its batches, can be held up, and fails for one word."""

    def __init__(self) -> None:
        super().__init__(PARSER.model)
        self.batches: list[list[tuple[str, ...]]] = []  # the words of all sentences
        self.begun = threading.Semaphore(0)
        self.let_go = threading.Event()
        self.let_go.set()

    def stream(
        self,
        xs: Iterable[Input | PreparedInput],
        options: CheckedOptions,
        *,
        done: Done | None = None,
        **others: Any,
    ) -> Iterator[Document]:
        given = [prepare_input(one) for one in xs]
        self._note([sentence.words for one in given for sentence in one.sentences])
        return super().stream(given, options, done=done, **others)

    def n_best_many(
        self, sentences: Iterable[Sentence], k: int, options: CheckedOptions
    ) -> Iterator[tuple[Parse, ...]]:
        given = list(sentences)
        self._note([sentence.words for sentence in given])
        return super().n_best_many(given, k, options)

    def _note(self, words: list[tuple[str, ...]]) -> None:
        self.batches.append(words)
        self.begun.release()
        assert self.let_go.wait(20)
        if any(BAD in some for some in words):
            raise RuntimeError("a secret of the machine")


def client(settings: Settings | None = None, parser: Parser = PARSER) -> TestClient:
    """A client of an application of its own, which is closed with it."""
    return TestClient(make_app(parser, settings))


def parsed(client: TestClient, **asked: Any) -> Any:
    """The answer to a request that has to be answered."""
    response = client.post("/v1/parse", json=asked)
    assert response.status_code == 200, response.text
    return response.json()


def refused(response: httpx2.Response, status: int) -> str:
    """The message of a refusal."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert error["status"] == status
    assert isinstance(error["message"], str)
    return error["message"]
