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
    assert document.tree == PARSE.tree
    assert document.entities == PARSE.entities
    assert document.log_prob == pytest.approx(math.log(0.125))


@pytest.mark.parametrize("name", ["tree", "log_prob"])
@pytest.mark.parametrize(("parses", "count"), [((), "no"), ((PARSE, PARSE), "2")])
def test_of_several_sentences_or_none_a_hint_is_given(
    parses: tuple[Parse, ...], count: str, name: str
) -> None:
    with pytest.raises(DataError) as raised:
        getattr(Document(parses), name)
    assert str(raised.value) == (
        f"this document has {count} sentences; go through them, as in "
        f"[parse.{name} for parse in document]"
    )


@pytest.mark.parametrize("name", ["tree", "log_prob"])
def test_of_what_was_not_parsed_the_status_is_told(name: str) -> None:
    document = Document((), "x", "too long")
    assert not document.is_ok
    with pytest.raises(DataError, match="this document was not parsed: too long"):
        getattr(document, name)


def test_a_document_is_a_container_of_its_sentences() -> None:
    other = Parse(Sentence(("It", "rained")))
    document = Document((PARSE, other), "Ann sleeps. It rained")
    assert list(document) == [PARSE, other]
    assert (len(document), document[0], document[-1]) == (2, PARSE, other)
    assert document[1:] == (other,)
    assert other in document
    with pytest.raises(IndexError):
        document[2]
    assert document.words == ("Ann", "sleeps", "It", "rained")
    assert document.trees == (PARSE.tree,)


def test_entities_of_all_sentences_say_which_one_they_are_in() -> None:
    text = "Ann sleeps. So does Bo."
    one = Sentence(("Ann", "sleeps", "."), None, text, ((0, 3), (4, 10), (10, 11)))
    two = Sentence(("So", "does", "Bo"), None, text, ((12, 14), (15, 19), (20, 22)))
    parses = (
        Parse(one, entities=(Entity(0, 1, "person", one, 0.5),)),
        Parse(two, entities=(Entity(2, 3, "person", two),)),
    )
    for document in (Document(parses, text), Document.from_dict(Document(parses, text).to_dict())):
        assert [entity.sentence for entity in document.entities] == [0, 1]
        assert [entity.sentence for parse in document for entity in parse.entities or ()] == [0, 1]
        for entity in document.entities:
            assert text[entity.start_char : entity.end_char] == entity.text
            assert entity.sentence is not None
            assert document[entity.sentence].words[entity.start : entity.end] == (entity.text,)
    assert [entity.sentence for entity in Document(parses[::-1]).entities] == [0, 1]
    assert [entity.sentence for parse in parses for entity in parse.entities or ()] == [None, None]
    assert Document(parses, text)[1] == parses[1]


def test_what_was_not_parsed_is_an_empty_container() -> None:
    document = Document((), "x", "too long")
    assert (list(document), document.entities, document.trees, document.words) == ([], (), (), ())


def test_printed_it_is_a_tree_a_line() -> None:
    plain = Parse(Sentence(("New York", "(", "rained")), entities=(Span(0, 1, "place"),))
    assert (
        str(Document((PARSE, plain))) == "(S (XX Ann) (XX sleeps))\n(place New_York) -LRB- rained"
    )
    assert str(Document((), "")) == ""
    assert str(Document((), "x", "too long")) == "not parsed: too long"


def test_its_repr_is_one_short_line() -> None:
    assert repr(Document((PARSE, PARSE), "Ann sleeps")) == (
        "<Document 'Ann sleeps': 2 sentences, 4 words, 2 entities>"
    )
    tree = Parse(ANN, PARSE.tree)
    assert repr(Document((tree,))) == "<Document 'Ann sleeps': 1 sentence, 2 words>"
    assert repr(Document((), "x\ny", "too long\n" * 50)) == (
        "<Document 'x y': not parsed: too long too long too long too long …>"
    )
    many = Document((PARSE,) * 1000, "y" * 100_000)
    assert len(repr(many)) < 120


@pytest.mark.parametrize(
    ("parse", "shown"),
    [
        (PARSE, "<Parse 'Ann sleeps': tree, 1 entity>"),
        (Parse(Sentence(())), "<Parse '': no layer>"),
        (Parse(ANN, entities=()), "<Parse 'Ann sleeps': no entities>"),
        (PARSE.tree, "<Tree 'Ann sleeps': S, 2 words>"),
        (Tree(ANN, (Span(0, 2, ""),)), "<Tree 'Ann sleeps': no label, 2 words>"),
        (ANN, "<Sentence 'Ann sleeps': 2 words>"),
    ],
)
def test_reprs_of_its_parts_are_short_lines(parse: object, shown: str) -> None:
    assert repr(parse) == shown


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
