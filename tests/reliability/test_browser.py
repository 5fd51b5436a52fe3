"""The page that parses in the browser: a sample of what `bench/fuzz.py --browser` sends."""

from pathlib import Path
from random import Random

import pytest

from tests.reliability.browser import browser_routes
from tests.web.local.helpers import needs_node, needs_runtime

EACH = {"export-web, a model": 12, "the page, texts": 2}


@needs_node
@needs_runtime
@pytest.mark.slow
def test_models_and_texts_end_in_a_page_a_parse_or_an_error_of_ours(tmp_path: Path) -> None:
    outcomes = {
        way.name: {
            outcome
            for number in range(EACH[way.name])
            for outcome in way.send(way.make(Random(f"{way.name}/{number}")))
        }
        for way in browser_routes(tmp_path)
    }
    assert outcomes == {
        "export-web, a model": {"valid", "refused"},
        "the page, texts": {"valid"},
    }
