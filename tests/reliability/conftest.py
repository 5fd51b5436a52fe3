from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.parser.parser import Parser
from tests.models import lively_model
from tests.reliability.driver import Driver


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small model."""
    folder = tmp_path_factory.mktemp("model")
    Parser(lively_model("tree", "entities", "tags")).save(folder)
    return folder


@pytest.fixture(scope="session")
def driver(model: Path) -> Iterator[Driver]:
    found = Driver(model)
    yield found
    found.close()
