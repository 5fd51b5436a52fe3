"""Loads and saves folders, for `driver.py` to call: it may run out of memory, or crash."""

import resource
import shutil
import time
from pathlib import Path
from random import Random

import numpy as np

from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import Model, save_model
from fencepost.errors import ModelError
from fencepost.runtime.manifest import MANIFEST

MORE_BYTES = 300 * 2**20


def outcome(folder: Path, good: Model) -> str:
    """What comes of a folder: the text of an error of ours, or whether the model is the same."""
    try:
        found = load_model(folder)
    except ModelError as error:
        return str(error)
    ours, theirs = good.network.weights(), found.network.weights()
    is_same = (
        ours.keys() == theirs.keys()
        and all(np.array_equal(value, theirs[name]) for name, value in ours.items())
        and (good.numbers, good.heads, good.network_settings)
        == (found.numbers, found.heads, found.network_settings)
        and temperatures(good) == temperatures(found)
        and cutting(good) == cutting(found)
    )
    return "the same" if is_same else "another"


def temperatures(model: Model) -> dict[str, float]:
    return {layer: model.network.temperature(layer) for layer in model.network.layers}


def cutting(model: Model) -> object:
    """What cuts words, in a form that can be compared."""
    if model.cutter is None:
        return None
    cutter = model.cutter
    return (
        cutter.tokenizer.to_str(),
        (cutter.before, cutter.after, cutter.padding, cutter.nothing, cutter.window),
    )


def refused(good: str, *folders: str) -> list[dict[str, object]]:
    """Load folders with little more memory than a good one has taken."""
    model = load_model(Path(good))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MORE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    found: list[dict[str, object]] = []
    for folder in folders:
        started = time.process_time()
        told = outcome(Path(folder), model)
        seconds = time.process_time() - started
        found.append({"folder": Path(folder).name, "told": told, "seconds": seconds})
    return found


def damaged(seed: str, count: str, scratch: str, *goods: str) -> list[dict[str, object]]:
    """Load copies of folders with one thing changed in each, half of them without the list."""
    random, folder = Random(int(seed)), Path(scratch)
    found: list[dict[str, object]] = []
    for good in map(Path, goods):
        model = load_model(good)
        names = sorted(path.name for path in good.iterdir() if path.name != "README.md")
        for number in range(int(count)):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(good, folder)
            is_listed = number % 2 == 0
            if not is_listed:
                (folder / MANIFEST).unlink()
            name = random.choice([name for name in names if is_listed or name != MANIFEST])
            how = damage(folder / name, random)
            told = outcome(folder, model)
            found.append(
                {"of": good.name, "listed": is_listed, "file": name, "how": how, "told": told}
            )
    return found


def saved_on_a_full_disk(folder: str, limit: str) -> str:
    """What is told if a model is saved where it was and no file may have more bytes than these."""
    model = load_model(Path(folder))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    try:
        save_model(model, Path(folder))
    except ModelError as error:
        return str(error)
    return "saved"


def damage(path: Path, random: Random) -> str:
    """Change a file in some way, and say in which."""
    data = bytearray(path.read_bytes())
    # The beginning of weights is a header, where more can go wrong than in the numbers.
    end = min(len(data), 2000) if random.random() < 0.5 else len(data)
    place = random.randrange(end)
    how = random.choice(["a bit", "a byte", "cut", "swapped", "twice", "zeros", "text"])
    if how == "a bit":
        data[place] ^= 1 << random.randrange(8)
    elif how == "a byte":
        data[place] = random.randrange(256)
    elif how == "cut":
        del data[place:]
    elif how == "swapped":
        other = random.randrange(end)
        data[place], data[other] = data[other], data[place]
    elif how == "twice":
        data[place:place] = data[place : place + random.randrange(1, 40)]
    elif how == "zeros":
        data[place : place + 16] = bytes(len(data[place : place + 16]))
    else:
        data[place : place + 1] = random.choice([b"9", b"-", b"{", b"[", b'"', b"null", b"1e999"])
    path.write_bytes(data)
    return f"{how} at {place}"
