"""Documents: the parses of one input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

from fencepost.errors import DataError
from fencepost.structure.brackets import printed
from fencepost.structure.parse import Parse
from fencepost.structure.sentence import brief, counted
from fencepost.structure.serialization import (
    VERSION,
    checked_version,
    parse_from_plain,
    plain_parse,
)
from fencepost.structure.span import Span
from fencepost.structure.tree import Tree

if TYPE_CHECKING:
    from fencepost.search import Layer, Match, Node, Pattern

OK = "ok"


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A container of the parses of a text's sentences, in order.

    A document that could not be parsed has no sentences; its status is the reason.

    >>> from fencepost.structure import Sentence
    >>> document = Document((Parse(Sentence(("Ann", "slept")), entities=(Span(0, 1, "person"),)),))
    >>> len(document), document.words, document[0].words
    (1, ('Ann', 'slept'), ('Ann', 'slept'))
    >>> print(document)
    (person Ann) slept
    >>> document
    <Document 'Ann slept': 1 sentence, 2 words, 1 entity>
    """

    sentences: tuple[Parse, ...]
    text: str | None = None  # the input; None for an input of words
    status: str = OK
    id: str | None = None

    def __post_init__(self) -> None:
        indexed = tuple(
            parse
            if (sentence := parse.sentence).index == index
            else parse.over(replace(sentence, index=index))
            for index, parse in enumerate(self.sentences)
        )
        object.__setattr__(self, "sentences", indexed)

    def __iter__(self) -> Iterator[Parse]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    @overload
    def __getitem__(self, index: int) -> Parse: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Parse, ...]: ...

    def __getitem__(self, index: int | slice) -> Parse | tuple[Parse, ...]:
        return self.sentences[index]

    def __str__(self) -> str:
        """The brackets of its sentences, one per line, or the reason why there are none."""
        return "\n".join(map(str, self)) if self.is_ok else f"not parsed: {printed(self.status)}"

    def __repr__(self) -> str:
        text = " ".join(self.words[:20]) if self.text is None else self.text
        if not self.is_ok:
            return f"<Document {brief(text)}: not parsed: {brief(self.status)[1:-1]}>"
        counts = [counted(len(self), "sentence"), counted(len(self.words), "word")]
        if any(parse.entities is not None for parse in self):
            counts.append(counted(len(self.entities), "entity"))
        return f"<Document {brief(text)}: {', '.join(counts)}>"

    @property
    def is_ok(self) -> bool:
        """Whether it was parsed."""
        return self.status == OK

    @property
    def tree(self) -> Tree | None:
        """The tree of the only sentence; for several sentences use `trees`."""
        return self.only("tree").tree

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees of all sentences that have one."""
        return tuple(parse.tree for parse in self if parse.tree is not None)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all sentences."""
        return tuple(word for parse in self for word in parse.words)

    @property
    def entities(self) -> tuple[Span, ...]:
        """The entities of all sentences, in order, holders first.

        `start_char` and `end_char` count characters of the document, `start` and `end` words of the
        sentence, whose index is `entity.sentence`.
        """
        return tuple(entity for parse in self for entity in parse.entities or ())

    @property
    def log_prob(self) -> float | None:
        """The log-probability of the parse of the only sentence."""
        return self.only("log_prob").log_prob

    def only(self, name: str = "sentence") -> Parse:
        """The parse of the only sentence.

        Args:
            name: the attribute to name in the message if there are several.
        """
        if not self.is_ok:
            raise DataError(f"this document was not parsed: {self.status}")
        if len(self.sentences) != 1:
            count = len(self.sentences)
            raise DataError(
                f"this document has {count or 'no'} sentences; go through them, as in "
                f"[parse.{name} for parse in document]"
            )
        return self.sentences[0]

    def find(self, pattern: str | Pattern, *, layer: Layer | None = None) -> Iterator[Match]:
        """The nodes of all sentences that match a pattern, in order.

        Args:
            pattern: a Tregex pattern, with conditions on entities and probabilities.
            layer: `tree` or `entities`, as for `Parse.find`.

        Raises:
            PatternError: the pattern cannot be read.
            DataError: the document was not parsed, or a sentence lacks the layer.
        """
        from fencepost.search import find_in_document

        return find_in_document(self, pattern, layer=layer)

    def noun_phrases(self, kind: Literal["base", "maximal"] = "base") -> tuple[Node, ...]:
        """The noun phrases of all sentences, as `Parse.noun_phrases` finds them."""
        from fencepost.search.phrases import noun_phrases

        return noun_phrases(self, kind)

    def clauses(self) -> tuple[Match, ...]:
        """The clauses of all sentences, as `Parse.clauses` finds them."""
        from fencepost.search.phrases import clauses

        return clauses(self)

    def to_html(self) -> str:
        """The trees and entities of all sentences as a fragment of HTML."""
        from fencepost.drawing.html import document_html

        return document_html(self)

    def entities_to_html(self) -> str:
        """The sentences with a box around each entity, as a fragment of HTML."""
        from fencepost.drawing.html import document_html

        return document_html(self, entities_only=True)

    def _repr_html_(self) -> str:
        """The display in notebooks."""
        return self.to_html()

    def to_dict(self, *, digits: int | None = None) -> dict[str, Any]:
        """Plain data for `json.dumps`; `from_dict` reads it.

        Args:
            digits: to round probabilities to; by default they are not rounded.
        """
        data: dict[str, Any] = {"version": VERSION, "status": self.status}
        if self.id is not None:
            data["id"] = self.id
        data["text"] = self.text
        data["sentences"] = []
        for parse in self.sentences:
            plain = plain_parse(parse, digits=digits)
            if "offsets" in plain and plain["text"] == self.text:
                del plain["text"]  # the document has it
            data["sentences"].append(plain)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Document:
        """The document in plain data."""
        checked_version(data)
        try:
            text = data["text"]
            parses = [
                parse_from_plain({"text": text, **plain} if "offsets" in plain else plain)
                for plain in data["sentences"]
            ]
            return cls(tuple(parses), text, data["status"], data.get("id"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"not the plain data of a document: {error!r}") from error
