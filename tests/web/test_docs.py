"""The schema, and the page that is made from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI

from fencepost.web.docs import docs_page
from fencepost.web.messages import EXAMPLES, ParseAnswer, ParseRequest
from fencepost.web.settings import Settings
from tests.web.serving import client, parsed


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = client(Settings(token="secret")).get("/openapi.json").json()
    return found


def values(data: Any) -> Iterator[tuple[str, Any]]:
    """All keys in plain data, however deep, with what they stand for."""
    if isinstance(data, dict):
        yield from data.items()
    for inner in (
        data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    ):
        yield from values(inner)


class TestSchema:
    def test_it_is_one_of_openapi(self, schema: dict[str, Any]) -> None:
        OpenAPI.model_validate(schema)
        assert schema["openapi"].startswith("3.1")
        assert set(schema["paths"]) == {"/v1/parse", "/v1/models", "/health", "/metrics"}

    def test_what_it_refers_to_is_there(self, schema: dict[str, Any]) -> None:
        names = [value for key, value in values(schema) if key == "$ref"]
        assert names
        for name in names:
            place: Any = schema
            for part in name.removeprefix("#/").split("/"):
                place = place[part]

    def test_each_field_says_what_it_means(self, schema: dict[str, Any]) -> None:
        asked = _asked(schema)
        assert set(asked["properties"]) == set(ParseRequest.model_fields)
        for name, field in asked["properties"].items():
            assert field.get("description"), name

    def test_its_examples_are_accepted(self, schema: dict[str, Any]) -> None:
        assert _asked(schema)["examples"] == EXAMPLES
        for example in EXAMPLES:
            ParseRequest.model_validate(example)

    def test_answers_are_as_it_says(self) -> None:
        server = client()
        for asked in (
            {"text": "It slept. It ate.", "n_best": 2, "draw": True},
            {"inputs": [["a", "b"], "", "b"], "steps": True},
            {"words": ["a"], "probabilities": False, "tasks": ["entities"]},
        ):
            answer = parsed(server, **asked)
            told = ParseAnswer.model_validate(answer)
            assert told.model_dump(mode="json", exclude_unset=True) == answer


def _asked(schema: dict[str, Any]) -> Any:
    body = schema["paths"]["/v1/parse"]["post"]["requestBody"]
    return body["content"]["application/json"]["schema"]


class Elements(HTMLParser):
    """The elements of a page: open ones, those that were never closed, names and links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.names.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


class TestPage:
    def test_it_is_whole_and_its_links_lead_somewhere(self) -> None:
        server = client(Settings(token="secret"))
        page = Elements(server.get("/docs").text)
        assert page.open == []
        assert len(set(page.names)) == len(page.names)
        for link in page.links:
            assert not re.match(r"\w+:|//", link), "another host"
            if link.startswith("#"):
                assert link[1:] in page.names
            else:
                assert server.get(f"/{link.removeprefix('./')}").status_code == 200, link

    def test_it_tells_of_each_route_and_field(self, schema: dict[str, Any]) -> None:
        page = docs_page(schema, "http://here/")
        for path in schema["paths"]:
            assert f" {path}</code></h2>" in page
        for name in ParseRequest.model_fields:
            assert f"<td><code>{name}</code></td>" in page
        assert "curl http://here/v1/parse" in page
        assert "Bearer $FENCEPOST_TOKEN" in page
        assert "Bearer $FENCEPOST_TOKEN" not in client().get("/docs").text

    def test_what_a_client_calls_the_server_is_no_markup(self) -> None:
        page = client().get("/docs", headers={"Host": "<script>"}).text
        assert "<script" not in page
