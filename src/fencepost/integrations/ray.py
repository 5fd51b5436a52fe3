"""Parsing of a corpus by the workers of a Ray cluster.

Ray Data keeps a pool of workers, each with the model loaded once, hands portions of the corpus to
free workers, and repeats those of workers that died. A portion names files and ranges of bytes:
workers read and write these themselves, so no rows pass through Ray's object store, and the memory
of a worker does not depend on the size of the corpus.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.checkpoints.model import FILES
from fencepost.checkpoints.shipped import find_model
from fencepost.errors import ConfigError, FencepostError
from fencepost.integrations.cluster import PATIENCE, Workers, connected, pool, require_ray
from fencepost.run.corpus.plan import Portion, portion_of
from fencepost.run.corpus.run import Run, fingerprint, portions_of
from fencepost.run.corpus.store import is_remote, names_in
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
from fencepost.runtime.manifest import MANIFEST

if TYPE_CHECKING:
    from fencepost.checkpoints.loading import Backend, Precision
    from fencepost.parser.options import CheckedOptions

_MOST_BLOCKS = 10_000  # of Ray Data, which share the portions
_REPORT_EVERY = 0.5  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """The arguments with which a worker loads its parser."""

    model: str  # its name, or its folder
    fingerprint: str
    max_words: int
    backend: Backend = "auto"
    precision: Precision = "fp32"


def parse_on_ray(
    run: Run, asked: CheckedOptions, *, loading: Loading, workers: Workers, tell: Tell | None = None
) -> Iterator[Done]:
    """Parse the waiting portions of a run, in any order.

    Args:
        run: the corpus run.
        asked: the options of parsing.
        loading: the arguments with which workers load their parser.
        workers: the number of workers and their resources.
        tell: called with the numbers of words and bytes so far.

    Raises:
        ConfigError: Ray is not installed, or the cluster does not exist or went down.
        FencepostError: a worker failed in a way that any worker would.
    """
    if not run.waiting:
        return
    ray = require_ray()
    with connected(ray, workers) as is_here:
        tally = None if tell is None else _tally(ray)
        before = _tries_before(run)
        portions = [
            {
                "portion": json.dumps(asdict(_found_anywhere(portion)), ensure_ascii=True),
                "tries": before[f"{portion.number:06}"],
            }
            for portion in portions_of(run)
        ]
        dataset = ray.data.from_items(
            portions, override_num_blocks=min(len(portions), _MOST_BLOCKS)
        ).map_batches(
            _Worker,
            batch_size=1,
            compute=pool(ray, workers, most=len(portions)),
            num_cpus=workers.threads,
            num_gpus=workers.gpus or None,
            fn_constructor_kwargs={
                "job": replace(run.job, out=_absolute(run.job.out)),
                "asked": asked,
                "loading": loading,
                "files": None if is_here else _packed(ray, loading),
                "threads": workers.threads,
                "gpus": workers.gpus,
                "tally": tally,
            },
        )
        with _watched(ray, tally, run.bytes_before, tell):
            try:
                for row in dataset.iter_rows():
                    yield _done_of(json.loads(row["answer"]))
            except ray.exceptions.RayTaskError:
                raise  # a bug of ours, with its traceback
            except ray.exceptions.RayError as error:
                message = str(error).strip().splitlines()
                raise ConfigError(
                    f"Ray stopped: {message[-1] if message else type(error)}"
                ) from error


class _Worker:
    """A worker, which parses portions with a model that it loads once."""

    def __init__(
        self,
        *,
        job: Job,
        asked: CheckedOptions,
        loading: Loading,
        files: Any,
        threads: int,
        gpus: float,
        tally: Any,
    ) -> None:
        from fencepost.parser.parser import load

        self._job, self._asked, self._tally = job, asked, tally
        self._problem: FencepostError | None = None
        try:
            with _unpacked(loading, files) as folder:
                self._parser = load(
                    folder,
                    device="cuda" if gpus else "cpu",
                    threads=threads,
                    max_words=loading.max_words,
                    backend=loading.backend,
                    precision=loading.precision,
                )
        except FencepostError as error:
            self._problem = error  # if it were raised here, Ray would start another worker

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        answers = [
            self._answer(portion_of(json.loads(str(portion))), int(tries))
            for portion, tries in zip(batch["portion"], batch["tries"], strict=True)
        ]
        return {"answer": [json.dumps(answer) for answer in answers]}

    def _answer(self, portion: Portion, tries: int) -> dict[str, Any]:
        """The result of a portion, or an error, which Ray would wrap if it were raised."""
        try:
            return asdict(self._parsed(portion, tries))
        except FencepostError as error:
            return {"problem": str(error)}

    def _parsed(self, portion: Portion, tries: int) -> Done:
        if self._problem is not None:
            raise self._problem
        done = done_before(self._job, portion)  # by a worker that died before it answered
        if done is None and tries_of(self._job, portion) - tries >= MOST_TRIES:
            done = given_up(self._job, portion)

        def tell(words: int, size: int) -> None:
            if self._tally is not None:
                self._tally.put.remote(portion.number, words, size)

        if done is None:
            done = parse_portion(self._parser, self._job, portion, self._asked, tell=tell)
        tell(sum(record.words for record in done.records), portion.bytes)
        return done


def _tries_before(run: Run) -> Counter[str]:
    """The numbers of tries of portions in earlier runs, which do not count."""
    names = (name.partition(".try-") for name in names_in(run.job.work))
    return Counter(number for number, is_try, _ in names if is_try)


def _absolute(path: str) -> str:
    """A path that does not depend on a worker's directory."""
    return path if is_remote(path) else os.path.abspath(path)


def _found_anywhere(portion: Portion) -> Portion:
    """The portion with paths that do not depend on a worker's directory."""
    shards = (
        replace(shard, source=_absolute(shard.source)) if shard.place == "file" else shard
        for shard in portion.shards
    )
    return replace(portion, shards=tuple(shards))


def _tally(ray: Any) -> Any:
    """An actor that collects progress; a portion that is repeated replaces its count."""

    class Tally:
        def __init__(self) -> None:
            self.portions: dict[int, tuple[int, int]] = {}

        def put(self, portion: int, words: int, size: int) -> None:
            self.portions[portion] = (words, size)

        def total(self) -> tuple[int, int]:
            counts = self.portions.values()
            return sum(words for words, _ in counts), sum(size for _, size in counts)

    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=True
    )
    return ray.remote(num_cpus=0, scheduling_strategy=here)(Tally).remote()


@contextmanager
def _watched(ray: Any, tally: Any, before: int, tell: Tell | None) -> Iterator[None]:
    """Poll the tally and report its totals while they grow."""
    if tell is None:
        yield
        return
    stop = threading.Event()

    def watch(tell: Callable[[int, int], None] = tell) -> None:
        most_words = most_bytes = 0
        is_last = False
        while not is_last:
            is_last = stop.wait(_REPORT_EVERY)
            try:
                words, size = ray.get(tally.total.remote(), timeout=PATIENCE)
            except Exception:  # missing progress is no reason to stop
                continue
            most_words, most_bytes = max(most_words, words), max(most_bytes, size)
            tell(most_words, before + most_bytes)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _packed(ray: Any, loading: Loading) -> Any:
    """The files of the model in Ray's object store, for machines without them."""
    folder = find_model(loading.model)
    paths = [folder / name for name in (*FILES, MANIFEST)]
    files = {path.name: path.read_bytes() for path in paths if path.is_file()}
    return [ray.put(files)]  # in a list, Ray does not fetch it early


@contextmanager
def _unpacked(loading: Loading, files: Any) -> Iterator[Path]:
    """The folder of the model on this machine, or a temporary copy of it."""
    if files is None:
        yield find_model(loading.model)
        return
    try:
        folder = find_model(loading.model)
        is_same = fingerprint(folder) == loading.fingerprint
    except FencepostError:
        is_same = False  # not on this machine
    if is_same:
        yield folder
        return
    import ray

    with tempfile.TemporaryDirectory(prefix="fencepost-model-") as copy:
        for name, data in ray.get(files[0]).items():
            Path(copy, name).write_bytes(data)
        yield Path(copy)


def _done_of(answer: dict[str, Any]) -> Done:
    """The result of a portion in the answer of a worker."""
    if "problem" in answer:
        raise FencepostError(answer["problem"])
    records = [Record(**record) for record in answer["records"]]
    return Done(answer["number"], records, answer["seconds"])
