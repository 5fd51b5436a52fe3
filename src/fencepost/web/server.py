"""The HTTP server: its socket, its connections and its shutdown."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from types import FrameType
from typing import NamedTuple, NoReturn

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from fencepost.errors import ConfigError
from fencepost.web.batches import Batches
from fencepost.web.settings import Settings

SLOWEST = 1_024  # bytes per second at which a client has to take an answer


def is_this_machine(host: str) -> bool:
    """Whether an address can be reached only from this machine.

    >>> [is_this_machine(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "ann")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Args:
        host: a name or an address.
        port: a port; 0 for any free one.

    Raises:
        ConfigError: the socket cannot be opened; the message says why.
    """
    try:
        family, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except socket.gaierror as error:
        raise ConfigError(f"--host {host}: {error.strerror}") from error
    except UnicodeError as error:
        raise ConfigError(f"--host {host}: not a name or an address") from error
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(
            f"cannot listen at {host}, port {port}: {reason}; --port 0 takes any that is free"
        ) from error


def address_of(listening: socket.socket, host: str) -> str:
    """The URL of a listening socket."""
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Idle(NamedTuple):
    """A connection whose client has to send a request, or to take more of an answer."""

    since: float
    unsent: int  # bytes of answers
    place: tuple[int, bool]  # the current request, and whether it is being answered


class IdleConnections:
    """Closes connections of idle and very slow clients.

    uvicorn waits indefinitely for a first request, and for an answer to be taken: a few hundred
    such clients would block all others. `read_body` limits the time for a body.

    Args:
        settings: the limits on idle time and connections.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._idle: dict[H11Protocol, Idle] = {}

    def sweep(self, connections: Collection[H11Protocol], now: float) -> None:
        """Close connections that are idle for too long, and the oldest of too many."""
        before, self._idle = self._idle, {}
        for one in connections:
            is_answering = one.cycle is not None and not one.cycle.response_complete
            if is_answering and not one.flow.write_paused:
                continue
            idle = Idle(now, one.transport.get_write_buffer_size(), (id(one.cycle), is_answering))
            earlier = before.get(one, idle)
            if earlier.place == idle.place and now - earlier.since < self.settings.max_idle:
                idle = earlier
            elif earlier.place == idle.place and not idle.unsent:
                one.transport.close()
            elif earlier.place == idle.place and (
                earlier.unsent - idle.unsent < SLOWEST * self.settings.max_idle
            ):
                one.transport.abort()  # close() would wait until the client takes all
            self._idle[one] = idle
        # one that came since the last sweep may have sent a request that nobody has read yet
        unasked = [one for one in before if one in self._idle and not self._idle[one].place[1]]
        unasked.sort(key=lambda one: self._idle[one].since)
        for one in unasked[: max(0, len(connections) - self.settings.max_connections)]:
            one.transport.abort()


class _Server(uvicorn.Server):
    """A server that drops idle clients and always stops on request.

    Args:
        config: the configuration of uvicorn.
        batches: the queue, closed first.
        settings: limits on connections.
        seconds: the time limit of a shutdown.
    """

    def __init__(
        self, config: uvicorn.Config, batches: Batches, settings: Settings, *, seconds: float
    ) -> None:
        super().__init__(config)
        self.batches = batches
        self.seconds = seconds
        self._idle = IdleConnections(settings)

    async def on_tick(self, counter: int) -> bool:
        """Drop idle clients, ten times a second."""
        connections = [one for one in self.server_state.connections if isinstance(one, H11Protocol)]
        self._idle.sweep(connections, time.monotonic())
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; at a second signal at once."""
        if self.should_exit:
            _leave()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer waiting requests within the time limit."""
        self.batches.begin_closing()
        try:
            async with asyncio.timeout(self.seconds):
                await super().shutdown(sockets)
        except TimeoutError:
            _leave()
        if self.batches.is_busy:
            _leave()


def _leave() -> NoReturn:
    """Exit at once; otherwise Python would wait for the parsing thread."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may be closed
            stream.flush()
    os._exit(0)


def serve(
    app: FastAPI, listening: socket.socket, *, closing: float = 10.0, verbose: bool = False
) -> None:
    """Answer requests until the process is told to stop.

    Args:
        app: the application from `make_app`.
        listening: the listening socket.
        closing: seconds for waiting requests when the server stops.
        verbose: whether to log each request.
    """
    config = uvicorn.Config(
        app,
        http="h11",
        log_config=None,
        access_log=verbose,
        server_header=False,
        ws="none",
        lifespan="on",
    )
    # Refusing those who still wait after this time takes a moment.
    server = _Server(config, app.state.batches, app.state.settings, seconds=closing + 2)
    if threading.current_thread() is threading.main_thread():
        # SIGTERM is a normal end, and so is Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        server.run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
