"""Training: from settings and annotated files to a model folder."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fencepost.batching.examples import Example, collect_labels, example
from fencepost.batching.vocabulary import Vocabulary
from fencepost.build import Numbers
from fencepost.config import Corpus, DataSettings, Settings, WordsSettings
from fencepost.errors import ConfigError, TrainingError
from fencepost.formats import Reading, ReadSettings
from fencepost.parser.model import Model, new_model, save_model
from fencepost.run.evaluate import evaluate, main_figure
from fencepost.structure import Parse
from fencepost.training.checkpoint import load_checkpoint, save_checkpoint
from fencepost.training.loop import Average, Progress, Recipe, Step, optimizer_for, train

CHECKPOINT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Epoch:
    """The end of an epoch: what it took and how well the model does on dev."""

    epoch: int
    loss: float  # mean over its steps
    seconds: float
    words_per_second: float
    dev: dict[str, float]  # the main figure of each head
    mean: float  # of these
    is_best: bool
    skipped: int


def run_training(settings: Settings, out: Path, *, resume: bool = False) -> Iterator[Step | Epoch]:
    """Train a model and keep the best one in `out/model`.

    Args:
        settings: all of them.
        out: the folder of the run: `model/`, `metrics.jsonl` and checkpoints.
        resume: whether to go on from the last checkpoint, if there is one.
    """
    if not resume and out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out}: this folder is not empty; pass --resume to go on with its run")
    out.mkdir(parents=True, exist_ok=True)
    if settings.training.threads:
        torch.set_num_threads(settings.training.threads)
    torch.manual_seed(settings.seed)
    train_parses = list(_read(settings.data.train, settings.data))
    dev = [parse for _, parse in _read(settings.data.dev, settings.data)]
    model, examples = prepare_training(settings, train_parses)
    network = model.network
    training = settings.training
    optimizer = optimizer_for(
        network,
        rate=training.rate,
        encoder_rate=training.encoder_rate,
        betas=training.betas,
        weight_decay=training.weight_decay,
        pretrained=not isinstance(settings.network.encoder, WordsSettings),
    )
    average = Average(training.average) if training.average else None
    recipe = recipe_of(settings)
    progress = Progress()
    kept: dict[str, Any] = {"best": -1.0, "losses": [], "seconds": 0.0, "words": 0}
    if resume:
        found = load_checkpoint(out, network, optimizer, average)
        if found:
            progress, kept = found
    saved = time.monotonic()
    while progress.epoch < training.epochs:
        for step in train(
            network,
            optimizer,
            examples,
            model.read,
            recipe=recipe,
            progress=progress,
            average=average,
        ):
            kept["losses"].append(step.loss)
            kept["seconds"] += step.seconds
            kept["words"] += step.words
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                save_checkpoint(out, network, optimizer, progress, average, kept=kept)
                saved = time.monotonic()
            yield step
        epoch = _end_of_epoch(model, dev, average, progress, kept)
        if epoch.is_best:
            kept["best"] = epoch.mean
            with averaged(model, average):
                save_model(model, out / "model", card=_card(settings, epoch))
        _add_line(out / "metrics.jsonl", asdict(epoch), keep=progress.epoch - 1)
        kept.update(losses=[], seconds=0.0, words=0)
        save_checkpoint(out, network, optimizer, progress, average, kept=kept)
        saved = time.monotonic()
        yield epoch


def prepare_training(
    settings: Settings, parses: Sequence[tuple[Corpus, Parse]]
) -> tuple[Model, list[Example]]:
    """A new model for what there is to learn, and the examples to learn it from."""
    used = [parse for _, parse in parses]
    encoder = settings.network.encoder
    if not isinstance(encoder, WordsSettings):
        raise ConfigError("network.encoder: only words can be trained so far")
    numbers = Numbers(
        collect_labels(used, settings.heads.names),
        Vocabulary.collect((w for p in used for w in p.words), min_count=encoder.min_count),
        Vocabulary.collect(c for p in used for w in p.words for c in w),
    )
    model = new_model(settings.network, settings.heads, numbers)
    examples = [
        example(parse, numbers.labels, layers=corpus.layers, weight=corpus.weight)
        for corpus, parse in parses
    ]
    return model, [one for one in examples if one is not None]


def recipe_of(settings: Settings) -> Recipe:
    """The settings of the loop."""
    training = settings.training
    return Recipe(
        epochs=training.epochs,
        batch_words=training.batch_words,
        accumulate=training.accumulate,
        warmup=training.warmup,
        clip=training.clip,
        over_candidates=training.pointing_loss == "candidates",
        label_smoothing=training.label_smoothing,
        average=training.average,
        weights={name: getattr(settings.heads, name).weight for name in settings.heads.names},
        seed=settings.seed,
        autocast=training.precision == "bf16",
    )


def _read(corpora: Sequence[Corpus], data: DataSettings) -> Iterator[tuple[Corpus, Parse]]:
    settings = ReadSettings(
        encoding=data.encoding,
        on_crossing=data.on_crossing,
        drop_traces=data.drop_traces,
        drop_functions=data.drop_functions,
        drop_features=data.drop_features,
    )
    for corpus in corpora:
        for parse in Reading(corpus.path, settings=settings):
            yield corpus, parse


@contextmanager
def averaged(model: Model, average: Average | None) -> Iterator[None]:
    """The model with averaged weights, if there are any, for a while."""
    if average is None or not average.weights:
        yield
        return
    own: dict[str, Tensor] = {
        name: value.detach().clone() for name, value in model.network.state_dict().items()
    }
    model.network.load_state_dict(average.weights)
    yield
    model.network.load_state_dict(own)


def _end_of_epoch(
    model: Model,
    dev: Sequence[Parse],
    average: Average | None,
    progress: Progress,
    kept: dict[str, Any],
) -> Epoch:
    with averaged(model, average):
        reports = evaluate(model, dev)
    if not reports:
        raise TrainingError("no dev sentence has a layer that the model has a head for")
    figures = {name: main_figure(report) for name, report in reports.items()}
    mean = sum(figures.values()) / len(figures)
    losses = kept["losses"]
    return Epoch(
        progress.epoch,
        sum(losses) / max(1, len(losses)),
        kept["seconds"],
        kept["words"] / max(kept["seconds"], 1e-9),
        figures,
        mean,
        mean >= kept["best"],  # of two that score the same, the later has learned more
        progress.skipped,
    )


def _card(settings: Settings, epoch: Epoch) -> str:
    figures = "\n".join(f"| {name} | {value:.2f} |" for name, value in epoch.dev.items())
    return (
        "# A fencepost model\n\n"
        f"Trained with seed {settings.seed} on "
        f"{', '.join(Path(corpus.path).name for corpus in settings.data.train)}; "
        f"best after epoch {epoch.epoch} of {settings.training.epochs}.\n\n"
        f"| dev | |\n|---|--:|\n{figures}\n"
    )


def _add_line(path: Path, data: dict[str, Any], *, keep: int) -> None:
    """Add a line to a file of JSON lines, after the first few; later ones are from a lost run."""
    lines = path.read_text(encoding="utf-8").splitlines()[:keep] if path.exists() else []
    path.write_text("\n".join([*lines, json.dumps(data)]) + "\n", encoding="utf-8")
