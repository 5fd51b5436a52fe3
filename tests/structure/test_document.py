import math

import pytest

from fencepost.drawing.html import document_html
from fencepost.errors import DataError
from fencepost.structure import Document, Entity, Parse, Sentence, Span, Tree

ANN = Sentence.from_whitespace(["Ann", "sleeps"], [" ", ""])
PARSE = Parse(
    ANN,
    Tree(ANN, (Span(0, 2, "S"),)),
    (Entity(0, 1, "person", ANN, 0.9),),
    log_probs={"tree": math.log(0.5), "entities": math.log(0.25)},
)


def test_the_only_sentence_is_at_hand() -> None:
    document = Document((PARSE,), "Ann sleeps")
    assert document.is_ok
    assert document.tree is PARSE.tree
    assert document.entities is PARSE.entities
    assert document.log_prob == pytest.approx(math.log(0.125))


@pytest.mark.parametrize("name", ["tree", "entities", "log_prob"])
@pytest.mark.parametrize(("parses", "count"), [((), "no"), ((PARSE, PARSE), "2")])
def test_of_several_sentences_or_none_a_hint_is_given(
    parses: tuple[Parse, ...], count: str, name: str
) -> None:
    with pytest.raises(DataError) as raised:
        getattr(Document(parses), name)
    assert str(raised.value) == (
        f"this document has {count} sentences; go through document.sentences, as in "
        f"[parse.{name} for parse in document.sentences]"
    )


@pytest.mark.parametrize("name", ["tree", "entities", "log_prob"])
def test_of_what_was_not_parsed_the_status_is_told(name: str) -> None:
    document = Document((), "x", "too long")
    assert not document.is_ok
    with pytest.raises(DataError, match="this document was not parsed: too long"):
        getattr(document, name)


def test_documents_are_values() -> None:
    assert Document((PARSE,), "Ann sleeps") == Document((PARSE,), "Ann sleeps")
    assert hash(Document((PARSE,))) == hash(Document((PARSE,)))
    assert Document((PARSE,)) != Document((PARSE,), status="no")
    with pytest.raises(AttributeError):
        Document(()).status = "no"  # type: ignore[misc]


def test_a_document_draws_itself() -> None:
    document = Document((PARSE, PARSE), "Ann sleeps")
    assert document.to_html() == document._repr_html_() == document_html(document)
    assert document.entities_to_html() == document_html(document, entities_only=True)
