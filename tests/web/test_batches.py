"""Requests that wait: together, in turn, refused, given up, and never one for another."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from fencepost.parser import documents
from fencepost.parser.predict import predict_batch
from fencepost.structure import Document
from fencepost.web.app import make_app
from fencepost.web.batches import Batches
from fencepost.web.errors import RefusedError
from fencepost.web.jobs import Job, job_of, parse_together
from fencepost.web.schemas import ParseRequest
from fencepost.web.settings import Settings
from tests.web.serving import BAD, PARSER, Watched, client, refused


@contextmanager
def held(settings: Settings | None = None) -> Iterator[tuple[Watched, TestClient]]:
    """A server whose parser is in the middle of something."""
    parser = Watched()
    with client(settings, parser) as server, ThreadPoolExecutor(1) as pool:
        parser.let_go.clear()
        first = pool.submit(server.post, "/v1/parse", json={"text": "first"})
        assert parser.begun.acquire(timeout=10)
        try:
            yield parser, server
        finally:
            parser.let_go.set()
        assert first.result().status_code == 200


def wait_for(server: TestClient, waiting: int) -> None:
    """Wait until so many requests wait."""
    end = time.monotonic() + 10
    while server.get("/health").json()["waiting"] != waiting:
        assert time.monotonic() < end


def asked_at_once(
    pool: ThreadPoolExecutor, server: TestClient, bodies: Sequence[dict[str, Any]]
) -> list[Future[httpx2.Response]]:
    return [pool.submit(server.post, "/v1/parse", json=body) for body in bodies]


def job(text: str, **options: Any) -> Job:
    return job_of(PARSER, ParseRequest.model_validate({"text": text, **options}), Settings())


class TestTogether:
    def test_what_waits_is_parsed_together_and_each_gets_its_own_answer(self) -> None:
        bodies = [{"text": f"a b {'c ' * n}{n}."} for n in range(20)]
        with held() as (parser, server), ThreadPoolExecutor(20) as pool:
            answers = asked_at_once(pool, server, bodies)
            wait_for(server, 20)
            parser.let_go.set()
            for body, answer in zip(bodies, answers, strict=True):
                (document,) = answer.result().json()["documents"]
                assert Document.from_dict(document) == PARSER.parse(body["text"])
        assert [len(batch) for batch in parser.batches] == [1, 20]

    def test_other_options_are_parsed_apart(self) -> None:
        bodies: list[dict[str, Any]] = [
            {"text": "a b"},
            {"text": "b a", "beams": 2},
            {"text": "a c", "probabilities": False},  # no matter of the parser
            {"text": "c a", "n_best": 2},
            {"text": "c b", "must": [[0, 1]]},
            {"text": "b c", "gazetteer": {"b": "S"}},
            {"text": "b b", "gazetteer": {"b": "S"}},
        ]
        with held() as (parser, server), ThreadPoolExecutor(20) as pool:
            answers = []
            for number, body in enumerate(bodies, 1):
                answers += asked_at_once(pool, server, [body])
                wait_for(server, number)  # so that they stand in this order
            parser.let_go.set()
            for body, answer in zip(bodies, answers, strict=True):
                (document,) = answer.result().json()["documents"]
                assert document["text"] == body["text"]
        texts = [[" ".join(words) for words in batch] for batch in parser.batches]
        assert texts[1:] == [["a b", "a c"], ["b a"], ["c a"], ["c b"], ["b c", "b b"]]

    def test_a_batch_has_only_so_many_words(self) -> None:
        bodies = [{"words": ["a"] * 4}] * 5 + [{"words": ["b"] * 30}]
        with held(Settings(batch_words=10)) as (parser, server), ThreadPoolExecutor(20) as pool:
            answers = asked_at_once(pool, server, bodies)
            wait_for(server, 6)
            parser.let_go.set()
            assert {answer.result().status_code for answer in answers} == {200}
        sizes = [sum(map(len, batch)) for batch in parser.batches[1:]]
        assert sorted(sizes) == [4, 8, 8, 30]

    def test_those_that_come_in_within_a_moment_go_together(self) -> None:
        parser = Watched()
        batches = Batches(parser, Settings(gather=60, batch_words=4))
        tickets = [batches.submit(job(text)) for text in ("a", "b", "a b")]
        found = [ticket.answer.result(10) for ticket in tickets]
        assert [answers[0].document.text for answers in found] == ["a", "b", "a b"]
        assert len(parser.batches) == 1
        batches.close()

    def test_a_full_batch_and_one_alone_wait_for_nobody(self) -> None:
        batches = Batches(PARSER, Settings(gather=60, batch_words=3))
        started = time.monotonic()
        assert batches.submit(job("a b c")).answer.result(10)
        assert batches.submit(job("a", n_best=2)).answer.result(10)
        assert time.monotonic() - started < 30
        batches.close()


class TestRefused:
    def test_more_requests_than_there_are_places(self) -> None:
        with held(Settings(queue=3)) as (parser, server), ThreadPoolExecutor(3) as pool:
            answers = asked_at_once(pool, server, [{"text": "a"}, {"text": "b"}])
            wait_for(server, 2)
            response = server.post("/v1/parse", json={"text": "c"})
            assert "3 requests are here already" in refused(response, 503)
            assert response.headers["retry-after"] == "1"
            assert 'fencepost_refused_total{reason="queue"} 1' in server.get("/metrics").text
            parser.let_go.set()
            assert [answer.result().status_code for answer in answers] == [200, 200]
            assert server.post("/v1/parse", json={"text": "c"}).status_code == 200

    def test_more_words_than_may_wait(self) -> None:
        with held(Settings(queue_words=5)) as (parser, server), ThreadPoolExecutor(3) as pool:
            # Where nobody waits, there is room for any request.
            answers = asked_at_once(pool, server, [{"words": ["a"] * 6}])
            wait_for(server, 1)
            response = server.post("/v1/parse", json={"text": "c"})
            assert "6 words are waiting already" in refused(response, 503)
            parser.let_go.set()
            assert answers[0].result().status_code == 200

    def test_who_has_waited_too_long_is_never_parsed(self) -> None:
        with held(Settings(max_wait=1)) as (parser, server), ThreadPoolExecutor(3) as pool:
            (late,) = asked_at_once(pool, server, [{"text": "late"}])
            assert "has waited for 1 seconds" in refused(late.result(), 503)
            assert late.result().headers["retry-after"] == "1"
            assert server.get("/health").json()["waiting"] == 0
            parser.let_go.set()
            assert server.post("/v1/parse", json={"text": "c"}).status_code == 200
        assert ("late",) not in [words for batch in parser.batches for words in batch]

    def test_who_is_being_parsed_is_answered_however_long_it_takes(self) -> None:
        with held(Settings(max_wait=1)) as (parser, _):
            time.sleep(1.2)
            parser.let_go.set()

    def test_a_late_job_is_passed_over_even_if_nobody_gives_it_up(self) -> None:
        parser = Watched()
        parser.let_go.clear()
        batches = Batches(parser, Settings(max_wait=1))
        first = batches.submit(job("a"))
        assert parser.begun.acquire(timeout=10)
        late = batches.submit(job("b"))
        time.sleep(1.1)
        parser.let_go.set()
        assert first.answer.result(10)
        batches.close()
        assert late.answer.cancelled()
        assert len(parser.batches) == 1

    def test_a_burst_gives_answers_and_refusals_and_nothing_else(self) -> None:
        parser = Watched()
        with client(Settings(queue=8, max_wait=5), parser) as server:
            with ThreadPoolExecutor(200) as pool:
                bodies = [{"text": f"a b {n}"} for n in range(200)]
                answers = [one.result() for one in asked_at_once(pool, server, bodies)]
            statuses = [answer.status_code for answer in answers]
            assert set(statuses) <= {200, 503}
            for body, answer in zip(bodies, answers, strict=True):
                if answer.status_code == 200:
                    assert answer.json()["documents"][0]["text"] == body["text"]
                else:
                    assert answer.headers["retry-after"]
            assert statuses.count(200) >= 8
            assert server.get("/health").json() == {
                "status": "ok",
                "model": "en-small",
                "waiting": 0,
            }
            assert server.post("/v1/parse", json={"text": "a"}).status_code == 200


class TestFailing:
    @pytest.mark.parametrize("options", [{}, {"n_best": 2}])
    def test_one_that_fails_takes_no_other_down(
        self, options: dict[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        bodies = [{"words": ["a", word], **options} for word in ("b", BAD, "c")]
        with held() as (parser, server), ThreadPoolExecutor(3) as pool:
            answers = asked_at_once(pool, server, bodies)
            wait_for(server, 3)
            with caplog.at_level(logging.ERROR):
                parser.let_go.set()
                fine, bad, other = (answer.result() for answer in answers)
            assert (fine.status_code, other.status_code) == (200, 200)
            message = refused(bad, 500)
            assert "RuntimeError" in message
            assert "secret" not in message
            assert 'fencepost_refused_total{reason="failed"} 1' in server.get("/metrics").text
        assert "a secret of the machine" in caplog.text
        assert "Traceback" in caplog.text

    def test_the_same_answer_comes_alone(self) -> None:
        with held() as (parser, server), ThreadPoolExecutor(3) as pool:
            answers = asked_at_once(pool, server, [{"words": ["b", BAD]}, {"words": ["a", "b"]}])
            wait_for(server, 2)
            parser.let_go.set()
            document = answers[1].result().json()["documents"][0]
        assert Document.from_dict(document) == PARSER.parse(["a", "b"])


def status_of(app: Any, receive: Callable[[], Awaitable[Any]]) -> int:
    """The status of the answer to a request whose body comes in as `receive` gives it."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/parse",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    asyncio.run(app(scope, receive, send))
    status: int = sent[0]["status"]
    return status


class TestGone:
    def ask(self, app: Any, body: dict[str, Any], gone: threading.Event) -> int:
        """The status of an answer to a client that goes away when it is told to."""
        parts = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

        async def receive() -> Any:
            if parts:
                return parts.pop()
            while not gone.is_set():
                await asyncio.sleep(0.01)
            return {"type": "http.disconnect"}

        return status_of(app, receive)

    def test_a_client_that_went_away_is_not_parsed(self) -> None:
        gone = threading.Event()
        with held() as (parser, server), ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self.ask, server.app, {"text": "away"}, gone)
            wait_for(server, 1)
            gone.set()
            assert answer.result(10) == 499
            assert server.get("/health").json()["waiting"] == 0
        assert ("away",) not in [words for batch in parser.batches for words in batch]

    def test_what_nobody_waits_for_is_not_finished(self) -> None:
        gone = threading.Event()
        parser = Watched()
        parser.let_go.clear()
        app = make_app(parser)
        with ThreadPoolExecutor(1) as pool:
            body = {"text": "It slept. It ate. It left.", "n_best": 2}
            answer = pool.submit(self.ask, app, body, gone)
            assert parser.begun.acquire(timeout=10)
            gone.set()
            assert answer.result(10) == 499
        parser.let_go.set()
        app.state.batches.close()
        assert len(parser.batches) == 1

    @pytest.mark.parametrize("texts", [["It slept. It ate. It left. It sat."], ["a b c"] * 4])
    def test_a_text_that_nobody_waits_for_is_not_finished_either(
        self, texts: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(documents, "BATCH_WORDS", 3)
        begun: list[int] = []

        def counted(model: Any, sentences: Sequence[Any], *given: Any, **options: Any) -> Any:
            begun.append(len(sentences))
            return predict_batch(model, sentences, *given, **options)

        monkeypatch.setattr(documents, "predict_batch", counted)
        request = ParseRequest.model_validate({"inputs": texts})
        asked = job_of(PARSER, request, Settings())
        assert parse_together(PARSER, [asked, asked], is_wanted=lambda: False) == [[], []]
        assert len(begun) == 1
        found = parse_together(PARSER, [asked], is_wanted=lambda: True)
        assert [one.document.text for one in found[0]] == texts

    def test_as_long_as_one_of_several_waits_they_are_finished(self) -> None:
        parser = Watched()
        batches = Batches(parser, Settings(gather=60, batch_words=2))
        parser.let_go.clear()
        tickets = [batches.submit(job(text)) for text in ("a", "b")]
        assert parser.begun.acquire(timeout=10)
        tickets[0].unwanted.set()
        parser.let_go.set()
        assert [len(ticket.answer.result(10)) for ticket in tickets] == [1, 1]
        batches.close()


class TestClosing:
    def test_what_waits_is_finished_and_nothing_more_is_taken(self) -> None:
        parser = Watched()
        parser.let_go.clear()
        batches = Batches(parser, Settings())
        tickets = [batches.submit(job(text)) for text in ("a", "b", "c")]
        closing = threading.Thread(target=batches.close)
        closing.start()
        while not batches.is_closing:
            time.sleep(0.001)
        with pytest.raises(RefusedError, match="about to end"):
            batches.submit(job("d"))
        with pytest.raises(RefusedError, match="about to end"), batches.place():
            pass
        parser.let_go.set()
        closing.join(10)
        assert all(ticket.answer.result(0) for ticket in tickets)

    def test_who_would_have_to_wait_longer_is_refused(self) -> None:
        parser = Watched()
        parser.let_go.clear()
        batches = Batches(parser, Settings(closing=0.1))
        first = batches.submit(job("a"))
        assert parser.begun.acquire(timeout=10)
        second, third = batches.submit(job("b")), batches.submit(job("c"))
        batches.withdraw(third)
        batches.close()
        with pytest.raises(RefusedError, match="about to end"):
            second.answer.result(0)
        assert third.answer.cancelled()
        assert batches.waiting == 0
        parser.let_go.set()
        assert first.answer.result(10)

    def test_who_waits_is_told_and_so_is_who_still_sends(self) -> None:
        parser = Watched()
        parser.let_go.clear()
        app = make_app(parser, Settings(closing=0.2))
        batches: Batches = app.state.batches
        with TestClient(app) as server, ThreadPoolExecutor(3) as pool:
            answers = asked_at_once(pool, server, [{"text": "parsed"}])
            assert parser.begun.acquire(timeout=10)
            answers += asked_at_once(pool, server, [{"text": "in line"}])
            wait_for(server, 1)
            sending = pool.submit(self.post_slowly, app)
            batches.begin_closing()
            for answer in answers:
                assert "about to end" in refused(answer.result(10), 503)
            assert sending.result(10) == 503
            assert batches.is_busy
        parser.let_go.set()

    def post_slowly(self, app: Any) -> int:
        """The status of the answer to a request that is never all there."""

        async def receive() -> Any:
            await asyncio.sleep(0.05)
            return {"type": "http.request", "body": b" ", "more_body": True}

        return status_of(app, receive)

    def test_it_can_be_opened_again(self) -> None:
        app = make_app(PARSER)
        for _ in range(2):
            with TestClient(app) as server:
                assert server.post("/v1/parse", json={"text": "a"}).status_code == 200
        server = TestClient(app)
        assert "about to end" in refused(server.post("/v1/parse", json={"text": "a"}), 503)
        assert server.get("/health").json()["status"] == "closing"

    def test_one_that_was_never_used_ends_at_once(self) -> None:
        Batches(PARSER, Settings()).close()
