"""Plain data and back, by way of JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.structure import Document, Entity, FoundSpan, Parse, Sentence, Span, Tree
from tests.strategies import parses

PROBABILITIES = st.floats(0, 1, exclude_min=True)
LAYERS = st.sampled_from(["tree", "entities"])
LOG_PROBS = st.none() | st.dictionaries(LAYERS, st.floats(max_value=0, allow_infinity=False))
# Any characters: NUL, halves of surrogate pairs, line ends.
ANY_WORD = st.text(st.characters(), min_size=1, max_size=4)


@st.composite
def found_parses(draw: st.DrawFn) -> Parse:
    """A parse as a parser makes it; some of its spans do not know how likely they are."""
    parse = draw(parses(ANY_WORD))
    sentence = parse.sentence

    def probability() -> float | None:
        return draw(st.none() | PROBABILITIES)

    tree, entities = parse.tree, parse.entities
    if tree is not None:
        tree = Tree(sentence, tuple(FoundSpan(*s, sentence, probability()) for s in tree.spans))
    if entities is not None:
        entities = tuple(Entity(*span, sentence, probability()) for span in entities)
    dropped = (Span(0, 1, "X"),) if draw(st.booleans()) else ()
    return Parse(sentence, tree, entities, dropped, draw(LOG_PROBS))


def spans_of(parse: Parse) -> list[Span]:
    return [*(parse.tree.spans if parse.tree else ()), *(parse.entities or ()), *parse.dropped]


def same(one: Parse, other: Parse) -> bool:
    """Whether two parses are equal, also in what equality does not look at."""
    return (
        one == other
        and one.log_probs == other.log_probs
        and [getattr(span, "probability", None) for span in spans_of(one)]
        == [getattr(span, "probability", None) for span in spans_of(other)]
    )


@given(found_parses())
def test_a_parse_comes_back_from_json(parse: Parse) -> None:
    again = Parse.from_dict(json.loads(json.dumps(parse.to_dict())))
    assert same(again, parse)
    for span in spans_of(again):
        assert isinstance(span, FoundSpan)
        assert span.source is again.sentence
    assert all(isinstance(entity, Entity) for entity in again.entities or ())


@given(st.lists(found_parses(), max_size=3), st.data())
def test_a_document_comes_back_from_json(found: list[Parse], data: st.DataObject) -> None:
    # The text of the document may or may not be that of a sentence.
    texts = [None, "", *(parse.sentence.text for parse in found)]
    text = data.draw(st.sampled_from(texts))
    status, name = data.draw(st.sampled_from(["ok", "no"])), data.draw(st.none() | st.text())
    document = Document(tuple(found), text, status, name)
    again = Document.from_dict(json.loads(json.dumps(document.to_dict())))
    assert again == document
    assert all(map(same, again.sentences, document.sentences))


def test_the_form_is_what_the_docstring_says() -> None:
    text = "Ann sleeps"
    ann = Sentence(("Ann", "sleeps"), ("NNP", "VBZ"), text, ((0, 3), (4, 10)))
    tree = Tree(ann, (FoundSpan(0, 2, "S", ann, 0.97), FoundSpan(0, 1, "NP", ann)))
    parse = Parse(ann, tree, (Entity(0, 1, "person", ann, 0.95),), log_probs={"tree": -0.06})
    plain = {
        "words": ["Ann", "sleeps"],
        "tags": ["NNP", "VBZ"],
        "text": text,
        "offsets": [[0, 3], [4, 10]],
        "tree": [[0, 2, "S", 0.97], [0, 1, "NP"]],
        "entities": [[0, 1, "person", 0.95]],
        "log_probs": {"tree": -0.06},
    }
    assert parse.to_dict() == {"version": 1, **plain}
    del plain["text"]  # said once
    assert Document((parse,), text, id="7").to_dict() == {
        "version": 1,
        "status": "ok",
        "id": "7",
        "text": text,
        "sentences": [plain],
    }


def test_probabilities_have_as_many_digits_as_are_asked_for() -> None:
    ann = Sentence(("Ann",))
    parse = Parse(
        ann, None, (Entity(0, 1, "person", ann, 0.123456789),), log_probs={"tree": -1 / 3}
    )
    for data in (parse.to_dict(digits=3), Document((parse,)).to_dict(digits=3)["sentences"][0]):
        assert data["entities"] == [[0, 1, "person", 0.123]]
        assert data["log_probs"] == {"tree": -0.333}


def test_empty_layers_are_not_missing_ones() -> None:
    none, empty = Parse(Sentence(("a",))), Parse(Sentence(("a",)), entities=())
    assert none.to_dict() == {"version": 1, "words": ["a"]}
    assert Parse.from_dict(none.to_dict()).entities is None
    assert Parse.from_dict(empty.to_dict()).entities == ()


def test_a_text_without_offsets_is_kept() -> None:
    document = Document((Parse(Sentence(("a",), text="a")),), "a")
    assert Document.from_dict(document.to_dict()) == document


@pytest.mark.parametrize("data", [None, [], {}, {"version": 2}, {"version": "1"}, "x"])
@pytest.mark.parametrize("kind", [Parse, Document])
def test_another_version_is_refused(kind: type[Parse] | type[Document], data: Any) -> None:
    with pytest.raises(DataError, match="plain data of version 1 was expected, not of version"):
        kind.from_dict(data)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"words": None},
        {"words": "ab"},
        {"words": ["a", 1]},
        {"words": ["a", None]},
        {"words": ["a"], "tags": "A"},
        {"words": ["a"], "tags": [1]},
        {"words": ["a"], "text": "a", "offsets": 5},
        {"words": ["a"], "text": "a", "offsets": [[0]]},
        {"words": ["a"], "text": "a", "offsets": [[0, "1"]]},
        {"words": ["a"], "tree": [["0", 1, "S"]]},
        {"words": ["a"], "tree": [[0, 1]]},
        {"words": ["a"], "entities": [[0, 1, "X", 0.5, 7]]},
        {"words": ["a"], "entities": 5},
    ],
)
def test_data_of_another_form_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="not the plain data of a parse"):
        Parse.from_dict({"version": 1, **wrong})
    with pytest.raises(DataError, match="not the plain data of a document"):
        Document.from_dict({"version": 1, "status": "ok", "text": None, "sentences": [wrong]})


@pytest.mark.parametrize(
    "wrong",
    [{"sentences": 5}, {"sentences": [5]}, {"sentences": ["offsets"]}, {"sentences": [None]}, {}],
)
def test_documents_of_another_form_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="not the plain data of a document"):
        Document.from_dict({"version": 1, "status": "ok", "text": "", **wrong})


def test_what_makes_no_sense_is_told() -> None:
    with pytest.raises(DataError, match="is not a span of a sentence of 1 words"):
        Parse.from_dict({"version": 1, "words": ["a"], "entities": [[0, 2, "X"]]})
