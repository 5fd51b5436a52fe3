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

Asking = tuple[int, int, str | None]  # start, end, and a label or None for any
Task = Literal["tree", "entities", "tags"]  # of our heads; a model may have only some
Function = TypeVar("Function", bound=Callable[..., Any])

_FEWEST = 10  # beams for several readings, if nobody says how many
_MOST_NAMED = 20  # labels in a message


_KINDS = {
    bool: "True or False",
    float: "a number",
    int: "a whole number",
    str: "a text",
    str | None: "a text or None",
}


@dataclass(frozen=True, slots=True)
class Option:
    """The definition of an option, beside its name and its type in Python."""

    help: str
    default: Any = None
    json: Any = None  # the type in JSON and configuration files, if it is another
    minimum: float | None = None
    maximum: float | None = None
    check: Callable[[str, Any], Any] | None = None  # returns the value to use
    record: Callable[[Any], Any] | None = lambda value: value  # None: may differ in a corpus run
    placed: bool = False  # counts the words of one sentence, so it does not suit several

    def checked(self, name: str, value: Any) -> Any:
        """The value to use.

        Raises:
            ConfigError: the value is of the wrong type, or out of range.
        """
        if self.check is not None:
            return self.check(name, value)
        low, high = self.minimum, self.maximum
        is_kind = isinstance(value, Real if self.json is float else self.json)
        if (
            is_kind
            and isinstance(value, bool) == (self.json is bool)  # which Python takes for a number
            and (low is None or value >= low)
            and (high is None or value <= high)
        ):
            return float(value) if self.json is float else value
        bounds = [f"from {low}"] * (low is not None) + [f"to {high}"] * (high is not None)
        expected = " ".join(bounds) or _KINDS[self.json]
        raise ConfigError(f"{name}: {expected}, not {clipped(repr(value))}")


def _later(name: str, value: Any) -> Any:
    """No check yet: it needs the model."""
    return value


def _each(into: Callable[[Iterable[Any]], Any]) -> Callable[[str, Any], Any]:
    """A check of several things; a text alone is left to those who know what it means."""

    def check(name: str, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, Iterable):
            return into(value)
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
    known = repr(sorted(gazetteer.labels.items())).encode("utf-8", "surrogatepass")
    return hashlib.sha256(known).hexdigest()


class ManyOptions(TypedDict, total=False):
    """The options of `Parser.parse_many`."""

    tasks: Annotated[
        Collection[str] | None,
        Option(
            "What to find: tree (with its tags), entities, tags. Without it, all that the model "
            "can.",
            json=list[str] | None,
            check=_each(tuple),
        ),
    ]
    beams: Annotated[
        int | None,
        Option("Width of the beam; 1 is greedy. Without it, the model's own.", check=_later),
    ]
    min_probability: Annotated[
        float, Option("Leave out entities that are less probable.", 0.0, minimum=0, maximum=1)
    ]
    names: Annotated[
        bool, Option("Leave out entities that are no names: whose head is no proper noun.", False)
    ]
    labels: Annotated[
        Iterable[str] | None,
        Option(
            "The only labels to use, for heads that have any of them.",
            json=list[str] | None,
            check=_each(lambda labels: tuple(sorted(labels, key=str))),
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
        Iterable[Asking],
        Option(
            "Spans that have to be there: start, end, and a label or none for any; boundaries "
            "count from 0. For one sentence.",
            (),
            json=list[Asking],
            check=_each(tuple),
            record=None,
            placed=True,
        ),
    ]
    forbid: Annotated[
        Iterable[Asking],
        Option(
            "Spans that must not be there: with that label, or none for any. For one sentence.",
            (),
            json=list[Asking],
            check=_each(tuple),
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
    """All options with the values to use: those of the caller, checked, or else the defaults.

    Raises:
        TypeError: there is no such option.
        ConfigError: a value is of the wrong type, or out of range.
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


def explained(function: Function) -> Function:
    """Complete the docstring of a function that takes options with their explanations."""
    is_many = "ManyOptions" in function.__annotations__["options"]
    lines = (
        f"{name}: {option.help}"
        for name, option in OPTIONS.items()
        if not (is_many and option.placed)
    )
    function.__doc__ = "\n            ".join([f"{function.__doc__}\n        Options:", *lines])
    return function


@dataclass(frozen=True, slots=True)
class Asked:
    """Checked options of parsing: tasks, search and constraints."""

    tasks: tuple[str, ...]
    beams: int = 1
    canonical: bool = True
    constraints: Mapping[str, Constraints] = field(default_factory=dict)  # by layer
    gazetteer: Gazetteer | None = None
    options: ParseOptions = field(default_factory=lambda: complete({}))  # all of them

    @property
    def is_placed(self) -> bool:
        """Whether anything is asked of certain words, so that it suits one sentence only."""
        return any(one.must or one.forbid for one in self.constraints.values())

    def of(self, sentence: Sentence) -> dict[str, Constraints]:
        """The constraints on a sentence's layers, before any of them is found."""
        found = dict(self.constraints)
        if self.gazetteer is not None:
            entities = found.get("entities", Constraints())
            known = self._known(sentence, found)
            found["entities"] = replace(entities, must=entities.must + known)
        if self.options["consistent"] and "entities" in found:
            musts = tuple(span[:2] for span in found["entities"].must)
            tree = found.get("tree", Constraints())
            found["tree"] = replace(tree, uncrossed=tree.uncrossed + musts)
        return {layer: one for layer, one in found.items() if one != Constraints()}

    def _known(self, sentence: Sentence, asked: Mapping[str, Constraints]) -> tuple[Span, ...]:
        """The spans of the gazetteer, except where the caller constrains the same words."""
        assert self.gazetteer is not None
        entities = asked.get("entities", Constraints())
        spoken = {span[:2] for span in (*entities.must, *entities.forbid)}
        musts = entities.must
        if self.options["consistent"] and "tree" in asked:
            musts += asked["tree"].must
        reach = Reach.of([must[:2] for must in musts], len(sentence))
        return tuple(
            span
            for span in self.gazetteer.find(sentence.words)
            if span[:2] not in spoken and not reach.crosses(span.start, span.end)
        )


def asked_of(model: Model, *, best: int | None = None, **options: Unpack[ParseOptions]) -> Asked:
    """Check options against a model, as `Parser.parse` does.

    `best` is how many readings of a sentence are wanted; None: the parse alone.

    Raises:
        TypeError: there is no such option.
        ConfigError: the model has no such head, or a value is wrong.
        ConstraintError: no head has such a label.
    """
    values = complete(options)
    width = beams_of(model, values["beams"], best=best)
    asked = _tasks(model, values["tasks"])
    heads = {name: parts_of(model, name) for name in POINTING if name in asked}
    if values["consistent"] and len(heads) < len(POINTING):
        raise ConfigError(f"consistent: needs tree and entities, not only {', '.join(asked)}")
    if values["names"]:
        asked = _with_tags(model, asked)
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
            raise ConfigError(f"gazetteer: needs entities, not only {', '.join(asked)}")
        for label in sorted(set(gazetteer.labels.values())):
            _heads_of(label, {"entities": heads["entities"]})
    return Asked(
        asked,
        width,
        constraints=constraints,
        gazetteer=gazetteer,
        options={**values, "tasks": asked, "beams": width},
    )


def _with_tags(model: Model, asked: tuple[str, ...]) -> tuple[str, ...]:
    """The tasks with tags, by which names are told from other entities."""
    if "entities" not in asked:
        raise ConfigError(f"names: needs entities, not only {', '.join(asked)}")
    if "tags" not in model.heads.names:
        raise ConfigError("names: needs tags, which this model does not find")
    return tuple(dict.fromkeys((*asked, "tags")))


def record_of(asked: Asked) -> dict[str, Any]:
    """The options of a corpus run, as plain data; a run goes on only with the same."""
    values = cast(Mapping[str, Any], asked.options)
    return {
        name: option.record(values[name])
        for name, option in OPTIONS.items()
        if option.record is not None
    }


def beams_of(model: Model, beams: int | None, *, best: int | None = None) -> int:
    """The width of the beam: the one that is asked for, or else the model's own.

    Args:
        model: to parse with.
        beams: what is asked for; None: the model's own, for several readings no less than these
            and 10.
        best: how many readings are wanted; None: the parse alone.

    Raises:
        ConfigError: one of them is no whole number, or too large.
    """
    from fencepost.config import whole_number

    if best is not None:
        best = whole_number("n_best", best)
    if beams is not None:
        return whole_number("beams", beams)
    return model.search.beams if best is None else max(model.search.beams, best, _FEWEST)


def _tasks(model: Model, tasks: Collection[str] | None) -> tuple[str, ...]:
    """The heads that have to be asked for some tasks; what cannot be asked is refused."""
    known = model.heads.names
    if tasks is None:
        return known
    if not isinstance(tasks, Iterable):
        raise ConfigError(f"tasks: a list of names or None, not {clipped(repr(tasks))}")
    asked = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    if "tree" in asked and "tags" in known:
        asked += ("tags",)  # a tree has them on its leaves
    for task in asked:
        if task not in known:
            raise ConfigError(f"this model has no head for {task!r}; it has {', '.join(known)}")
    return tuple(dict.fromkeys(asked))


def _by_head(heads: Mapping[str, set[str]], asked: Constraints) -> dict[str, Constraints]:
    """The constraints of each head.

    Each label is that of the head that knows it. What has no label, or one that both know, is
    asked of the tree if there is one.
    """
    if asked == Constraints():
        return {}
    if not heads:
        raise ConstraintError("constraints need a head for trees or entities to be asked")
    if asked.labels is not None and not asked.labels:
        raise ConstraintError("labels is empty; it should name some, or be None for all")
    musts, forbids = _dealt(asked.must, heads), _dealt(asked.forbid, heads)
    found = {name: Constraints(tuple(musts[name]), tuple(forbids[name])) for name in heads}
    for label in sorted(asked.labels or ()):
        for name in _heads_of(label, heads):
            labels = (found[name].labels or frozenset()) | {label}
            found[name] = replace(found[name], labels=labels)
    if asked.root is not None:
        name = _heads_of(asked.root, heads)[0]
        if name != "tree" and "tree" in heads:
            raise ConstraintError(
                f"root is {asked.root!r}, a label of {name}; with a tree, root is one of its "
                f"labels: {_some(sorted(heads['tree']))}. For {name} alone, pass "
                f"tasks=[{name!r}]; for a span, must=[(start, end, {asked.root!r})]"
            )
        found[name] = replace(found[name], root=asked.root)
    return {name: one for name, one in found.items() if one != Constraints()}


def parts_of(model: Model, task: str) -> set[str]:
    """The labels of a task, those of chains one by one, with the wrapper of trees."""
    names = model.numbers.labels[task].names
    if task not in POINTING:  # a tag may well hold a plus sign
        return set(names)
    parts = {part for chain in names for part in split(chain)}
    wrapper = model.numbers.wrapper if task == "tree" else None
    return parts if wrapper is None else parts | {wrapper}


def _dealt(spans: Iterable[Span], heads: Mapping[str, set[str]]) -> dict[str, list[Span]]:
    """Spans by the head that each is asked of."""
    found: dict[str, list[Span]] = {name: [] for name in heads}
    for span in spans:
        name = next(iter(heads if span.label is None else _heads_of(span.label, heads)))
        found[name].append(span)
    return found


def _heads_of(label: str, heads: Mapping[str, set[str]]) -> Sequence[str]:
    """The heads that know a label, which may be part of a chain."""
    found = [name for name, parts in heads.items() if label in parts]
    if not found:
        all_known = sorted(set().union(*heads.values()))
        close = get_close_matches(label, all_known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"it has {_some(all_known)}"
        raise ConstraintError(f"the model has no label {label!r} for {' or '.join(heads)}; {hint}")
    return found


def _some(labels: Sequence[str]) -> str:
    """Labels as a message names them."""
    named = ", ".join(label or "''" for label in labels[:_MOST_NAMED])
    more = len(labels) - _MOST_NAMED
    return f"{named} … and {more} more (parser.labels)" if more > 0 else named
