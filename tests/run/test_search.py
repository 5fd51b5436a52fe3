import json
from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.parser.parser import Parser
from fencepost.run.search import Hit, Inputs, plain_hit, search
from fencepost.search import Pattern
from fencepost.structure import Document, Parse, Sentence, Span, Tree
from tests.models import lively_model

PARSER = Parser(lively_model("tree", "entities", "tags"))
TREES = "(S (NP (NN a)) (VP (VB b)))\n(S (VP (VB c)))\n(S (NP (NN d)))\n"


def never() -> Parser:
    raise AssertionError("nothing is to be parsed")


def hits(*inputs: str | Path, pattern: str = "NP", context: int = 0) -> list[Hit]:
    known = Pattern(pattern)
    return list(search(Inputs(list(map(str, inputs)), known, load=never), known, context=context))


def test_annotated_files_of_a_folder_are_searched_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.ptb").write_text(TREES)
    (tmp_path / "b.data").write_text("x y\n0,1 NP\n\n")
    (tmp_path / "c.ann").write_text("T1\tNP 0 3\tAnn\n")
    (tmp_path / "c.txt").write_text("Ann slept")
    found = [
        (Path(hit.place.path).name, hit.place.number, hit.match.text) for hit in hits(tmp_path)
    ]
    assert found == [("a.ptb", 1, "a"), ("a.ptb", 3, "d"), ("b.data", 1, "x"), ("c.txt", 1, "Ann")]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_rows_that_were_parsed_before_are_not_parsed_again(tmp_path: Path, suffix: str) -> None:
    text = "Go. Ann sat"
    sentence = Sentence(("Ann", "sat"), ("NNP", "VBD"), text, ((4, 7), (8, 11)))
    parse = Parse(sentence, Tree(sentence, (Span(0, 2, "S"), Span(0, 1, "NP"))))
    documents = [Document((parse,), text), Document((), "x", "too long")]
    path = tmp_path / f"part-0.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps(one.to_dict()) + "\n" for one in documents))
    else:
        from fencepost.run.corpus.results import Hashed, results

        with path.open("wb") as file, results(Hashed(file), "parquet") as write:
            for one in documents:
                write(one)
    (hit,) = hits(tmp_path)
    data = plain_hit(hit)
    assert (data["sentence"], data["offset"]) == ("Ann sat", 4)
    assert data["sentence"][data["start_char"] : data["end_char"]] == data["text"] == "Ann"


def test_text_and_json_lines_without_layers_are_parsed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann sat. Bo ran.")
    (tmp_path / "b.jsonl").write_text('{"words": ["Go", "on"]}\n')
    known = Pattern("__{has __}")
    for given in ([str(tmp_path)], ["Ann sat. Bo ran."]):
        list(search(Inputs(given, known, load=lambda: PARSER), known))
    seen = list(Inputs([str(tmp_path)], Pattern("__"), load=lambda: PARSER))
    assert [one.parse.words[0] for one in seen] == ["Ann", "Bo", "Go"]
    assert all(one.parse.tree is not None and one.parse.entities is None for one in seen)


def test_what_cannot_be_parsed_is_told_apart() -> None:
    inputs = Inputs(
        ["The cat sat down. Go."], Pattern("__"), load=lambda: Parser(PARSER.model, max_words=3)
    )
    assert [one.parse.words for one in inputs] == [("Go", ".")]
    assert "longer than 3" in str(inputs.missed[0])


def test_sentences_around_a_match_are_of_the_same_file(tmp_path: Path) -> None:
    for name in ("a.ptb", "b.ptb"):
        (tmp_path / name).write_text(TREES)
    found = [
        (
            [one.parse.words[0] for one in hit.before],
            hit.match.text,
            [one.parse.words[0] for one in hit.behind],
        )
        for hit in hits(tmp_path, context=1)
    ]
    assert found == [([], "a", ["c"]), (["c"], "d", [])] * 2
    far = hits(tmp_path / "a.ptb", context=9)
    assert [len(hit.before) + len(hit.behind) for hit in far] == [2, 2]


def test_matches_may_be_limited() -> None:
    known = Pattern("__")
    inputs = Inputs(["Ann sat."], known, load=lambda: PARSER)
    assert len(list(search(inputs, known, limit=2))) == 2


def test_a_sentence_without_the_layer_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.ptb").write_text(TREES)
    with pytest.raises(DataError, match=r"a\.ptb:1: this pattern asks for entities"):
        hits(tmp_path, pattern="NP{is person}")


def test_a_folder_with_nothing_to_search_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file that can be searched"):
        hits(tmp_path)
    (tmp_path / "a.jsonl").write_text("{\n")
    with pytest.raises(DataError, match="no JSON"):
        hits(tmp_path)


def test_words_without_a_text_are_joined_with_blanks(tmp_path: Path) -> None:
    (tmp_path / "a.ptb").write_text("(S (NP (NN aa)) (NP (NN bb)))\n")
    data = [plain_hit(hit) for hit in hits(tmp_path)]
    assert [one["sentence"][one["start_char"] : one["end_char"]] for one in data] == ["aa", "bb"]
    assert "offset" not in data[0]
