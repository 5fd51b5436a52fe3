"""An option is defined in one place, and found wherever somebody can ask for it."""

import re
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from fencepost.cli import options as flags
from fencepost.cli.parse import parse as parse_command
from fencepost.errors import ConfigError
from fencepost.parser import options as module
from fencepost.parser.options import (
    OPTIONS,
    ManyOptions,
    Option,
    ParseOptions,
    options_of,
    record_of,
)
from fencepost.parser.parser import Parser
from fencepost.text.gazetteer import Gazetteer
from fencepost.web.schemas import ParseRequest, request_of
from tests.models import lively_model

DOCS = Path(__file__).parents[2] / "docs"


class More(ParseOptions, total=False):
    """The options of parsing, and one more."""

    patience: Annotated[float, Option("How long to look.", 0.5, minimum=0, maximum=9)]


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(lively_model("tree", "entities"))


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> dict[str, Option]:
    """The table with one more option, everywhere that reads it when asked."""
    table = options_of(More)
    monkeypatch.setitem(OPTIONS, "patience", table["patience"])
    return table


class TestOneMore:
    """What is defined with `More` alone is an option of everything."""

    def test_of_parsers(self, parser: Parser, more: dict[str, Option]) -> None:
        check: Any = parser.check_options
        assert check().values["patience"] == 0.5
        assert check(patience=2).values["patience"] == 2
        with pytest.raises(ConfigError, match=r"^patience: from 0 to 9, not 10$"):
            check(patience=10)

    def test_of_the_record_of_a_corpus(self, parser: Parser, more: dict[str, Option]) -> None:
        check: Any = parser.check_options
        assert record_of(check())["patience"] == 0.5
        assert record_of(check(patience=2))["patience"] == 2

    def test_of_the_command_line(self, more: dict[str, Option]) -> None:
        read: list[ParseOptions] = []

        def show(options: ParseOptions) -> None:
            read.append(options)

        app = typer.Typer(rich_markup_mode=None)
        app.command()(flags.command_of(show, more))
        told = CliRunner().invoke(app, ["--help"]).output
        assert "--patience <float range>" in told
        assert "How long to look. [default: 0.5; 0<=x<=9]" in " ".join(told.split())
        assert CliRunner().invoke(app, ["--patience", "3", "--must", "0:2:NP"]).exit_code == 0
        (options,) = read
        written = {"patience": 3.0, "must": [(0, 2, "NP")]}
        defaults = {name: OPTIONS[name].default for name in options if name not in written}
        assert dict(options) == defaults | written

    def test_of_http(self, more: dict[str, Option]) -> None:
        request = request_of(more)
        assert request.model_json_schema()["properties"]["patience"] == {
            "default": 0.5,
            "description": "How long to look.",
            "maximum": 9,
            "minimum": 0,
            "title": "Patience",
            "type": "number",
        }
        options: Any = request.model_validate_json('{"text": "a", "patience": 3}').options()
        assert options["patience"] == 3.0

    def test_of_spacy(self, more: dict[str, Option]) -> None:
        component = pytest.importorskip("fencepost.integrations.spacy")
        made = component.signature_of(more)
        assert made.parameters["patience"].annotation is float
        assert component.default_config(made)["patience"] == 0.5

    def test_of_docstrings(self, more: dict[str, Option]) -> None:
        def ask(**options: "ParseOptions") -> None:
            """Ask."""

        assert "patience: How long to look." in (module.documents_options(ask).__doc__ or "")


def test_all_options_are_everywhere() -> None:
    placed = {name for name, option in OPTIONS.items() if option.placed}
    assert set(ManyOptions.__annotations__) == set(OPTIONS) - placed
    assert set(OPTIONS) <= set(signature(parse_command).parameters)
    assert set(OPTIONS) <= set(ParseRequest.model_fields)
    assert {name for name, option in OPTIONS.items() if option.record is None} == placed


def fields_told_in(page: str, begins: str, ends: str) -> list[str]:
    """The names in the first column of the tables in a part of a page."""
    text = (DOCS / "guides" / page).read_text(encoding="utf-8")
    cells = re.findall(r"^\|([^|]*`[^|]*)\|", text.split(begins)[1].split(ends)[0], re.MULTILINE)
    return sorted(name for cell in cells for name in re.findall(r"`(\w+)`", cell))


def test_the_guide_to_the_server_has_all_fields_of_a_request() -> None:
    told = fields_told_in("serve.md", "Send exactly one of", "An input that could not be parsed")
    assert told == sorted(ParseRequest.model_fields)


def test_the_guide_to_spacy_has_all_settings() -> None:
    component = pytest.importorskip("fencepost.integrations.spacy")
    told = fields_told_in("spacy.md", "## Settings", "## Many Docs")
    assert told == sorted(component.default_config(component.signature_of()))


def test_docstrings_explain_the_options() -> None:
    for name, option in OPTIONS.items():
        assert f"{name}: {option.help}" in (Parser.parse.__doc__ or "")
        assert (f"{name}: " in (Parser.parse_many.__doc__ or "")) != option.placed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_probability": "0.5"}, "min_probability: from 0 to 1, not '0.5'"),
        ({"min_probability": float("nan")}, "min_probability: from 0 to 1, not nan"),
        ({"min_probability": True}, "min_probability: from 0 to 1, not True"),
        ({"consistent": "yes"}, "consistent: True or False, not 'yes'"),
        ({"root": 3}, "root: a text or None, not 3"),
        ({"tasks": 3}, "tasks: a list, not 3"),
        ({"labels": 3}, "labels: a list, not 3"),
        ({"must": 3}, "must: a list, not 3"),
        (
            {"gazetteer": "a.tsv"},
            "gazetteer: a Gazetteer, or phrases with labels, not 'a.tsv'",
        ),
        ({"gazetteer": 3}, "gazetteer: a Gazetteer, or phrases with labels, not 3"),
        ({"beams": 0}, "beams: a whole number from 1 to 1000, not 0"),
    ],
)
def test_wrong_values_are_refused_by_name(
    parser: Parser, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        parser.parse(["a"], **options)
    assert str(caught.value) == message


def test_a_number_without_bounds_is_still_a_number() -> None:
    assert Option("", 0.0, json=float).checked("x", 7) == 7.0
    with pytest.raises(ConfigError, match=r"^x: a number, not 'a'$"):
        Option("", 0.0, json=float).checked("x", "a")


def test_unknown_options_are_refused_by_name(parser: Parser) -> None:
    unknown: dict[str, Any] = {"beems": 2}
    for ask in (parser.parse, parser.parse_many, parser.steps):
        with pytest.raises(TypeError, match="'beems'; did you mean 'beams'"):
            ask(["a"], **unknown)
    unlike: dict[str, Any] = {"xyz": 1}
    with pytest.raises(TypeError, match="'xyz'; there are tasks, beams"):
        parser.check_options(**unlike)


@pytest.mark.parametrize("name", ["must", "forbid"])
def test_what_counts_words_of_one_sentence_is_not_for_many(parser: Parser, name: str) -> None:
    placed: dict[str, Any] = {name: [(0, 1, None)]}
    with pytest.raises(TypeError, match=f"'{name}': it is for one sentence"):
        parser.parse_many([["a"]], **placed)


def test_the_record_is_plain_and_tells_values_apart(parser: Parser) -> None:
    plain = {
        "tasks": ("tree", "entities"),
        "beams": 1,
        "min_probability": 0.0,
        "names": False,
        "labels": None,
        "root": None,
        "consistent": False,
        "gazetteer": None,
    }
    assert record_of(parser.check_options()) == plain
    label, other = parser.labels["entities"][:2]
    root = parser.labels["tree"][0]
    one = record_of(parser.check_options(gazetteer={"Ann": label}))
    assert (
        one["gazetteer"]
        == record_of(parser.check_options(gazetteer=Gazetteer.of({"Ann": label})))["gazetteer"]
    )
    assert (
        one["gazetteer"] != record_of(parser.check_options(gazetteer={"Ann": other}))["gazetteer"]
    )
    asked = parser.check_options(
        tasks=["entities"], beams=2, min_probability=0.5, labels=iter([other, label])
    )
    assert record_of(asked) == {
        **plain,
        "tasks": ("entities",),
        "beams": 2,
        "min_probability": 0.5,
        "labels": tuple(sorted([label, other])),
    }
    assert record_of(parser.check_options(root=root, consistent=True)) == {
        **plain,
        "root": root,
        "consistent": True,
    }
