"""Messages about wrong settings are in the words of a TOML file."""

from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from fencepost.validation import problems


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class File(Closed):
    path: str


class Inner(Closed):
    epochs: int = 1


class Outer(Closed):
    files: tuple[File, ...] = ()
    training: Inner
    rate: float = 1.0


def told(data: dict[str, object]) -> Iterator[str]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(data)
    return problems(Outer, caught.value.errors())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"training": {"epoch": 3}}, "training.epoch: no such setting; did you mean"),
        ({"training": {}, "epochs": 3}, "epochs: no such setting; did you mean training.epochs?"),
        (
            {"training": {}, "files": "a.ptb"},
            'files: a list of files is expected, as in [{ path = "a',
        ),
        ({"training": {}, "rate": "x"}, "rate: "),
        ({}, "training: "),
    ],
)
def test_what_would_be_right_is_said(data: dict[str, object], message: str) -> None:
    (line,) = told(data)
    assert line.startswith(message)


def test_a_table_that_is_misspelt_is_not_missing_too() -> None:
    (line,) = told({"trainings": {}})
    assert line == "trainings: no such setting; did you mean training?"
