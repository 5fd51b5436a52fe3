"""A run over a corpus: begun or gone on with, and finished with a manifest.

    out/
      a.jsonl  b-00000.jsonl  b-00001.jsonl  …   shards, each whole
      _manifest.json                             what they hold, and of what; when all are there
      _work/                                     until then: the plan, and what is done of it

Names that begin with an underscore are passed over by whoever reads the folder as a table.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.checkpoints.model import FILES
from fencepost.errors import ConfigError, DataError, FencepostError
from fencepost.formats.registry import files_of, format_of
from fencepost.run.corpus.plan import Plan, Portion
from fencepost.run.corpus.store import (
    is_remote,
    joined,
    make_folder,
    names_in,
    read_whole,
    remove_folder,
    sha256_of,
    size_of,
    whole,
)
from fencepost.run.corpus.work import (
    WORK,
    Done,
    Job,
    Record,
    Tell,
    are_there,
    done_before,
    parse_portion,
    record_of,
)

if TYPE_CHECKING:
    from fencepost.parser.options import CheckedOptions
    from fencepost.parser.parser import Parser

MANIFEST = "_manifest.json"
_PLAN = "plan.json"
_VERSION = 1


@dataclass(slots=True)
class Summary:
    """The totals of a run, those of earlier ones included."""

    rows: int = 0
    sentences: int = 0
    words: int = 0
    bytes: int = 0  # written
    shards: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # rows, by reason
    first: dict[str, str] = field(default_factory=dict)  # the id of one of them, by reason
    errors: list[Record] = field(default_factory=list)  # shards that could not be made
    stages: Counter[str] = field(default_factory=Counter)  # seconds of all workers together
    words_now: int = 0  # of this run alone

    def add(self, done: Done, *, is_new: bool = True) -> None:
        """Count what came of a portion."""
        for record in done.records:
            if record.error is not None:
                self.errors.append(record)
                continue
            self.shards += 1
            self.rows += record.rows
            self.sentences += record.sentences
            self.words += record.words
            self.words_now += record.words * is_new
            self.bytes += record.bytes
            self.failures.update(record.failures)
            self.first = {**record.first, **self.first}
        self.stages.update(done.seconds)


class Run:
    """The run of a job over a plan.

    Args:
        job: where the output goes, and how rows are read.
        plan: how the inputs are divided.
        settings: plain data of all else that the output depends on; a run goes on only with the
            same.
        resume: whether to go on with a run that was stopped.

    Raises:
        ConfigError: there is a run in the folder, and it is not to be gone on with, or is another.
    """

    def __init__(
        self, job: Job, plan: Plan, settings: Mapping[str, Any], *, resume: bool = False
    ) -> None:
        self.job, self.plan, self.resume = job, plan, resume
        self.settings = {
            "version": _VERSION,
            **settings,
            "to": job.format,
            "rows": asdict(job.rows),
            "shard_bytes": plan.shard_bytes,
        }
        self._checksums = self._checksums_of_inputs()
        self.summary = Summary()
        self._done: dict[int, Done] = {}
        self._was_finished = False
        self._begin(resume)
        done = self._done.keys()
        self.waiting = [portion for portion in plan.portions if portion.number not in done]

    @property
    def bytes_before(self) -> int:
        """How much of the input was done before."""
        return self.plan.bytes - sum(portion.bytes for portion in self.waiting)

    def add(self, done: Done, *, is_new: bool = True) -> None:
        """Take in what came of a portion."""
        self._done[done.number] = done
        self.summary.add(done, is_new=is_new)

    def forget(self) -> None:
        """Clear up a run that ended before anything was done, so that it can be begun anew."""
        if not self._done and not self.resume:
            remove_folder(self.job.work)

    def finish(self) -> None:
        """Write the manifest and clear up, if all shards are there."""
        if self.summary.errors or len(self._done) < len(self.plan.portions):
            return
        manifest = {
            **self.settings,
            "inputs": self._inputs(),
            "checksums": self._checksums,
            "totals": {
                "rows": self.summary.rows,
                "sentences": self.summary.sentences,
                "words": self.summary.words,
                "bytes": self.summary.bytes,
                "failures": dict(sorted(self.summary.failures.items())),
            },
            "shards": [
                {key: value for key, value in asdict(record).items() if key != "error"}
                for portion in self.plan.portions
                for record in self._done[portion.number].records
            ],
        }
        if not self._was_finished:
            self._write(MANIFEST, manifest)
        remove_folder(self.job.work)

    def _begin(self, resume: bool) -> None:
        """Take up what was done before, or begin."""
        names = names_in(self.job.out)
        is_begun = size_of(joined(self.job.work, _PLAN)) is not None
        if MANIFEST not in names and not is_begun and set(names) - {WORK}:
            raise ConfigError(
                f"{self.job.out}: this folder is not empty, and holds no run to go on with; choose "
                "another one"
            )
        if names and not resume:
            raise ConfigError(
                f"{self.job.out}: this folder is not empty; pass --resume to go on with its run"
            )
        begun = {**self.settings, "inputs": self._inputs(), "checksums": self._checksums}
        if MANIFEST in names:
            self._take_finished(begun)
        elif is_begun:
            self._same_as(joined(self.job.work, _PLAN), begun)
            for portion in self.plan.portions:
                if (done := done_before(self.job, portion)) is not None:
                    self.add(done, is_new=False)
        else:  # nothing, or all that a run left that was stopped at once
            make_folder(self.job.work)
            self._write(f"{WORK}/{_PLAN}", begun)

    def _inputs(self) -> dict[str, Any]:
        """How large the files are that are read, and what the texts are."""
        found: dict[str, Any] = {file.name: file.bytes for file in self.plan.files}
        for portion in self.plan.portions:
            for shard in portion.shards:
                if shard.place == "given":
                    text = shard.source.encode("utf-8", "surrogatepass")
                    found[shard.label] = hashlib.sha256(text).hexdigest()
        return found

    def _checksums_of_inputs(self) -> dict[str, str]:
        """A mark that changes with a file: of one that is here, the SHA-256 of all that is read.

        Files elsewhere are not fetched for it: stores note the time of each write themselves.
        """
        found: dict[str, str] = {}
        for shard in (shard for portion in self.plan.portions for shard in portion.shards):
            if shard.place != "file" or shard.label in found:
                continue
            read: tuple[str | Path, ...] = (shard.source,)
            if shard.kind == "annotated":  # brat's are two
                read = files_of(shard.source, format_of(shard.source, self.job.rows.format))
            if is_remote(shard.source):
                found[shard.label] = str(shard.version)
                continue
            with suppress(DataError):  # which is told when it is the shard's turn
                found[shard.label] = " ".join(sha256_of(str(path)) or "" for path in read)
        return found

    def _take_finished(self, ours: Mapping[str, Any]) -> None:
        """Take up what the manifest of a complete run says, as far as its files are there."""
        path = joined(self.job.out, MANIFEST)
        theirs = self._same_as(path, ours)
        try:
            records = {shard["file"]: record_of(shard) for shard in theirs["shards"]}
        except (KeyError, TypeError) as error:
            raise ConfigError(f"{path}: no manifest of a run: {error}") from error
        for portion in self.plan.portions:
            names = [self.job.name(shard) for shard in portion.shards]
            own = [records[name] for name in names if name in records]
            if are_there(self.job, portion, own):
                self.add(Done(portion.number, own), is_new=False)
        self._was_finished = len(self._done) == len(self.plan.portions)

    def _same_as(self, path: str, ours: Mapping[str, Any]) -> dict[str, Any]:
        """The content of a file, if a run with the same settings and inputs wrote it."""
        try:
            theirs = json.loads(read_whole(path))
        except ValueError as error:
            raise ConfigError(f"{path}: no JSON: {error}") from error
        if not isinstance(theirs, dict):
            raise ConfigError(f"{path}: an object is expected")
        known = theirs.get("checksums")
        if isinstance(known, dict):  # what could not be read then was not parsed either
            ours = {**ours, "checksums": {k: v for k, v in self._checksums.items() if k in known}}
        lines = list(_differences(theirs, json.loads(json.dumps(ours))))
        if lines:
            told = [f"{self.job.out}: this run was begun with other settings or inputs:", *lines]
            raise ConfigError("\n".join(told))
        return theirs

    def _write(self, name: str, data: Mapping[str, Any]) -> None:
        # Names may hold bytes that are no text, which only escapes can say.
        with whole(joined(self.job.out, name), self.job.work) as file:
            file.write(f"{json.dumps(data, indent=1)}\n".encode())


def _differences(theirs: Mapping[str, Any], ours: Mapping[str, Any], at: str = "") -> Iterator[str]:
    """The settings that differ from those of the earlier run, a line each."""
    for key, value in ours.items():
        then = theirs.get(key)
        if isinstance(then, dict) and isinstance(value, dict):
            gone = dict.fromkeys(then.keys() - value.keys())
            yield from _differences(then, {**value, **gone}, f"{at}{key}: ")
        elif then != value:
            yield f"  {at}{key}: {_shown(then)} then, {_shown(value)} now"


def parse_here(
    run: Run, parser: Parser, asked: CheckedOptions, *, tell: Tell | None = None
) -> Iterator[Done]:
    """Do what waits, portion by portion, in this process; memory does not grow with the input.

    Args:
        run: what is to be done.
        parser: with the model.
        asked: what to find.
        tell: called with the words and bytes that are done.
    """
    words, size = 0, run.bytes_before
    told = 0  # words of this portion

    def tell_all(more_words: int, more_bytes: int) -> None:
        nonlocal told
        told = more_words
        if tell is not None:
            tell(words + more_words, size + more_bytes)

    for portion in run.waiting:
        done = parse_portion(parser, run.job, portion, asked, tell=tell_all)
        words, size = words + told, size + portion.bytes
        tell_all(0, 0)
        yield done


def fingerprint(folder: Path) -> str:
    """The checksum of the files that a model is made of; what else is in its folder is not read."""
    total = hashlib.sha256()
    for name in sorted(FILES):
        if (folder / name).is_file():
            total.update(name.encode("utf-8"))
            with open(folder / name, "rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."


def portions_of(run: Run) -> Sequence[Portion]:
    """The waiting portions, the largest first: whoever begins late should not get the most."""
    return sorted(run.waiting, key=lambda portion: -portion.bytes)


def absorbed(run: Run, dones: Iterable[Done]) -> Summary:
    """Take in all that is done, finish the run, and return what it has come to."""
    try:
        for done in dones:
            run.add(done)
    except FencepostError:
        run.forget()
        raise
    run.finish()
    return run.summary
