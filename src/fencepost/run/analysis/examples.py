"""The part of the report of an analysis that shows mistakes, with drawings of examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from fencepost.drawing.html import parse_html
from fencepost.drawing.markup import data_of, escaped, quoted
from fencepost.run.analysis.markup import shown, table
from fencepost.run.analysis.mistakes import Example, Group, Kind
from fencepost.run.analysis.report import System
from fencepost.scoring.breakdown import Layer
from fencepost.scoring.mistakes import Reason
from fencepost.structure import Parse, Span

LISTED = 20  # kinds of mistakes that are named; --json has all

_REASONS: dict[Reason, str] = {
    "label": "Other label: the same words, with another label (gold → predicted).",
    "attachment": "Attachment: a span that both trees have stands elsewhere; counted are the "
    "brackets that are wrong because of it.",
    "boundary": "Boundary: the same label over words that are partly the same.",
    "missing": "Missing: nothing predicted corresponds to a gold span.",
    "extra": "Extra: nothing in the gold data corresponds to a predicted span.",
}


def mistakes_of(system: System, layer: Layer) -> Iterator[str]:
    """The part of a page that tells the mistakes of a system and draws the most common ones."""
    yield f"<h3>Mistakes of {shown(system.name)}</h3>"
    if not system.mistakes:
        yield "<p>None.</p>"
        return
    rows = [
        [group.reason, *(f"{n:,}" for n in (group.count, group.missing, group.extra))]
        for group in system.mistakes
    ]
    yield table(["", "mistakes", "gold spans missing", "predicted spans too many"], rows)
    yield (
        '<p class="note">Of each sort, the most common kinds have examples. Wrong spans are '
        "marked; one that has moved has a dotted line below it.</p>"
    )
    for group in system.mistakes:
        yield f"<h4>{_REASONS[group.reason]}</h4>"
        yield _kinds(group)
        for index, kind in enumerate(group.kinds):
            if kind.examples:
                yield _drawn(kind, layer, is_open=index == 0)


def _kinds(group: Group) -> str:
    listed = "; ".join(f"{shown(kind.name)} {kind.count:,}" for kind in group.kinds[:LISTED])
    more = len(group.kinds) - LISTED
    rest = f"; and {more:,} more kind{'s' if more > 1 else ''}" if more > 0 else ""
    return f"<p>{listed}{rest}</p>"


def _drawn(kind: Kind, layer: Layer, *, is_open: bool) -> str:
    times = "once" if kind.count == 1 else f"{kind.count:,} times"
    inside = "".join(_example(example, layer) for example in kind.examples)
    return (
        f"<details{' open' if is_open else ''}><summary>{shown(kind.name)}, {times}</summary>"
        f"{inside}</details>"
    )


def _example(example: Example, layer: Layer) -> str:
    mistake = example.mistake
    name = "" if example.gold.id is None else f" ({shown(example.gold.id)})"
    told = [f"Sentence {example.number:,}{name}."]
    for what, spans in (
        ("Moved", mistake.moved[:1] if mistake.moved else ()),
        ("Missing", mistake.missing),
        ("Too many", mistake.extra),
    ):
        if spans:
            each = (f"{shown(span.label or '')} “{_words(example, span)}”" for span in spans)
            told.append(f"{what}: {', '.join(each)}.")
    ours, theirs = ((), ()) if mistake.moved is None else ((one,) for one in mistake.moved)
    gold = _picture(example.gold, layer, wrong=mistake.missing, moved=ours)
    predicted = (
        "<p>No tree was predicted.</p>"
        if example.predicted is None
        else _picture(example.predicted, layer, wrong=mistake.extra, moved=theirs)
    )
    return (
        f'<figure><figcaption>{" ".join(told)}</figcaption><div class="sides"><div><p>Gold</p>'
        f"{gold}</div><div><p>Predicted</p>{predicted}</div></div></figure>"
    )


def _words(example: Example, span: Span) -> str:
    return escaped(quoted(example.gold.sentence, span.start, span.end))


def _picture(parse: Parse, layer: Layer, *, wrong: Iterable[Span], moved: Iterable[Span]) -> str:
    """A drawing of one layer, with classes on the spans that are wrong or have moved."""
    is_tree = layer == "tree"
    drawn = parse_html(
        replace(parse, entities=None, dropped=()) if is_tree else replace(parse, tree=None)
    )
    for name, spans in (("wrong", wrong), ("moved", moved)):
        for span in set(spans):
            data = data_of(span)
            drawn = drawn.replace(f'" {data}', f' {name}" {data}')
    # What scrolls has to be within reach of the keyboard.
    return drawn.replace('<div class="wide">', '<div class="wide" tabindex="0">')
