"""The options of parsing, each defined once, and checked before anything is read.

The signatures of `Parser`, the command line, the HTTP interface, the spaCy component and the record
of a corpus run derive from `ParseOptions`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    get_type_hints,
)

from fencepost.errors import ConfigError, ConstraintError, clipped
from fencepost.structure import Sentence, Span
from fencepost.tasks.labels import split
from fencepost.tasks.layers import POINTING
from fencepost.text.gazetteer import Gazetteer
from fencepost.transition import Constraints
from fencepost.transition.constraints import Reach

if TYPE_CHECKING:
    from fencepost.checkpoints.model import Model

PlacedSpan = tuple[int, int, str | None]  # start, end, and a label or None for any
Task = Literal["tree", "entities", "tags"]  # the heads that a model may have
Function = TypeVar("Function", bound=Callable[..., Any])

_MIN_N_BEST_BEAMS = 10  # the default width of the beam for several parses, at least
_MOST_LISTED = 20  # labels in a message

_KINDS = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "a text",
    str | None: "a text or None",
}


@dataclass(frozen=True, slots=True)
class Option:
    """The definition of an option, except for its name and its Python type."""

    help: str
    default: Any = None
    json: Any = None  # the type in JSON and configuration files, if it differs from Python's
    minimum: float | None = None
    maximum: float | None = None
    check: Callable[[str, Any], Any] | None = None  # returns the value to use
    # As plain data in the record of a corpus run; None: the value may differ within a run.
    record: Callable[[Any], Any] | None = lambda value: value
    placed: bool = False  # whether it counts the words of one sentence
    filters: bool = False  # whether it leaves out spans of the parse

    def checked(self, name: str, value: Any) -> Any:
        """Validate a value and return the one to use.

        Raises:
            ConfigError: the value has the wrong type, or is out of range.
        """
        if self.check is not None:
            return self.check(name, value)
        low, high = self.minimum, self.maximum
        is_kind = isinstance(value, Real if self.json is float else self.json)
        if (
            is_kind
            and isinstance(value, bool) == (self.json is bool)  # bool is a subclass of int
            and (low is None or value >= low)
            and (high is None or value <= high)
        ):
            return float(value) if self.json is float else value
        bounds = [f"from {low}"] * (low is not None) + [f"to {high}"] * (high is not None)
        expected = " ".join(bounds) or _KINDS[self.json]
        raise ConfigError(f"{name}: {expected}, not {clipped(repr(value))}")


def _collected(collect: Callable[[Iterable[Any]], Any]) -> Callable[[str, Any], Any]:
    """A check that the value is iterable; a single string passes, for `checked_options`."""

    def check(name: str, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, Iterable):
            return collect(value)
        raise ConfigError(f"{name}: a list, not {clipped(repr(value))}")

    return check


def _gazetteer(name: str, value: Any) -> Gazetteer | None:
    if value is None or isinstance(value, Gazetteer):
        return value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return Gazetteer.of(value)
    raise ConfigError(f"{name}: a Gazetteer, or phrases with labels, not {clipped(repr(value))}")


def _digest(gazetteer: Gazetteer | None) -> str | None:
    if gazetteer is None:
        return None
    entries = repr(sorted(gazetteer.labels.items())).encode("utf-8", "surrogatepass")
    return hashlib.sha256(entries).hexdigest()


class ManyOptions(TypedDict, total=False):
    """The options of `Parser.parse_many`."""

    tasks: Annotated[
        Collection[str] | None,
        Option(
            "What to find: tree (with its tags), entities, tags. Without it, all that the model "
            "can.",
            json=list[str] | None,
            check=_collected(tuple),
        ),
    ]
    beams: Annotated[
        int | None,
        Option(
            "Width of the beam; 1 is greedy. Without it, the model's own.",
            check=lambda _, value: value,  # only the model tells which ones are right
        ),
    ]
    min_probability: Annotated[
        float,
        Option(
            "Leave out entities that are less probable.", 0.0, minimum=0, maximum=1, filters=True
        ),
    ]
    names: Annotated[
        bool,
        Option(
            "Leave out entities that are no names: whose head is no proper noun.",
            default=False,
            filters=True,
        ),
    ]
    labels: Annotated[
        Iterable[str] | None,
        Option(
            "The only labels to use, for heads that have any of them.",
            json=list[str] | None,
            check=_collected(lambda labels: tuple(sorted(labels, key=str))),
        ),
    ]
    root: Annotated[str | None, Option("The label of each whole sentence.")]
    consistent: Annotated[bool, Option("Entities never cross a span of the tree.", False)]
    gazetteer: Annotated[
        Gazetteer | Mapping[str, str] | None,
        Option(
            "Phrases and their labels, which are entities wherever they occur; of those that "
            "overlap, the leftmost longest.",
            json=dict[str, str] | None,
            check=_gazetteer,
            record=_digest,
        ),
    ]


class ParseOptions(ManyOptions, total=False):
    """The options of `Parser.parse`."""

    must: Annotated[
        Iterable[PlacedSpan],
        Option(
            "Spans that have to be there: start, end, and a label or none for any; boundaries "
            "count from 0. For one sentence.",
            (),
            json=list[PlacedSpan],
            check=_collected(tuple),
            record=None,
            placed=True,
        ),
    ]
    forbid: Annotated[
        Iterable[PlacedSpan],
        Option(
            "Spans that must not be there: with that label, or none for any. For one sentence.",
            (),
            json=list[PlacedSpan],
            check=_collected(tuple),
            record=None,
            placed=True,
        ),
    ]


def options_of(kind: type) -> dict[str, Option]:
    """The options that a TypedDict defines, by name."""
    options = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        python, option = hint.__origin__, hint.__metadata__[0]
        options[name] = replace(option, json=option.json or python)
    return options


OPTIONS = options_of(ParseOptions)


def complete(options: ParseOptions) -> ParseOptions:
    """Validate options, and add the defaults of those that are missing.

    Raises:
        TypeError: there is no such option.
        ConfigError: a value has the wrong type, or is out of range.
    """
    for name in options:
        if name not in OPTIONS:
            close = get_close_matches(name, OPTIONS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(OPTIONS)}"
            raise TypeError(f"unexpected keyword argument {name!r}; {hint}")
    values = {
        name: option.checked(name, options.get(name, option.default))
        for name, option in OPTIONS.items()
    }
    return cast(ParseOptions, values)


def documents_options(function: Function) -> Function:
    """Decorate a function that takes options: append their help to its docstring."""
    is_many = "ManyOptions" in function.__annotations__["options"]
    lines = (
        f"{name}: {option.help}"
        for name, option in OPTIONS.items()
        if not (is_many and option.placed)
    )
    function.__doc__ = "\n            ".join([f"{function.__doc__}\n        Options:", *lines])
    return function


@dataclass(frozen=True, slots=True)
class CheckedOptions:
    """Options of parsing that were checked against a model."""

    tasks: tuple[str, ...]
    beams: int = 1
    canonical: bool = True
    constraints: Mapping[str, Constraints] = field(default_factory=dict)  # by layer
    gazetteer: Gazetteer | None = None
    values: ParseOptions = field(default_factory=lambda: complete({}))  # of all options

    @property
    def is_placed(self) -> bool:
        """Whether some constraint counts the words of one sentence."""
        return any(layer.must or layer.forbid for layer in self.constraints.values())

    def constraints_on(self, sentence: Sentence) -> dict[str, Constraints]:
        """The constraints on a sentence by layer, before any layer is parsed."""
        constraints = dict(self.constraints)
        if self.gazetteer is not None:
            entities = constraints.get("entities", Constraints())
            spans = self._gazetteer_spans(sentence)
            constraints["entities"] = replace(entities, must=entities.must + spans)
        if self.values["consistent"] and "entities" in constraints:
            musts = tuple(span[:2] for span in constraints["entities"].must)
            tree = constraints.get("tree", Constraints())
            constraints["tree"] = replace(tree, uncrossed=tree.uncrossed + musts)
        return {name: layer for name, layer in constraints.items() if layer != Constraints()}

    def _gazetteer_spans(self, sentence: Sentence) -> tuple[Span, ...]:
        """The spans of the gazetteer, except where the caller constrains the same words."""
        assert self.gazetteer is not None
        entities = self.constraints.get("entities", Constraints())
        constrained = {span[:2] for span in (*entities.must, *entities.forbid)}
        musts = entities.must
        if self.values["consistent"] and "tree" in self.constraints:
            musts += self.constraints["tree"].must
        reach = Reach.of([must[:2] for must in musts], len(sentence))
        return tuple(
            span
            for span in self.gazetteer.find(sentence.words)
            if span[:2] not in constrained and not reach.crosses(span.start, span.end)
        )


def checked_options(
    model: Model, *, best: int | None = None, **options: Unpack[ParseOptions]
) -> CheckedOptions:
    """Check options against a model.

    Args:
        model: the model to parse with.
        best: the number of parses per sentence; None: only the best one.
        options: as for `Parser.parse`.

    Raises:
        TypeError: there is no such option.
        ConfigError: the model has no such head, or a value is wrong.
        ConstraintError: no head has such a label.
    """
    values = complete(options)
    beams = beams_of(model, values["beams"], best=best)
    tasks = _checked_tasks(model, values["tasks"])
    heads = {name: labels_of(model, name) for name in POINTING if name in tasks}
    if values["consistent"] and len(heads) < len(POINTING):
        raise ConfigError(f"consistent: needs tree and entities, not only {', '.join(tasks)}")
    if values["names"]:  # tags tell names from other entities
        if "entities" not in tasks:
            raise ConfigError(f"names: needs entities, not only {', '.join(tasks)}")
        if "tags" not in model.heads.names:
            raise ConfigError("names: needs tags, which this model does not find")
        tasks = tuple(dict.fromkeys((*tasks, "tags")))
    constraints = _by_head(
        heads,
        Constraints.of(
            must=values["must"] or (),
            forbid=values["forbid"] or (),
            labels=values["labels"],
            root=values["root"],
        ),
    )
    gazetteer = cast(Gazetteer | None, values["gazetteer"])
    if gazetteer is not None:
        if "entities" not in heads:
            raise ConfigError(f"gazetteer: needs entities, not only {', '.join(tasks)}")
        for label in sorted(set(gazetteer.labels.values())):
            _heads_with(label, {"entities": heads["entities"]})
    return CheckedOptions(
        tasks,
        beams,
        constraints=constraints,
        gazetteer=gazetteer,
        values={**values, "tasks": tasks, "beams": beams},
    )


def record_of(options: CheckedOptions) -> dict[str, Any]:
    """Options as plain data; a corpus run resumes only with the same."""
    values = cast(Mapping[str, Any], options.values)
    return {
        name: option.record(values[name])
        for name, option in OPTIONS.items()
        if option.record is not None
    }


def beams_of(model: Model, beams: int | None, *, best: int | None = None) -> int:
    """The width of the beam.

    Args:
        model: the model to parse with.
        beams: the width; None: the model's own, and for several parses at least their number
            and 10.
        best: the number of parses per sentence; None: only the best one.

    Raises:
        ConfigError: one of them is no whole number, or too large.
    """
    from fencepost.config import whole_number

    if best is not None:
        best = whole_number("n_best", best)
    if beams is not None:
        return whole_number("beams", beams)
    width = model.search.beams
    return width if best is None else max(width, best, _MIN_N_BEST_BEAMS)


def _checked_tasks(model: Model, tasks: Collection[str] | None) -> tuple[str, ...]:
    """The heads to parse with; a tree brings tags for its leaves."""
    heads = model.heads.names
    if tasks is None:
        return heads
    if not isinstance(tasks, Iterable):
        raise ConfigError(f"tasks: a list of names or None, not {clipped(repr(tasks))}")
    names = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    if "tree" in names and "tags" in heads:
        names += ("tags",)
    for name in names:
        if name not in heads:
            raise ConfigError(f"this model has no head for {name!r}; it has {', '.join(heads)}")
    return tuple(dict.fromkeys(names))


def _by_head(
    heads: Mapping[str, Collection[str]], constraints: Constraints
) -> dict[str, Constraints]:
    """Distribute constraints over the heads that have their labels.

    A span without a label, or with one that several heads have, goes to the tree if there is one.
    """
    if constraints == Constraints():
        return {}
    if not heads:
        raise ConstraintError("constraints need a head for trees or entities to be asked")
    if constraints.labels is not None and not constraints.labels:
        raise ConstraintError("labels is empty; it should name some, or be None for all")
    musts, forbids = (
        _spans_by_head(constraints.must, heads),
        _spans_by_head(constraints.forbid, heads),
    )
    by_head = {name: Constraints(tuple(musts[name]), tuple(forbids[name])) for name in heads}
    for label in sorted(constraints.labels or ()):
        for name in _heads_with(label, heads):
            labels = (by_head[name].labels or frozenset()) | {label}
            by_head[name] = replace(by_head[name], labels=labels)
    root = constraints.root
    if root is not None:
        name = _heads_with(root, heads)[0]
        if name != "tree" and "tree" in heads:
            raise ConstraintError(
                f"root is {root!r}, a label of {name}; with a tree, root is one of its "
                f"labels: {_listed(sorted(heads['tree']))}. For {name} alone, pass "
                f"tasks=[{name!r}]; for a span, must=[(start, end, {root!r})]"
            )
        by_head[name] = replace(by_head[name], root=root)
    return {name: head for name, head in by_head.items() if head != Constraints()}


def labels_of(model: Model, task: str) -> set[str]:
    """The labels of a task: chains split into single labels, and the wrapper of trees added."""
    names = model.numbers.labels[task].names
    if task not in POINTING:  # a tag may well hold a plus sign
        return set(names)
    labels = {label for chain in names for label in split(chain)}
    wrapper = model.numbers.wrapper if task == "tree" else None
    return labels if wrapper is None else labels | {wrapper}


def _spans_by_head(
    spans: Iterable[Span], heads: Mapping[str, Collection[str]]
) -> dict[str, list[Span]]:
    by_head: dict[str, list[Span]] = {name: [] for name in heads}
    for span in spans:
        name = next(iter(heads if span.label is None else _heads_with(span.label, heads)))
        by_head[name].append(span)
    return by_head


def _heads_with(label: str, heads: Mapping[str, Collection[str]]) -> Sequence[str]:
    """The heads that have a label, alone or in a chain.

    Raises:
        ConstraintError: there is none; the message names similar labels.
    """
    names = [name for name, labels in heads.items() if label in labels]
    if not names:
        labels = sorted(set().union(*heads.values()))
        close = [one for one in labels if one.lower() == label.lower()]
        close = close or get_close_matches(label, filter(None, labels), n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"it has {_listed(labels)}"
        raise ConstraintError(f"the model has no label {label!r} for {' or '.join(heads)}; {hint}")
    return names


def _listed(labels: Sequence[str]) -> str:
    """Labels for a message, the first 20 of them."""
    listed = ", ".join(label or "''" for label in labels[:_MOST_LISTED])
    more = len(labels) - _MOST_LISTED
    return f"{listed} … and {more} more (parser.labels)" if more > 0 else listed
