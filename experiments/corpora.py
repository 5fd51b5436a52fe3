"""Which corpus, with which settings: the paper's in `configs/`, open ones in `configs/` here."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.encoder import OUT as ENCODER
from fencepost.config import Corpus, Settings, read_settings
from fencepost.errors import ConfigError

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
    dev_sentences: int | None = None


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
            part: tuple(_moved(corpus, options.data) for corpus in getattr(settings.data, part))
            for part in ("train", "dev")
        }
    )
    settings = settings.model_copy(update={"data": data})
    if options.quick:
        return Chosen(name, settings, QUICK_SENTENCES, QUICK_SENTENCES)
    return Chosen(name, settings, FIRST.get(name))


def check_encoder(settings: Settings) -> None:
    """Say how the encoder of the open corpora is made, if it is wanted and not there."""
    encoder = settings.network.encoder
    if encoder.kind == "transformer" and encoder.model == str(ENCODER) and not ENCODER.exists():
        raise ConfigError(f"{ENCODER}: this encoder is made by python -m experiments.encoder")


def _moved(corpus: Corpus, data: str) -> Corpus:
    """The same files in another folder."""
    return corpus.model_copy(
        update={
            key: path.replace(DATA, data, 1)
            for key in ("path", "also")
            if (path := getattr(corpus, key))
        }
    )
