"""Patterns of noun phrases, and of clauses with subject and main verb."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from fencepost.errors import ConfigError
from fencepost.search.matches import Match, Node
from fencepost.search.queries import find_in_document, find_in_parse
from fencepost.structure import Document, Parse

NOUN_PHRASES = {
    "base": "@NP !<- POS !<< (@NP !<- POS)",
    "maximal": "@NP !>> @NP",
}
_VERB = "/^(VB|MD)/=verb"
# Auxiliaries and "to" lead down through verb phrases to the main verb.
_MAIN = f"@VP <+(@VP) ({_VERB} !$ @VP)"
CLAUSES = (
    # The subject is the nearest noun phrase before the verb phrase,
    f"@S|SQ < ({_MAIN} ?$-- (@NP=subject !$++ (@NP $++ @VP)))"
    # in inversion, one beside it, as in "said Ann";
    f" | @SINV < ({_MAIN} ?$ @NP=subject)"
    # and in "Is he happy?" there is no verb phrase.
    f" | @SQ|SINV !< @VP < ({_VERB} ?$++ @NP=subject)"
)


def noun_phrases(parse: Parse | Document, kind: Literal["base", "maximal"]) -> tuple[Node, ...]:
    """The noun phrases of a parse or a document, from left to right."""
    if kind not in NOUN_PHRASES:
        known = " or ".join(map(repr, NOUN_PHRASES))
        raise ConfigError(f"kind has to be {known}, not {kind!r}")
    return tuple(match.node for match in _found(parse, NOUN_PHRASES[kind]))


def clauses(parse: Parse | Document) -> tuple[Match, ...]:
    """The clauses of a parse or a document, outer ones first."""
    return tuple(_found(parse, CLAUSES))


def _found(parse: Parse | Document, pattern: str) -> Iterator[Match]:
    if isinstance(parse, Document):
        return find_in_document(parse, pattern, layer="tree")
    return find_in_parse(parse, pattern, layer="tree")
