"""A socket to listen at, and the server that does."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import threading

import uvicorn
from fastapi import FastAPI

from fencepost.errors import ConfigError

MOST_CONNECTIONS = 1_000  # at a time; each may have sent as much as a request may hold


def is_this_machine(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_this_machine(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "ann")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Args:
        host: a name or an address.
        port: 0: any that is free.

    Raises:
        ConfigError: it cannot; the message says why.
    """
    try:
        family, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except socket.gaierror as error:
        raise ConfigError(f"--host {host}: {error.strerror}") from error
    except UnicodeError as error:
        raise ConfigError(f"--host {host}: not a name or an address") from error
    except OSError as error:
        told = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigError(
            f"cannot listen at {host}, port {port}: {told}; --port 0 takes any that is free"
        ) from error


def address_of(listening: socket.socket, host: str) -> str:
    """Where a browser finds what listens at a socket."""
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(
    app: FastAPI, listening: socket.socket, *, closing: float = 10.0, verbose: bool = False
) -> None:
    """Answer requests until the process is told to end.

    Args:
        app: which answers.
        listening: where.
        closing: seconds that are left, at the end, to answer those that wait.
        verbose: whether each request is logged.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=verbose,
        server_header=False,
        ws="none",
        lifespan="on",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=max(1, round(closing)),
    )
    if threading.current_thread() is threading.main_thread():
        # What ends a service is no failure, and neither is Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
