"""A Ray cluster: the library, the connection, and the room that there is for workers."""

from __future__ import annotations

import logging
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fencepost.errors import ConfigError

PATIENCE = 10.0  # seconds in which a cluster has to answer
_STORE = 128 << 20  # bytes of a local object store, in which only portions and counts lie
_LEVEL = "RAY_BACKEND_LOG_LEVEL"
# At any level below, each worker that starts is an error, as its arguments are in the object store.
# What goes wrong comes to us as exceptions.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", _LEVEL: "fatal"}
_NOTE = f"environment variable {_LEVEL}".encode()  # which Ray prints if the level is set


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """How many workers there are, and what each of them has.

    Args:
        address: of a cluster, as Ray understands it (`auto`, `ray://host:10001`, `host:6379`);
            None: the one that RAY_ADDRESS names, or else a new one on this machine.
        count: of workers; None: as many as the cluster has room for.
        threads: of each worker.
        gpus: of each worker; half a GPU is a worker that shares one.
    """

    address: str | None = None
    count: int | None = None
    threads: int = 1
    gpus: float = 0.0


def require_ray() -> Any:
    """The library, or an error that says how to get it."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray.data
        import ray.exceptions
        import ray.util.scheduling_strategies

        return ray
    except ImportError as error:
        raise ConfigError(
            f"--engine ray needs Ray ({error}): pip install 'fencepost[ray]'"
        ) from error


@contextmanager
def connected(ray: Any, workers: Workers) -> Iterator[bool]:
    """A cluster: the one that is connected already, that of the address, or a new one here.

    Yields:
        whether this machine is certain to be all of it.
    """
    if ray.is_initialized():
        with _without_bars(ray):
            yield False
        return
    address = workers.address or os.environ.get("RAY_ADDRESS")
    options: dict[str, Any] = {"address": address}
    if address is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        options = {
            "address": "local",  # else Ray looks for one that was started on this machine before
            "num_cpus": max(cores or 1, (workers.count or 1) * workers.threads),
            "object_store_memory": _STORE,
            "include_dashboard": False,
        }
    else:
        _check_answer(address)
    try:
        with _without_note():
            ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        place = "cannot be started here" if address is None else f"is not at {address}"
        raise ConfigError(f"a Ray cluster {place}: {error}") from error
    try:
        with _without_bars(ray):
            yield address is None
    finally:
        ray.shutdown()


def pool(ray: Any, workers: Workers, *, most: int) -> Any:
    """So many workers, or as many as there is room for now; a cluster that grows gets the rest."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cpus, gpus = ([machine.get(kind, 0.0) for machine in machines] for kind in ("CPU", "GPU"))
    room = sum(
        int(min(cpu / workers.threads, gpu / workers.gpus if workers.gpus else cpu))
        for cpu, gpu in zip(cpus, gpus, strict=True)
    )
    if room < 1:
        raise ConfigError(
            f"the machines of the cluster have at most {max(cpus):g} processors and "
            f"{max(gpus):g} GPUs, too few for a worker with {workers.threads} threads and "
            f"{workers.gpus:g} GPUs"
        )
    count = min(workers.count or room, most)
    # None has a portion in reserve that another one could begin with.
    return ray.data.ActorPoolStrategy(
        min_size=min(count, room), max_size=count, max_tasks_in_flight_per_actor=1
    )


def _check_answer(address: str) -> None:
    """Refuse an address where nobody listens, for which Ray would wait several minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not (colon and port.isdecimal()):
        return  # a word that Ray knows, such as `auto`
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"a Ray cluster is not at {address}: {error}") from error


@contextmanager
def _without_note() -> Iterator[None]:
    """Leave out what Ray prints on standard error of the level that we have set."""
    with tempfile.TemporaryFile() as kept:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
            kept.seek(0)
            os.write(2, b"".join(line for line in kept if _NOTE not in line))


@contextmanager
def _without_bars(ray: Any) -> Iterator[None]:
    """Keep Ray Data from printing: we tell how far it is, and its errors come as exceptions."""
    context = ray.data.DataContext.get_current()
    logger = logging.getLogger("ray.data")
    before = context.enable_progress_bars, logger.level
    context.enable_progress_bars = False
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        context.enable_progress_bars = before[0]
        logger.setLevel(before[1])
