"""Who may ask, and how much of a request is read."""

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

# Nothing from elsewhere, nothing that stands in the page itself, and no page of others around it.
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
LET_PASS = 2**23  # bytes of a request that is too large
QUIET = 0.2  # seconds after which its client is taken to send no more
# A name or an address, and a port; an address with colons stands in brackets.
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]*?)\.?)(?::[0-9]*)?", re.IGNORECASE)
THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def check_token(header: str | None, token: str | None) -> None:
    """Refuse who does not know the token.

    Args:
        header: `Authorization`, as it came in.
        token: None: everybody may ask.
    """
    if token is None:
        return
    scheme, _, given = (header or "").partition(" ")
    known = hmac.compare_digest(given.strip().encode("latin-1"), token.encode())
    if scheme.lower() != "bearer" or not known:
        raise RefusedError(
            401,
            "this server wants a token: Authorization: Bearer …",
            reason="token",
            headers={"WWW-Authenticate": "Bearer"},
        )


def check_type(header: str | None) -> None:
    """Refuse what is not said to be JSON.

    A page of another site can send forms and plain text here, but no JSON: a browser would ask
    us first, and we would not allow it.
    """
    if (header or "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedError(
            415,
            f"Content-Type: application/json was expected, not {header or 'nothing'}",
            reason="type",
        )


async def read_body(request: Request, *, most: int, seconds: float) -> bytes:
    """The body of a request; of one that is too large, no more is kept than allowed.

    Args:
        request: whose body has not been read.
        most: bytes.
        seconds: until it has to be there.
    """
    chunks = request.stream()
    body = bytearray()
    if declared_length(request.headers.get("content-length", "")) > most:
        if "expect" not in request.headers:  # else nothing was sent, and nothing will be
            await _let_pass(chunks, most=LET_PASS)
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
        await _let_pass(chunks, most=LET_PASS)
        raise _too_large(most)
    return bytes(body)


def declared_length(header: str) -> float:
    """How many bytes a request says that it has; 0: it does not say.

    >>> declared_length("12"), declared_length(""), declared_length("9" * 5_000)
    (12, 0, inf)
    """
    if len(header) > 20:
        return math.inf
    return int(header) if header.isdecimal() else 0


async def _let_pass(chunks: AsyncIterator[bytes], *, most: int) -> None:
    """Let a little more come in, unread: who is still sending would not see our answer."""
    passed = 0
    with suppress(TimeoutError, StopAsyncIteration, ClientDisconnect):
        async with asyncio.timeout(1):
            while passed <= most:
                async with asyncio.timeout(QUIET):
                    passed += len(await anext(chunks))


def _too_large(most: int) -> RefusedError:
    # What was not read cannot be told from a next request: the connection ends here.
    return RefusedError(
        413,
        f"a request has at most {most:,} bytes; send it in parts",
        reason="body",
        headers={"Connection": "close"},
    )


def host_of(header: str) -> str:
    """The name in a `Host` header, without its port; empty if the header makes no sense.

    >>> host_of("localhost:8000"), host_of("[::1]:8000"), host_of("[::1].example")
    ('localhost', '::1', '')
    """
    found = HOST.fullmatch(header)
    return (found[1] or found[2]).lower() if found else ""


class Guarded:
    """An application that answers only to its own names, counts requests, and sets headers.

    A page on another site can give its own name the address of this machine, and would then be
    allowed to read our answers; but its requests still name its own host.

    Args:
        app: the application.
        hosts: its names; None: any.
        most: requests at a time.
        metrics: where requests are counted.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str] | None, most: int, metrics: Metrics
    ) -> None:
        self.app = app
        self.hosts = None if hosts is None else frozenset(host.lower() for host in hosts)
        self.most = most
        self.metrics = metrics
        self._inside = 0  # requests that are read or answered

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
            # A proxy may believe one and we the other, and take a body for a next request.
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
    """The template of a request's route, of which there are only few; not its path."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    return "/static" if scope["path"].startswith("/static/") else "other"
