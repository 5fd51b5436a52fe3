"""Which corpus, with which settings: the paper's in `configs/`, open ones in `configs/` here.

Figures of the paper's corpora are of test, with the weights of the best dev epoch and three seeds,
as in the paper. Those of open corpora are of dev, with the last weights, so that dev chooses
nothing, and one seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.encoder import OUT as ENCODER
from fencepost.config import Corpus, Settings, read_settings
from fencepost.errors import ConfigError
from fencepost.run.prepare import CORPORA as PREPARED

Part = Literal["dev", "test"]

PAPER = Path("configs")  # corpora that one has to buy, encoders that want a graphics card
OPEN = Path("experiments/configs")
DATA = "../shared/data"  # where the settings look for open corpora
FIRST = {  # sentences that are used of a corpus, where not all are
    "genia-trees": 1500,
    "genia-entities": 4000,
    "germeval": 1500,
    "icepahc": 1500,
    "gum-trees-words": 4000,
}

# What makes any of them small: a slice, one epoch, an encoder of words that needs no hub.
QUICK_SENTENCES = 60
QUICK = (
    'network.encoder={kind="words"}',
    "network.lstm_layers=1",
    "network.lstm_hidden=16",
    "training.epochs=1",
    "training.batch_words=200",
    'training.device="cpu"',
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A corpus with settings, and how much of it is used."""

    name: str
    settings: Settings
    train_sentences: int | None = None  # None: all
    gold_sentences: int | None = None  # of dev, and of test
    part: Part = "dev"  # which is scored; for test, dev chooses the epoch

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds to run with, unless the command line has others."""
        return (1, 2, 3) if self.part == "test" else (1,)

    def gold_files(self, part: Part) -> tuple[Corpus, ...]:
        """The annotated files of a part: test lies beside dev, as `fencepost prepare` writes it."""
        dev = self.settings.data.dev
        if part == "dev":
            return dev
        return tuple(_moved(one, lambda path: str(Path(path).with_stem("test"))) for one in dev)


def chosen(name: str, options: argparse.Namespace, changes: Sequence[str] = ()) -> Chosen:
    """The settings for a corpus.

    Args:
        name: of a file in `configs/` or `experiments/configs/`; the latter is looked at first.
        options: of the command line.
        changes: settings that differ from the file's, as in `training.epochs=3`.
    """
    path = OPEN / f"{name}.toml"
    if not path.exists():
        path = PAPER / f"{name}.toml"
    if not path.exists():
        raise ConfigError(
            f"{name}: no such settings in {OPEN} or {PAPER}, seen from the project's folder"
        )
    changes = [*changes, *(QUICK if options.quick else ())]
    settings = read_settings(path, changes=changes)
    data = settings.data.model_copy(
        update={
            part: tuple(
                _moved(one, lambda path: path.replace(DATA, options.data, 1))
                for one in getattr(settings.data, part)
            )
            for part in ("train", "dev")
        }
    )
    is_open = path.parent == OPEN or any(one.path.startswith(DATA) for one in settings.data.dev)
    return Chosen(
        name,
        settings.model_copy(update={"data": data}),
        QUICK_SENTENCES if options.quick else FIRST.get(name),
        QUICK_SENTENCES if options.quick else None,
        "dev" if is_open else "test",
    )


def check_encoder(settings: Settings) -> None:
    """Say how the encoder of the open corpora is made, if it is wanted and not there."""
    encoder = settings.network.encoder
    if encoder.kind == "transformer" and encoder.model == str(ENCODER) and not ENCODER.exists():
        raise ConfigError(f"{ENCODER}: this encoder is made by python -m experiments.encoder")


def check_test(here: Chosen) -> None:
    """Say how the test part is made, if it is wanted and not there."""
    for corpus in here.gold_files("test") if here.part == "test" else ():
        path = Path(corpus.path)
        if not path.exists():
            name = path.parent.name
            lists = " --train IDS --dev IDS --test IDS" if "ids" in PREPARED[name].options else ""
            raise ConfigError(
                f"{path}: no such file; {here.name} is scored on its test part, which is made by "
                f"fencepost prepare {name} SOURCE -o {path.parent}{lists}"
            )


def _moved(corpus: Corpus, move: Callable[[str], str]) -> Corpus:
    """A corpus whose files are elsewhere."""
    files = {key: move(path) for key in ("path", "also") if (path := getattr(corpus, key))}
    return corpus.model_copy(update=files)
