"""The command `audit`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fencepost.cli import options as opt
from fencepost.cli.progress import watcher
from fencepost.cli.tables import plural
from fencepost.errors import ConfigError, DataError
from fencepost.tasks.labels import NO_LABELS

if TYPE_CHECKING:
    from fencepost.run.audit import Audit, Finding
    from fencepost.structure import Sentence, Span

_SHOWN = 10  # unknown labels that are listed before the rest is only counted
_ENDS = (5, 3)  # words that are left of a long span, at its beginning and at its end


def audit(
    sources: Annotated[list[str], typer.Argument(metavar="FILE", help="Annotated sentences.")],
    model: opt.ChosenModel = None,
    top: Annotated[int, typer.Option(min=1, help="How many sentences are listed.")] = 20,
    task: opt.Task = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="A file for the list, .tsv, .jsonl or (Label Studio) .json; else it is printed.",
        ),
    ] = None,
    from_: opt.From = None,
    encoding: opt.Encoding = "utf-8",
    on_crossing: opt.OnCrossing = "error",
    entity_columns: opt.EntityColumns = None,
    keep_functions: Annotated[
        bool, typer.Option("--keep-functions", help="NP-SBJ is a label of its own, not NP.")
    ] = False,
    device: opt.Device = "cpu",
    threads: opt.Threads = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """List the annotations that a model finds least likely.

    They are where to look for errors. Each gold span is judged given the gold spans before it.
    Listed are the sentences with the least likely ones, and what the model would rather have in
    their place. Use a model that was not trained on the same sentences: it would have learned their
    errors.

    Examples:
      fencepost audit dev.ptb
      fencepost audit dev.jsonl -m runs/gum/model --top 100 -o doubts.tsv
      fencepost audit dev.jsonl --task entities -o tasks.json
    """
    from fencepost.formats import ReadSettings
    from fencepost.parser.parser import load
    from fencepost.run.audit import audit as run
    from fencepost.run.audit import check_suffix, write_findings

    model, sources = opt.model_and_files(model, sources, least=0, quiet=quiet)
    if out is not None:
        if as_json:
            raise ConfigError("--json prints the list and --out writes it: one of them, not both")
        check_suffix(out)
    settings = ReadSettings(
        encoding=encoding,
        on_crossing=on_crossing,
        entity_columns=opt.columns(entity_columns),
        drop_traces=True,
        drop_functions=not keep_functions,
        drop_features=True,
    )
    loaded = load(model, device=device, threads=threads).model
    found = run(
        loaded,
        sources,
        tasks=None if task is None else [task],
        top=top,
        format=from_,
        settings=settings,
        watch=watcher(quiet),
    )
    if not found.steps:
        raise DataError(
            f"no sentence has {'a layer' if task is None else f'the layer {task!r}'} that the "
            f"model has a head for ({', '.join(loaded.numbers.labels)})",
            path=", ".join(sources),
        )
    if out is not None:
        write_findings(found.findings, out)
        if not quiet:
            print(_told_counts(found), file=sys.stderr)
    elif as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        print("\n\n".join([*map(_told_finding, found.findings), _told_counts(found)]))


def _told_finding(finding: Finding) -> str:
    """The least likely step of a sentence, and below it the sentence with the span marked."""
    step, *others = finding.steps
    sentence = finding.sentence
    place = f"{finding.path}:{finding.line}"
    name = [] if sentence.id is None else [sentence.id]
    gold = _told_span(step.span, sentence, finding.layer)
    rather = _told_span(step.rather, sentence, finding.layer)
    parts = [place, *name, f"{step.probability:.2g}", gold]
    likely = f"({step.rather.probability:.2g})"
    parts.append(f"rather: points to {step.rather_boundary}, {rather} {likely}")
    if others:
        parts.append(f"+{len(others)} more")
    # Where the gold has no span, the one that the model would make tells more than the gap.
    shown = step.rather if step.span.label is None and step.rather.label else step.span
    return f"{'  '.join(parts)}\n    {_marked(shown, sentence)}"


def _told_span(span: Span, sentence: Sentence, layer: str) -> str:
    """A span with its words, or some of them.

    >>> from fencepost.structure import Sentence, Span
    >>> _told_span(Span(1, 3, "NP"), Sentence(("saw", "the", "men")), "tree")
    'NP "the men"'
    >>> _told_span(Span(0, 12), Sentence(tuple("abcdefghijkl")), "entities")
    'no entity "a b c d e … j k l"'
    """
    words = sentence.words[span.start : span.end]
    first, last = _ENDS
    if len(words) > first + last + 1:
        words = (*words[:first], "…", *words[-last:])
    none = "no bracket" if layer == "tree" else "no entity"
    label = none if span.label in (None, NO_LABELS) else span.label
    return f'{label} "{_in_line(*words)}"'


def _marked(span: Span, sentence: Sentence) -> str:
    """A sentence with a span of it in square brackets."""
    between = sentence.text_between
    before, after = between(0, span.start), between(span.end, len(sentence))
    return _in_line(before, f"[{between(span.start, span.end)}]", after)


def _in_line(*texts: str) -> str:
    return " ".join(" ".join(texts).split())


def _told_counts(found: Audit) -> str:
    """How much was judged, and what could not be."""
    lines = [f"{plural(found.sentences, 'sentence')}, {plural(found.words, 'word')}"]
    for layer, count in found.steps.items():
        others = plural(found.doubted[layer], "other")
        lines.append(f"{layer}: {plural(count, 'step')}; the model would take {others}")
    unknown = found.unknown_labels
    if unknown:
        lines.append(f"not judged: {plural(len(unknown), 'label')} that the model does not know")
        lines += (
            f"  {one.layer} {one.label}: {plural(one.count, 'span')}, first {one.path}:{one.line}"
            for one in unknown[:_SHOWN]
        )
        if len(unknown) > _SHOWN:
            lines.append(f"  ... and {len(unknown) - _SHOWN:,} more")
    return "\n".join(lines)
