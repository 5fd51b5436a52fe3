"""Entities as rows of a table, for pandas and its like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fencepost.structure.parse import Parse

COLUMNS = (
    "sentence",
    "id",
    "start",
    "end",
    "start_char",
    "end_char",
    "label",
    "text",
    "probability",
)


def entity_rows(parses: Iterable[Parse]) -> Iterator[dict[str, object]]:
    """A row for each entity: of which sentence, where, what; in order, a holder first.

    `pandas.DataFrame(entity_rows(document), columns=COLUMNS)` is a table of a document's entities,
    which has its columns also if there are none.

    Args:
        parses: gone through once, or a document; a parse without this layer has no rows.

    Returns:
        Rows with the number of the sentence among `parses`, from 1, and its id; boundaries between
        words, and where these stand in the text of the sentence; label, text and probability. What
        is not known is None.

    >>> from fencepost.structure import Sentence, Span
    >>> parse = Parse(Sentence(("Bank", "of", "Oslo")), entities=(Span(2, 3, "place"),))
    >>> [(row["sentence"], row["start"], row["text"]) for row in entity_rows([parse])]
    [(1, 2, 'Oslo')]
    """
    for number, parse in enumerate(parses, 1):
        sentence = parse.sentence
        for span in parse.entities or ():
            start, end, label = span
            characters = sentence.characters(start, end) or (None, None)
            text = sentence.text_between(start, end)
            values = (number, parse.id, start, end, *characters, label, text, span.probability)
            yield dict(zip(COLUMNS, values, strict=True))
