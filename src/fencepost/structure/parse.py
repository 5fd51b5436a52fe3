"""Parses: a sentence with its layers of annotation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from fencepost.errors import CrossingSpansError, DataError
from fencepost.structure.brackets import shown
from fencepost.structure.entity import Entity, over
from fencepost.structure.sentence import Sentence, brief, counted
from fencepost.structure.span import Span, first_crossing, in_order
from fencepost.structure.tree import Tree

if TYPE_CHECKING:
    from fencepost.drawing.colours import Theme
    from fencepost.search import Layer, Match, Node, Pattern


@dataclass(frozen=True, slots=True, repr=False)
class Parse:
    """A sentence with a tree, nested entities, both or neither.

    None stands for a layer that is not annotated, an empty tuple for a sentence without entities.

    >>> Parse(Sentence(("Bank", "of", "Oslo")), entities=(Span(2, 3, "GPE"), Span(0, 3, "ORG")))\
.entities
    (Span(start=0, end=3, label='ORG'), Span(start=2, end=3, label='GPE'))
    """

    sentence: Sentence
    tree: Tree | None = None
    entities: tuple[Span, ...] | None = None  # from left to right, holders first
    dropped: tuple[Span, ...] = ()  # crossing entities left out on reading; they count as gold
    # Of each predicted layer; not part of equality.
    log_probs: Mapping[str, float] | None = field(default=None, compare=False)
    rank: int | None = field(default=None, compare=False)  # among n-best parses, from 1

    def __post_init__(self) -> None:
        tree = self.tree
        if tree is not None:
            if tree.sentence is not self.sentence and tree.sentence != self.sentence:
                raise DataError("the tree stands over another sentence")
            if (tree.start, tree.end) != (0, len(self.sentence)):
                raise DataError(f"the root of the tree leaves words out: {tree.spans[0]}")
        for span in self.dropped:
            check_range(span, len(self.sentence))
        if self.entities is not None:
            entities = in_order(self.entities)
            known = tuple(one.within(tree) if isinstance(one, Entity) else one for one in entities)
            object.__setattr__(self, "entities", known)
            for span in known:
                check_range(span, len(self.sentence))
            if crossing := first_crossing(known):
                raise CrossingSpansError(
                    f"{crossing[0]} and {crossing[1]} cross; nested entities need spans that nest "
                    'or do not touch.\n  Pass on_crossing="drop-sentence" or "drop-span" '
                    "(--on-crossing) to leave them out."
                )

    def __str__(self) -> str:
        """Its tree in brackets, or else the words with brackets around entities.

        >>> words = Sentence(("The", "Bank", "of", "Oslo", "closed"))
        >>> print(Parse(words, entities=(Span(0, 4, "organization"), Span(3, 4, "place"))))
        (organization The Bank of (place Oslo)) closed
        """
        if self.tree is not None:
            return str(self.tree)
        words = list(map(shown, self.words))
        for start, end, label in reversed(self.entities or ()):
            words[start] = f"({shown(label or '')} {words[start]}"
            words[end - 1] += ")"
        return " ".join(words)

    def __repr__(self) -> str:
        layers = ["tree"] if self.tree is not None else []
        if self.entities is not None:
            layers.append(counted(len(self.entities), "entity"))
        text = self.sentence.text_between(0, len(self.sentence))
        return f"<Parse {brief(text)}: {', '.join(layers) or 'no layer'}>"

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence."""
        return self.sentence.words

    @property
    def tags(self) -> tuple[str, ...] | None:
        """The part-of-speech tags of the words, if there are any."""
        return self.sentence.tags

    @property
    def log_prob(self) -> float | None:
        """The log-probability of all predicted layers; None if none is predicted."""
        return None if self.log_probs is None else sum(self.log_probs.values())

    def to_dict(self, *, digits: int | None = None) -> dict[str, Any]:
        """Plain data for `json.dumps`; `from_dict` reads it.

        Args:
            digits: to round probabilities to; by default they are not rounded.
        """
        from fencepost.structure.serialization import VERSION, plain_parse

        return {"version": VERSION, **plain_parse(self, digits=digits)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Parse:
        """The parse in plain data."""
        from fencepost.structure.serialization import checked_version, parse_from_plain

        checked_version(data)
        try:
            return parse_from_plain(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not the plain data of a parse: {error!r}") from error

    def find(self, pattern: str | Pattern, *, layer: Layer | None = None) -> Iterator[Match]:
        """The nodes that match a pattern, from the root down and from left to right.

        Args:
            pattern: a Tregex pattern, with conditions on entities and probabilities.
            layer: `tree`, or `entities` for a tree of the entities below a root without a label. By
                default the tree if there is one, else the entities.

        Raises:
            PatternError: the pattern cannot be read.
            DataError: the parse lacks the layer, or the entities of a condition.
        """
        from fencepost.search import find_in_parse

        return find_in_parse(self, pattern, layer=layer)

    def noun_phrases(self, kind: Literal["base", "maximal"] = "base") -> tuple[Node, ...]:
        """The noun phrases that hold no other (base), or that no other holds (maximal).

        Each is defined by a pattern, `fencepost.search.phrases.NOUN_PHRASES`.
        """
        from fencepost.search.phrases import noun_phrases

        return noun_phrases(self, kind)

    def clauses(self) -> tuple[Match, ...]:
        """The clauses, each with its main verb (`verb`) and its subject (`subject`), if any.

        Each is defined by a pattern, `fencepost.search.phrases.CLAUSES`. A clause with several main
        verbs appears once for each.
        """
        from fencepost.search.phrases import clauses

        return clauses(self)

    def entities_to_svg(
        self, *, theme: Theme = "light", boundaries: bool = False, width: int | None = 900
    ) -> str:
        """An SVG picture of the words with nested boxes around the entities.

        Args:
            theme: `light` or `dark`, with colours in the picture; `auto` has classes for pages with
                `fencepost.drawing.html.STYLE`.
            boundaries: whether to mark and number boundaries, which puts all words on one line.
            width: maximal width of lines in pixels; None for one line.
        """
        from fencepost.drawing.svg import entities_svg

        return entities_svg(self, theme=theme, boundaries=boundaries, width=width)

    def entities_to_html(self) -> str:
        """The words with nested boxes around the entities, as HTML that wraps lines."""
        from fencepost.drawing.html import entities_html

        return entities_html(self)

    def to_html(self) -> str:
        """The tree and the entities as a self-contained fragment of HTML."""
        from fencepost.drawing.html import parse_html

        return parse_html(self)

    def _repr_html_(self) -> str:
        """The display in notebooks."""
        return self.to_html()

    def over(self, sentence: Sentence) -> Parse:
        """The same parse over a sentence with the same words."""
        tree = None if self.tree is None else Tree(sentence, over(self.tree.spans, sentence))
        entities = None if self.entities is None else over(self.entities, sentence)
        dropped = over(self.dropped, sentence)
        return replace(self, sentence=sentence, tree=tree, entities=entities, dropped=dropped)

    @property
    def id(self) -> str | None:
        """The id of the sentence, if any."""
        return self.sentence.id


def check_range(span: Span, n: int) -> None:
    """Refuse a span that is not within `n` words."""
    if not 0 <= span.start < span.end <= n:
        raise DataError(f"{span} is not a span of a sentence of {n} words", kind="out of range")
