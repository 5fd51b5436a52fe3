from typing import Any

import pytest

from fencepost.errors import ConfigError
from fencepost.formats import ReadSettings, WriteSettings


@pytest.mark.parametrize(
    ("setting", "value"),
    [("encoding", "klingon"), ("on_crossing", "ignore"), ("escapes", "all"), ("scheme", "BIO")],
)
def test_a_choice_that_is_not_there_is_refused(setting: str, value: str) -> None:
    with pytest.raises(ConfigError, match=value):
        ReadSettings(**{setting: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("encoding", "klingon"), ("scheme", "auto"), ("indent", 0), ("width", -3)],
)
def test_so_is_one_for_writing(setting: str, value: str | int) -> None:
    with pytest.raises(ConfigError, match=str(value)):
        WriteSettings(**{setting: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"splice": "NML"}, r"splice: several are expected, as in \('NML',\), not 'NML'"),
        ({"relabel": [("NP", "WP", "WHNP")]}, r"relabel: several are expected, as in \('WP',\)"),
        ({"relabel": [("NP", ("WP",), "")]}, "relabel: 'NP' needs a new name; splice takes"),
        ({"rename": {"NML": ""}}, "rename: 'NML' needs a new name; splice takes"),
        ({"rename_tags": {"NN": ""}}, "rename_tags: 'NN' needs a new name"),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ReadSettings(**settings)


@pytest.mark.parametrize(
    "name", ["", "hex", "idna", "punycode", "undefined", "a\0b", "\ud800", "x" * 500]
)
def test_what_is_no_encoding_of_texts_is_refused(name: str) -> None:
    for kind in (ReadSettings, WriteSettings):
        with pytest.raises(ConfigError, match=r"the encoding .* is unknown"):
            kind(encoding=name)
