"""Requests that are not answered, and how that is said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from pydantic import ValidationError
from starlette.responses import Response

MOST_SHOWN = 8  # things that are wrong with one request
MOST_CHARACTERS = 2_000  # of a message, which may quote the request
RETRY = {"Retry-After": "1"}


class RefusedError(Exception):
    """A request is not answered.

    Args:
        status: of the answer.
        message: what was found, and what would be right.
        reason: one word, by which refusals are counted.
        headers: of the answer.
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
        """The answer that says so."""
        return refusal(self.status, self.message, headers=self.headers)


def busy(message: str, *, reason: str) -> RefusedError:
    """Too much is going on; later it may be otherwise."""
    return RefusedError(503, message, reason=reason, headers=RETRY)


def ended() -> RefusedError:
    """No more is taken, and nobody is to wait any longer."""
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
    """An answer that is none."""
    if len(message) > MOST_CHARACTERS:
        message = f"{message[:MOST_CHARACTERS]}…"
    body = json.dumps({"error": {"status": status, "message": message}}, ensure_ascii=False)
    return Response(
        body.encode("utf-8", errors="replace"),
        status,
        headers=dict(headers or {}),
        media_type="application/json",
    )


def told(error: ValidationError) -> str:
    """The errors of pydantic, a line each: place, and what would be right."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [_line(item["loc"], item["msg"]) for item in found[:MOST_SHOWN]]
    if len(found) > MOST_SHOWN:
        lines.append(f"and {len(found) - MOST_SHOWN:,} more")
    return "\n".join(lines)


def _line(place: Iterable[int | str], message: str) -> str:
    """One thing that is wrong.

    >>> _line(("must", 0), "a span is wrong")
    'must.0: a span is wrong'
    """
    names = ".".join(str(part)[:100] for part in place)
    message = message.removeprefix("Value error, ")
    if "hex escape" in message or "surrogate" in message:
        message += " (half of a character, as \\ud800 is, is no text)"
    return f"{names}: {message}" if names else message
