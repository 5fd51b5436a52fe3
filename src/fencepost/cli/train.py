"""Commands that need a network: train, evaluate."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import TrainingBar, counting, watcher
from fencepost.cli.reports import told_epoch, told_finished, told_report, told_summary
from fencepost.cli.tables import plural
from fencepost.errors import ConfigError, DataError

if TYPE_CHECKING:
    from fencepost.training.processes import Processes


def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Settings, a TOML file.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the run.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on after a stop.")] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Train with so many seeds, each in OUT/seed-K, and sum them up."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting that differs from CONFIG."),
    ] = None,
    device: opt.TrainingDevice = None,
    quiet: opt.Quiet = False,
) -> None:
    """Train a model on annotated files.

    The best one is kept in OUT/model.

    Examples:
      fencepost train configs/gum-trees.toml --out runs/gum-trees
      fencepost train configs/gum-trees.toml --out runs/gum-trees --resume
      fencepost train configs/gum-trees.toml --out runs/three --seeds 3
      fencepost train configs/gum-trees.toml -o runs/b --set training.epochs=20
    """
    with needing_torch("train"):
        from fencepost.run.training.seeds import run_seeds
        from fencepost.run.training.start import settings_of_run
        from fencepost.run.training.train import run_training
        from fencepost.training.processes import join_processes

    processes = join_processes()
    with told_once(processes):
        with processes.together():
            settings = settings_of_run(config, changes=opt.with_device(changes, device))
        bar = TrainingBar(
            settings.training.epochs, runs=seeds or 1, quiet=quiet or not processes.is_main
        )
        with stoppable(out, processes) as stopping:
            events = (
                run_training(settings, out, resume=resume, stop=stopping)
                if seeds is None
                else run_seeds(settings, out, count=seeds, resume=resume, stop=stopping)
            )
            show_training(events, bar, stopping, is_main=processes.is_main)


@contextmanager
def needing_torch(command: str) -> Iterator[None]:
    """Import what training needs; if it is missing, say what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{command} needs {error.name}, which is not here: pip install 'fencepost[train]'"
        ) from error


_SHOWN = 10  # labels that the model does not know


class Stopping:
    """Whether Ctrl-C was pressed while a run trains: it ends after the step and a checkpoint.

    The second Ctrl-C ends it at once.
    """

    def __init__(self, *, can_wait: bool) -> None:
        self._can_wait = can_wait
        self._is_wanted = False
        self._before: Any = None  # what Ctrl-C does otherwise

    def __call__(self) -> bool:
        """Whether to stop."""
        return self._is_wanted

    def begin(self) -> None:
        """Let Ctrl-C wait from now on."""
        is_main = threading.current_thread() is threading.main_thread()
        if self._can_wait and is_main and callable(signal.getsignal(signal.SIGINT)):
            self._can_wait = False
            self._before = signal.signal(signal.SIGINT, self._wait)

    def end(self) -> None:
        """Let Ctrl-C do what it did before."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _wait(self, number: int, frame: object) -> None:
        self._is_wanted = True
        self.end()
        print(
            "fencepost: writing a checkpoint after this step; Ctrl-C again stops at once",
            file=sys.stderr,
            flush=True,
        )


@contextmanager
def stoppable(out: Path, processes: Processes) -> Iterator[Stopping]:
    """On Ctrl-C, say how to go on."""
    # The launcher of several processes ends them itself.
    stopping = Stopping(can_wait=processes.count == 1)
    try:
        yield stopping
    except KeyboardInterrupt:
        begun = any(out.rglob("checkpoint-*"))
        told = "goes on from the last checkpoint" if begun else "begins anew: no checkpoint yet"
        if processes.is_main:
            print(f"fencepost: stopped; the same command with --resume {told}", file=sys.stderr)
        raise
    finally:
        stopping.end()


def show_training(
    events: Iterable[object], bar: TrainingBar, stopping: Stopping, *, is_main: bool = True
) -> None:
    """Go through a run, and show what happens.

    Args:
        events: of the run.
        bar: where they are shown.
        stopping: begins with the first step.
        is_main: whether this process prints the results.
    """
    from fencepost.run.training.metrics import Epoch
    from fencepost.run.training.seeds import Seed, Summary
    from fencepost.run.training.train import Finished, Note
    from fencepost.training.loop import TrainingStep

    try:
        for event in events:
            if isinstance(event, TrainingStep):
                stopping.begin()
            if isinstance(event, Summary) and is_main:
                bar.print(told_summary(event))
            elif isinstance(event, Finished) and is_main:
                bar.print(told_finished(event))
            elif bar.quiet:
                continue
            elif isinstance(event, Seed):
                bar.run = event.number
                finished = ": finished before" if event.is_finished else ""
                bar.print(f"seed {event.seed}{finished}")
            elif isinstance(event, Epoch):
                bar.print(told_epoch(event))
            elif isinstance(event, Note):
                bar.print(f"note: {event.text}", note=True)
            elif isinstance(event, TrainingStep):
                bar.show(event)
    finally:
        bar.stop()


@contextmanager
def told_once(processes: Processes) -> Iterator[None]:
    """An error of several processes is printed by one; all leave with status 2, and none earlier.

    The launcher ends the others as soon as one has left.
    """
    from fencepost.training.processes import AgreedError, leave

    try:
        yield
    except AgreedError as error:
        if processes.is_main:
            print(f"fencepost: {error}", file=sys.stderr, flush=True)
        processes.gather(None)
        leave()
        raise typer.Exit(2) from None
    leave()


def evaluate(
    source: Annotated[str, typer.Argument(metavar="FILE", help="Gold sentences.")],
    positional: opt.Positional = None,
    model: opt.ChosenModel = None,
    task: Annotated[
        Literal["tree", "entities", "tags"] | None,
        typer.Option(help="Which layer; without it, those that model and file have."),
    ] = None,
    beams: opt.Beams = None,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="Search without the canonical rules.")
    ] = False,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    keep_functions: Annotated[
        bool, typer.Option("--keep-functions", help="NP-SBJ is a label of its own, not NP.")
    ] = False,
    rename: opt.Rename = None,
    rename_tags: opt.RenameTags = None,
    relabel: opt.Relabels = None,
    splice: opt.Splice = None,
    device: opt.Device = "cpu",
    backend: opt.Backend = "auto",
    precision: opt.Precision = "fp32",
    threads: opt.Threads = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Score a model on gold sentences.

    Brackets are counted as EVALB counts them, entities by strict match. Gold trees are read as they
    are for training, without traces, functions and features. Predicted brackets stand over the gold
    words and tags; a wrapper at the top (TOP, ROOT, S1, VROOT or no label) does not count. The
    model's own tags are scored beside them.

    Examples:
      fencepost evaluate dev.ptb
      fencepost evaluate dev.ptb -m runs/gum-trees/model --beam 8 --json
    """
    from fencepost.formats import ParseReader, ReadSettings
    from fencepost.parser.parser import load
    from fencepost.run.evaluate import evaluate as run
    from fencepost.run.evaluate import unknown_labels

    model, source = opt.model_and_file(model, source, positional, quiet=quiet)
    settings = ReadSettings(
        encoding=encoding,
        # A parser that cannot find an entity has missed it: its sentence has to count.
        on_crossing="drop-span" if on_crossing == "drop-sentence" else on_crossing,
        entity_columns=opt.columns(entity_columns),
        drop_traces=True,
        drop_functions=not keep_functions,
        drop_features=True,
        rename=opt.renames("--rename", rename),
        rename_tags=opt.renames("--rename-tag", rename_tags),
        relabel=opt.relabels(relabel),
        splice=tuple(splice or ()),
    )
    loaded = load(model, device=device, threads=threads, backend=backend, precision=precision).model
    reading = ParseReader(source, format=from_, settings=settings)
    gold = list(watcher(quiet)(reading))
    opt.tell_unmatched(reading, source, quiet=quiet)
    words = sum(len(parse.words) for parse in gold)
    with counting("parsing", words, quiet=quiet) as done:
        found = run(loaded, gold, beams=beams, canonical=not unmasked, done=done)
    reports = [report for name, report in found.items() if task in (None, name)]
    if not reports:
        raise DataError(
            f"no sentence has {'a layer' if task is None else f'the layer {task!r}'} that the "
            f"model has a head for ({', '.join(loaded.numbers.labels)})",
            path=source,
        )
    if not quiet:
        _tell_unknown(
            unknown_labels(loaded, gold), [name for name in found if task in (None, name)]
        )
    if not as_json:
        print("\n\n".join(map(told_report, reports)))
        return
    objects = [report.to_dict() for report in reports]
    if objects[-1]["task"] == "tags" and len(objects) > 1:  # beside the first, not one more
        objects[0]["tags"] = objects.pop()
    for data in objects:
        print(json.dumps(data, ensure_ascii=False))


def _tell_unknown(counts: Counter[tuple[str, str]], layers: Collection[str]) -> None:
    """Say which gold labels count as missed since the model does not know them."""
    unknown = [(pair, count) for pair, count in counts.most_common() if pair[0] in layers]
    if not unknown:
        return
    lines = [f"note: {plural(len(unknown), 'label')} that the model does not know"]
    lines += [f"  {layer} {label}: {count:,} in the gold data" for (layer, label), count in unknown]
    if len(lines) > _SHOWN + 1:
        lines[_SHOWN + 1 :] = [f"  ... and {len(unknown) - _SHOWN:,} more"]
    print("\n".join(lines), file=sys.stderr)
