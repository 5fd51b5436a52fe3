"""The schema, and the page that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.openapi.models import OpenAPI
from playwright.sync_api import BrowserContext, expect

from fencepost.web.schemas import EXAMPLES, ParseAnswer, ParseRequest
from fencepost.web.settings import Settings
from tests.web.pages import opened
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
        assert set(schema["paths"]) == {
            "/v1/parse",
            "/v1/search",
            "/v1/models",
            "/health",
            "/metrics",
        }

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


class TestPage:
    def test_its_files_come_from_this_server_alone(self) -> None:
        server = client(Settings(token="secret"))
        page = server.get("/docs").text
        links = re.findall(r'(?:href|src)="([^"]+)"', page)
        assert len(links) >= 4
        for link in links:
            assert not re.match(r"\w+:|//", link), "another host"
            assert server.get(f"/{link}").status_code == 200, link
        assert not re.search(r"<script>|<style|style=", page)  # the policy would refuse these

    @pytest.mark.slow
    def test_it_shows_each_route(
        self, schema: dict[str, Any], desktop: BrowserContext, page_address: str
    ) -> None:
        with opened(desktop, page_address) as watched:
            watched.page.goto(f"{page_address}docs")
            for path in schema["paths"]:
                expect(watched.page.get_by_text(path, exact=True)).to_be_visible()
