"""A connection, and when it is cut off."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from fencepost.web.guards import HEADERS
from fencepost.web.refusals import refusal
from fencepost.web.settings import Settings

SLOWEST = 1_024  # bytes of an answer that a client takes in a second


class Connection(H11Protocol):
    """A connection that is cut off when its client does nothing, or hardly anything.

    The protocol that it is made from waits for ever for the first request to begin, and for an
    answer to be taken: a few hundred clients that do neither would keep all others out. How long
    the body of a request may take, `read_body` decides.

    When there are too many connections, the one that has waited longest for its next request
    makes room for the newest, so that who asks is answered, however many only wait.
    """

    settings: ClassVar[Settings] = Settings()

    _since: float | None = None  # when it began to wait for a request; None: it has one
    _timer: asyncio.TimerHandle | None = None
    _unsent = 0  # bytes of answers that were not taken when we last looked

    @property
    def is_answering(self) -> bool:
        """Whether a request is read or answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, in the place of another connection if need be."""
        super().connection_made(transport)
        if len(self.connections) > self.settings.max_connections:
            self._make_room()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Take in what has come; a request that is there has time limits of its own."""
        super().handle_events()
        if self.is_answering:
            self._since = None
            if not self.flow.write_paused:
                self._stop()

    def on_response_complete(self) -> None:
        """Wait for the answer to be taken, and for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait for the client to take more: too much is unsent."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Go on, since enough has been taken."""
        super().resume_writing()
        if self.is_answering:
            self._stop()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP in the form that all refusals have."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()  # in the middle of an answer, nothing can be said
            return
        said = refusal(400, "this is not a request that the server can read")
        headers = {
            **HEADERS,
            "Cache-Control": "no-store",
            "Connection": "close",
            "Content-Length": str(len(said.body)),
            "Content-Type": "application/json",
        }
        for event in (
            h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
            h11.Data(data=bytes(said.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch(self) -> None:
        """Look in a while whether the client has done its part, if something is up to it."""
        self._stop()
        if self.is_answering and not self.flow.write_paused:
            return
        if not self.is_answering:
            self._since = self.loop.time()
        self._unsent = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.settings.max_idle, self._look)

    def _look(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            self.transport.close()
        elif self._unsent - unsent < SLOWEST * self.settings.max_idle:
            self.transport.abort()  # to close it would mean to wait until all is taken
        else:
            self._unsent = unsent
            self._timer = self.loop.call_later(self.settings.max_idle, self._look)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _make_room(self) -> None:
        waiting = [
            (one._since, id(one), one)
            for one in self.connections
            if isinstance(one, Connection) and one._since is not None
        ]
        if waiting:
            *_, longest = min(waiting)
            longest._since = None  # others that come at this moment take another
            longest.transport.abort()
