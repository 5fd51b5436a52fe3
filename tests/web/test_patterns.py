"""The page finds the matches of a pattern that Python finds."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import PatternError
from fencepost.search import Layer, find_in_parse
from fencepost.structure import Document, Parse
from tests.search.strategies import patterns, small_parses
from tests.web.local.helpers import needs_node, node_test

DAMAGE = st.sampled_from(["", "(", ")", "[", "]", "{", "}", "|", "!", "&", "<", "$", " ", "=", '"'])


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A pattern in which a character is something else."""
    pattern = draw(patterns())
    place = draw(st.integers(0, len(pattern)))
    return pattern[:place] + draw(DAMAGE) + pattern[place + 1 :]


@needs_node
@pytest.mark.slow
def test_the_page_finds_what_python_finds(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = []

    @settings(max_examples=1500, database=None, derandomize=True)
    @given(
        small_parses(),
        st.one_of(patterns(depth=1), patterns(), damaged()),
        st.sampled_from(["tree", "entities"]),
    )
    def collect(parse: Parse, pattern: str, layer: Layer) -> None:
        (sentence,) = Document((parse,)).to_dict()["sentences"]
        case = {"sentence": sentence, "layer": layer, "pattern": pattern}
        cases.append({**case, "expected": matches(parse, pattern, layer)})

    collect()
    node_test("../patterns.test.mjs", {"cases": cases}, tmp_path)


def matches(parse: Parse, pattern: str, layer: Layer) -> list[Any] | None:
    """Kind, label, boundaries and probability of each; None if it is no pattern."""
    try:
        nodes = [match.node for match in find_in_parse(parse, pattern, layer=layer)]
    except PatternError:
        return None
    return [[one.kind, one.label or "", one.start, one.end, one.probability] for one in nodes]
