"""Ray clusters: connection, and room for workers."""

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

PATIENCE = 10.0  # seconds to wait for an answer of the cluster
_STORE = 128 << 20  # bytes of a local object store, which has only portions and counts
_LEVEL = "RAY_BACKEND_LOG_LEVEL"
# At any lower level, Ray logs an error for each worker that starts, as its arguments are in the
# object store. Real errors are raised as exceptions.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", _LEVEL: "fatal"}
_NOTE = f"environment variable {_LEVEL}".encode()  # printed by Ray if the level is set


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The workers of a cluster and their resources.

    Args:
        address: a Ray address (`auto`, `ray://host:10001`, `host:6379`); by default RAY_ADDRESS, or
            else a new cluster on this machine.
        count: the number of workers; by default as many as the cluster has room for.
        threads: threads per worker.
        gpus: GPUs per worker; workers with half a GPU share one.
    """

    address: str | None = None
    count: int | None = None
    threads: int = 1
    gpus: float = 0.0


def require_ray() -> Any:
    """Import Ray, or raise an error that says how to install it."""
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
    """Connect to a cluster: the current one, the one of the address, or a new one on this machine.

    Yields:
        whether the cluster is only this machine for certain.
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
            "address": "local",  # else Ray looks for an earlier cluster on this machine
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
    """A pool of workers, as many as there is room for now; the rest start when a cluster grows."""
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
    # No worker holds back a portion that another one could begin.
    return ray.data.ActorPoolStrategy(
        min_size=min(count, room), max_size=count, max_tasks_in_flight_per_actor=1
    )


def _check_answer(address: str) -> None:
    """Refuse an address where nothing listens; Ray would wait for several minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not (colon and port.isdecimal()):
        return  # a word such as `auto`
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"a Ray cluster is not at {address}: {error}") from error


@contextmanager
def _without_note() -> Iterator[None]:
    """Remove Ray's note on its log level from standard error."""
    with tempfile.TemporaryFile() as captured:
        sys.stderr.flush()
        before = os.dup(2)
        os.dup2(captured.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
            captured.seek(0)
            os.write(2, b"".join(line for line in captured if _NOTE not in line))


@contextmanager
def _without_bars(ray: Any) -> Iterator[None]:
    """Silence the progress bars and log of Ray Data, whose errors are raised as exceptions."""
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
