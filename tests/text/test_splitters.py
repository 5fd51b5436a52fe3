import pytest

from fencepost.errors import ConfigError
from fencepost.text.splitters import ENGLISH, splitter_of


def test_the_default_is_english() -> None:
    assert splitter_of("english") is ENGLISH


def test_a_splitter_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="splitter: 'elvish' is unknown; known: english"):
        splitter_of("elvish")
