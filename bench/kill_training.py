"""Kill a run of training again and again, and see whether it ends as if nothing had happened.

    python bench/kill_training.py                        20 kills, at moments drawn with seed 1
    python bench/kill_training.py --kills 5 --seed 2     a part of that, with other moments

A small network is trained on sentences that this script writes, on one thread, with a checkpoint
after each step. One run is left alone. The other is ended by SIGKILL at random moments, and goes on
after each; every fifth moment is counted from the start of the process, the others from its first
step, so that most come while something is written. Then all files of the two models are compared
byte for byte, and so are the last checkpoints, the losses and the figures of all epochs. The status
is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from fencepost.checkpoints.model import FILES
from fencepost.config import Settings, checked
from fencepost.run.training.metrics import read_epochs
from fencepost.run.training.train import Note, run_training

SUBJECTS = ("(NP (DT The) (NN cat))", "(NP (NNP Ann))", "(NP (DT A) (JJ red) (NN bird))")
VERBS = ("(VBD saw)", "(VBZ likes)", "(VBD heard)")
OBJECTS = ("(NP (NNP Bo))", "(NP (DT the) (NN house))", "(NP (PRP it))")
EPOCHS_A_KILL, EARLY = 2, 5


def main() -> int:
    """Train twice, once with kills, compare, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as around:
        return compared(Path(around), kills=options.kills, seed=options.seed)


def compared(folder: Path, *, kills: int, seed: int) -> int:
    """Train in a folder with and without kills, print what happened, and return the status."""
    settings = settings_of(write_sentences(folder / "data.jsonl"), epochs=EPOCHS_A_KILL * kills)
    whole, killed = folder / "whole", folder / "killed"
    process, begun = start(settings, whole)
    os.read(begun, 1)
    started = time.monotonic()
    assert ended(process) == 0
    seconds = time.monotonic() - started
    print(f"left alone: {steps_of(whole)} steps in {seconds:.1f} s\n")
    print("| kill | after, s | from | steps kept | half-written |\n|--:|--:|---|--:|---|")
    random, done = Random(seed), 0
    for number in range(1, kills + 1):
        # On average a kill comes when a sixth of an equal share is done: so there is always more.
        moment, is_early = random.uniform(0, seconds / kills / 3), number % EARLY == 0
        process, begun = start(settings, killed)
        if not is_early:
            os.read(begun, 1)
        time.sleep(moment)
        os.kill(process, signal.SIGKILL)
        done += ended(process) == -signal.SIGKILL
        os.close(begun)
        rests = ", ".join(sorted(path.name for path in rests_in(killed))) or "–"
        place = "start" if is_early else "first step"
        row = f"| {number} | {moment:.3f} | {place} | {steps_of(killed)} | {rests} |"
        print(row, flush=True)
    status = ended(start(settings, killed)[0])
    wrong = differences(whole, killed) if status == 0 else [f"the last run left with {status}"]
    notes = folder / "killed.notes"
    told = notes.read_text().count("\n") if notes.exists() else 0
    print(f"\n{done} kills, {told} notes on damaged checkpoints")
    print("different: " + ", ".join(wrong) if wrong else "the same to the bit")
    return 1 if wrong or done < kills else 0


def write_sentences(path: Path) -> Path:
    """Write 27 sentences with trees and entities."""
    lines = []
    for subject in SUBJECTS:
        for verb in VERBS:
            for object_ in OBJECTS:
                tree = f"(S {subject} (VP {verb} {object_}) (. .))"
                end = subject.count("(") - 1
                lines.append(json.dumps({"tree": tree, "entities": [[0, end, "subject"]]}))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def settings_of(data: Path, *, epochs: int) -> Settings:
    """Of a small network with all that draws random numbers or keeps something between steps."""
    pointing = {"mlp": 16, "decoder": 16}
    return checked(
        Settings,
        {
            "data": {"train": [{"path": str(data)}], "dev": [{"path": str(data)}]},
            "network": {
                "encoder": {"kind": "words", "min_count": 1, "word_width": 16},
                "lstm_layers": 1,
                "lstm_hidden": 16,
                "dropout": 0.3,
            },
            "heads": {"tree": pointing, "entities": pointing, "tags": {}},
            "training": {
                "epochs": epochs,
                "batch_words": 40,
                "rate": 5e-3,
                "average": 0.9,
                "threads": 1,
                "checkpoint_seconds": 0.0,
            },
        },
        where="kill_training",
    )


def start(settings: Settings, out: Path) -> tuple[int, int]:
    """Start a process that trains, or goes on; returns its number, and what tells its first step.

    It is a copy of this one, which has loaded most of what is needed.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    status = 1
    try:
        sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]  # no pictures
        for event in run_training(settings, out, resume=True):
            os.write(writing, b".")
            if isinstance(event, Note) and "damaged" in event.text:
                with open(out.with_suffix(".notes"), "a", encoding="utf-8") as file:
                    file.write(event.text.replace("\n", " ") + "\n")
        status = 0
    finally:
        os._exit(status)


def ended(process: int) -> int:
    """Wait for the end of a process, and return its status."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def steps_of(out: Path) -> int:
    """How many steps the newest checkpoint has."""
    return max((int(path.name[-8:]) for path in out.glob("checkpoint-*")), default=0)


def rests_in(out: Path) -> list[Path]:
    """What was being written or removed when a run ended."""
    return [*out.glob(".*"), *(out / "model").glob(".*")]


def differences(one: Path, other: Path) -> list[str]:
    """What differs between two runs that have ended."""
    files = [f"model/{name}" for name in (*FILES, "README.md", "manifest.json")]
    files += [
        f"checkpoint-{steps_of(one):08}/{name}.safetensors"
        for name in ("network", "optimizer", "average")
    ]
    wrong = [
        name
        for name in files
        if (one / name).exists() != (other / name).exists()
        or ((one / name).exists() and (one / name).read_bytes() != (other / name).read_bytes())
    ]
    epochs = [[(e.epoch, e.loss, e.dev) for e in read_epochs(run)] for run in (one, other)]
    return [*wrong, *(["metrics.jsonl"] if epochs[0] != epochs[1] else [])]


if __name__ == "__main__":
    sys.exit(main())
