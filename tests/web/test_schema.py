"""The server keeps to what its own schema says, whatever is asked.

schemathesis makes requests from the schema, right and wrong ones, and compares the answers with
it. The application is asked in this process.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import Phase, given, seed, settings
from jsonschema_rs import is_valid
from pydantic import ValidationError
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import SchemathesisConfig

from fencepost.web.app import make_app
from fencepost.web.schemas import ParseRequest
from fencepost.web.settings import Settings
from tests.web.serving import PARSER

EXAMPLES = 60
PLACED = ("must", "forbid", "labels", "root", "gazetteer", "consistent")
TOKEN = "secret"
LIMITS = Settings(max_words=200, max_inputs=20, max_close_words=20, token=TOKEN)
APP = make_app(PARSER, LIMITS)
# Not all that the schema allows can be obeyed: `positive_data_acceptance` does not know spans.
NAMES = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
)
load_all_checks()
CHECKED = CHECKS.get_by_names(NAMES)
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", APP, config=SchemathesisConfig())
OPERATIONS: list[Any] = [found.ok() for found in cast(Any, SCHEMA.get_all_operations())]


def unplaced(body: dict[str, Any]) -> dict[str, Any]:
    """A request without constraints, which only few inputs can obey.

    The schema alone allows constraints that no sentence fits.
    """
    return {name: value for name, value in body.items() if name not in PLACED}


def wrong_parts(case: Any) -> str:
    """Which parts of a request are not as the schema wants them: body, header, both or none."""
    parts = case.meta.components.items()
    return " ".join(sorted(part.value for part, one in parts if one.mode.is_negative))


def asked(
    operation: Any, mode: schemathesis.GenerationMode, change: Any = None
) -> Counter[tuple[str, int]]:
    """How often each status was answered to what was wrong, all in the way the schema tells.

    The token is right, unless it is the header that is wrong: there is no other.
    """
    answered: Counter[tuple[str, int]] = Counter()

    @seed(1)
    @settings(max_examples=EXAMPLES, phases=[Phase.explicit, Phase.generate], database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if change is not None and isinstance(case.body, dict):
            case.body = change(case.body)
        wrong = wrong_parts(case)
        token = {} if "header" in wrong else {"Authorization": f"Bearer {TOKEN}"}
        answer = case.call(headers=token)
        answered[wrong, answer.status_code] += 1
        case.validate_response(answer, checks=CHECKED)

    check()
    return answered


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.label)
def test_answers_are_those_that_the_schema_tells_of(operation: Any) -> None:
    answered = asked(operation, schemathesis.GenerationMode.POSITIVE, unplaced)
    assert answered["", 200] >= EXAMPLES // 4 or operation.method == "get"
    assert set(answered) <= {("", 200), ("", 422)}


@pytest.mark.slow
def test_what_the_schema_does_not_allow_is_refused() -> None:
    (parse,) = (one for one in OPERATIONS if one.path == "/v1/parse")
    answered = asked(parse, schemathesis.GenerationMode.NEGATIVE)
    assert set(answered) <= {("body", 422), ("header", 401), ("body header", 401)}
    assert answered["body", 422] >= EXAMPLES // 10
    assert answered["header", 401] > 0


@pytest.mark.parametrize("values", [*product([None, "A b."], [None, ["a"]], [None, ["a"]])])
def test_exactly_one_input_is_what_the_schema_allows(values: tuple[Any, ...]) -> None:
    both = dict(zip(("text", "words", "inputs"), values, strict=True))
    operation = APP.openapi()["paths"]["/v1/parse"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    some = {name: value for name, value in both.items() if value is not None}
    for body in (both, some):  # null is the same as nothing
        assert is_valid(schema, body) == (len(some) == 1)
        if len(some) != 1:
            with pytest.raises(ValidationError):
                ParseRequest.model_validate(body)


def test_every_refusal_is_told_of() -> None:
    told = APP.openapi()["paths"]
    common = {"200", "400", "503"}
    assert set(told["/health"]["get"]["responses"]) == common
    for path in ("/v1/models", "/metrics"):
        assert set(told[path]["get"]["responses"]) == {*common, "401"}
    refusals = {"401", "408", "413", "415", "422", "500"}
    assert set(told["/v1/parse"]["post"]["responses"]) == common | refusals
