"""Training: from settings and annotated files to a model folder."""

from __future__ import annotations

import copy
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

import torch
from pydantic import BaseModel, FiniteFloat

from fencepost.batching.arrays import Floats
from fencepost.batching.augmenting import Augmenting
from fencepost.batching.batches import shares
from fencepost.batching.examples import Example, collect_labels, example, usual_wrapper
from fencepost.batching.joining import Joining
from fencepost.batching.numbers import Numbers
from fencepost.batching.vectors import read_vectors
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.checkpoints.loading import read_licence
from fencepost.checkpoints.model import CONFIG, LICENCE, save_model
from fencepost.checkpoints.shipped import find_model
from fencepost.checkpoints.trainable import TrainableModel, load_trainable, new_model
from fencepost.checkpoints.transfer import check_sizes, transfer_weights
from fencepost.config import Corpus, Settings, TrainingSettings, WordsSettings
from fencepost.errors import ConfigError, TrainingError
from fencepost.model.encoder import WordEncoder
from fencepost.model.network import Network
from fencepost.model.pretrained import Pretrained
from fencepost.parser.predict import predict
from fencepost.run.evaluate import compared, main_figure, untagged
from fencepost.run.training.corpora import hold_out, read_corpora
from fencepost.run.training.folder import (
    FREE,
    SETTINGS,
    check_folder,
    check_same,
    flat,
    withdrawn,
    write_settings,
    written,
)
from fencepost.run.training.metrics import Epoch, add_epoch, best_epoch, read_epochs
from fencepost.run.training.picture import NAME as PICTURE
from fencepost.run.training.picture import draw_training
from fencepost.run.training.start import kept_heads, rehearsing
from fencepost.structure import Parse, Sentence
from fencepost.training.average import Average, averaged
from fencepost.training.checkpoint import has_reached, load_checkpoint, save_checkpoint
from fencepost.training.device import accelerator_for, set_threads
from fencepost.training.loop import Progress, Recipe, TrainingStep, optimizer_for, train
from fencepost.training.processes import Processes, is_left_alone, join_processes, seed_of

# Epochs may be shorter than drawing or saving takes.
PICTURE_SECONDS = 5.0  # between two pictures
EPOCH_SECONDS = 20.0  # between two checkpoints at the end of an epoch, at most


Stop = Callable[[], bool]


def never() -> bool:
    """Not to stop before the end."""
    return False


class Kept(BaseModel, strict=True):
    """State of a run beside weights and progress; all but `best` is of the current epoch."""

    best: FiniteFloat = -1.0  # mean figure on dev
    losses: list[FiniteFloat] = []
    seconds: FiniteFloat = 0.0
    words: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should know, and that does not stop the run."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a run: the folder of its model, and the epoch that this is from."""

    model: Path
    best: Epoch
    epochs: int
    before: bool = False  # whether it was finished already


def run_training(
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    model_folder: Path | None = None,
    advice: str | None = None,
    stop: Stop = never,
) -> Iterator[TrainingStep | Epoch | Note | Finished]:
    """Train a model and keep the best one in `out/model`.

    Processes that a launcher started train it together. The events are the same in all of them,
    but for the seconds of a step and for notes on files, which the main process alone writes.

    Args:
        settings: all of them.
        out: the folder of the run: `model/`, `metrics.jsonl`, `training.png`, `settings.json` and
            checkpoints.
        resume: whether to go on from the last checkpoint, if there is one.
        model_folder: where the model goes; None: `out/model`.
        advice: how to start anew from the model of a run that has other settings.
        stop: whether to end with a KeyboardInterrupt after the step under way and a checkpoint.
    """
    target = model_folder or out / "model"
    processes = join_processes()
    with processes.together():
        if processes.is_main:
            check_folder(out, resume=resume)
            check_same(settings, out, advice=advice)
            write_settings(settings, out)
            read_epochs(out)  # if it is damaged, that is told now, and not after an epoch
    with withdrawn(out / SETTINGS) if processes.is_main else nullcontext():
        yield from _run(settings, out, target, resume=resume, stop=stop)


def _run(
    settings: Settings, out: Path, target: Path, *, resume: bool, stop: Stop
) -> Iterator[TrainingStep | Epoch | Note | Finished]:
    """The run itself, in a folder that was checked."""
    processes = join_processes()
    if resume:
        over = has_reached(out, settings.training.epochs)
        finished = _finished(settings, out, target, before=True) if over else None
        if finished := processes.broadcast(finished):
            yield finished
            return
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
        if settings.data.hold_out:
            train_parses, dev = hold_out(train_parses, settings.data.hold_out)
        base = None if training.init is None else find_model(training.init)
        old = None if base is None else load_trainable(base)
        licence = None if base is None else read_licence(base)
        if old is not None:  # before heads rehearse, which takes its time
            check_sizes(old.network_settings, settings.network)
        kept = kept_heads(settings.heads, old, train_parses)
    if old is not None and kept and training.rehearse:
        heads = ", ".join(kept)
        yield Note(
            f"{training.init}: no sentence has the layers of {heads}; these heads rehearse what "
            f"they find in the {len(train_parses):,} sentences"
        )
        sentences = untagged([parse for _, parse in train_parses])
        silver = predict_together(old, sentences, processes, tasks=kept)
        train_parses = rehearsing(train_parses, silver, kept)
    with processes.together():
        model, examples = prepare_training(settings, train_parses, base=old, kept=kept)
        if old is not None:
            model, notes = transfer_weights(old, model, calibrated=kept)
    yield from (Note(f"{training.init}: {note}") for note in notes)
    _check_alike(settings, model, examples, processes)
    network = model.network.to(accelerator.device)
    for tensor in network.state_dict().values():  # other processors may draw other numbers
        processes.broadcast_tensor(tensor)
    if not training.rehearse:
        network.freeze(kept)
    optimizer = optimizer_of(network, training)
    average = Average(training.average) if training.average else None
    recipe = recipe_of(settings, kept=kept)
    progress = Progress()
    record = Kept()
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
                read_extra=Kept.model_validate,
                seed=settings.seed,
                rank=processes.rank,
                on_note=notes.append,
            )
        yield from map(Note, notes)
        if found:
            progress, record = found
        _check_same_checkpoint(out, progress, processes)
    saved, has_saved = time.monotonic(), False
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
                record.losses.append(step.loss)
            record.seconds += step.seconds
            record.words += step.words
            is_due = time.monotonic() - saved >= training.checkpoint_seconds
            is_stopped, is_due = processes.broadcast((stop(), is_due))
            if is_stopped or is_due:
                _save(out, network, optimizer, progress, average, record, processes)
                saved, has_saved = time.monotonic(), True
            yield step
            if is_stopped:
                raise KeyboardInterrupt
        epoch = _end_of_epoch(model, dev, average, progress, record, processes)
        epochs: list[Epoch] = []
        if epoch.is_best:
            record.best = epoch.mean
        with processes.together():
            if processes.is_main:
                if epoch.is_best:
                    with averaged(model.network, average):
                        card = _card(settings, epoch, has_licence=licence is not None)
                        save_model(model, target, card=card, licence=licence)
                with written(out):
                    epochs = add_epoch(out, epoch)
        record = Kept(best=record.best)
        is_last, now = progress.epoch == training.epochs, time.monotonic()
        wait = min(training.checkpoint_seconds, EPOCH_SECONDS)
        is_due = is_last or not has_saved or now - saved >= wait
        is_stopped, is_due = processes.broadcast((stop(), is_due))
        if is_stopped or is_due:
            _save(out, network, optimizer, progress, average, record, processes)
            saved, has_saved = time.monotonic(), True
        yield epoch
        if (processes.is_main and drawn is not None) and (is_last or now - drawn > PICTURE_SECONDS):
            try:
                draw_training(epochs, out / PICTURE)
                drawn = now
            except ImportError:
                drawn = None
                yield Note(f"{PICTURE} is left out; pip install 'fencepost[train]' would draw it")
            except OSError as error:
                drawn = None
                yield Note(f"{PICTURE} is left out; it cannot be written: {error.strerror}")
        if is_stopped and not is_last:
            raise KeyboardInterrupt
    if finished := processes.broadcast(_finished(settings, out, target)):
        yield finished


def _finished(
    settings: Settings, out: Path, model: Path, *, before: bool = False
) -> Finished | None:
    """The end of a run by what is written down of its epochs; None if there are more to come."""
    epochs = read_epochs(out)
    count = settings.training.epochs
    if not epochs or epochs[-1].epoch < count or not (model / CONFIG).exists():
        return None
    return Finished(model, best_epoch(epochs), count, before)


def _check_alike(
    settings: Settings, model: TrainableModel, examples: Sequence[Example], processes: Processes
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
    kept: Kept,
    processes: Processes,
) -> None:
    """Write a checkpoint with the random state of every process."""
    _, *others = processes.gather(torch.get_rng_state())
    with processes.together():
        if processes.is_main:
            save_checkpoint(
                out, network, optimizer, progress, average, extra=kept.model_dump(), others=others
            )


def _transformer_of(old: TrainableModel | None) -> Pretrained | None:
    """A copy of the transformer of a model to start from: it need not be fetched again."""
    if old is None or old.pretrained is None:
        return None
    return replace(old.pretrained, transformer=copy.deepcopy(old.pretrained.transformer))


def prepare_training(
    settings: Settings,
    parses: Sequence[tuple[Corpus, Parse]],
    *,
    base: TrainableModel | None = None,
    kept: Collection[str] = (),
) -> tuple[TrainableModel, list[Example]]:
    """A new model for what there is to learn, and the examples to learn it from.

    Args:
        settings: all of them.
        parses: with the corpora that they are from.
        base: the model to start from; the new one has its transformer.
        kept: the heads that stay those of `base`.
    """
    used = [parse for _, parse in parses]
    encoder = settings.network.encoder
    numbers = _numbers(settings, used, base, kept)
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
    pretrained = None if isinstance(encoder, WordsSettings) else _transformer_of(base)
    model = new_model(settings.network, settings.heads, numbers, pretrained, search=settings.search)
    if vectors is not None and isinstance(model.network.encoder, WordEncoder):
        model.network.encoder.set_static(torch.from_numpy(vectors))
    examples = [
        example(
            parse,
            numbers.labels,
            layers=corpus.layers,
            weight=corpus.weight,
            sample=corpus.sample,
            with_wrapper=numbers.wrapper_is_label,
        )
        for corpus, parse in parses
    ]
    return model, [one for one in examples if one is not None]


def _numbers(
    settings: Settings,
    parses: Sequence[Parse],
    base: TrainableModel | None,
    kept: Collection[str],
) -> Numbers:
    """The labels of each head: those of the sentences, and of a model to start from."""
    heads, bare = settings.heads.names, settings.training.join is not None
    labels = collect_labels(parses, [name for name in heads if name not in kept], bare=bare)
    numbers = Numbers(labels, wrapper=usual_wrapper(parses))
    if base is None:
        return numbers
    before = base.numbers
    for name in settings.training.keep_labels:
        has_wrappers = name == "tree" and before.wrapper_is_label  # which are put on apart now
        if name in labels and name in before.labels and not has_wrappers:
            names = (*before.labels[name].names, *labels[name].names)
            labels[name] = Labels(tuple(dict.fromkeys(names)))
    labels |= {name: before.labels[name] for name in kept}
    if "tree" in kept:
        numbers = replace(numbers, wrapper=before.wrapper, wrapper_is_label=before.wrapper_is_label)
    return replace(numbers, labels={name: labels[name] for name in heads})


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


def recipe_of(settings: Settings, *, kept: Collection[str] = ()) -> Recipe:
    """The settings of the loop; kept heads learn with the weight of what they rehearse."""
    training = settings.training
    weights = {name: getattr(settings.heads, name).weight for name in settings.heads.names}
    weights |= {name: weights[name] * training.rehearse for name in kept}
    return Recipe(
        epochs=training.epochs,
        batch_words=training.batch_words,
        accumulate=training.accumulate,
        warmup=training.warmup,
        clip=training.clip,
        over=training.pointing_loss,
        label_smoothing=training.label_smoothing,
        average=training.average,
        weights=weights,
        seed=settings.seed,
        augment=None if training.augment is None else Augmenting(**training.augment.model_dump()),
        join=None if training.join is None else Joining(**training.join.model_dump()),
    )


def predict_together(
    model: TrainableModel,
    sentences: Sequence[Sentence],
    processes: Processes,
    *,
    tasks: Collection[str] | None = None,
) -> list[Parse]:
    """The parses of sentences, which processes share out; all of them get the same."""
    dealt = shares([len(sentence) for sentence in sentences], processes.count)
    own = predict(model, [sentences[row] for row in dealt[processes.rank]], tasks=tasks)
    found: dict[int, Parse] = {}
    for rows, parses in zip(dealt, processes.gather(own), strict=True):
        found.update(zip(rows, parses, strict=True))
    return [found[row] for row in range(len(sentences))]


def _end_of_epoch(
    model: TrainableModel,
    dev: Sequence[Parse],
    average: Average | None,
    progress: Progress,
    kept: Kept,
    processes: Processes,
) -> Epoch:
    heads = [
        name for name in model.heads.names if any(getattr(one, name) is not None for one in dev)
    ]
    with averaged(model.network, average):
        predicted = predict_together(model, untagged(dev), processes, tasks=heads)
    reports = compared(dev, predicted)
    if not reports:
        raise processes.agreed(
            TrainingError("no dev sentence has a layer that the model has a head for")
        )
    figures = {name: main_figure(report) for name, report in reports.items()}
    mean = sum(figures.values()) / len(figures)
    losses = kept.losses
    epoch = Epoch(
        progress.epoch,
        sum(losses) / max(1, len(losses)),
        kept.seconds,
        kept.words / max(kept.seconds, 1e-9),
        figures,
        mean,
        mean >= kept.best,  # of two that score the same, the later has learned more
        progress.skipped,
    )
    return processes.broadcast(epoch)  # whose seconds are told


def _card(settings: Settings, epoch: Epoch, *, has_licence: bool) -> str:
    figures = "\n".join(f"| {name} | {value:.2f} |" for name, value in epoch.dev.items())
    start = f", starting from {settings.training.init}," if settings.training.init else ""
    licence = (
        f"{LICENCE} is the licence of the weights that training started from; it holds for these, "
        "too, beside the licences of your data.\n\n"
    )
    return (
        "# A fencepost model\n\n"
        f"Trained with seed {settings.seed}{start} on "
        f"{', '.join(Path(corpus.path).name for corpus in settings.data.train)}; "
        f"best after epoch {epoch.epoch} of {settings.training.epochs}.\n\n"
        f"{licence if has_licence else ''}"
        f"| dev | |\n|---|--:|\n{figures}\n"
    )
