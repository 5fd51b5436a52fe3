"""Entries of a file: places with a function that reads them and may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn

from fencepost.errors import DataError
from fencepost.formats.settings import OnCrossing
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.parse import check_range
from fencepost.structure.span import drop_crossing


class Entry(NamedTuple):
    """A line of a file and the function that reads the parses there.

    Formats cut a file into entries and leave errors to `read`, so that one bad sentence can be left
    out and the next one read.
    """

    line: int
    read: Callable[[], Iterable[Parse]]
    gaps: int = 0  # number of its discontinuous entities


def refuse(error: DataError) -> NoReturn:
    """Raise an error: the `read` of an entry that is already known to be wrong."""
    raise error


class Dropped(Exception):  # noqa: N818  (not an error: the settings say so)
    """A sentence is left out because its entities cross."""


def parse_with_entities(
    sentence: Sentence,
    entities: Iterable[Span],
    *,
    on_crossing: OnCrossing,
    tree: Tree | None = None,
    dropped: tuple[Span, ...] = (),
    with_gaps: int = 0,
) -> Parse:
    """A parse with the policy for crossing entities applied.

    Args:
        sentence: the words.
        entities: the entities in any order.
        on_crossing: whether to refuse crossing entities, leave out the sentence, or leave out
            spans.
        tree: the tree over the same sentence, if any.
        dropped: entities that were left out when the file was made.
        with_gaps: the number of discontinuous entities, which are not among `entities`; the same
            policy applies to them.
    """
    entities = tuple(entities)
    if with_gaps and on_crossing == "error":
        raise DataError(
            f"{with_gaps} of the entities have a gap in them; nested entities need spans without "
            'gaps.\n  Pass on_crossing="drop-sentence" or "drop-span" (--on-crossing) to leave '
            "them out.",
            kind="discontinuous",
        )
    if on_crossing == "error":
        return Parse(sentence, tree, entities, dropped)
    for span in entities:
        check_range(span, len(sentence))
    nested, crossing = drop_crossing(entities)
    if on_crossing == "drop-sentence" and (crossing or with_gaps):
        raise Dropped(f"{len(crossing) + with_gaps} entities")
    return Parse(sentence, tree, nested, dropped + crossing)
