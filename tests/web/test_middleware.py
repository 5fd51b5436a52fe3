"""Who may ask, and how much of a request is read: tokens, names of hosts, bodies in parts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from fencepost.web.app import make_app
from fencepost.web.errors import RefusedError
from fencepost.web.middleware import DISCARDED, check_token, host_of
from fencepost.web.settings import Settings
from tests.web.serving import PARSER, client, refused

OPEN = ("/", "/health", "/docs", "/swagger/swagger-ui.css", "/openapi.json", "/static/style.css")
GUARDED = ("/v1/models", "/metrics")


class TestToken:
    @pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic sécret"])
    def test_only_who_knows_it_is_answered(self, header: str) -> None:
        server = client(Settings(token="sécret"))
        headers = {b"Authorization": header.encode()}
        for path in GUARDED:
            response = server.get(path, headers=headers)
            assert "wants a token" in refused(response, 401)
            assert response.headers["www-authenticate"] == "Bearer"
        refused(server.post("/v1/parse", json={"text": "a"}, headers=headers), 401)

    @pytest.mark.parametrize("header", ["Bearer sécret", "bearer  sécret "])
    def test_who_knows_it_is_answered(self, header: str) -> None:
        server = client(Settings(token="sécret"))
        headers = {b"Authorization": header.encode()}
        for path in GUARDED:
            assert server.get(path, headers=headers).status_code == 200
        response = server.post("/v1/parse", json={"text": "a"}, headers=headers)
        assert response.status_code == 200

    def test_it_is_wanted_only_for_what_it_guards(self) -> None:
        server = client(Settings(token="secret"))
        for path in OPEN:
            assert server.get(path).status_code == 200, path

    def test_without_one_all_are_answered(self) -> None:
        server = client()
        for path in (*OPEN, *GUARDED):
            assert server.get(path).status_code == 200, path
        check_token(None, None)

    def test_it_is_not_told(self) -> None:
        assert "secret" not in repr(Settings(token="secret"))
        with pytest.raises(RefusedError) as caught:
            check_token("Bearer other", "secret")
        assert "secret" not in caught.value.message

    def test_the_schema_tells_that_it_is_wanted(self) -> None:
        for token in (None, "secret"):
            schema = client(Settings(token=token)).get("/openapi.json").json()
            asked = schema["paths"]["/v1/parse"]["post"]
            assert ("security" in asked) == (token is not None)
            assert ("401" in asked["responses"]) == (token is not None)
            assert "security" not in schema["paths"]["/health"]["get"]


class TestHosts:
    @pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "[::1]:8000", "127.0.0.1:1"])
    def test_its_own_names_are_answered_to(self, host: str) -> None:
        server = client(Settings(hosts=("localhost", "::1", "127.0.0.1")))
        assert server.get("/health", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize(
        "host",
        [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "[::2]",
            "[::1]evil.example",
            "[::1]:80.evil.example",
            "127.0.0.1:x.evil.example",
            "localhost:80:80",
            "[localhost]",
            "::1",
        ],
    )
    def test_others_are_refused(self, host: str) -> None:
        server = client(Settings(hosts=("localhost", "::1", "127.0.0.1")))
        for path in ("/health", "/", "/v1/models"):
            response = server.get(path, headers={"Host": host})
            assert "does not answer to the name" in refused(response, 400)
            assert "default-src 'none'" in response.headers["content-security-policy"]

    @pytest.mark.parametrize("host", ["", ":", ":80", "[", "[]", "[::1", "::1", "a b]"])
    def test_a_header_that_makes_no_sense_has_no_name(self, host: str) -> None:
        assert host_of(host) == ""

    def test_a_name_may_end_in_a_dot(self) -> None:
        assert host_of("A.example.:1") == host_of("a.example") == "a.example"


def posted(
    chunks: Iterator[bytes] | list[bytes], settings: Settings, **headers: str
) -> tuple[int, int]:
    """The status of an answer to a body that comes in parts, and how many parts were read."""
    app = make_app(PARSER, settings)
    sent: list[Any] = []
    parts = iter(chunks)
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        part = next(parts, None)
        if part is None:
            await asyncio.sleep(3600)
        read += 1
        if part == b"gone":
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": part != b"}"}

    async def send(message: Any) -> None:
        sent.append(message)

    names = {"content-type": "application/json", "host": "test", **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/parse",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in names.items()],
    }
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], read


class TestBodies:
    def test_one_that_comes_in_parts_is_read(self) -> None:
        assert posted([b'{"text":', b'"a"', b"}"], Settings()) == (200, 3)

    def test_one_without_a_length_is_read_no_further_than_allowed(self) -> None:
        def endless() -> Iterator[bytes]:
            while True:
                yield b" " * 2**16

        status, read = posted(endless(), Settings(max_body=2**20))
        assert status == 413
        assert read * 2**16 <= 2**20 + DISCARDED + 2 * 2**16

    def test_one_whose_length_is_known_to_be_too_large_is_not_waited_for(self) -> None:
        headers = {"content-length": "2000000", "expect": "100-continue"}
        assert posted([b" "], Settings(max_body=2**20), **headers) == (413, 0)
        assert posted([b" ", b"}"], Settings(max_body=2**20), **{"content-length": "9" * 19}) == (
            413,
            2,
        )

    def test_one_that_is_too_large_and_slow_is_not_waited_for_either(self) -> None:
        status, _ = posted([b" " * 20], Settings(max_body=10))
        assert status == 413

    def test_one_that_never_ends_is_given_up(self) -> None:
        assert posted([b"{"], Settings(max_upload=0.05)) == (408, 1)

    def test_a_client_that_goes_away_meanwhile_is_no_error_of_ours(self) -> None:
        assert posted([b"{", b"gone"], Settings()) == (499, 2)
