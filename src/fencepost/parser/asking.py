"""What is asked of a parser, checked before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TypedDict

from fencepost.errors import ConfigError, ConstraintError
from fencepost.parser.model import Model
from fencepost.structure import Sentence, Span
from fencepost.structure.span import first_crossing
from fencepost.tasks.labels import split
from fencepost.tasks.layers import POINTING
from fencepost.text.gazetteer import Gazetteer
from fencepost.transition import Constraints

Asking = tuple[int, int, str | None]  # start, end, and a label or None for any

_MOST_NAMED = 20  # labels in a message


class Options(TypedDict, total=False):
    """What `Parser.parse` can be asked for, beside an input."""

    tasks: Collection[str] | None
    beams: int
    must: Iterable[Asking]
    forbid: Iterable[Asking]
    labels: Iterable[str] | None
    root: str | None
    consistent: bool
    gazetteer: Gazetteer | Mapping[str, str] | None
    min_probability: float


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be found, how it is looked for, and what it has to obey."""

    tasks: tuple[str, ...]
    beams: int = 1
    canonical: bool = True
    constraints: Mapping[str, Constraints] = field(default_factory=dict)  # by layer
    consistent: bool = False  # whether entities never cross spans of the tree
    gazetteer: Gazetteer | None = None
    min_probability: float = 0.0  # entities below it are left out

    @property
    def is_placed(self) -> bool:
        """Whether anything is asked of certain words, so that it suits one sentence only."""
        return any(one.must or one.forbid for one in self.constraints.values())

    def of(self, sentence: Sentence) -> dict[str, Constraints]:
        """What a sentence's layers have to obey, before any of them is found."""
        found = dict(self.constraints)
        if self.gazetteer is not None:
            entities = found.get("entities", Constraints())
            known = self._known(sentence, found)
            found["entities"] = replace(entities, must=entities.must + known)
        if self.consistent and "entities" in found:
            musts = tuple(span[:2] for span in found["entities"].must)
            tree = found.get("tree", Constraints())
            found["tree"] = replace(tree, uncrossed=tree.uncrossed + musts)
        return {layer: one for layer, one in found.items() if one != Constraints()}

    def _known(self, sentence: Sentence, asked: Mapping[str, Constraints]) -> tuple[Span, ...]:
        """What a gazetteer knows, unless the caller has said something else of these words."""
        assert self.gazetteer is not None
        entities = asked.get("entities", Constraints())
        spoken = {span[:2] for span in (*entities.must, *entities.forbid)}
        musts = list(entities.must)
        if self.consistent and "tree" in asked:
            musts += asked["tree"].must
        return tuple(
            span
            for span in self.gazetteer.find(sentence.words)
            if span[:2] not in spoken and not any(first_crossing((must, span)) for must in musts)
        )


def asked_of(
    model: Model,
    *,
    tasks: Collection[str] | None = None,
    beams: int = 1,
    must: Iterable[Asking] = (),
    forbid: Iterable[Asking] = (),
    labels: Iterable[str] | None = None,
    root: str | None = None,
    consistent: bool = False,
    gazetteer: Gazetteer | Mapping[str, str] | None = None,
    min_probability: float = 0.0,
) -> Asked:
    """What a model is asked for, as `Parser.parse` takes it down.

    Raises:
        ConfigError: the model has no such head, or a number is out of range.
        ConstraintError: no head has such a label.
    """
    if beams < 1:
        raise ConfigError(f"beams: at least 1, not {beams}")
    if not 0 <= min_probability <= 1:
        raise ConfigError(f"min_probability: from 0 to 1, not {min_probability}")
    asked = _tasks(model, tasks)
    heads = {name: parts_of(model, name) for name in POINTING if name in asked}
    if consistent and len(heads) < len(POINTING):
        raise ConfigError(f"consistent: needs tree and entities, not only {', '.join(asked)}")
    constraints = _by_head(
        heads, Constraints.of(must=must, forbid=forbid, labels=labels, root=root)
    )
    if gazetteer is not None:
        if "entities" not in heads:
            raise ConfigError(f"gazetteer: needs entities, not only {', '.join(asked)}")
        if not isinstance(gazetteer, Gazetteer):
            gazetteer = Gazetteer.of(gazetteer)
        for label in sorted(set(gazetteer.labels.values())):
            _heads_of(label, {"entities": heads["entities"]})
    return Asked(
        asked,
        beams,
        constraints=constraints,
        consistent=consistent,
        gazetteer=gazetteer,
        min_probability=min_probability,
    )


def _tasks(model: Model, tasks: Collection[str] | None) -> tuple[str, ...]:
    """The heads that have to be asked for some tasks; what cannot be asked is refused."""
    known = model.heads.names
    if tasks is None:
        return known
    asked = (tasks,) if isinstance(tasks, str) else tuple(tasks)
    if "tree" in asked and "tags" in known:
        asked += ("tags",)  # a tree has them on its leaves
    for task in asked:
        if task not in known:
            raise ConfigError(f"this model has no head for {task!r}; it has {', '.join(known)}")
    return tuple(dict.fromkeys(asked))


def _by_head(heads: Mapping[str, set[str]], asked: Constraints) -> dict[str, Constraints]:
    """What is asked of each head.

    Each label is that of the head that knows it. What has no label, or one that both know, is
    asked of the tree if there is one.
    """
    if asked == Constraints():
        return {}
    if not heads:
        raise ConstraintError("constraints need a head for trees or entities to be asked")
    if asked.labels is not None and not asked.labels:
        raise ConstraintError("labels is empty; it should name some, or be None for all")
    found: dict[str, Constraints] = {name: Constraints() for name in heads}
    for span in asked.must:
        name = _head_of(span, heads)
        found[name] = replace(found[name], must=(*found[name].must, span))
    for span in asked.forbid:
        name = _head_of(span, heads)
        found[name] = replace(found[name], forbid=(*found[name].forbid, span))
    for label in sorted(asked.labels or ()):
        for name in _heads_of(label, heads):
            labels = (found[name].labels or frozenset()) | {label}
            found[name] = replace(found[name], labels=labels)
    if asked.root is not None:
        name = _heads_of(asked.root, heads)[0]
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


def _head_of(span: Span, heads: Mapping[str, set[str]]) -> str:
    return next(iter(heads if span.label is None else _heads_of(span.label, heads)))


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
