"""Constraints on parses: required and forbidden spans, places that no span crosses, and labels.

Constraints are first checked against the number of words and the known labels: either an error
names the contradiction, or some parse satisfies them. Then steps are limited so that every walk
ends in such a parse, and every such parse can be reached. A required span (a must) is *open* if it
ends at the cursor and starts left of the newest span, so that only its own step is missing.

(a) While a must is open, no candidates on the right.
(b) On the right, no candidates beyond the start of a later must, nor beyond the end of one around
    the cursor.
(c) On the left, no candidates before the start of an open must, nor of one around the cursor.
(d) A span without a possible label is never a merge, and bottom-most only as a filler; a must is
    never a filler. A span that crosses an uncrossed place has no possible label.
(e) The second canonical rule applies at the end of every must that holds the left neighbour, as it
    does at `n`.
(f) Where this leaves no step, the first two canonical rules are lifted for one step. The derivation
    then differs from the oracle's; the probability of the parse is that of the oracle's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from fencepost.errors import ConstraintError, TransitionError, clipped
from fencepost.structure.span import Span, first_crossing
from fencepost.structure.tree import WRAPPERS
from fencepost.transition.canonical import CanonicalConfiguration

Place = tuple[int, int]
Parts = tuple[str, ...]  # the labels of one chain, outermost first


@dataclass(frozen=True, slots=True)
class Reach:
    """The limits of spans that start or end at each boundary and cross none of some places.

    A span crosses a place if one of its ends is within the place and the other outside. Of the
    places around a boundary, the one that ends first limits spans that start there, and the one
    that starts last limits spans that end there.

    >>> reach = Reach.of([(1, 3), (0, 4)], 5)
    >>> reach.last_end, reach.first_start
    ((5, 4, 3, 4, 5, 5), (0, 0, 1, 0, 0, 0))
    >>> reach.crosses(2, 3), reach.crosses(2, 4), reach.crosses(0, 2)
    (False, True, True)
    """

    last_end: tuple[int, ...]  # for each boundary, of the spans that start there
    first_start: tuple[int, ...]  # for each boundary, of the spans that end there

    @classmethod
    def of(cls, places: Collection[Place], n: int) -> Reach:
        """The reach of spans in a sentence of `n` words; places may cross each other."""
        # Mirrored, starts are ends.
        mirrored = _last_ends([(n - end, n - start) for start, end in places], n)
        return cls(tuple(_last_ends(places, n)), tuple(n - end for end in reversed(mirrored)))

    def crosses(self, start: int, end: int) -> bool:
        """Whether a span crosses any of the places."""
        return end > self.last_end[start] or start < self.first_start[end]


def _last_ends(places: Iterable[Place], n: int) -> list[int]:
    """For each boundary, the first end of the places around it; `n` without any."""
    waiting = sorted(places, reverse=True)
    ends: list[int] = []  # a heap: of the places that start before the boundary
    last = []
    for boundary in range(n + 1):
        while waiting and waiting[-1][0] < boundary:
            heappush(ends, waiting.pop()[1])
        while ends and ends[0] <= boundary:
            heappop(ends)
        last.append(ends[0] if ends else n)
    return last


@dataclass(frozen=True, slots=True)
class Limits:
    """The labels that constraints leave for the spans of one sentence."""

    must: frozenset[Place]
    named: Mapping[Place, tuple[str, ...]]  # chains for places in constraints
    elsewhere: tuple[str, ...]  # chains for all other places
    reach: Reach | None = None  # of labelled spans; None: anywhere

    def chains(self, start: int, end: int) -> tuple[str, ...]:
        """The possible chains of a span; empty: it may only be a filler."""
        if self.reach is not None and self.reach.crosses(start, end):
            return ()
        return self.named.get((start, end), self.elsewhere)


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on a parse.

    >>> constraints = Constraints.of(must=[(0, 2, "NP")], forbid=[(0, 2, "S"), (1, 3, None)])
    >>> known = {"S": ("S",), "NP": ("NP",), "S+NP": ("S", "NP")}
    >>> limits = constraints.limits(known, 3, open_root=False)
    >>> limits.chains(0, 2), limits.chains(1, 3), limits.chains(0, 3)
    (('NP',), (), ('S', 'NP', 'S+NP'))
    >>> limits = Constraints.of(uncrossed=[(1, 3)]).limits(known, 3, open_root=False)
    >>> limits.chains(0, 2), limits.chains(0, 1)
    ((), ('S', 'NP', 'S+NP'))
    """

    must: tuple[Span, ...] = ()  # required, with this among its labels; None: with any label
    forbid: tuple[Span, ...] = ()  # forbidden with this label; None: with any label
    labels: frozenset[str] | None = None  # the only allowed labels; None: all
    root: str | None = None  # the label of the whole sentence, below a wrapper; None: any
    uncrossed: tuple[Place, ...] = ()  # places that labelled spans do not cross

    @classmethod
    def of(
        cls,
        *,
        must: Iterable[tuple[int, int, str | None]] = (),
        forbid: Iterable[tuple[int, int, str | None]] = (),
        labels: Iterable[str] | None = None,
        root: str | None = None,
        uncrossed: Iterable[Place] = (),
    ) -> Constraints:
        """Constraints from the arguments of a user."""
        if isinstance(labels, str):
            raise ConstraintError(f"labels is {labels!r}; it should be a list, like [{labels!r}]")
        for kind, value in (("must", must), ("forbid", forbid), ("labels", labels or ())):
            if not isinstance(value, Iterable):
                raise ConstraintError(f"{kind} is {clipped(repr(value))}; it should be a list")
        names = None if labels is None else tuple(labels)
        for kind, name in (*(("labels has", one) for one in names or ()), ("root is", root or "")):
            if not isinstance(name, str):
                raise ConstraintError(
                    f"{kind} {clipped(repr(name))}; it should be the name of a label"
                )
        return cls(
            _spans("must", must),
            _spans("forbid", forbid),
            None if names is None else frozenset(names),
            root,
            tuple(map(_place, uncrossed)),
        )

    def check(self, n: int) -> None:
        """Refuse spans beyond `n` words, and musts that cross each other or an uncrossed place."""
        uncrossed = tuple(Span(*place) for place in self.uncrossed)
        kinds = (("must", self.must), ("forbid", self.forbid), ("uncrossed", uncrossed))
        for kind, spans in kinds:
            for span in spans:
                if not 0 <= span.start < span.end <= n:
                    raise ConstraintError(
                        f"{_named(kind, span)} is not a span of a sentence of {n} words; "
                        f"it should be 0 <= start < end <= {n}"
                    )
        crossing = first_crossing(self.must)
        if crossing is not None:
            one, other = (_named("must", span) for span in crossing)
            raise ConstraintError(f"{one} and {other} cross; spans of one parse nest")
        reach = Reach.of(self.uncrossed, n)
        for must in self.must:
            if reach.crosses(must.start, must.end):
                place = next(p for p in uncrossed if first_crossing((must, p)))
                raise ConstraintError(
                    f"{_named('must', must)} and {_named('uncrossed', place)} cross; "
                    "no span with a label may cross an uncrossed place"
                )

    def limits(
        self, known: Mapping[str, Parts], n: int, *, open_root: bool, wrapper: str | None = None
    ) -> Limits:
        """The labels left for the spans of a sentence, with which some parse exists.

        Args:
            known: all chains with their labels.
            n: the number of words.
            open_root: whether the whole sentence may be a filler, as for entities.
            wrapper: a label around each tree that is not part of `known`, if any.

        Raises:
            ConstraintError: no parse satisfies the constraints.
        """
        self.check(n)
        whole = (0, n)
        musts, forbids = _by_place(self.must), _by_place(self.forbid)
        must = set(musts)
        if open_root and self.root is not None:
            must.add(whole)
        others = {chain: parts for chain, parts in known.items() if parts}
        # A tree that is only a word and its tag has no label.
        at_top = known if n == 1 else others
        if wrapper is not None:
            at_top = {chain: (wrapper, *parts) for chain, parts in known.items()}
        named: dict[Place, tuple[str, ...]] = {}
        left: dict[object, tuple[str, ...]] = {}  # cache by requirements
        for place in sorted({*must, *forbids, whole}):
            is_whole, spans = place == whole, (musts.get(place, ()), forbids.get(place, ()))
            fits = at_top if is_whole else others
            kind = (is_whole, *(tuple(span.label for span in some) for some in spans))
            if kind not in left:
                left[kind] = _left(
                    fits, self._requirements(*spans, whole=is_whole, open_root=open_root)
                )
            named[place] = left[kind]
            if not left[kind] and (place in must or (is_whole and not open_root)):
                requirements = self._requirements(*spans, whole=is_whole, open_root=open_root)
                raise ConstraintError(_contradiction(place, fits, requirements))
        elsewhere = _left(others, self._requirements((), (), whole=False, open_root=open_root))
        reach = Reach.of(self.uncrossed, n) if self.uncrossed else None
        return Limits(frozenset(must), named, elsewhere, reach)

    def _requirements(
        self, musts: Iterable[Span], forbids: Iterable[Span], *, whole: bool, open_root: bool
    ) -> list[_Requirement]:
        """The requirements on the chain at a place with these musts and forbids."""
        top = whole and not open_root  # the place of a tree's wrapper
        requirements = [
            _Requirement(_named("must", span), _contains(span.label, always=top), needs=True)
            for span in musts
        ]
        requirements += (
            _Requirement(_named("forbid", span), _lacks(span.label)) for span in forbids
        )
        if self.labels is not None:
            name = f"labels {sorted(self.labels)}"
            requirements.append(_Requirement(name, _made_of(self.labels, top=top)))
        if whole and self.root is not None:
            name = f"root {self.root!r}"
            requirements.append(_Requirement(name, _rooted(self.root, top=top), needs=True))
        return requirements


def _by_place(spans: Iterable[Span]) -> dict[Place, list[Span]]:
    """Spans by their places, each once."""
    places: dict[Place, list[Span]] = {}
    for span in dict.fromkeys(spans):
        places.setdefault(span[:2], []).append(span)
    return places


@dataclass(frozen=True, slots=True)
class _Requirement:
    """A condition on a chain, with its name in messages."""

    name: str
    met: Callable[[Parts], bool]
    needs: bool = False  # whether it requires the span to exist


def _contains(label: str | None, *, always: bool) -> Callable[[Parts], bool]:
    if label is None:
        return lambda parts: always or bool(parts)
    return lambda parts: label in parts


def _lacks(label: str | None) -> Callable[[Parts], bool]:
    return lambda parts: not parts if label is None else label not in parts


def _made_of(labels: Collection[str], *, top: bool) -> Callable[[Parts], bool]:
    return lambda parts: all(part in labels for part in (_unwrapped(parts) if top else parts))


def _rooted(root: str, *, top: bool) -> Callable[[Parts], bool]:
    if not top:
        return _contains(root, always=False)
    if root in WRAPPERS:
        return lambda parts: parts[:1] == (root,)
    return lambda parts: _unwrapped(parts)[:1] == (root,)


def _unwrapped(parts: Parts) -> Parts:
    return parts[1:] if parts and parts[0] in WRAPPERS else parts


def _left(known: Mapping[str, Parts], requirements: Collection[_Requirement]) -> tuple[str, ...]:
    return tuple(
        chain
        for chain, parts in known.items()
        if all(requirement.met(parts) for requirement in requirements)
    )


def _contradiction(
    place: Place, known: Mapping[str, Parts], requirements: list[_Requirement]
) -> str:
    """The message where no label is left, naming only the requirements that cause it."""
    blamed = list(requirements)
    for requirement in requirements:
        fewer = [other for other in blamed if other is not requirement]
        if not _left(known, fewer):
            blamed = fewer
    if not any(requirement.needs for requirement in blamed):
        blamed = [requirement for requirement in requirements if requirement.needs][:1] + blamed
    names = " and ".join(requirement.name for requirement in blamed)
    if len(blamed) > 1:
        return f"{names} contradict each other: no label of the model is left for {place}"
    return f"{names or 'the model'} leaves no label of the model for {place}"


def _named(kind: str, span: Span) -> str:
    place = f"{kind} ({span.start}, {span.end})"
    return place if span.label is None else f"{place} {span.label}"


def _spans(kind: str, values: Iterable[tuple[int, int, str | None]]) -> tuple[Span, ...]:
    values = tuple(values)
    match values:
        case (int(), int()) | (int(), int(), str() | None):
            one = (*values, None)[:3]
            raise ConstraintError(f"{kind} is {values!r}; it should be a list, like [{one!r}]")
    return tuple(_span(kind, value) for value in values)


def _span(kind: str, value: tuple[int, int, str | None]) -> Span:
    match value:
        case (int(start), int(end), (str() | None) as label):
            return Span(int(start), int(end), label)  # True is 1, but not as an index of arrays
    raise ConstraintError(f"{kind} has {value!r}; it should be (start, end, label or None)")


def _place(value: Place) -> Place:
    match value:
        case (int(), int()):
            return (value[0], value[1])
    raise ConstraintError(f"uncrossed has {value!r}; it should be (start, end)")


@dataclass(frozen=True, slots=True)
class ConstrainedConfiguration:
    """A configuration from which every walk ends in a parse that satisfies the constraints.

    >>> from fencepost.transition import Configuration
    >>> limits = Constraints.of(must=[(1, 3, None)]).limits({"X": ("X",)}, 4, open_root=False)
    >>> start = ConstrainedConfiguration(CanonicalConfiguration(Configuration(4)), limits)
    >>> start.candidates()  # (b)
    (1,)
    >>> start.point(1, None).candidates(), start.point(1, None).may_be_filler(3)
    ((2, 3), False)
    """

    canonical: CanonicalConfiguration
    limits: Limits

    def candidates(self) -> tuple[int, ...]:
        """The boundaries that may be pointed to; never empty until the parse is complete."""
        return tuple(self._ways())

    def may_be_filler(self, boundary: int) -> bool:
        """Whether the span made by pointing to a candidate may be a filler."""
        return self._ways()[boundary]

    def chains(self, boundary: int) -> tuple[str, ...]:
        """The possible chains of the span made by pointing there; empty: it is a filler."""
        return self.limits.chains(*self._place(boundary))

    def point(self, boundary: int, label: str | None) -> ConstrainedConfiguration:
        """Complete the span between the cursor and `boundary`."""
        ways = self._ways()
        fits = ways.get(boundary, False) if label is None else label in self.chains(boundary)
        if boundary not in ways or not fits:
            raise TransitionError(
                f"no step from {self.canonical.plain.cursor} to {boundary} with the label {label} "
                "obeys the constraints"
            )
        after = self.canonical.complete(boundary, filler=label is None)
        return ConstrainedConfiguration(after, self.limits)

    def _ways(self) -> dict[int, bool]:
        """The candidates, and whether their spans may be fillers: rule (f)."""
        return self._steps(lifted=False) or self._steps(lifted=True)

    def _steps(self, *, lifted: bool) -> dict[int, bool]:
        among = self.canonical.plain if lifted else self.canonical
        steps = {}
        for boundary in among.candidates():
            filler = self._filler(boundary, lifted=lifted)
            if self._keeps_musts(boundary) and (filler or self.chains(boundary)):
                steps[boundary] = filler
        return steps

    def _keeps_musts(self, boundary: int) -> bool:
        """Whether all musts are still possible after pointing there: rules (a) to (c)."""
        cursor, newest = self.canonical.plain.cursor, self.canonical.plain.newest
        for start, end in self.limits.must:
            is_open = end == cursor and newest is not None and start < newest
            if boundary > cursor:
                if is_open or cursor < start < boundary or start <= cursor < end < boundary:
                    return False
            elif boundary < start and (is_open or start < cursor < end):
                return False
        return True

    def _filler(self, boundary: int, *, lifted: bool) -> bool:
        """Whether the span made may be a filler: rules (d) and (e), and the canonical rules."""
        place = self._place(boundary)
        if place in self.limits.must:
            return False
        plain = self.canonical.plain
        if lifted and boundary > plain.cursor and place != (0, plain.n):
            return True
        return self.canonical.may_be_filler(boundary) and not self._fills_a_must(boundary)

    def _fills_a_must(self, boundary: int) -> bool:
        """Whether a filler would follow another one at the end of a must that holds both."""
        newest, fillers = self.canonical.plain.newest, self.canonical.fillers
        return any(
            end == boundary and newest is not None and start <= newest and fillers[-1]
            for start, end in self.limits.must
        )

    def _place(self, boundary: int) -> Place:
        cursor = self.canonical.plain.cursor
        return (min(cursor, boundary), max(cursor, boundary))
