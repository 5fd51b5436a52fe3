"""A document: what comes back for one input of a parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fencepost.errors import DataError
from fencepost.structure.parse import Parse
from fencepost.structure.plain import VERSION, checked_version, parse_from_plain, plain_parse
from fencepost.structure.span import Span
from fencepost.structure.tree import Tree

OK = "ok"


@dataclass(frozen=True, slots=True)
class Document:
    """The parses of a text's sentences, in order.

    An input that could not be parsed has no sentences, and a status that says why.
    """

    sentences: tuple[Parse, ...]
    text: str | None = None  # the caller's own; None if words were given
    status: str = OK
    id: str | None = None

    @property
    def is_ok(self) -> bool:
        """Whether it was parsed."""
        return self.status == OK

    @property
    def tree(self) -> Tree | None:
        """The tree of the only sentence."""
        return self.only("tree").tree

    @property
    def entities(self) -> tuple[Span, ...] | None:
        """The entities of the only sentence."""
        return self.only("entities").entities

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
                f"this document has {count or 'no'} sentences; go through document.sentences, as "
                f"in [parse.{name} for parse in document.sentences]"
            )
        return self.sentences[0]

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

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `json.dumps` takes and `from_dict` gives back."""
        found: dict[str, Any] = {"version": VERSION, "status": self.status}
        if self.id is not None:
            found["id"] = self.id
        found["text"] = self.text
        found["sentences"] = []
        for parse in self.sentences:
            plain = plain_parse(parse)
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
