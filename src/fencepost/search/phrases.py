"""Patterns of noun phrases, and of clauses with subject and main verb."""

from __future__ import annotations

from typing import Literal

from fencepost.search.matches import Match, Node
from fencepost.search.queries import find_in_parse
from fencepost.structure import Parse

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


def noun_phrases(parse: Parse, kind: Literal["base", "maximal"]) -> tuple[Node, ...]:
    """The noun phrases of a parse, from left to right."""
    return tuple(match.node for match in find_in_parse(parse, NOUN_PHRASES[kind], layer="tree"))


def clauses(parse: Parse) -> tuple[Match, ...]:
    """The clauses of a parse, outer ones first."""
    return tuple(find_in_parse(parse, CLAUSES, layer="tree"))
