"""A corpus parsed by the workers of a Ray cluster, which may be many machines.

Ray Data keeps a pool of workers, each with the model loaded once, hands portions of the corpus to
whichever is free, and gives those of a worker that died to another one. A portion says which bytes
of which files to read: the workers read and write these themselves, so no row passes through Ray's
object store, and memory stays what one worker needs, however large the corpus.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.errors import ConfigError, FencepostError
from fencepost.run.corpus.plan import portion_of
from fencepost.run.corpus.run import Run, fingerprint, portions_of
from fencepost.run.corpus.work import (
    MOST_TRIES,
    Done,
    Job,
    Record,
    Tell,
    done_before,
    given_up,
    parse_portion,
    tries_of,
)

if TYPE_CHECKING:
    from fencepost.model.precision import Precision
    from fencepost.parser.asking import Asked

_MOST_BLOCKS = 10_000  # that Ray Data keeps track of; each holds as many portions as it must
_STORE = 128 << 20  # bytes of a local object store, in which only portions and counts lie
_TOLD_EVERY = 0.5  # seconds
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How a worker makes its parser."""

    model: str  # its name, or its folder
    fingerprint: str
    max_words: int
    precision: Precision


def parse_on_ray(
    run: Run, asked: Asked, *, loading: Loading, workers: Workers, tell: Tell | None = None
) -> Iterator[Done]:
    """Do what waits, in no certain order.

    Args:
        run: what is to be done.
        asked: what to find.
        loading: how a worker makes its parser.
        workers: how many, and with what.
        tell: is told how far it is.

    Raises:
        ConfigError: there is no Ray, or no such cluster.
    """
    if not run.waiting:
        return
    ray = _ray()
    with _connected(ray, workers):
        tally = _tally(ray)
        portions = [
            {"portion": json.dumps(asdict(portion), ensure_ascii=True)}
            for portion in portions_of(run)
        ]
        dataset = ray.data.from_items(
            portions, override_num_blocks=min(len(portions), _MOST_BLOCKS)
        ).map_batches(
            _Worker,
            batch_size=1,
            compute=_pool(ray, workers),
            num_cpus=workers.threads,
            num_gpus=workers.gpus or None,
            fn_constructor_kwargs={
                "job": run.job,
                "asked": asked,
                "loading": loading,
                "files": _packed(ray, loading) if _is_elsewhere(workers) else None,
                "threads": workers.threads,
                "gpus": workers.gpus,
                "tally": tally,
            },
        )
        with _watched(ray, tally, run.bytes_before, tell):
            try:
                for row in dataset.iter_rows():
                    yield _done_of(json.loads(row["done"]))
            except ray.exceptions.RayError as error:
                raise _ours(error) from error


class _Worker:
    """Parses portions with a model that it has loaded once."""

    def __init__(
        self,
        *,
        job: Job,
        asked: Asked,
        loading: Loading,
        files: Any,
        threads: int,
        gpus: float,
        tally: Any,
    ) -> None:
        from fencepost.parser.parser import load

        self._job, self._asked, self._tally = job, asked, tally
        self._parser = load(
            _unpacked(loading, files),
            device="cuda" if gpus else "cpu",
            threads=threads,
            max_words=loading.max_words,
            precision=loading.precision,
        )

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        found = [self._parsed(json.loads(str(one))) for one in batch["portion"]]
        return {"done": [json.dumps(asdict(done)) for done in found]}

    def _parsed(self, data: dict[str, Any]) -> Done:
        portion = portion_of(data)
        done = done_before(self._job, portion)  # by a worker that died before it could say so
        if done is None and tries_of(self._job, portion) >= MOST_TRIES:
            done = given_up(self._job, portion)
        if done is None:

            def tell(words: int, size: int) -> None:
                self._tally.put.remote(portion.number, words, size)

            done = parse_portion(self._parser, self._job, portion, self._asked, tell=tell)
        words = sum(record.words for record in done.records)
        self._tally.put.remote(portion.number, words, portion.bytes)
        return done


def _ray() -> Any:
    """The library, or an error that says how to get it."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray.data
        import ray.exceptions

        return ray
    except ImportError as error:
        raise ConfigError(
            f"--engine ray needs Ray ({error}): pip install 'fencepost[ray]'"
        ) from error


@contextmanager
def _connected(ray: Any, workers: Workers) -> Iterator[None]:
    """A cluster: the one that is connected already, that of the address, or a local one."""
    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {"address": workers.address}
    if not _is_elsewhere(workers):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        options = {
            "num_cpus": max(cores or 1, (workers.count or 1) * workers.threads),
            "object_store_memory": _STORE,
            "include_dashboard": False,
        }
    try:
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"no Ray cluster at {workers.address}: {error}") from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    try:
        yield
    finally:
        ray.shutdown()


def _is_elsewhere(workers: Workers) -> bool:
    """Whether the cluster may have other machines than this one."""
    return workers.address is not None or bool(os.environ.get("RAY_ADDRESS"))


def _pool(ray: Any, workers: Workers) -> Any:
    """So many workers, or as many as there is room for now; a cluster that grows gets the rest."""
    known = ray.cluster_resources()
    room = int(known.get("CPU", 0) // workers.threads)
    if workers.gpus:
        room = min(room, int(known.get("GPU", 0) / workers.gpus))
    count = workers.count or room
    if count < 1 or (workers.count and room < 1):
        raise ConfigError(
            f"the cluster has {known.get('CPU', 0):g} processors and {known.get('GPU', 0):g} GPUs, "
            f"too few for a worker with {workers.threads} threads and {workers.gpus:g} GPUs"
        )
    return ray.data.ActorPoolStrategy(min_size=min(count, room), max_size=count)


def _tally(ray: Any) -> Any:
    """Where workers say how far they are; a portion that is tried again replaces its count."""

    class Tally:
        def __init__(self) -> None:
            self.portions: dict[int, tuple[int, int]] = {}

        def put(self, portion: int, words: int, size: int) -> None:
            self.portions[portion] = (words, size)

        def total(self) -> tuple[int, int]:
            counts = self.portions.values()
            return sum(words for words, _ in counts), sum(size for _, size in counts)

    return ray.remote(num_cpus=0)(Tally).remote()


@contextmanager
def _watched(ray: Any, tally: Any, before: int, tell: Tell | None) -> Iterator[None]:
    """Ask the tally now and then, and pass on what it says."""
    if tell is None:
        yield
        return
    stop = threading.Event()

    def watch(tell: Callable[[int, int], None] = tell) -> None:
        while not stop.wait(_TOLD_EVERY):
            try:
                words, size = ray.get(tally.total.remote())
            except Exception:  # nobody can say how far it is, which is no reason to stop
                return
            tell(words, before + size)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _packed(ray: Any, loading: Loading) -> Any:
    """The files of the model in the object store, for machines that do not have it."""
    from fencepost.parser.shipped import find_model

    folder = find_model(loading.model)
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return [ray.put(files)]  # in a list it is not fetched before it is asked for


def _unpacked(loading: Loading, files: Any) -> Path:
    """The folder of the model on this machine: the same one, or a copy."""
    from fencepost.parser.shipped import find_model

    if files is None:
        return find_model(loading.model)
    try:
        folder = find_model(loading.model)
        if fingerprint(folder) == loading.fingerprint:
            return folder
    except FencepostError:
        pass  # it is not on this machine
    import ray

    folder = Path(tempfile.mkdtemp(prefix="fencepost-model-"))
    for name, data in ray.get(files[0]).items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def _done_of(data: dict[str, Any]) -> Done:
    records = [Record(**record) for record in data["records"]]
    return Done(data["number"], records, data["seconds"])


def _ours(error: Exception) -> FencepostError:
    """What went wrong in a worker, as one of our errors."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FencepostError):
            return cause
        cause = getattr(cause, "cause", None) or cause.__cause__
    return ConfigError(f"Ray stopped: {str(error).strip().splitlines()[-1]}")
