"""A document: what comes back for one input of a parser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from fencepost.errors import DataError
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
    from fencepost.search import Layer, Match, Pattern

OK = "ok"


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """The parses of a text's sentences, in order: a container of them.

    An input that could not be parsed has no sentences, and a status that says why.

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
    text: str | None = None  # the caller's own; None if words were given
    status: str = OK
    id: str | None = None

    def __post_init__(self) -> None:
        indexed = tuple(
            parse
            if (own := parse.sentence).index == index
            else parse.over(replace(own, index=index))
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
        """The brackets of its sentences, one a line; or why there are none."""
        return "\n".join(map(str, self)) if self.is_ok else f"not parsed: {self.status}"

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
        """The tree of the only sentence; `trees` has those of all."""
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

        `start_char` and `end_char` count in the text of the document, `start` and `end` the words
        of the sentence, and `entity.sentence` is the index of that.
        """
        return tuple(entity for parse in self for entity in parse.entities or ())

    @property
    def log_prob(self) -> float | None:
        """The log-probability of the parse of the only sentence."""
        return self.only("log_prob").log_prob

    def only(self, name: str = "sentence") -> Parse:
        """The parse of the only sentence.

        Args:
            name: what is wanted of it, for the message if there are several.
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
            pattern: in the language of Tregex, with entities and probabilities.
            layer: the tree, or the entities, as for `Parse.find`.

        Raises:
            PatternError: the text is no pattern.
            DataError: it was not parsed, or a sentence has no such layer.
        """
        from fencepost.search import find_in_document

        return find_in_document(self, pattern, layer=layer)

    def to_html(self) -> str:
        """The trees and entities of all sentences as a fragment of HTML, or why there are none."""
        from fencepost.drawing.html import document_html

        return document_html(self)

    def entities_to_html(self) -> str:
        """The sentences with a box around each entity, as a fragment of HTML."""
        from fencepost.drawing.html import document_html

        return document_html(self, entities_only=True)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.to_html()

    def to_dict(self, *, digits: int | None = None) -> dict[str, Any]:
        """Plain data: what `json.dumps` takes and `from_dict` gives back.

        Args:
            digits: of probabilities; None: all of them.
        """
        found: dict[str, Any] = {"version": VERSION, "status": self.status}
        if self.id is not None:
            found["id"] = self.id
        found["text"] = self.text
        found["sentences"] = []
        for parse in self.sentences:
            plain = plain_parse(parse, digits=digits)
            if "offsets" in plain and plain["text"] == self.text:
                del plain["text"]  # said once, not with each sentence
            found["sentences"].append(plain)
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Document:
        """The document that plain data stands for."""
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
