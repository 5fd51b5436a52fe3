"""Checks of requests before they are parsed: host, token, type, size; and headers of answers."""

from __future__ import annotations

import asyncio
import hmac
import math
import re
import time
from collections.abc import AsyncIterator, Collection
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fencepost.web.errors import RefusedError, busy
from fencepost.web.metrics import Metrics

# Nothing from other hosts, nothing inline, and no page of others around it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",  # for browsers that do not know frame-ancestors
    "Cross-Origin-Resource-Policy": "same-origin",
}
DISCARDED = 2**23  # bytes to read of a request that is too large
QUIET = 0.2  # seconds without data after which the client is assumed to have stopped sending
# A name or an address, and a port; an IPv6 address is in brackets.
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]*?)\.?)(?::[0-9]*)?", re.IGNORECASE)
THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def check_token(header: str | None, token: str | None) -> None:
    """Refuse a request without the token.

    Args:
        header: the `Authorization` header.
        token: the token; None accepts all requests.
    """
    if token is None:
        return
    scheme, _, token_given = (header or "").partition(" ")
    known = hmac.compare_digest(token_given.strip().encode("latin-1"), token.encode())
    if scheme.lower() != "bearer" or not known:
        raise RefusedError(
            401,
            "this server wants a token: Authorization: Bearer …",
            reason="token",
            headers={"WWW-Authenticate": "Bearer"},
        )


def check_type(header: str | None) -> None:
    """Refuse a request that is not declared as JSON.

    Pages of other sites can send forms and plain text to this server, but not JSON: the browser
    would first send a CORS preflight, which the server does not accept.
    """
    if (header or "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(
            415,
            f"Content-Type: application/json was expected, not {header or 'nothing'}",
            reason="type",
        )


async def read_body(request: Request, *, most: int, seconds: float) -> bytes:
    """Read the body of a request, of which no more than allowed is kept in memory.

    Args:
        request: the request.
        most: the maximal number of bytes.
        seconds: the time limit.
    """
    chunks = request.stream()
    body = bytearray()
    if declared_length(request.headers.get("content-length", "")) > most:
        if "expect" not in request.headers:  # else the client sends nothing
            await _discard(chunks, most=DISCARDED)
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            async for chunk in chunks:
                body += chunk
                if len(body) > most:
                    break
    except TimeoutError:
        raise RefusedError(
            408,
            f"the request was not there after {seconds:g} seconds",
            reason="upload",
            headers={"Connection": "close"},
        ) from None
    except ClientDisconnect:
        raise RefusedError(499, "the client has gone", reason="gone") from None
    if len(body) > most:
        body.clear()
        await _discard(chunks, most=DISCARDED)
        raise _too_large(most)
    return bytes(body)


def declared_length(header: str) -> float:
    """The declared length of a request in bytes; 0 if it is missing.

    >>> declared_length("12"), declared_length(""), declared_length("9" * 5_000)
    (12, 0, inf)
    """
    if len(header) > 20:
        return math.inf
    return int(header) if header.isdecimal() else 0


async def _discard(chunks: AsyncIterator[bytes], *, most: int) -> None:
    """Read and discard a little more: clients that are still sending would miss the answer."""
    passed = 0
    with suppress(TimeoutError, StopAsyncIteration, ClientDisconnect):
        async with asyncio.timeout(1):
            while passed <= most:
                async with asyncio.timeout(QUIET):
                    passed += len(await anext(chunks))


def _too_large(most: int) -> RefusedError:
    # The unread rest cannot be distinguished from a next request: close the connection.
    return RefusedError(
        413,
        f"a request has at most {most:,} bytes; send it in parts",
        reason="body",
        headers={"Connection": "close"},
    )


def host_of(header: str) -> str:
    """The name in a `Host` header, without its port; empty if the header is invalid.

    >>> host_of("localhost:8000"), host_of("[::1]:8000"), host_of("[::1].example")
    ('localhost', '::1', '')
    """
    match = HOST.fullmatch(header)
    return (match[1] or match[2]).lower() if match else ""


class Guarded:
    """Middleware that checks hosts, limits and counts requests, and sets headers.

    A page of another site can point its name at the address of this machine (DNS rebinding), and
    could then read our answers; but its requests still have its name as their host.

    Args:
        app: the application.
        hosts: the allowed hosts; None: any.
        most: the maximal number of requests at a time.
        metrics: the metrics to update.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str] | None, most: int, metrics: Metrics
    ) -> None:
        self.app = app
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self.most = most
        self.metrics = metrics
        self._inside = 0  # current requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refused = self._refused(scope)
        self._inside += 1
        try:
            if refused is None:
                await self.app(scope, receive, send_guarded)
            else:
                self.metrics.refused.labels(refused.reason).inc()
                await refused.response()(scope, receive, send_guarded)
        finally:
            self._inside -= 1
            route = route_of(scope)
            self.metrics.requests.labels(route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(time.perf_counter() - started)

    def _refused(self, scope: Scope) -> RefusedError | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy may use one and we the other, so that a body is taken for a next request.
            return RefusedError(
                400,
                "Content-Length and Transfer-Encoding contradict each other; send one of them",
                reason="framing",
                headers={"Connection": "close"},
            )
        if self.hosts is not None and host_of(host) not in self.hosts:
            return RefusedError(
                400,
                f"this server does not answer to the name {host!r}; --allow-host would let it",
                reason="host",
            )
        if self._inside >= self.most:
            return busy(f"{self.most:,} requests are here already; try again later", reason="many")
        return None


def route_of(scope: Scope) -> str:
    """The template of a request's route, not its path: metrics need a small set of values."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    return "/static" if scope["path"].startswith("/static/") else "other"
