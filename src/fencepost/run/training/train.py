"""Training: from settings and annotated files to a model folder."""

from __future__ import annotations

import copy
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path
from typing import Any

import torch

from fencepost.batching.arrays import Floats
from fencepost.batching.augmenting import Augmenting
from fencepost.batching.examples import Example, collect_labels, example, usual_wrapper
from fencepost.batching.joining import Joining
from fencepost.batching.vectors import read_vectors
from fencepost.batching.vocabulary import Vocabulary
from fencepost.build import Numbers
from fencepost.config import Corpus, DataSettings, Settings, TrainingSettings, WordsSettings
from fencepost.errors import ConfigError, TrainingError
from fencepost.formats import Reading, ReadSettings
from fencepost.formats.settings import Relabel
from fencepost.model.encoder import WordEncoder
from fencepost.model.network import Network
from fencepost.model.pretrained import Pretrained
from fencepost.parser.loading import load_model
from fencepost.parser.model import Model, new_model, save_model
from fencepost.parser.shipped import find_model
from fencepost.parser.transfer import transferred
from fencepost.run.convert import merged
from fencepost.run.evaluate import evaluate, main_figure
from fencepost.run.folder import FREE, check_folder, check_same, flat, written
from fencepost.run.metrics import Epoch, add_epoch, read_epochs
from fencepost.run.picture import NAME as PICTURE
from fencepost.run.picture import draw_training
from fencepost.structure import Parse
from fencepost.training.average import Average, averaged
from fencepost.training.checkpoint import load_checkpoint, save_checkpoint
from fencepost.training.device import accelerator_for, set_threads
from fencepost.training.loop import Progress, Recipe, Step, optimizer_for, train
from fencepost.training.processes import Processes, is_left_alone, joined, seed_of

PICTURE_SECONDS = 5.0  # between two pictures: epochs may be shorter than the drawing takes


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should know, and that does not stop the run."""

    text: str


def run_training(
    settings: Settings, out: Path, *, resume: bool = False
) -> Iterator[Step | Epoch | Note]:
    """Train a model and keep the best one in `out/model`.

    Processes that a launcher started train it together. The events are the same in all of them,
    but for the seconds of a step and for notes on files, which the main process alone writes.

    Args:
        settings: all of them.
        out: the folder of the run: `model/`, `metrics.jsonl`, `training.png`, `settings.json` and
            checkpoints.
        resume: whether to go on from the last checkpoint, if there is one.
    """
    processes = joined()
    with processes.together():
        if processes.is_main:
            check_folder(out, resume=resume)
            check_same(settings, out)
            read_epochs(out)  # if it is damaged, that is told now, and not after an epoch
    if is_left_alone():
        yield Note(
            "accelerate launch has started one process only; --multi_gpu in the place of --cpu "
            "starts several, on processors too"
        )
    training = settings.training
    notes: list[str] = []
    with processes.together():
        set_threads(training.threads, training.device)
        accelerator = accelerator_for(training.device, training.precision)
        torch.manual_seed(settings.seed)
        train_parses = list(read_corpora(settings.data.train, settings.data))
        dev = [parse for _, parse in read_corpora(settings.data.dev, settings.data, is_gold=True)]
        old = None if training.init is None else load_model(find_model(training.init))
        model, examples = prepare_training(settings, train_parses, pretrained=_transformer_of(old))
        if old is not None:
            model, notes = transferred(old, model)
    yield from (Note(f"{training.init}: {note}") for note in notes)
    _check_alike(settings, model, examples, processes)
    network = model.network.to(accelerator.device)
    for tensor in network.state_dict().values():  # other processors may draw other numbers
        processes.copy_of_main(tensor)
    optimizer = optimizer_of(network, training)
    average = Average(training.average) if training.average else None
    recipe = recipe_of(settings)
    progress = Progress()
    kept: dict[str, Any] = {"best": -1.0, "losses": [], "seconds": 0.0, "words": 0}
    if not processes.is_main:  # or all would drop out the same
        torch.manual_seed(seed_of(settings.seed, steps=0, rank=processes.rank))
    if resume:
        notes = []
        with processes.together():
            found = load_checkpoint(
                out,
                network,
                optimizer,
                average,
                seed=settings.seed,
                rank=processes.rank,
                told=notes.append,
            )
        yield from map(Note, notes)
        if found:
            progress, kept = found
        _check_same_checkpoint(out, progress, processes)
    saved = time.monotonic()
    drawn: float | None = float("-inf")
    while progress.epoch < training.epochs:
        for step in train(
            network,
            optimizer,
            examples,
            model.read,
            recipe=recipe,
            progress=progress,
            accelerator=accelerator,
            average=average,
        ):
            if isfinite(step.loss):
                kept["losses"].append(step.loss)
            kept["seconds"] += step.seconds
            kept["words"] += step.words
            if processes.of_main(time.monotonic() - saved >= training.checkpoint_seconds):
                _save(out, network, optimizer, progress, average, kept, processes)
                saved = time.monotonic()
            yield step
        epoch = _end_of_epoch(model, dev, average, progress, kept, processes)
        epochs: list[Epoch] = []
        if epoch.is_best:
            kept["best"] = epoch.mean
        with processes.together():
            if processes.is_main:
                if epoch.is_best:
                    with averaged(model.network, average):
                        save_model(model, out / "model", card=_card(settings, epoch))
                with written(out):
                    epochs = add_epoch(out, epoch)
        kept.update(losses=[], seconds=0.0, words=0)
        _save(out, network, optimizer, progress, average, kept, processes)
        saved = time.monotonic()
        yield epoch
        is_last = progress.epoch == training.epochs
        if (processes.is_main and drawn is not None) and (
            is_last or saved - drawn > PICTURE_SECONDS
        ):
            try:
                draw_training(epochs, out / PICTURE)
                drawn = saved
            except ImportError:
                drawn = None
                yield Note(f"{PICTURE} is left out; pip install 'fencepost[train]' would draw it")
            except OSError as error:
                drawn = None
                yield Note(f"{PICTURE} is left out; it cannot be written: {error.strerror}")


def _check_alike(
    settings: Settings, model: Model, examples: Sequence[Example], processes: Processes
) -> None:
    """Refuse processes that would train on different things: their files are not the same."""
    if processes.count == 1:
        return
    ours = [pair for pair in flat(settings.model_dump(mode="json")) if pair[0] not in FREE]
    mark = zlib.crc32(repr((sorted(ours), model.numbers.labels)).encode())
    for one in examples:
        mark = zlib.crc32(repr((one.words, sorted(one.steps))).encode(), mark)
    if len(set(processes.gather(mark))) > 1:
        raise processes.agreed(
            ConfigError(
                "the processes have read different settings or sentences; the files have to be "
                "the same on all machines"
            )
        )


def _check_same_checkpoint(out: Path, progress: Progress, processes: Processes) -> None:
    steps = processes.gather(progress.steps)
    if len(set(steps)) > 1:
        raise processes.agreed(
            ConfigError(
                f"{out}: the processes have found checkpoints after {sorted(set(steps))} steps; "
                "the folder of a run has to lie where all machines see it"
            )
        )


def _save(
    out: Path,
    network: Network,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    average: Average | None,
    kept: Mapping[str, Any],
    processes: Processes,
) -> None:
    """Write a checkpoint with the random state of every process."""
    _, *others = processes.gather(torch.get_rng_state())
    with processes.together():
        if processes.is_main:
            save_checkpoint(out, network, optimizer, progress, average, kept=kept, others=others)


def _transformer_of(old: Model | None) -> Pretrained | None:
    """A copy of the transformer of a model to start from: it need not be fetched again."""
    if old is None or old.pretrained is None:
        return None
    return replace(old.pretrained, transformer=copy.deepcopy(old.pretrained.transformer))


def prepare_training(
    settings: Settings,
    parses: Sequence[tuple[Corpus, Parse]],
    *,
    pretrained: Pretrained | None = None,
) -> tuple[Model, list[Example]]:
    """A new model for what there is to learn, and the examples to learn it from.

    Args:
        settings: all of them.
        parses: with the corpora that they are from.
        pretrained: the transformer; None: the one that the settings name, if they name one.
    """
    used = [parse for _, parse in parses]
    encoder = settings.network.encoder
    bare = settings.training.join is not None
    numbers = Numbers(
        collect_labels(used, settings.heads.names, bare=bare), wrapper=usual_wrapper(used)
    )
    vectors: Floats | None = None
    if isinstance(encoder, WordsSettings):
        static = None
        if encoder.vectors is not None:
            listed, vectors = read_vectors(encoder.vectors, most=encoder.most_vectors)
            static = Vocabulary(listed, (1,) * len(listed))
            if vectors.shape[1] != encoder.word_width:
                raise ConfigError(
                    f"network.encoder.word_width: {encoder.word_width}, where the vectors of "
                    f"{encoder.vectors} have {vectors.shape[1]} numbers"
                )
        numbers = replace(
            numbers,
            words=Vocabulary.collect(
                (w for p in used for w in p.words), min_count=encoder.min_count
            ),
            characters=Vocabulary.collect(c for p in used for w in p.words for c in w),
            static=static,
        )
    if isinstance(encoder, WordsSettings):
        pretrained = None
    model = new_model(settings.network, settings.heads, numbers, pretrained)
    if vectors is not None and isinstance(model.network.encoder, WordEncoder):
        model.network.encoder.set_static(torch.from_numpy(vectors))
    examples = [
        example(
            parse,
            numbers.labels,
            layers=corpus.layers,
            weight=corpus.weight,
            sample=corpus.sample,
        )
        for corpus, parse in parses
    ]
    return model, [one for one in examples if one is not None]


def optimizer_of(network: Network, training: TrainingSettings) -> torch.optim.Optimizer:
    """The optimiser that the settings ask for."""
    return optimizer_for(
        network,
        rate=training.rate,
        encoder_rate=training.encoder_rate,
        betas=training.betas,
        weight_decay=training.weight_decay,
        layer_decay=training.layer_decay,
    )


def recipe_of(settings: Settings) -> Recipe:
    """The settings of the loop."""
    training = settings.training
    return Recipe(
        epochs=training.epochs,
        batch_words=training.batch_words,
        accumulate=training.accumulate,
        warmup=training.warmup,
        clip=training.clip,
        over=training.pointing_loss,
        label_smoothing=training.label_smoothing,
        average=training.average,
        weights={name: getattr(settings.heads, name).weight for name in settings.heads.names},
        seed=settings.seed,
        augment=None if training.augment is None else Augmenting(**training.augment.model_dump()),
        join=None if training.join is None else Joining(**training.join.model_dump()),
    )


def read_corpora(
    corpora: Sequence[Corpus], data: DataSettings, *, is_gold: bool = False
) -> Iterator[tuple[Corpus, Parse]]:
    """Sentences to train on, or to score with: then no entity may go uncounted.

    Raises:
        ConfigError: a pattern of `skip` matches nothing, so it is mistyped or for another file.
    """
    for corpus in corpora:
        settings = _read_settings(corpus, data, is_gold=is_gold)
        reading = Reading(corpus.path, settings=settings)
        both = (
            reading
            if corpus.also is None
            else merged(reading, Reading(corpus.also, settings=settings))
        )
        unused = set(corpus.skip)
        for parse in both:
            matching = {pattern for pattern in corpus.skip if fnmatchcase(parse.id or "", pattern)}
            unused -= matching
            if not matching:
                yield corpus, parse
        if unused:
            raise ConfigError(
                f"data: {corpus.path}: skip: no sentence has an id like {min(unused)!r}"
            )


def _read_settings(corpus: Corpus, data: DataSettings, *, is_gold: bool) -> ReadSettings:
    dropping = data.on_crossing == "drop-sentence"
    return ReadSettings(
        encoding=data.encoding,
        on_crossing="drop-span" if is_gold and dropping else data.on_crossing,
        drop_traces=data.drop_traces,
        drop_functions=data.drop_functions,
        drop_features=data.drop_features,
        rename=corpus.rename,
        rename_tags=corpus.rename_tags,
        relabel=tuple(Relabel(rule.label, rule.tags, rule.to) for rule in corpus.relabel),
        splice=corpus.splice,
    )


def _end_of_epoch(
    model: Model,
    dev: Sequence[Parse],
    average: Average | None,
    progress: Progress,
    kept: dict[str, Any],
    processes: Processes,
) -> Epoch:
    with averaged(model.network, average):
        reports = evaluate(model, dev, processes=processes)
    if not reports:
        raise processes.agreed(
            TrainingError("no dev sentence has a layer that the model has a head for")
        )
    figures = {name: main_figure(report) for name, report in reports.items()}
    mean = sum(figures.values()) / len(figures)
    losses = kept["losses"]
    epoch = Epoch(
        progress.epoch,
        sum(losses) / max(1, len(losses)),
        kept["seconds"],
        kept["words"] / max(kept["seconds"], 1e-9),
        figures,
        mean,
        mean >= kept["best"],  # of two that score the same, the later has learned more
        progress.skipped,
    )
    return processes.of_main(epoch)  # whose seconds are told


def _card(settings: Settings, epoch: Epoch) -> str:
    figures = "\n".join(f"| {name} | {value:.2f} |" for name, value in epoch.dev.items())
    return (
        "# A fencepost model\n\n"
        f"Trained with seed {settings.seed} on "
        f"{', '.join(Path(corpus.path).name for corpus in settings.data.train)}; "
        f"best after epoch {epoch.epoch} of {settings.training.epochs}.\n\n"
        f"| dev | |\n|---|--:|\n{figures}\n"
    )
