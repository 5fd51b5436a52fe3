import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import read, write
from fencepost.structure import Parse, Span
from tests.formats.tools import PARSE, said, through
from tests.strategies import parses

TEXT = "Ann met Bo. It rained."


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doccano") / "all.jsonl"


def reading(path: Path, data: Any) -> list[Parse]:
    path.write_text(f"{json.dumps(data)}\n\n")
    return list(read(path, format="doccano"))


@given(several=st.lists(parses(), max_size=3))
def test_what_was_written_is_read_again(shared: Path, several: list[Parse]) -> None:
    assert list(map(said, through(several, shared, "doccano"))) == list(map(said, several))


def test_the_file_is_one_that_doccano_imports(tmp_path: Path) -> None:
    write([PARSE], tmp_path / "x.jsonl", format="doccano")
    data = json.loads((tmp_path / "x.jsonl").read_text())
    assert data["text"] == "Ann's 😀 Bank (Oslo)."
    assert data["label"] == [[0, 19, "ORG"], [0, 5, "PER"], [8, 19, "ORG"], [14, 18, "GPE"]]


@pytest.mark.parametrize(
    "marked",
    [
        {"label": [[0, 3, "PER"], [8, 10, "PER"]]},
        {"labels": [[0, 3, "PER"], [8, 11, "PER"]], "Comments": []},
        {
            "entities": [
                {"id": 1, "start_offset": 0, "end_offset": 3, "label": "PER"},
                [8, 10, "PER"],
            ],
            "relations": [],
        },
    ],
)
def test_all_of_its_exports_are_read(tmp_path: Path, marked: dict[str, Any]) -> None:
    first, second = reading(tmp_path / "x.jsonl", {"id": 9, "text": TEXT, **marked})
    assert first.entities is not None
    assert [span.start for span in first.entities] == [0, 2]
    assert (first.id, second.entities) == ("9-1", ())


def test_a_text_that_nobody_has_annotated_has_no_entities(tmp_path: Path) -> None:
    first, _ = reading(tmp_path / "x.jsonl", {"text": TEXT})
    assert (first.entities, first.id) == (None, "x-1-1")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "an object with a `text`"),
        ({"text": 7}, "an object with a `text`"),
        ({"text": TEXT, "label": ["good"]}, r"\[start, end, label\] is expected .* not 'good'"),
        ({"text": TEXT, "label": "good"}, "not 'good'"),
        ({"text": TEXT, "label": [[0, True, "A"]]}, "is expected for each label"),
        ({"text": TEXT, "label": [[0, 3, ""]]}, "is expected for each label"),
        ({"text": TEXT, "entities": [{"label": "A"}]}, r"not \[None, None, 'A'\]"),
        ({"text": TEXT, "label": [[0, 99, "A"]]}, "is not within a text"),
        ({"text": TEXT, "id": []}, "'id' has to be"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(DataError, match=rf"x\.jsonl:1: .*{message}"):
        reading(tmp_path / "x.jsonl", data)


def test_what_is_no_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text("{\n")
    with pytest.raises(DataError, match=r"x\.jsonl:1: no JSON"):
        list(read(tmp_path / "x.jsonl", format="doccano"))


def test_a_mark_within_a_word_cuts_it_only_where_words_are_not_known(tmp_path: Path) -> None:
    (parse,) = reading(tmp_path / "x.jsonl", {"text": "unhappy", "label": [[0, 2, "NEG"]]})
    assert (parse.words, parse.entities) == (("un", "happy"), (Span(0, 1, "NEG"),))
    own = {"fencepost": {"offsets": [[0, 7]]}}
    with pytest.raises(DataError, match="does not begin and end with words"):
        reading(tmp_path / "x.jsonl", {"text": "unhappy", "label": [[0, 2, "NEG"]], **own})
    own = {"fencepost": {"offsets": [[0, 1], [2, 3]]}}
    with pytest.raises(DataError, match="does not begin and end with words"):
        reading(tmp_path / "x.jsonl", {"text": "a b", "label": [[1, 2, "BLANK"]], **own})


def test_a_folder_of_its_files_is_read_if_it_is_named(tmp_path: Path) -> None:
    write([PARSE], tmp_path / "x.jsonl", format="doccano")
    (parse,) = read(tmp_path, format="doccano")
    assert parse.entities == PARSE.entities
    with pytest.raises(DataError, match=r"no file with \.json in"):
        read(tmp_path, format="labelstudio")
