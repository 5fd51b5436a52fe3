"""Documents of a corpus: sentences, and counts of what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from fencepost.errors import DataError
from fencepost.formats.entries import Dropped, parse_with_entities
from fencepost.formats.settings import OnCrossing
from fencepost.formats.standoff import Passage
from fencepost.structure import Parse

Split = Literal["train", "dev", "test"]

SPLITS: tuple[Split, ...] = ("train", "dev", "test")


class CorpusDocument(NamedTuple):
    """The sentences of one document of a corpus in one split.

    Readers yield all documents of a split before those of the next.
    """

    split: Split
    name: str
    parses: tuple[Parse, ...]
    left_out: int = 0  # sentences without words, or with crossing entities
    duplicates: int = 0  # entities that repeat another
    outside: int = 0  # entities outside the text of the document


def document_of(
    passages: Iterable[Passage],
    *,
    split: Split,
    name: str,
    on_crossing: OnCrossing = "error",
    left_out: int = 0,
    outside: int = 0,
) -> CorpusDocument:
    """A document with its entities once each, and the policy for crossing entities applied."""
    parses: list[Parse] = []
    duplicates = 0
    for sentence, entities, _ in passages:
        unique = tuple(dict.fromkeys(entities))
        duplicates += len(entities) - len(unique)
        try:
            parses.append(parse_with_entities(sentence, unique, on_crossing=on_crossing))
        except Dropped:
            left_out += 1
        except DataError as error:
            error.message = f"sentence {sentence.id}: {error.message}"
            raise
    return CorpusDocument(split, name, tuple(parses), left_out, duplicates, outside)
