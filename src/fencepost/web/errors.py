"""Refusals of requests, and their form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pydantic import ValidationError
from starlette.responses import Response

MOST_SHOWN = 8  # errors of one request in a message
MOST_CHARACTERS = 2_000  # of a message, which may quote the request
RETRY = {"Retry-After": "1"}


class RefusedError(Exception):
    """A request is refused.

    Args:
        status: the status code.
        message: the problem, and what would be right.
        reason: one word for the metrics.
        headers: headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        reason: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The HTTP response."""
        return refusal(self.status, self.message, headers=self.headers)


def busy(message: str, *, reason: str) -> RefusedError:
    """The server is too busy; the client may retry."""
    return RefusedError(503, message, reason=reason, headers=RETRY)


def ended() -> RefusedError:
    """The server is shutting down."""
    return RefusedError(
        503,
        "the server is about to end",
        reason="closing",
        headers={**RETRY, "Connection": "close"},
    )


def invalid(message: str) -> RefusedError:
    """The request is invalid or too large."""
    return RefusedError(422, message, reason="invalid")


def refusal(status: int, message: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """The response of a refusal."""
    if len(message) > MOST_CHARACTERS:
        message = f"{message[:MOST_CHARACTERS]}…"
    body = json.dumps({"error": {"status": status, "message": message}}, ensure_ascii=False)
    return Response(
        body.encode("utf-8", errors="replace"),
        status,
        headers=dict(headers or {}),
        media_type="application/json",
    )


def validation_message(error: ValidationError) -> str:
    """The errors of pydantic, one per line: place, and what would be right."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [_line(item["loc"], item["msg"]) for item in errors[:MOST_SHOWN]]
    if len(errors) > MOST_SHOWN:
        lines.append(f"and {len(errors) - MOST_SHOWN:,} more")
    return "\n".join(lines)


def _line(place: Iterable[int | str], message: str) -> str:
    """The line of one error.

    >>> _line(("must", 0), "a span is wrong")
    'must.0: a span is wrong'
    """
    names = ".".join(str(part)[:100] for part in place)
    message = message.removeprefix("Value error, ")
    if "hex escape" in message or "surrogate" in message:
        message += " (half of a character, as \\ud800 is, is no text)"
    return f"{names}: {message}" if names else message
