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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli import main
from fencepost.errors import FencepostError, ModelError
from fencepost.integrations import ray as module
from fencepost.integrations.ray import Loading, Workers, parse_on_ray
from fencepost.parser.asking import Asked
from fencepost.parser.parser import Parser, load
from fencepost.run.corpus.plan import make_plan
from fencepost.run.corpus.results import Format
from fencepost.run.corpus.rows import RowSettings
from fencepost.run.corpus.run import Run, absorbed, fingerprint, parse_here
from fencepost.run.corpus.work import WORK, Job, Tell
from fencepost.structure import Document
from tests.parser.test_parser import lively_model

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Ray leaves its files and sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),  # its own settings
]

MOST_WORDS = 50
SHARD = 400  # bytes
ROWS = RowSettings()
WAIT = 60.0  # seconds, for what should take a few
POISON = "poison"
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with room for a worker each; this process is connected to them."""
    made = Cluster(
        initialize_head=True,
        head_node_args={
            **NODE,
            "include_dashboard": False,
            # A node that has gone is missed after two seconds instead of fifteen.
            "_system_config": {"health_check_period_ms": 1000, "health_check_failure_threshold": 2},
        },
    )
    made.add_node(**NODE)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "lively"
    Parser(lively_model("tree", "entities", "tags")).save(folder)
    return folder


@pytest.fixture(scope="module")
def parser(model: Path) -> Parser:
    return load(model, threads=1, max_words=MOST_WORDS)


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
    asked: Asked

    def run(self, out: Path | str, format: Format = "jsonl", *, resume: bool = False) -> Run:
        plan = make_plan([str(self.inputs)], settings=ROWS, shard_bytes=SHARD)
        return Run(Job(out=str(out), format=format, rows=ROWS), plan, {}, resume=resume)

    def on_ray(self, run: Run, *, tell: Tell | None = None, **workers: Any) -> Iterator[Any]:
        loading = Loading(
            model=str(self.model),
            fingerprint=fingerprint(self.model),
            max_words=MOST_WORDS,
            precision="fp32",
        )
        return parse_on_ray(run, self.asked, loading=loading, workers=Workers(**workers), tell=tell)


@pytest.fixture(scope="module")
def case(inputs: Path, model: Path, parser: Parser) -> Case:
    return Case(inputs, model, parser.asked())


def files_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def expected(
    case: Case, parser: Parser, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Format], dict[str, bytes]]:
    """What this process alone makes of the inputs."""
    made: dict[Format, dict[str, bytes]] = {}

    def of(format: Format) -> dict[str, bytes]:
        if format not in made:
            out = tmp_path_factory.mktemp("expected") / format
            run = case.run(out, format)
            assert len(run.plan.portions) > 6
            summary = absorbed(run, parse_here(run, parser, case.asked))
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
            vars(module)["MOST_TRIES"] = 2
        self._parser: Any = TroubledParser(self._parser, signs)


class TroubledParser:
    def __init__(self, parser: Parser, signs: Signs) -> None:
        self.parser, self.signs = parser, signs

    def stream(self, *given: Any, **more: Any) -> Iterator[Document]:
        for number, document in enumerate(self.parser.stream(*given, **more)):
            yield document
            if number == 0 and self.signs.is_set("stop"):
                self.signs.set(f"stuck-{os.getpid()}")
                while self.signs.is_set("stop"):
                    time.sleep(0.02)
            if POISON in (document.text or "") and self.signs.is_set(POISON):
                os.kill(os.getpid(), signal.SIGKILL)


def test_workers_on_two_nodes_write_the_same_bytes_wherever_they_were_started(
    cluster: Any,
    case: Case,
    expected: Callable[[Format], dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(case.inputs, tmp_path / case.inputs.name)
    shutil.copytree(case.model, tmp_path / "my model")
    monkeypatch.chdir(tmp_path)  # where no worker is
    here = replace(case, inputs=Path(case.inputs.name), model=Path("my model"))
    told: list[tuple[int, int]] = []
    run = here.run("out")
    summary = absorbed(run, here.on_ray(run, tell=lambda *given: told.append(given)))
    assert files_in(tmp_path / "out") == expected("jsonl")
    for column, total in zip(zip(*told, strict=True), (summary.words, run.plan.bytes), strict=True):
        assert list(column) == sorted(column)
        assert 0.8 * total <= column[-1] <= total


def test_a_killed_worker_is_replaced_and_nothing_is_lost_or_doubled(
    cluster: Any,
    case: Case,
    expected: Callable[[Format], dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_Worker", TroubledWorker)
    out, signs = tmp_path / "out", Signs(tmp_path / "out")
    signs.set("stop")

    def kill() -> None:
        wait_for(lambda: len(signs.stuck()) == 2)
        assert not list(out.glob("*.parquet"))
        os.kill(min(signs.stuck().values()), signal.SIGKILL)
        signs.clear("stop")

    run = case.run(out, "parquet")
    with beside(kill):
        absorbed(run, case.on_ray(run))
    assert files_in(out) == expected("parquet")


def test_a_node_that_goes_takes_nothing_with_it(
    cluster: Any,
    case: Case,
    expected: Callable[[Format], dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its worker can start again only where there is no room before another one has gone."""
    monkeypatch.setattr(module, "_Worker", TroubledWorker)
    out, signs = tmp_path / "out", Signs(tmp_path / "out")
    signs.set("stop")
    (lost,) = cluster.worker_nodes

    def kill() -> None:
        wait_for(lambda: len(signs.stuck()) == 2)
        assert lost.node_id in signs.stuck()
        cluster.remove_node(lost, allow_graceful=False)
        signs.clear("stop")

    run = case.run(out)
    try:
        with beside(kill):
            absorbed(run, case.on_ray(run))
    finally:
        cluster.add_node(**NODE)
    assert files_in(out) == expected("jsonl")


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
    with monkeypatch.context() as patch:
        patch.setattr(module, "_Worker", TroubledWorker)
        run = case.run(out)
        summary = absorbed(run, case.on_ray(run, count=1))
    lost = {record.file for record in summary.errors}
    assert {f"small-{number}.jsonl" for number in range(4)} <= lost
    assert all("workers died" in str(record.error) for record in summary.errors)
    wanted = expected("jsonl")
    made = {name: data for name, data in files_in(out).items() if not name.startswith(WORK)}
    assert wanted.keys() - made.keys() <= lost | {"_manifest.json"}
    assert made.items() <= wanted.items()
    signs.clear(POISON)
    run = case.run(out, resume=True)
    assert not absorbed(run, case.on_ray(run, count=1)).errors
    assert files_in(out) == wanted


def test_a_model_that_a_machine_does_not_have_is_brought_along(
    cluster: Any, model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(model, copy)
    (copy / "deeper").mkdir()
    (copy / "deeper" / "file").write_bytes(b"\0\xff")
    loading = Loading(model=str(copy), fingerprint=fingerprint(copy), max_words=5, precision="fp32")
    packed = module._packed(ray, loading)
    wanted = files_in(copy)
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
    """The real command, with a cluster of its own."""
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
    inputs: Path, model: Path, tmp_path: Path, called: Callable[..., int]
) -> None:
    """And Ray prints nothing while all goes well."""
    once, killed, other = (tmp_path / name for name in ("once", "killed", "other"))
    options: list[object] = ["--model", model, "--to", "jsonl", "--shard-size", SHARD]
    options += ["--max-words", MOST_WORDS, "--threads", 1]
    on_ray = ["--engine", "ray", "--workers", 1]
    assert called(inputs, "-o", once, *options, "--engine", "stream") == 0
    with command(inputs, "-o", killed, *options, *on_ray) as process:
        wait_for(lambda: list(killed.glob("*.jsonl")))
        process.kill()
    assert not (killed / "_manifest.json").exists()
    shutil.copytree(killed, other)
    with command(inputs, "-o", killed, *options, *on_ray, "--resume", "--quiet") as process:
        assert process.communicate(timeout=WAIT) == ("", "")
    assert process.returncode == 0
    assert called(inputs, "-o", other, *options, "--engine", "stream", "--resume") == 0
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
        assert time.monotonic() - started < 2 * module._PATIENCE

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


def test_nothing_is_started_if_nothing_waits(
    case: Case, parser: Parser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = case.run(tmp_path / "out")
    absorbed(run, parse_here(run, parser, case.asked))
    monkeypatch.setattr(module, "_ray", lambda: pytest.fail("Ray was asked for"))
    assert list(case.on_ray(case.run(tmp_path / "out", resume=True))) == []
