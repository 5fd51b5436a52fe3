"""One thing in a file that is to be read, and what to do when it cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, NoReturn

from fencepost.errors import DataError
from fencepost.formats.settings import OnCrossing
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.parse import check_range
from fencepost.structure.span import drop_crossing


class Entry(NamedTuple):
    """A place in a file and the function that reads what stands there.

    Readers cut a file into entries and do not fail themselves, so that one bad sentence can be
    left out and the next one read.
    """

    line: int
    read: Callable[[], Iterable[Parse]]
    gaps: int = 0  # how many of its entities have a gap in them, for the count


def refuse(error: DataError) -> NoReturn:
    """Read nothing: what stands at a place is already known to be wrong."""
    raise error


class Dropped(Exception):  # noqa: N818  (not an error: the caller asked for it)
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
    """A parse, with the policy for entities that cross applied.

    Args:
        sentence: the words.
        entities: in any order.
        on_crossing: refuse them, leave out the sentence, or leave out as few spans as it takes.
        tree: the tree over the same sentence, if there is one.
        dropped: entities that were left out before, when the file was made.
        with_gaps: how many entities of the file cannot be said as one span each, and are not
            among `entities`. The same policy holds for them.
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
    kept, crossing = drop_crossing(entities)
    if on_crossing == "drop-sentence" and (crossing or with_gaps):
        raise Dropped(f"{len(crossing) + with_gaps} entities")
    return Parse(sentence, tree, kept, dropped + crossing)
