"""Names only: what is left of the entities, and what it needs."""

import pytest

from fencepost.errors import ConfigError
from fencepost.parser.parser import Parser
from tests.models import lively_model

PARSER = Parser(lively_model("tree", "entities", "tags"))
TEXT = "Ann met the old man from Oslo in Bergen. It slept, and Bo ate."


@pytest.mark.parametrize("tasks", [None, ["entities"]])
def test_names_are_the_entities_whose_head_is_a_proper_noun(tasks: list[str] | None) -> None:
    whole = PARSER.parse(TEXT, tasks=None if tasks is None else [*tasks, "tags"])
    names = PARSER.parse(TEXT, tasks=tasks, names=True)
    assert [list(parse.entities or ()) for parse in names.sentences] == [
        [entity for entity in parse.entities or () if entity.is_name] for parse in whole.sentences
    ]
    assert all(parse.tags for parse in names.sentences)


def test_names_need_entities_and_tags() -> None:
    with pytest.raises(ConfigError, match="names: needs entities, not only tree, tags"):
        PARSER.check_options(tasks=["tree"], names=True)
    with pytest.raises(ConfigError, match="names: needs tags, which this model does not find"):
        Parser(lively_model("entities")).check_options(names=True)
