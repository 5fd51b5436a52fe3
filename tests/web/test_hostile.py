"""Clients that are slow, greedy, wrong or gone, and what they send for others to trip over."""

from __future__ import annotations

import ast
import asyncio
import hmac
import inspect
import json
import re
import resource
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil  # type: ignore[import-untyped]
import pytest
import uvicorn
from fastapi.testclient import TestClient
from playwright.sync_api import BrowserContext, Dialog, Route, expect
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from fencepost.structure import Document, Parse, Sentence, Span, Tree
from fencepost.web.answers import answer
from fencepost.web.app import make_app
from fencepost.web.errors import RefusedError
from fencepost.web.jobs import Answered
from fencepost.web.middleware import check_token
from fencepost.web.server import IdleConnections
from fencepost.web.settings import Settings
from tests.web.hostile import PATIENCE, Server, asked, health, running, until, waiting, words_begun
from tests.web.pages import Watched, opened
from tests.web.serving import PARSER, client, parsed, refused

IDLE = 1.0  # seconds that the server below waits for who does nothing
CONNECTIONS = 200  # that it has at most
BODY = 100_000  # bytes that it reads at most
SHORT, LONG = 1, 20  # seconds until a server that was told to end gives up waiting
FOR_EVER = 600.0  # seconds
SOON = 20.0  # seconds in which others have to be answered, on a machine that has much to do

LAYERS = ("tree", "entities")
POLICY = "content-security-policy"
MARKUP = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "</text></svg><svg onload=alert(1)>",
    "]]><!--&lt;script&gt;",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small model."""
    folder = tmp_path_factory.mktemp("hostile") / "model"
    PARSER.save(folder)
    return folder


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[Server]:
    with running(
        model, max_idle=IDLE, max_upload=IDLE, max_body=BODY, max_connections=CONNECTIONS
    ) as found:
        check_others(found.address)  # what is done only once is done now
        yield found
        assert found.process.is_alive(), "the server has ended"


@pytest.fixture
def address(server: Server) -> str:
    return server.address


@contextmanager
def connected(address: str, *, room: int | None = None) -> Iterator[socket.socket]:
    """A connection, which takes in little of what nobody reads if `room` is small."""
    host, port = address.removeprefix("http://").split(":")
    with socket.socket() as connection:
        if room is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        connection.settimeout(20)
        connection.connect((host, int(port)))
        yield connection


def all_of(connection: socket.socket) -> bytes:
    """What comes until the connection ends, however it does."""
    found = bytearray()
    try:
        while part := connection.recv(2**16):
            found += part
    except ConnectionError:
        pass
    return bytes(found)


def sent(address: str, data: bytes) -> bytes:
    """What comes back for some bytes, until the connection ends."""
    with connected(address) as connection:
        with suppress(ConnectionError):  # it may not want to hear it all
            connection.sendall(data)
        return all_of(connection)


def statuses(data: bytes) -> list[int]:
    return [int(found) for found in re.findall(rb"^HTTP/1\.1 (\d+)", data, re.MULTILINE)]


def post(body: bytes, *lines: str, length: int | None = None) -> bytes:
    """A request to parse something."""
    head = (
        "POST /v1/parse HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body) if length is None else length}",
        *lines,
    )
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def get(path: str, *lines: str, close: bool = True) -> bytes:
    head = (f"GET {path} HTTP/1.1", "Host: localhost", *lines)
    return "\r\n".join((*head, *(["Connection: close"] if close else []))).encode() + b"\r\n\r\n"


def check_others(address: str) -> None:
    """Somebody else is answered soon."""
    started = time.monotonic()
    assert asked(f"{address}/v1/parse", {"text": "a b"})[0] == 200
    assert health(address)["status"] == "ok"
    assert time.monotonic() - started < SOON


def open_connections(server: Server) -> int:
    """How many the server has."""
    found = psutil.Process(server.number).net_connections()
    return sum(one.status == psutil.CONN_ESTABLISHED for one in found)


@pytest.mark.slow
class TestSlow:
    def test_who_is_slow_is_cut_off_and_holds_nobody_up(self, address: str) -> None:
        def dribbled(data: bytes, *, beginning: int = 0) -> tuple[bytes, float]:
            """The answer to a request that comes byte by byte, and after how long it comes."""
            started = time.monotonic()
            with connected(address) as connection:
                connection.sendall(data[:beginning])
                for byte in data[beginning:]:
                    time.sleep(0.1)
                    try:
                        connection.sendall(bytes([byte]))
                    except OSError:
                        break
                found = all_of(connection)
            return found, time.monotonic() - started

        body = post(b'{"text": "' + b"a " * 200 + b'"}')
        with ThreadPoolExecutor(4) as pool:
            head = pool.submit(dribbled, get("/health", f"X-Long: {'a' * 400}"))
            rest = pool.submit(dribbled, body, beginning=body.index(b"{") + 3)
            nothing = pool.submit(dribbled, b"")
            again = pool.submit(dribbled, get("/health", close=False) + b"GET " + b"a" * 400)
            time.sleep(0.3)
            check_others(address)
            assert statuses(head.result()[0]) == []
            assert statuses(rest.result()[0]) == [408]
            assert statuses(nothing.result()[0]) == []
            assert statuses(again.result()[0]) in ([], [200])
            for one in (head, rest, nothing, again):
                assert one.result()[1] < SOON  # to send it all would take twice as long

    def test_who_never_reads_the_answer_is_cut_off(self, server: Server) -> None:
        whole = sent(server.address, get("/openapi.json"))
        with (
            connected(server.address, room=4_096) as one,
            connected(server.address, room=4_096) as many,
        ):
            one.sendall(get("/openapi.json", close=False))
            many.sendall(get("/openapi.json", close=False) * 40)
            until(lambda: open_connections(server) >= 2)
            check_others(server.address)
            until(lambda: open_connections(server) == 0, seconds=10 * IDLE)
            for connection in (one, many):
                found = all_of(connection)
                assert statuses(found)[:1] == [200]
                assert len(found) < 40 * len(whole)

    def test_a_thousand_that_only_wait_keep_nobody_out(self, address: str) -> None:
        needed = 1_200  # files, of which this process may have too few
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < needed:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard), hard))
        with ExitStack() as stack:
            for number in range(1_000):
                stack.enter_context(connected(address))
                if number % 250 == 0:
                    check_others(address)
            check_others(address)

    def test_connections_do_not_outlive_their_time(self, server: Server) -> None:
        with ExitStack() as stack:
            for _ in range(2 * CONNECTIONS):
                stack.enter_context(connected(server.address))
            check_others(server.address)
            until(lambda: open_connections(server) <= CONNECTIONS)
            until(lambda: open_connections(server) == 0, seconds=10 * IDLE)


@pytest.mark.slow
class TestGreedy:
    def test_a_length_that_is_too_large_is_refused_before_it_is_sent(self, address: str) -> None:
        started = time.monotonic()
        for length, status in ((BODY + 1, 413), (10**12, 413), (10**30, 400)):
            found = sent(address, post(b"", length=length))
            assert statuses(found) == [status]
            assert b"connection: close" in found.lower()
        expecting = sent(address, post(b"", "Expect: 100-continue", length=10**9))
        assert statuses(expecting) == [413]
        assert time.monotonic() - started < SOON
        check_others(address)

    def test_a_body_without_a_length_is_cut_off(self, address: str) -> None:
        head = post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        chunk = b"10000\r\n" + b" " * 2**16 + b"\r\n"
        with connected(address) as connection:
            connection.sendall(head)
            with pytest.raises(OSError, match=r"reset|Broken pipe"):
                connection.sendall(chunk * 1_000)
        found = sent(address, head + chunk * 2 + b"0\r\n\r\n")
        assert statuses(found) == [413]
        check_others(address)

    @pytest.mark.parametrize(
        "data",
        [
            get("/" + "a" * 400_000),
            get("/health", "X-Long: " + "a" * 400_000),
            get("/health", *(f"X-{number}: {'a' * 50}" for number in range(7_000))),
            b"GET " + b"a" * 400_000,
        ],
        ids=["url", "header", "headers", "line"],
    )
    def test_a_head_that_is_too_long_is_refused(self, address: str, data: bytes) -> None:
        assert statuses(sent(address, data)) in ([400], [])
        check_others(address)

    def test_a_long_address_of_a_file_is_none(self, address: str) -> None:
        assert statuses(sent(address, get("/static/" + "a" * 5_000))) == [404]


@pytest.mark.slow
class TestWrong:
    @pytest.mark.parametrize(
        "data",
        [
            b"nonsense\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),  # TLS
            b"GET /health HTTP/1.1\r\n\r\n",
            b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            b"GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n",
            b"GET /hea\x00lth HTTP/1.1\r\nHost: localhost\r\n\r\n",
            post(b"{}", "Content-Length: 3"),
            post(b"{}").replace(b"Length: 2", b"Length: +2"),
            post(b"{}").replace(b"Length: 2", b"Length: -2"),
            post(b"{}", "Transfer-Encoding: chunked"),
            post(b"0\r\n\r\n", "Transfer-Encoding: chunked"),
            post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: gzip, chunked"),
            post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: xchunked"),
            post(b"x\r\n").replace(b"Content-Length: 3", b"Transfer-Encoding: chunked"),
        ],
        ids=lambda data: data[:60].decode("latin-1"),
    )
    def test_what_is_not_http_is_refused_and_nothing_after_it_is_read(
        self, address: str, data: bytes
    ) -> None:
        found = sent(address, data + get("/health"))
        assert statuses(found) == [400]
        check_others(address)

    def test_a_request_hidden_in_a_body_is_not_answered(self, address: str) -> None:
        hidden = get("/metrics")
        for data in (
            post(b"0\r\n\r\n" + hidden, "Transfer-Encoding: chunked"),
            post(b"0\r\n\r\n" + hidden, "Transfer-Encoding: chunked", length=5),
        ):
            found = sent(address, data)
            assert statuses(found) == [400]
            assert b"fencepost_requests" not in found

    @pytest.mark.parametrize(
        "path",
        [
            "/static/../app.py",
            "/static/../../errors.py",
            "/static/..%2fapp.py",
            "/static/%2e%2e/app.py",
            "/static/%2e%2e%2f%2e%2e%2ferrors.py",
            "/static/..%5capp.py",
            "/static//etc/passwd",
            "/static/%2fetc%2fpasswd",
            "/static/style.css%00.js",
            "/static/%00",
            "/static/%ff%fe",
            "/static/.",
            "/static/style.css/..",
        ],
    )
    def test_files_beside_those_of_the_page_are_not_given_out(
        self, address: str, path: str
    ) -> None:
        found = sent(address, get(path))
        assert statuses(found) == [404]
        assert b"import" not in found.partition(b"\r\n\r\n")[2]

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "FENCE"])
    def test_methods_that_are_not_taken_are_refused(self, address: str, method: str) -> None:
        for path in ("/", "/health", "/v1/parse", "/static/style.css"):
            data = get(path, "X-Secret: mine").replace(b"GET", method.encode(), 1)
            found = sent(address, data)
            assert statuses(found) == [405]
            assert b"mine" not in found

    def test_a_connection_is_not_changed_into_another_kind(self, address: str) -> None:
        upgrade = ("Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 13")
        data = get("/health", "Connection: Upgrade, close", *upgrade, close=False)
        assert statuses(sent(address, data)) == [200]
        connect = get("/x").replace(b"GET /x", b"CONNECT a.example:1")
        for data in (connect, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            assert statuses(sent(address, data)) in ([400], [404], [405])

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            (b'{"text": 3, "text": "a"}', 200),  # the last one counts, as with most readers
            (b'{"text": "a", "text": 3}', 422),
            (b'{"text": "a", "beams": 1e400}', 422),
            (b'{"text": "a", "beams": -0}', 422),
            (b'{"text": "a", "min_probability": -Infinity}', 422),
            (b'{"text": "a", "min_probability": 1' + b"0" * 10_000 + b"}", 422),
            (b'{"text": "a", "must": ' + b"[" * 40_000 + b"]" * 40_000 + b"}", 422),
            (b'{"text": "a", "gazetteer": ' + b'{"a":' * 9_000 + b"1" + b"}" * 9_001, 422),
            (b'{"text": "\xed\xa0\x80"}', 422),  # half of a character, in UTF-8
            (b'{"text": "\xc0\xaf"}', 422),  # a longer form than needed
            (b'{"text": "\\u0000\x7f\xef\xbb\xbf"}', 200),
            ('{"text": "a"}'.encode("utf-16"), 422),
            (b"\xef\xbb\xbf" + b'{"text": "a"}', 422),
        ],
        ids=lambda value: str(value)[:40],
    )
    def test_json_that_is_odd_is_answered_or_refused(self, body: bytes, status: int) -> None:
        response = client().post(
            "/v1/parse", content=body, headers={"Content-Type": "application/json"}
        )
        assert response.status_code == status


@pytest.mark.slow
class TestOrder:
    def test_requests_sent_at_once_are_answered_in_order(self, address: str) -> None:
        texts = [f"a b {number}" for number in range(20)]
        several = [post(json.dumps({"text": text}).encode()) for text in texts[:-1]]
        last = post(json.dumps({"text": texts[-1]}).encode(), "Connection: close")
        found = sent(address, b"".join((*several, last))).decode()
        assert re.findall(r'"text": "(a b \d+)"', found) == texts

    def test_who_goes_away_or_will_say_nothing_more_holds_nobody_up(self, address: str) -> None:
        for number in range(20):
            with connected(address) as connection:
                connection.sendall(post(b'{"text": "a b"}')[: -number or None])
                if number % 2:
                    connection.shutdown(socket.SHUT_WR)
                    assert statuses(all_of(connection)) in ([], [200])
        check_others(address)


def is_listening(address: str) -> bool:
    """Whether a server still takes connections."""
    try:
        with connected(address):
            return True
    except ConnectionRefusedError:
        return False


@pytest.mark.slow
class TestEnd:
    def test_all_that_was_taken_is_answered_and_nothing_more_is(self, model: Path) -> None:
        with (
            running(model, slow=0.7, batch_words=2, closing=LONG) as server,
            ThreadPoolExecutor(4) as pool,
        ):
            url = f"{server.address}/v1/parse"
            answers = [pool.submit(asked, url, {"text": f"a {number}"}) for number in range(4)]
            until(lambda: words_begun(server.address) / 2 + health(server.address)["waiting"] == 4)
            started = time.monotonic()
            server.send(signal.SIGTERM)
            until(lambda: not is_listening(server.address))
            assert not all(answer.done() for answer in answers)
            for number, answer in enumerate(answers):
                status, found = answer.result(PATIENCE)
                assert status == 200
                assert found["documents"][0]["text"] == f"a {number}"
            assert server.ended() == (0, "")
            assert time.monotonic() - started < LONG

    def test_a_parse_that_never_ends_does_not_keep_the_server_from_ending(
        self, model: Path
    ) -> None:
        with running(model, slow=FOR_EVER, closing=SHORT) as server, ThreadPoolExecutor(2) as pool:
            url = f"{server.address}/v1/parse"
            answers = [pool.submit(asked, url, {"text": "a"})]
            waiting(server.address, 0)
            answers.append(pool.submit(asked, url, {"text": "b"}))
            waiting(server.address, 1)
            started = time.monotonic()
            server.send(signal.SIGINT)
            for status, answer in (answer.result(PATIENCE) for answer in answers):
                assert status == 503
                assert answer["error"]["message"] == "the server is about to end"
            assert server.ended() == (0, "")
            assert SHORT - 0.5 < time.monotonic() - started < LONG

    def test_a_request_that_is_half_there_does_not_keep_the_server_from_ending(
        self, model: Path
    ) -> None:
        with running(model, closing=LONG) as server, connected(server.address) as connection:
            connection.sendall(post(b'{"text": ', length=100))
            assert health(server.address)["status"] == "ok"  # it has come to the server by now
            started = time.monotonic()
            server.send(signal.SIGTERM)
            answer = all_of(connection)
            assert statuses(answer) == [503]
            assert b"the server is about to end" in answer
            assert server.ended() == (0, "")
            assert time.monotonic() - started < LONG

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_second_signal_ends_the_server_at_once(
        self, model: Path, number: signal.Signals
    ) -> None:
        with (
            running(model, slow=FOR_EVER, closing=LONG) as server,
            connected(server.address) as connection,
        ):
            connection.sendall(post(b'{"text": "a"}'))
            waiting(server.address, 0)
            started = time.monotonic()
            server.send(number)
            until(lambda: not is_listening(server.address))
            assert server.process.is_alive()
            server.send(number)
            assert server.ended() == (0, "")
            assert time.monotonic() - started < LONG
            assert all_of(connection) == b""

    def test_a_port_can_be_listened_at_right_after_a_kill(self, model: Path) -> None:
        with running(model, slow=FOR_EVER) as server, connected(server.address) as connection:
            connection.sendall(post(b'{"text": "a"}'))
            waiting(server.address, 0)
            server.send(signal.SIGKILL)
            assert server.ended()[0] == -signal.SIGKILL
            port = int(server.address.rpartition(":")[2])
            with running(model, port=port) as again:
                assert again.address == server.address
                check_others(again.address)


class Wire(asyncio.Transport):
    """A transport to nowhere, of which a client takes as much as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.unsent = 0
        self.ended = ""

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return bool(self.ended)

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def abort(self) -> None:
        self.ended = "aborted"


class TestConnections:
    """What the tests above see from outside, moment by moment."""

    IDLE = Settings(max_idle=2.0, max_connections=2)

    def opened(self, state: ServerState) -> tuple[H11Protocol, Wire]:
        config = uvicorn.Config(make_app(PARSER), log_config=None, ws="none", lifespan="off")
        config.load()
        connection = H11Protocol(config, state, {}, asyncio.get_running_loop())
        wire = Wire()
        connection.connection_made(wire)
        return connection, wire

    def test_one_that_waits_too_long_is_closed(self) -> None:
        async def check() -> None:
            state, idle = ServerState(), IdleConnections(self.IDLE)
            connection, wire = self.opened(state)
            idle.sweep([connection], 0.0)
            connection.data_received(b"GET / HT")
            idle.sweep([connection], 1.9)
            assert wire.ended == ""
            idle.sweep([connection], 2.0)
            assert wire.ended == "closed"

        asyncio.run(check())

    def test_one_that_is_answered_has_all_the_time_it_takes(self) -> None:
        async def check() -> None:
            state, idle = ServerState(), IdleConnections(self.IDLE)
            connection, wire = self.opened(state)
            idle.sweep([connection], 0.0)
            connection.data_received(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for now in (3.0, 30.0):
                idle.sweep([connection], now)
            assert wire.ended == ""

        asyncio.run(check())

    def test_one_that_takes_too_little_is_aborted_and_one_that_takes_enough_is_not(self) -> None:
        async def check() -> None:
            state, idle = ServerState(), IdleConnections(self.IDLE)
            both = [self.opened(state), self.opened(state)]
            (_, slow), (_, steady) = both
            connections = [connection for connection, _ in both]
            for connection, wire in both:
                wire.unsent = 5_000
                connection.flow.pause_writing()
            idle.sweep(connections, 0.0)
            slow.unsent -= 1
            steady.unsent -= 2_500
            idle.sweep(connections, 2.0)
            assert slow.ended == "aborted"
            assert steady.ended == ""
            steady.unsent = 0
            connections[1].flow.resume_writing()
            idle.sweep(connections[1:], 4.0)
            assert steady.ended == "closed"  # it has not asked for more

        asyncio.run(check())

    def test_those_that_have_waited_longest_make_room(self) -> None:
        async def check() -> None:
            state, idle = ServerState(), IdleConnections(self.IDLE)
            some = []
            for now in (0.0, 0.5, 1.0, 1.5):
                some.append(self.opened(state))
                idle.sweep([connection for connection, _ in some[-3:]], now)
            assert [wire.ended for _, wire in some] == ["aborted", "aborted", "", ""]

        asyncio.run(check())

    def test_those_that_come_all_at_once_have_a_moment_to_ask(self) -> None:
        async def check() -> None:
            state, idle = ServerState(), IdleConnections(self.IDLE)
            some = [self.opened(state) for _ in range(5)]
            connections = [connection for connection, _ in some]
            idle.sweep(connections, 0.0)
            assert not any(wire.ended for _, wire in some)
            for connection in connections[3:]:
                connection.data_received(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            idle.sweep(connections, 0.1)
            assert [wire.ended for _, wire in some] == 3 * ["aborted"] + 2 * [""]

        asyncio.run(check())


class TestToken:
    @pytest.mark.parametrize(
        "header",
        [None, "", "Bearer", "Bearer \xff\xfe", "Bearer é", "Bearer s\x00", "Bearer secre"],
    )
    def test_whatever_the_header_holds_it_is_a_refusal(self, header: str | None) -> None:
        with pytest.raises(RefusedError) as caught:
            check_token(header, "secret")
        assert caught.value.status == 401
        assert caught.value.headers == {"WWW-Authenticate": "Bearer"}

    def test_it_is_compared_in_constant_time_and_nowhere_else(self) -> None:
        """Every comparison of a secret goes through `hmac.compare_digest`."""
        code = ast.parse(inspect.getsource(check_token))
        compared = [
            node
            for node in ast.walk(code)
            if isinstance(node, ast.Compare)
            and any(
                isinstance(one, ast.Name) and one.id in ("token", "given")
                for one in (node.left, *node.comparators)
            )
        ]
        assert [ast.unparse(node) for node in compared] == ["token is None"]
        assert "hmac.compare_digest(" in ast.unparse(code)

    def test_its_length_decides_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        seen: list[tuple[bytes, bytes]] = []
        compare = hmac.compare_digest

        def watched(one: bytes, other: bytes) -> bool:
            seen.append((one, other))
            return compare(one, other)

        monkeypatch.setattr(hmac, "compare_digest", watched)
        for given in ("", "s", "secret", "x" * 1_000):
            for scheme in ("Bearer", "Basic"):
                if (scheme, given) != ("Bearer", "secret"):
                    with pytest.raises(RefusedError):
                        check_token(f"{scheme} {given}", "secret")
                else:
                    check_token(f"{scheme} {given}", "secret")
        assert len(seen) == 8


class TestMany:
    def test_more_requests_than_allowed_are_refused_for_now(self) -> None:
        response = client(Settings(max_requests=0)).get("/health")
        assert "0 requests are here already" in refused(response, 503)
        assert response.headers["retry-after"] == "1"

    def test_a_request_that_is_over_makes_room(self) -> None:
        server = client(Settings(max_requests=1))
        for _ in range(3):
            assert server.get("/health").status_code == 200
            assert server.get("/nothing").status_code == 404


class TestHeaders:
    @pytest.mark.parametrize(
        "path",
        [
            "/",
            "/docs",
            "/swagger/swagger-ui.css",
            "/health",
            "/openapi.json",
            "/nothing",
            "/v1/parse",
        ],
    )
    def test_every_answer_has_them(self, path: str) -> None:
        headers = client().get(path).headers
        policy = dict(part.strip().split(" ", 1) for part in headers[POLICY].split(";"))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert "unsafe" not in headers[POLICY]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] in ("no-cache", "no-store")

    def test_what_was_found_is_never_kept(self) -> None:
        response = client().post("/v1/parse", json={"text": "a"})
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["content-type"] == "application/json"


def marked() -> Parse:
    """A parse of which every word and every label is markup."""
    text = " ".join(MARKUP)
    starts = [text.index(word) for word in MARKUP]
    offsets = tuple((at, at + len(word)) for at, word in zip(starts, MARKUP, strict=True))
    sentence = Sentence(MARKUP, MARKUP, text, offsets)
    spans = (Span(0, len(MARKUP), MARKUP[0]), *(Span(i, i + 1, m) for i, m in enumerate(MARKUP)))
    return Parse(sentence, Tree(sentence, spans), spans)


@cache
def marked_answer() -> dict[str, Any]:
    """What a server says that found it, with a model whose name is markup, too."""
    document = Document((marked(),), " ".join(MARKUP))
    given = answer(MARKUP[0], [Answered(document, ((marked(), marked()),))], draw=True)
    found: dict[str, Any] = json.loads(given)
    return found


class TestMarkup:
    def test_drawings_hold_it_as_text(self) -> None:
        (document,) = marked_answer()["documents"]
        (sentence,) = document["sentences"]
        drawings = [sentence["svg"], *(reading["svg"] for reading in sentence["readings"])]
        for drawing in (one for some in drawings for one in some.values()):
            root = ElementTree.fromstring(drawing)
            names = {element.tag.rpartition("}")[2] for element in root.iter()}
            assert not names & {"script", "img", "a", "foreignObject", "image", "use", "iframe"}
            for element in root.iter():
                assert not [name for name in element.attrib if name.lower().startswith("on")]
                assert not [name for name in element.attrib if name.endswith("href")]
            assert MARKUP[0] in "".join(root.itertext())

    def test_answers_and_refusals_are_json_and_nothing_else(self) -> None:
        server = TestClient(make_app(PARSER, model=MARKUP[0]))
        for text in MARKUP:
            found = parsed(server, inputs=[text, [text, "a"]], draw=True)
            assert found["model"] == MARKUP[0]
            assert found["documents"][0]["text"] == text
            for given in (
                {"words": ["a"], "must": [[0, 1, text]]},
                {"words": ["a"], "forbid": [[0, 1, text]]},
                {"text": "a", "root": text},
                {"text": "a", "labels": [text]},
                {"text": "a", "gazetteer": {text: text}},
                {"text": "a", "tasks": [text]},
                {"text": "a", text: 1},
            ):
                refused(server.post("/v1/parse", json=given), 422)
            refused(server.get(f"/{text}"), 404)


@pytest.mark.slow
def test_no_markup_in_any_answer_reaches_the_page_of_a_browser(
    desktop: BrowserContext, page_address: str
) -> None:
    """Even if the words, labels, names and messages of a server are all markup."""
    dialogs: list[str] = []
    answers = {"parse": (200, marked_answer())}

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    def parse(route: Route) -> None:
        status, data = answers["parse"]
        route.fulfill(status=status, json=data)

    def models(route: Route) -> None:
        response = route.fetch()
        data = response.json()
        data["models"][0].update(name=MARKUP[1], labels=dict.fromkeys(LAYERS, MARKUP))
        route.fulfill(response=response, json=data)

    def open_all(watched: Watched, text: str) -> None:
        page = watched.page
        page.get_by_label("Text", exact=True).fill(text)
        page.get_by_role("button", name="Parse", exact=True).click()

    with opened(desktop, page_address) as watched:
        page = watched.page
        page.on("dialog", dismiss)
        page.route("**/v1/parse", parse)
        page.route("**/v1/models", models)
        watched.open()
        for text in MARKUP:
            open_all(watched, text)
            page.wait_for_timeout(50)
        answers["parse"] = (422, {"error": {"status": 422, "message": MARKUP[1]}})
        open_all(watched, "a b c")
        expect(page.get_by_text(MARKUP[1]).first).to_be_visible()
        page.unroute("**/v1/parse")
        for text in MARKUP:  # and what the real server makes of it
            watched.parse(f"{text} said Ann.")
            assert page.locator("main script, main img, .sentences a").count() == 0
        watched.open(f"#text={MARKUP[1]}")
        page.wait_for_timeout(100)
        # The policy would have told of anything that it had to stop.
        assert [error for error in watched.errors if "Content Security Policy" in error] == []
    assert dialogs == []
