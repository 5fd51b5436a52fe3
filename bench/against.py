"""Decoding in this checkout against that of another commit: `bench/decoding.py --against COMMIT`.

Each of the two runs in a process of its own, which loads the model, reads and encodes the same
sentences, and then decodes on demand. Both decode with the model that the other commit ships. The
two take turns, on one thread each, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROUNDS = 9
SINGLE, FEW = 40, 2  # sentences of 25 words; batches for a beam
JOBS = {  # the sentences, the head, the beams, and how much longer it may take than before
    "single sentences of 25 words, trees": ("single", "tree", 1, 1.03),
    "single sentences of 25 words, entities": ("single", "entities", 1, 1.03),
    "batches, trees": ("batches", "tree", 1, 1.1),
    "batches, entities": ("batches", "entities", 1, 1.1),
    "beam of 20 in batches, trees": ("few", "tree", 20, 1.1),
    "beam of 20 in batches, entities": ("few", "entities", 20, 1.1),
    "beam of 20 in single sentences, trees": ("single", "tree", 20, 1.1),
}
CHECKOUT = Path(__file__).parents[1]

Sizes = Mapping[str, Sequence[Sequence[Sequence[str]]]]  # batches of words, by name


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """A checkout of a commit, for as long as it is needed."""
    with TemporaryDirectory() as folder:
        place = Path(folder) / "before"
        git = ["git", "-C", str(CHECKOUT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", place, commit], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", place], check=True)


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that decodes with the code of one checkout."""

    process: subprocess.Popen[str]

    @classmethod
    def of(cls, checkout: Path, model: Path, sentences: Sizes) -> Worker:
        """Start it, and wait until it is ready."""
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        process = subprocess.Popen(
            [sys.executable, __file__, str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **one, "PYTHONPATH": str(checkout / "src")},
        )
        worker = cls(process)
        worker.ask(sentences)
        return worker

    def ask(self, question: object) -> Any:
        """Its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def compare(commit: str, sentences: Sizes, *, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds and MiB of each job, now and before, by round.

    Args:
        commit: what to compare with
        sentences: batches by name: `single`, `batches`, `few`
        rounds: how many
    """
    with worktree(commit) as place:
        model = place / "src/fencepost/models/en-small"
        now, before = (Worker.of(checkout, model, sentences) for checkout in (CHECKOUT, place))
        figures: dict[str, list[tuple[float, float]]] = {}
        for name, (batches, head, beams, _) in JOBS.items():
            for what in ("seconds", "MiB"):  # measuring the one would disturb the other
                question = [what, batches, head, beams]
                figures[f"{name}: {what}"] = [
                    (now.ask(question), before.ask(question)) for _ in range(rounds)
                ]
        for worker in (now, before):
            worker.process.kill()
    return figures


def decoder(model: Any) -> Callable[[Any, Any, str, int], object]:
    """Decodes boundary vectors: with the functions of this checkout, or those before 2026-11-18."""
    try:
        from fencepost.decoding.beam import beam
    except ImportError:
        from fencepost.model import search  # type: ignore[attr-defined]

        return lambda vectors, lengths, head, beams: search.beam(
            model.network.head(head), vectors, lengths, beams=beams
        )
    network = model if hasattr(model, "stepper") else model.network
    return lambda vectors, lengths, head, beams: beam(
        network.stepper(head), vectors.numpy(), lengths.numpy(), model.rules(head), beams=beams
    )


def work() -> None:
    """Read sentences, and then decode what is asked for, until nothing more is asked."""
    import torch
    from measuring import forget_peak, peak

    import fencepost

    torch.set_num_threads(1)
    folder = sys.argv[1]
    model: Any = fencepost.load(folder, threads=1).model
    network = model.network
    if not hasattr(network, "states"):  # in onnxruntime: both sides read with torch here
        from fencepost.checkpoints.trainable import load_trainable

        network = load_trainable(Path(folder)).network
    decode = decoder(model)
    ready = {}
    with torch.no_grad():
        for name, batches in json.loads(sys.stdin.readline()).items():
            inputs = [model.read(words) for words in batches]
            ready[name] = [
                (network.boundaries(network.states(one)), torch.as_tensor(one.lengths))
                for one in inputs
            ]
    for _, head, beams, _ in JOBS.values():  # what is done only once is done now
        decode(*ready["single"][0], head, beams)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        what, name, head, beams = json.loads(line)
        before = forget_peak() if what == "MiB" else time.process_time()
        for vectors, lengths in ready[name]:
            decode(vectors, lengths, head, beams)
        after = peak() if what == "MiB" else time.process_time()
        print(json.dumps(after - before), flush=True)


if __name__ == "__main__":
    work()
