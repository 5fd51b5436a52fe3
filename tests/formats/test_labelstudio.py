import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import ParseReader, read, write
from fencepost.formats.annotations import Utf16
from fencepost.formats.settings import ReadSettings
from fencepost.structure import Entity, Parse, Sentence, Span
from tests.formats.tools import PARSE, SENTENCE, said, through
from tests.strategies import parses

TEXT = "Ann met Bo. They left 😀 for Oslo."


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("labelstudio") / "tasks.json"


def tasks_in(path: Path) -> Any:
    return json.loads(path.read_text())


def exported(path: Path, tasks: Any) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def label(start: int, end: int, *labels: str, **more: object) -> dict[str, Any]:
    return {"value": {"start": start, "end": end, "labels": list(labels), **more}}


def task(*results: Any, **more: Any) -> dict[str, Any]:
    return {"id": 3, "data": {"text": TEXT}, "annotations": [{"result": list(results)}], **more}


def one_of(path: Path, task: Any) -> Parse:
    (parse,) = read(exported(path, [task]), format="labelstudio")
    return parse


@given(several=st.lists(parses(), max_size=3))
def test_what_was_written_is_read_again(shared: Path, several: list[Parse]) -> None:
    assert list(map(said, through(several, shared, "labelstudio"))) == list(map(said, several))


def test_the_file_is_one_that_label_studio_imports(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    write([PARSE, PARSE], path, format="labelstudio")
    first, second = tasks_in(path)
    assert first == second
    assert first["data"]["text"] == "Ann's 😀 Bank (Oslo)."
    assert first["data"]["id"] == "doc-7"
    results = first["annotations"][0]["result"]
    assert results[3] == {
        "id": "4",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        # In UTF-16, the picture before it counts as two.
        "value": {"start": 15, "end": 19, "text": "Oslo", "labels": ["GPE"]},
    }


def test_no_sentences_are_an_empty_list(tmp_path: Path) -> None:
    assert through([], tmp_path / "x.json", "labelstudio") == []


def test_what_a_parser_found_is_a_prediction_with_scores(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    entities = (Entity(0, 1, "PER", SENTENCE, 0.9), Entity(5, 6, "GPE", SENTENCE, 0.25))
    none = Parse(SENTENCE, entities=(), log_probs={"entities": -0.1})
    again = through([Parse(SENTENCE, entities=entities), none], path, "labelstudio")
    first, second = tasks_in(path)
    (prediction,) = first["predictions"]
    assert prediction["score"] == 0.25
    assert [result["score"] for result in prediction["result"]] == [0.9, 0.25]
    assert "annotations" not in first
    assert second["predictions"] == [{"model_version": "fencepost", "score": 1.0, "result": []}]
    assert [parse.entities for parse in again] == [entities, ()]


def test_texts_of_others_are_cut_into_words_and_sentences(tmp_path: Path) -> None:
    results = (label(0, 3, "PER"), label(8, 10, "PER", text="Bo"), label(29, 33, "GPE"))
    path = exported(tmp_path / "x.json", [task(*results)])
    first, second = read(path, format="labelstudio")
    assert first.sentence.text == "Ann met Bo."
    assert (first.id, second.id) == ("3-1", "3-2")
    assert first.entities == (Span(0, 1, "PER"), Span(2, 3, "PER"))
    assert second.words == ("They", "left", "😀", "for", "Oslo", ".")
    assert second.entities == (Span(4, 5, "GPE"),)  # which was marked in UTF-16


def test_characters_are_meant_where_only_they_fit_the_marked_text(tmp_path: Path) -> None:
    path = exported(tmp_path / "x.json", [task(label(28, 32, "GPE", text="Oslo"))])
    _, second = read(path, format="labelstudio")
    assert second.entities == (Span(4, 5, "GPE"),)


@pytest.mark.parametrize("said", ["Ann met\nBo", "Ann met\\nBo", "Ann  met Bo"])
def test_line_ends_in_the_marked_text_may_be_said_in_any_way(tmp_path: Path, said: str) -> None:
    path = exported(tmp_path / "x.json", [task(label(0, 10, "X", text=said))])
    assert next(read(path, format="labelstudio")).entities == (Span(0, 3, "X"),)


def test_a_region_may_have_several_labels_and_blanks_at_its_ends(tmp_path: Path) -> None:
    write([PARSE], tmp_path / "x.json", format="labelstudio")
    (own,) = tasks_in(tmp_path / "x.json")
    own["annotations"] = [{"result": [label(5, 13, "A", "B")]}]
    assert one_of(tmp_path / "y.json", own).entities == (Span(2, 4, "A"), Span(2, 4, "B"))


def test_choices_relations_and_empty_regions_are_passed_over(tmp_path: Path) -> None:
    results = ({"type": "relation", "from_id": "a"}, {"value": {"choices": ["good"]}}, "x", None)
    assert one_of(tmp_path / "x.json", task(*results) | {"data": {"text": "Go."}}).entities == ()


@pytest.mark.parametrize(
    ("annotations", "found"),
    [
        ([], None),
        ([{"was_cancelled": True, "result": [label(0, 3, "A")]}], None),
        ([{"result": [label(0, 3, "A")]}, {"result": [label(0, 3, "B")]}], "B"),
        ([{"result": [label(0, 3, "A")], "ground_truth": True}, {"result": []}], "A"),
        ([7], None),
    ],
)
def test_ground_truth_counts_or_the_last_annotation_that_was_not_skipped(
    tmp_path: Path, annotations: list[Any], found: str | None
) -> None:
    data = {"data": {"text": "Ann."}, "annotations": annotations, "predictions": [1]}
    expected = None if found is None else (Span(0, 1, found),)
    assert one_of(tmp_path / "x.json", data).entities == expected


def test_predictions_count_only_before_anybody_could_annotate(tmp_path: Path) -> None:
    prediction = {"result": [label(0, 3, "A")]}
    data = {"data": {"text": "Ann."}, "predictions": [prediction]}
    assert one_of(tmp_path / "x.json", data).entities == (Span(0, 1, "A"),)
    assert one_of(tmp_path / "x.json", data | {"annotations": []}).entities is None


def test_the_text_may_have_another_name(tmp_path: Path) -> None:
    path = exported(tmp_path / "x.json", [{"data": {"review": "Go.", "stars": 3}}])
    (parse,) = read(path, format="labelstudio")
    assert (parse.words, parse.id) == (("Go", "."), "x-1-1")


def test_entities_that_cross_follow_the_policy(tmp_path: Path) -> None:
    crossing = task(label(0, 7, "A"), label(4, 10, "B"))
    path = exported(tmp_path / "x.json", [crossing])
    with pytest.raises(DataError, match=r"x\.json:1: .* cross"):
        list(read(path, format="labelstudio"))
    first, _ = read(path, format="labelstudio", on_crossing="drop-span")
    assert (first.entities, first.dropped) == ((Span(0, 2, "A"),), (Span(1, 3, "B"),))


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([7], r"x\.json:1: a task with `data` is expected; .* not JSON-MIN"),
        ([{"text": "a", "label": []}], "not JSON-MIN"),
        ([{"data": {"a": "x", "b": "y"}}], "hold its text as `text`; here is 'a', 'b'"),
        ([{"data": {}}], "here is nothing"),
        ([{"data": {"text": "a"}, "id": []}], "`id` of a task has to be"),
        ([{"data": {"text": "a"}, "id": True}], "`id` of a task has to be"),
        ([task() | {"annotations": [{"result": {}}]}], "`result` of an annotation has to be a l"),
        ([task(label(0, 3, "A", text="Bo"))], "'Bo' is marked at 0 to 3, where the text has 'Ann'"),
        ([task(label(-9, 3, "A", text="Bo"))], "is marked at -9 to 3"),
        ([task({"value": {"start": "/p[1]", "end": 2, "labels": ["A"]}})], "those of HTML, sound"),
        ([task(label(0, 3, ""))], "a label has to be a string, not ''"),
        ([task({"value": {"start": 0, "end": 3, "labels": [4]}})], "a string, not 4"),
        ([task(label(0, 99, "A"))], "A at characters 0 to 98 is not within a text of 33"),
        ([task(label(3, 4, "A"))], "holds no word"),
        ({"data": {}}, "x.json:1: a list of tasks is expected"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, tasks: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read(exported(tmp_path / "x.json", tasks), format="labelstudio"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1: a list of tasks"),
        ("[", "1: no JSON"),
        ('[\n{"data": {"text": "a"}}\n', "3: the list of tasks is cut off"),
        ('[{"data": {"text": "a"}} {}]', "cut off here, or no list"),
        ("[\n\n{]", "3: no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[] []", "more than one list"),
    ],
)
def test_what_is_no_list_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(read(path, format="labelstudio"))


def test_a_bad_task_can_be_left_out(tmp_path: Path) -> None:
    own = task() | {"data": {"text": "Go.", "fencepost": {"offsets": [[0, 9]]}}}
    path = tmp_path / "x.json"
    path.write_text("\ufeff" + json.dumps([7, own, task() | {"data": {"text": "Go."}}], indent=1))
    reading = ParseReader(path, format="labelstudio", settings=ReadSettings(skip_bad=True))
    assert [parse.words for parse in reading] == [("Go", ".")]
    assert reading.counts["bad sentences"] == 2
    assert reading.place[1] > 1


def test_a_span_without_a_label_is_refused(tmp_path: Path) -> None:
    parse = Parse(Sentence(("a",)), entities=(Span(0, 1, ""),))
    with pytest.raises(DataError, match=r"sentence 1: .* has no label"):
        write([parse], tmp_path / "x.json", format="labelstudio")


def test_words_that_are_not_in_their_text_are_written_with_blanks(tmp_path: Path) -> None:
    sentence = Sentence(("can", "not"), text="cannot!", offsets=((0, 3), (4, 6)))
    (again,) = through([Parse(sentence)], tmp_path / "x.json", "labelstudio")
    assert (again.words, again.sentence.text) == (("can", "not"), "can not")


@given(text=st.text("a😀é", max_size=9))
def test_places_are_those_of_utf_16(text: str) -> None:
    places = Utf16(text)
    for place in range(len(text) + 1):
        units = len(text[:place].encode("utf-16-le")) // 2
        assert places.of(place) == units
        assert places.characters(units) == place
