"""The route that searches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from fencepost.structure import Document, Parse, Sentence, Span, Tree
from fencepost.web.settings import MOST_MATCHES, Settings
from tests.web.serving import PARSER, client, parsed, refused

TEXT = "Go. Ann sat"
SENTENCE = Sentence(("Ann", "sat"), ("NNP", "VBD"), TEXT, ((4, 7), (8, 11)))
DOCUMENT = Document(
    (
        Parse(
            SENTENCE,
            Tree(SENTENCE, (Span(0, 2, "S"), Span(0, 1, "NP"), Span(1, 2, "VP"))),
            (Span(0, 1, "person"),),
        ),
    ),
    TEXT,
).to_dict()


@pytest.fixture(scope="module")
def server() -> Iterator[TestClient]:
    with client() as opened:
        yield opened


def found(server: TestClient, **asked: Any) -> Any:
    response = server.post("/v1/search", json=asked)
    assert response.status_code == 200, response.text
    return response.json()


def test_matches_in_documents_know_their_place_in_the_text(server: TestClient) -> None:
    answer = found(server, pattern="NP{is person}=who $+ VP", documents=[DOCUMENT, DOCUMENT])
    node = {
        **{"label": "NP", "kind": "phrase", "start": 0, "end": 1, "text": "Ann"},
        **{"start_char": 4, "end_char": 7},
    }
    assert answer == {
        "matches": [
            {"document": number, "sentence": 0, **node, "names": {"who": node}}
            for number in range(2)
        ],
        "more": False,
        "statuses": ["ok", "ok"],
    }


def test_what_was_answered_before_can_be_searched(server: TestClient) -> None:
    documents = parsed(server, text="Ann sat. Bo ran.", draw=True)["documents"]
    answer = found(server, pattern="__ <: __", documents=documents)
    assert {match["sentence"] for match in answer["matches"]} == {0, 1}


@pytest.mark.parametrize(
    "given", [{"text": "Ann sat."}, {"words": ["a"]}, {"inputs": ["a", ["b"]]}]
)
@pytest.mark.parametrize("layer", ["tree", "entities", None])
def test_texts_and_words_are_parsed(
    server: TestClient, given: dict[str, Any], layer: str | None
) -> None:
    answer = found(server, pattern="__", layer=layer, **given)
    assert answer["matches"]
    assert set(answer["statuses"]) == {"ok"}


def test_entities_are_found_if_the_pattern_asks_for_them(server: TestClient) -> None:
    text = "Ann met Bo in Oslo."
    answer = found(server, pattern="__{is __}", text=text)
    places = {(one["start"], one["end"]) for one in answer["matches"]}
    assert places <= {span[:2] for span in PARSER.parse(text).entities or ()}


def test_no_more_matches_come_than_were_asked_for(server: TestClient) -> None:
    answer = found(server, pattern="__", documents=[DOCUMENT], limit=2)
    assert (len(answer["matches"]), answer["more"]) == (2, True)
    assert server.get("/v1/models").json()["limits"]["matches"] == MOST_MATCHES


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"pattern": "NP < (", "text": "a"}, "not the end\n  NP < (\n        ^"),
        ({"pattern": "", "text": "a"}, "pattern: "),
        ({"pattern": "x" * 2_001, "text": "a"}, "pattern: "),
        ({"pattern": "NP"}, "exactly one of text, words, inputs and documents was expected"),
        ({"pattern": "NP", "text": "a", "documents": []}, "not text and documents"),
        ({"pattern": "NP", "text": "a", "limit": 0}, "limit: "),
        ({"pattern": "NP", "text": "a", "limit": MOST_MATCHES + 1}, "limit: "),
        ({"pattern": "NP", "text": "a", "layer": "tags"}, "layer: "),
        ({"pattern": "NP", "documents": [{"version": 1}]}, "not the plain data of a document"),
        ({"pattern": "NP", "documents": [{}]}, "plain data of version 1"),
        ({"pattern": "NP", "text": "a", "names": True}, "names"),
        (
            {
                "pattern": "NP",
                "layer": "entities",
                "documents": [{**DOCUMENT, "sentences": [{"words": ["a"], "tree": [[0, 1, "S"]]}]}],
            },
            "document 0, sentence 0: a sentence with entities was expected",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    server: TestClient, asked: dict[str, Any], message: str
) -> None:
    assert message in refused(server.post("/v1/search", json=asked), 422)


def test_a_search_has_limits() -> None:
    with client(Settings(max_words=1, max_inputs=2)) as server:
        asked = {"pattern": "NP", "documents": [DOCUMENT]}
        assert "at most 1 words, not 2" in refused(server.post("/v1/search", json=asked), 422)
        asked = {"pattern": "NP", "documents": [DOCUMENT] * 3}
        assert "at most 2, not 3" in refused(server.post("/v1/search", json=asked), 422)
        asked = {"pattern": "NP", "text": "a b c"}
        assert "at most 1 words" in refused(server.post("/v1/search", json=asked), 422)
    with client(Settings(max_search=-1)) as server:
        asked = {"pattern": "NP", "documents": [DOCUMENT]}
        assert "a simpler pattern" in refused(server.post("/v1/search", json=asked), 422)


def test_half_a_character_can_be_answered(server: TestClient) -> None:
    body = '{"pattern": "__", "documents": [{"version": 1, "status": "ok", "text": null, '
    body += '"sentences": [{"words": ["\\ud83d"], "tree": [[0, 1, "S"]]}]}]}'
    response = server.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (200, 422)
