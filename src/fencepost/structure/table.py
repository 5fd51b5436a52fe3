"""Entities as rows of a table, as for pandas."""

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
    """A row for each entity, in order, holders first.

    `pandas.DataFrame(entity_rows(document), columns=COLUMNS)` is a table of a document's entities,
    with all columns even without entities.

    Args:
        parses: parses, or a document; parses without entities have no rows.

    Returns:
        Rows with the number of the sentence among `parses`, from 1, and its id; boundaries in words
        and in characters of the sentence's text; label, text and probability. Unknown values are
        None.

    >>> from fencepost.structure import Sentence, Span
    >>> parse = Parse(Sentence(("Bank", "of", "Oslo")), entities=(Span(2, 3, "place"),))
    >>> [(row["sentence"], row["start"], row["text"]) for row in entity_rows([parse])]
    [(1, 2, 'Oslo')]
    """
    for number, parse in enumerate(parses, 1):
        if not isinstance(parse, Parse):
            kind = type(parse).__name__
            hint = "; pass one document, or [parse for document in documents for parse in document]"
            raise TypeError(f"parses were expected, not a {kind}{hint * (kind == 'Document')}")
        sentence = parse.sentence
        for span in parse.entities or ():
            start, end, label = span
            characters = sentence.characters(start, end) or (None, None)
            text = sentence.text_between(start, end)
            values = (number, parse.id, start, end, *characters, label, text, span.probability)
            yield dict(zip(COLUMNS, values, strict=True))
