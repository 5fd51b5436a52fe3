from pathlib import Path

import pytest

from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import save_model
from fencepost.errors import ModelError
from fencepost.integrations import nltk
from fencepost.parser.parser import Parser
from fencepost.run.texts import Texts
from fencepost.text import splitters as module
from fencepost.text.splitters import ENGLISH, Splitter
from tests.models import lively_model


def test_a_model_splits_text_by_the_rules_that_it_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def letters(text: str) -> list[tuple[int, int]]:
        return [(at, at + 1) for at, letter in enumerate(text) if letter.strip()]

    def pairs(text: str, words: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        return [words[at : at + 2] for at in range(0, len(words), 2)]

    model = lively_model("tree")
    assert model.splitter is ENGLISH
    save_model(model, tmp_path / "model")
    config = tmp_path / "model/config.json"
    config.write_text(config.read_text().replace('"english"', '"letters"'))
    (tmp_path / "model/manifest.json").unlink()
    with pytest.raises(ModelError, match="splitter: 'letters' is unknown"):
        load_model(tmp_path / "model")
    monkeypatch.setitem(module.SPLITTERS, "letters", Splitter(letters, pairs))  # type: ignore[arg-type]
    parser = Parser(load_model(tmp_path / "model"))
    expected = [("a", "b"), ("c",)]
    assert [parse.words for parse in parser.parse("ab c").sentences] == expected
    (document,) = parser.parse_many(["ab c"])
    assert [parse.words for parse in document.sentences] == expected
    nltk_parser = nltk.Parser(parser)
    assert next(nltk_parser.raw_parse("ab c")).leaves() == ["a", "b", "c"]
    item, _ = Texts(["ab c"]).pieces(parser.model.splitter)
    assert [sentence.words for sentence in item.sentences] == expected
