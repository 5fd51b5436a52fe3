"""A corpus is parsed on Ray as it is without it, whoever dies while it is."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fencepost.cli import main
from fencepost.errors import FencepostError, ModelError
from fencepost.integrations import ray as module
from fencepost.integrations.cluster import PATIENCE, Workers
from fencepost.integrations.ray import Loading, parse_on_ray
from fencepost.parser.options import CheckedOptions
from fencepost.parser.parser import Parser, load
from fencepost.run.corpus.plan import make_plan
from fencepost.run.corpus.results import Format, read_documents
from fencepost.run.corpus.rows import RowSettings
from fencepost.run.corpus.run import Run, absorbed, fingerprint, parse_here
from fencepost.run.corpus.work import WORK, Job, Tell
from tests.models import lively_model
from tests.reliability import test_contract as contract

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Ray leaves its files and sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),  # its own settings
]

MOST_WORDS = 40  # as the contract has it
SHARD = 400  # bytes
ROWS_SHARD = 4_000
ROWS = RowSettings()
WAIT = 240.0  # seconds, for what should take a few
POISON = "poison"
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    # By name, each worker of ours would import this module, and all that only tests need.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    made = Cluster(
        initialize_head=True,
        head_node_args={
            **NODE,
            "include_dashboard": False,
            # A node that has gone is missed after a second instead of fifteen.
            "_system_config": {"health_check_period_ms": 500, "health_check_failure_threshold": 2},
        },
    )
    made.add_node(**NODE)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def cluster(two_nodes: Any) -> Any:
    """Two nodes with room for a worker each; this process is connected to them."""
    if not two_nodes.worker_nodes:  # a test has taken it away
        two_nodes.add_node(**NODE)
    return two_nodes


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "lively"
    Parser(lively_model("tree", "entities", "tags")).save(folder)
    return folder


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several small files and a large one; some rows cannot be parsed."""
    folder = tmp_path_factory.mktemp("inputs")
    for number in range(4):
        (folder / f"small-{number}.txt").write_text(f"a b {number} c.\n\nc c a ({POISON}).\n")
    (folder / "rows.jsonl").write_text(
        '{"id": "x", "text": "a b a."}\n{"text": 3}\n{ no\n{"words": ["c", "a"]}\n'
    )
    (folder / "long.txt").write_text("a b c. c.\n\n" + "b " * (MOST_WORDS + 1) + "\n\na c.\n")
    letters = itertools.cycle("abcacbb")
    paragraphs = (" ".join(itertools.islice(letters, 3 + n % 11)) + "." for n in range(120))
    (folder / "large.txt").write_text("\n\n".join(paragraphs) + "\n")
    return folder


@dataclass(frozen=True)
class Case:
    """What a run needs beside the folder of its output."""

    inputs: Path
    model: Path
    asked: CheckedOptions

    def run(
        self,
        out: Path | str,
        format: Format = "jsonl",
        *,
        shard_bytes: int = SHARD,
        resume: bool = False,
    ) -> Run:
        plan = make_plan([str(self.inputs)], settings=ROWS, shard_bytes=shard_bytes)
        return Run(Job(out=str(out), format=format, rows=ROWS), plan, {}, resume=resume)

    def here(self, run: Run) -> Iterator[Any]:
        """With one thread, as the workers have: two round otherwise, and a command may set them."""
        parser = load(self.model, threads=1, max_words=MOST_WORDS)
        return parse_here(run, parser, self.asked)

    def on_ray(self, run: Run, *, tell: Tell | None = None, **workers: Any) -> Iterator[Any]:
        loading = Loading(
            model=str(self.model),
            fingerprint=fingerprint(self.model),
            max_words=MOST_WORDS,
            precision="fp32",
        )
        return parse_on_ray(run, self.asked, loading=loading, workers=Workers(**workers), tell=tell)


@pytest.fixture(scope="module")
def case(inputs: Path, model: Path) -> Case:
    return Case(inputs, model, load(model, threads=1).check_options())


def files_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def expected(
    case: Case, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Format], dict[str, bytes]]:
    """What this process alone makes of the inputs."""
    made: dict[Format, dict[str, bytes]] = {}

    def of(format: Format) -> dict[str, bytes]:
        if format not in made:
            out = tmp_path_factory.mktemp("expected") / format
            run = case.run(out, format)
            assert len(run.plan.portions) > 6
            summary = absorbed(run, case.here(run))
            assert sum(summary.failures.values()) == 3
            made[format] = files_in(out)
        return made[format]

    return of


def wait_for(condition: Callable[[], Any]) -> Any:
    """What the condition is, as soon as it is anything."""
    ends = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < ends
        time.sleep(0.05)
    return found


@contextmanager
def beside(job: Callable[[], None]) -> Iterator[None]:
    """Do something at the same time, and see that it went well."""
    problems: list[BaseException] = []

    def guarded() -> None:
        try:
            job()
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    yield
    thread.join(WAIT)
    assert not problems, problems
    assert not thread.is_alive()


class Signs:
    """A folder beside that of the output, by which a test and the workers understand each other."""

    def __init__(self, out: Path | str) -> None:
        self.folder = Path(f"{out}.signs")

    def set(self, name: str) -> None:
        self.folder.mkdir(exist_ok=True)
        draft = self.folder / f".{name}"
        draft.write_text(json.dumps([os.getpid(), ray.get_runtime_context().get_node_id()]))
        draft.rename(self.folder / name)

    def clear(self, name: str) -> None:
        (self.folder / name).unlink()

    def is_set(self, name: str) -> bool:
        return (self.folder / name).exists()

    def stuck(self) -> dict[str, int]:
        """The workers that are stuck: their processes, by node."""
        found = (json.loads(path.read_text()) for path in self.folder.glob("stuck-*"))
        return {node: pid for pid, node in found}


class TroubledWorker(module._Worker):
    """A worker that gets stuck after the first row of a portion, or dies, if a sign is set."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        signs = Signs(given["job"].out)
        if signs.is_set("few tries"):
            vars(module)["MOST_TRIES"] = 1
        self._parser: Any = TroubledParser(self._parser, signs)


class TroubledParser:
    def __init__(self, parser: Parser, signs: Signs) -> None:
        self.parser, self.model, self.signs = parser, parser.model, signs

    def stream_items(self, *given: Any, **more: Any) -> Iterator[tuple[Any, Any]]:
        for number, (item, results) in enumerate(self.parser.stream_items(*given, **more)):
            yield item, results
            if number == 0 and self.signs.is_set("stop"):
                self.signs.set(f"stuck-{os.getpid()}")
                while self.signs.is_set("stop"):
                    time.sleep(0.02)
            row = getattr(item, "row", None)  # the end of a shard has none
            if row is not None and POISON in str(row.given) and self.signs.is_set(POISON):
                os.kill(os.getpid(), signal.SIGKILL)


def test_workers_on_two_nodes_write_a_row_for_each_row_wherever_they_were_started(
    cluster: Any, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In order, bad rows or good ones, and the same bytes as without them."""
    texts = contract.texts(contract.MANY)
    lines = [json.dumps({"id": str(k), "text": text}).encode() for k, text in enumerate(texts)]
    bad = contract.TestRows.BAD
    places = dict(zip(Random(9).sample(range(len(lines)), len(bad)), bad, strict=True))
    for place, (line, _) in places.items():
        lines[place] = line
    monkeypatch.chdir(tmp_path)  # where no worker is
    Path("rows.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    shutil.copytree(case.model, "my model")
    moved = replace(case, inputs=Path("rows.jsonl"), model=Path("my model"))
    told: list[tuple[int, int]] = []
    run = moved.run("out", shard_bytes=ROWS_SHARD)
    assert len(run.plan.portions) > 6
    summary = absorbed(run, moved.on_ray(run, tell=lambda *given: told.append(given)))
    plain = moved.run("plain", shard_bytes=ROWS_SHARD)
    absorbed(plain, moved.here(plain))
    assert files_in(Path("out")) == files_in(Path("plain"))
    documents = list(read_documents("out"))
    assert len(documents) == summary.rows == len(lines)
    for number, (document, text) in enumerate(zip(documents, texts, strict=True)):
        if number in places:
            assert document.status.startswith(places[number][1])
        else:
            assert (document.id, document.status) == (str(number), "ok")
            assert contract.words_of(document) == contract.split(text)
    for column, total in zip(zip(*told, strict=True), (summary.words, run.plan.bytes), strict=True):
        assert list(column) == sorted(column)
        assert 0.8 * total <= column[-1] <= total


def test_a_portion_that_kills_its_workers_is_left_out_until_it_is_tried_again(
    cluster: Any,
    case: Case,
    expected: Callable[[Format], dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, signs = tmp_path / "out", Signs(tmp_path / "out")
    signs.set(POISON)
    signs.set("few tries")
    monkeypatch.setattr(module, "_Worker", TroubledWorker)
    run = case.run(out)
    summary = absorbed(run, case.on_ray(run, count=1))
    tries = Counter(path.stem for path in Path(run.job.work).glob("*.try-*"))
    assert set(tries.values()) == {1, 2}  # whoever finds that one died gives up
    lost = {record.file for record in summary.errors}
    assert {f"small-{number}.jsonl" for number in range(4)} <= lost
    assert all("workers died" in str(record.error) for record in summary.errors)
    wanted = expected("jsonl")
    made = {name: data for name, data in files_in(out).items() if not name.startswith(WORK)}
    assert wanted.keys() - made.keys() <= lost | {"_manifest.json"}
    assert made.items() <= wanted.items()
    signs.clear(POISON)
    run = case.run(out, resume=True)
    assert not absorbed(run, case.on_ray(run, count=1)).errors  # tries of then do not count
    assert files_in(out) == wanted


def test_a_model_that_a_machine_does_not_have_is_brought_along(
    cluster: Any, model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    wanted = files_in(copy)
    wanted.pop("README.md")
    (copy / "notes.txt").touch()  # none of the model's files
    loading = Loading(model=str(copy), fingerprint=fingerprint(copy), max_words=5, precision="fp32")
    packed = module._packed(ray, loading)
    with module._unpacked(loading, packed) as folder:
        assert folder == copy
    (copy / "config.json").write_text("another")
    with module._unpacked(loading, packed) as folder:  # a model of the same name is not the same
        assert folder != copy
        assert files_in(folder) == wanted
    shutil.rmtree(copy)
    with module._unpacked(loading, packed) as folder:
        assert files_in(folder) == wanted
    assert not folder.exists()
    with pytest.raises(ModelError), module._unpacked(loading, None):
        pass


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    def of(*given: object) -> int:
        """The status of a command that is called in this process."""
        monkeypatch.setattr(sys, "argv", ["fencepost", "parse", *map(str, given)])
        with pytest.raises(SystemExit) as caught:
            main()
        assert isinstance(caught.value.code, int)
        return caught.value.code

    return of


@contextmanager
def command(*given: object) -> Iterator[subprocess.Popen[str]]:
    """The real command, in a process of its own."""
    call = [sys.executable, "-m", "fencepost", "parse", *map(str, given)]
    environment = {key: value for key, value in os.environ.items() if key != "RAY_ADDRESS"}
    with subprocess.Popen(
        call,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_killed_command_is_gone_on_with_by_either_engine(
    cluster: Any, inputs: Path, model: Path, tmp_path: Path, called: Callable[..., int]
) -> None:
    """On another cluster, too; and Ray prints nothing while all goes well."""
    once, killed, other = (tmp_path / name for name in ("once", "killed", "other"))
    options: list[object] = ["--model", model, "--to", "jsonl", "--shard-size", SHARD]
    options += ["--max-words", MOST_WORDS, "--threads", 1]
    on_ray = ["--engine", "ray", "--workers", 1]
    with command(inputs, "-o", killed, *options, *on_ray, "--address", cluster.address) as process:
        assert called(inputs, "-o", once, *options, "--engine", "stream") == 0
        wait_for(lambda: list(killed.glob("*.jsonl")))
        process.kill()
    assert not (killed / "_manifest.json").exists()
    shutil.copytree(killed, other)
    with command(inputs, "-o", killed, *options, *on_ray, "--resume", "--quiet") as process:
        assert called(inputs, "-o", other, *options, "--engine", "stream", "--resume") == 0
        assert process.communicate(timeout=WAIT) == ("", "")
    assert process.returncode == 0
    assert files_in(killed) == files_in(other) == files_in(once)


class TestWhatGoesWrong:
    @pytest.fixture
    def told(
        self, called: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> Callable[..., str]:
        def of(*given: object) -> str:
            """What a command that fails says."""
            capsys.readouterr()
            assert called(*given, "-o", f"{tmp_path / 'out'}/", "--engine", "ray") == 2
            out, err = capsys.readouterr()
            assert out == ""
            return err

        return of

    def test_a_file_that_a_worker_cannot_write_ends_the_run(
        self, cluster: Any, told: Callable[..., str], model: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "inputs" / "a.jsonl"
        folder.mkdir(parents=True)
        for path in (folder / "b.txt", tmp_path / "inputs" / "a.txt"):
            path.write_text("a b.\n")
        err = told(tmp_path / "inputs", "--model", model)  # a.jsonl is a folder, and cannot be
        assert err.startswith(f"fencepost: {tmp_path / 'out' / 'a.jsonl'}")
        assert err.count("\n") == 1

    def test_without_ray_it_is_told_how_to_get_it(
        self, told: Callable[..., str], model: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "ray.data", None)
        assert "pip install 'fencepost[ray]'" in told("a b.", "--model", model)

    @pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999"])
    def test_a_cluster_that_is_not_there_is_soon_told(
        self,
        told: Callable[..., str],
        model: Path,
        monkeypatch: pytest.MonkeyPatch,
        address: str,
    ) -> None:
        monkeypatch.setattr(ray, "is_initialized", lambda: False)
        started = time.monotonic()
        err = told("a b.", "--model", model, "--address", address)
        assert f"a Ray cluster is not at {address}" in err
        assert time.monotonic() - started < 2 * PATIENCE

    @pytest.mark.parametrize(
        ("workers", "wanted"),
        [(["--threads", "2"], "2 threads"), (["--gpus", "0.5"], "0.5 GPUs")],
    )
    def test_a_worker_that_no_machine_has_room_for_is_refused(
        self, cluster: Any, told: Callable[..., str], model: Path, workers: list[str], wanted: str
    ) -> None:
        err = told("a b.", "--model", model, *workers)
        assert "the machines of the cluster have at most 1 processors and 0 GPUs, too few" in err
        assert wanted in err

    def test_a_worker_that_cannot_read_its_model_says_so(self, case: Case, tmp_path: Path) -> None:
        run = case.run(tmp_path / "out")
        loading = Loading(model="no/where", fingerprint="", max_words=5, precision="fp32")
        worker = module._Worker(
            job=run.job,
            asked=case.asked,
            loading=loading,
            files=None,
            threads=1,
            gpus=0.0,
            tally=None,
        )
        portion = json.dumps(asdict(run.waiting[0]))
        (answer,) = worker({"portion": [portion], "tries": [0]})["answer"]
        with pytest.raises(FencepostError, match="no/where: there is no such folder"):
            module._done_of(json.loads(answer))


def test_neither_a_killed_worker_nor_a_node_that_goes_takes_anything_with_it(
    cluster: Any,
    case: Case,
    expected: Callable[[Format], dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A killed worker is replaced at once; that of a lost node, where another one has ended."""
    monkeypatch.setattr(module, "_Worker", TroubledWorker)
    out, signs = tmp_path / "out", Signs(tmp_path / "out")
    signs.set("stop")
    (lost,) = cluster.worker_nodes

    def kill() -> None:
        wait_for(lambda: len(signs.stuck()) == 2)
        assert not list(out.glob("*.parquet"))
        ((node, killed),) = signs.stuck().items() - {(lost.node_id, signs.stuck()[lost.node_id])}
        os.kill(killed, signal.SIGKILL)
        signs.clear(f"stuck-{killed}")
        wait_for(lambda: signs.stuck().get(node))  # its portion was begun again
        cluster.remove_node(lost, allow_graceful=False)
        signs.clear("stop")

    run = case.run(out, "parquet")
    with beside(kill):
        absorbed(run, case.on_ray(run))
    assert files_in(out) == expected("parquet")


def test_nothing_is_started_if_nothing_waits(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = case.run(tmp_path / "out")
    absorbed(run, case.here(run))
    monkeypatch.setattr(module, "require_ray", lambda: pytest.fail("Ray was asked for"))
    assert list(case.on_ray(case.run(tmp_path / "out", resume=True))) == []
