import json
from pathlib import Path

import pytest

from fencepost.formats import ReadSettings
from fencepost.run.inspection import Inspection, inspect

DROPPING = ReadSettings(on_crossing="drop-span")


def inspected(tmp_path: Path, **files: str) -> Inspection:
    paths = []
    for name, text in files.items():
        path = tmp_path / name.replace("_", ".")
        path.write_text(text)
        paths.append(path)
    return inspect(paths, settings=DROPPING)


def kinds(found: Inspection) -> list[str]:
    return [problem.kind for problem in found.problems]


def test_trees_are_counted(tmp_path: Path) -> None:
    text = "(S (S (NP (A a)) (VP (B b) (C c) (D d))))\n"
    found = inspected(tmp_path, x_ptb=text * 2)
    (file,) = found.files
    layer = file.layers["tree"]
    assert (file.sentences, file.words, file.longest, file.repeated) == (2, 8, 4, 1)
    assert layer.spans == 8
    assert layer.labels == {"S": 4, "NP": 2, "VP": 2}
    assert layer.chains == {"S+S": 2}
    assert layer.depths == {3: 2}
    assert layer.children == {"1": 4, "2": 2, "3": 2}
    assert layer.steps == 6
    assert layer.steps_per_word == 0.75
    assert found.problems == []


def test_entities_are_counted(tmp_path: Path) -> None:
    found = inspected(tmp_path, x_data="a b c\n0,2 X|0,1 X\n\nd\n\n\n")
    layer = found.files[0].layers["entities"]
    assert (layer.sentences, layer.spans, layer.steps) == (2, 2, 6)
    assert layer.depths == {2: 1, 0: 1}


@pytest.mark.parametrize(
    ("name", "text", "kind", "message"),
    [
        ("x_data", "a b c\n0,2 X|1,3 X|0,2 X\n\n", "crossing", "(1, 3) X crosses another"),
        ("x_data", "a b\n0,1 X|0,1 X\n\n", "duplicate", "(0, 1) X is there 2 times"),
        ("x_data", "a b\n0,1 X|0,9 X\n\nc\n0,1 X\n\nd\n0,1 X\n\n", "out of range", "(0, 9) X"),
        ("x_data", "\n\n\nx\n\n\n", "empty", "no words"),
        ("x_ptb", "(S (A a) (S))\n(S (S (A a)))\n", "empty", "holds no word"),
        ("x_ptb", "", "empty", "there is no sentence here"),
        ("x_ptb", "(S (A a)\n(S (S (A a)))\n", "malformed", "never closed"),
        ("x_jsonl", '{"text": "ab c", "entities": [[1, 2, "X"]]}\n', "misaligned", "a[b] c"),
    ],
)
def test_every_problem_is_found(
    tmp_path: Path, name: str, text: str, kind: str, message: str
) -> None:
    found = inspected(tmp_path, **{name: text})
    problem = next(p for p in found.problems if p.kind == kind)
    assert message in str(problem)
    assert str(tmp_path) in str(problem)


def test_labels_that_are_seen_once_are_told(tmp_path: Path) -> None:
    found = inspected(tmp_path, x_ptb="(S (A a))\n(S (NP (A b)))\n")
    assert [str(note) for note in found.notes] == [
        f"{tmp_path}/x.ptb:2: the tree label 'NP' is seen only once"
    ]
    assert found.problems == []


def test_sentences_in_two_files_are_told(tmp_path: Path) -> None:
    text = "(S (S (A a)))\n"
    found = inspected(tmp_path, train_ptb=text, dev_ptb=text.replace("a", "b") + text)
    assert [str(p) for p in found.problems] == [
        f"{tmp_path}/dev.ptb:2: the same sentence is in {tmp_path}/train.ptb:1"
    ]


def test_one_bad_sentence_does_not_hide_the_others(tmp_path: Path) -> None:
    found = inspected(tmp_path, x_ptb="(S (A a)\n(S (S (A b)))\n(S (A c)))\n")
    assert found.files[0].sentences == 1
    assert kinds(found) == ["malformed", "malformed"]
    assert found.files[0].left_out == {"bad sentences": 2}


def test_a_file_that_cannot_be_read_on_is_a_problem_too(tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_text("a I-X\n\nb O\nc B-X\n\n")
    (tmp_path / "y.ptb").write_bytes(b"(S (S (A \xe9)))\n(S (S (A a)))\n")
    found = inspect([tmp_path / "x.conll", tmp_path / "y.ptb"], settings=DROPPING)
    assert [p.path.rpartition("/")[2] for p in found.problems] == ["x.conll", "x.conll", "y.ptb"]
    assert found.files[1].sentences == 1


def test_it_can_all_be_had_as_plain_data(tmp_path: Path) -> None:
    found = inspected(tmp_path, x_data="a b c\n0,2 X|1,3 X|0,2 X\n\n")
    data = json.loads(json.dumps(found.to_dict()))
    assert data["files"][0]["layers"]["entities"]["labels"] == {"X": 2}
    assert data["files"][0]["left_out"] == {"crossing entities": 1}
    assert {problem["kind"] for problem in data["problems"]} == {"crossing", "duplicate"}


def test_a_layer_without_words_has_no_steps_a_word() -> None:
    from fencepost.run.inspection import Layer

    assert Layer().steps_per_word == 0
