import io
import sys
from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.formats import ReadSettings
from fencepost.run.score import layers_of, score_entities, score_trees
from fencepost.run.sides import Sides
from fencepost.scoring import Parameters
from fencepost.scoring.evalb import evalb

GOLD = "(TOP (S (NP (NNP Ann)) (VP (VBD slept)) (. .)))\n(TOP (NP (NN Rain)))\n"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "gold.ptb", tmp_path / "predicted.ptb"


def written(paths: tuple[Path, Path], gold: str, predicted: str) -> tuple[Path, Path]:
    for path, text in zip(paths, (gold, predicted), strict=True):
        path.write_text(text)
    return paths


def test_trees_are_scored_over_all_and_over_short_sentences(pair: tuple[Path, Path]) -> None:
    predicted = GOLD.replace("(VP (VBD slept))", "(VBD slept)")
    report = score_trees(*written(pair, GOLD, predicted), parameters=Parameters(cut_off=1))
    assert (report.all.recall, report.all.precision) == (75, 100)
    assert (report.short.sentences, report.short.f1) == (1, 100)
    data = report.to_dict()
    assert (data["task"], data["recall"], data["length<=1"]["f1"]) == ("tree", 75, 100)
    assert data["gold_data"]["sentences"] == 2


def test_the_fingerprint_does_not_mind_how_trees_are_laid_out(pair: tuple[Path, Path]) -> None:
    one = score_trees(*written(pair, GOLD, GOLD))
    other = score_trees(*written(pair, GOLD.replace(" (", "\n   ("), GOLD))
    assert str(one.fingerprint) == str(other.fingerprint)
    assert other.all.f1 == 100


def test_an_empty_line_is_a_sentence_that_was_not_parsed(pair: tuple[Path, Path]) -> None:
    report = score_trees(*written(pair, GOLD, "\n" + GOLD.splitlines()[1] + "\n"))
    assert (report.all.sentences, report.all.skipped, report.all.valid) == (2, 1, 1)


def test_other_tags_are_an_error_sentence_and_other_words_an_error(
    pair: tuple[Path, Path],
) -> None:
    report = score_trees(*written(pair, GOLD, GOLD.replace("(. .)", "(NN .)")))
    assert (report.all.errors, report.all.valid) == (1, 1)
    with pytest.raises(DataError, match=r"predicted\.ptb:2: word 0 is 'Snow', where the gold file"):
        score_trees(*written(pair, GOLD, GOLD.replace("Rain", "Snow")))
    with pytest.raises(DataError, match=r"predicted\.ptb:1: there are 4 words, .* has 3"):
        score_trees(*written(pair, GOLD, GOLD.replace("(. .)", "(. .) (UH oh)")))


def test_traces_may_be_in_one_file_only(pair: tuple[Path, Path]) -> None:
    traced = GOLD.replace("(VBD slept)", "(VBD slept) (NP (-NONE- *))")
    assert score_trees(*written(pair, traced, GOLD)).all.f1 == 100


@pytest.mark.parametrize(("first", "second", "short"), [(1, 2, "gold"), (2, 1, "predicted")])
def test_different_numbers_of_sentences_are_an_error(
    pair: tuple[Path, Path], first: int, second: int, short: str
) -> None:
    lines = GOLD.splitlines(keepends=True)
    paths = written(pair, "".join(lines[:first]), "".join(lines[:second]))
    with pytest.raises(DataError, match=rf"{short}\.ptb: this file ends after 1 sentences"):
        score_trees(*paths)
    for path in paths:
        path.with_suffix(".data").write_text("a\n\n\n" * (first if "gold" in path.name else second))
    with pytest.raises(DataError, match=rf"{short}\.data: this file ends after 1 sentences"):
        score_entities(*(path.with_suffix(".data") for path in paths))


def test_a_bad_line_is_named(pair: tuple[Path, Path]) -> None:
    with pytest.raises(DataError, match=r"predicted\.ptb:2: this bracket is never closed"):
        score_trees(*written(pair, GOLD, GOLD.splitlines()[0] + "\n(S (A a)\n"))


def test_trees_may_come_in_other_formats(pair: tuple[Path, Path], tmp_path: Path) -> None:
    gold, _ = written(pair, "(TOP (S (A a)))\n", "")
    other = tmp_path / "x.jsonl"
    other.write_text('{"tree": "(TOP (S (A a)))"}\n')
    assert score_trees(gold, other).all.f1 == 100
    other.write_text('{"words": ["a"]}\n')
    with pytest.raises(DataError, match=r"x\.jsonl:1: this sentence has no tree"):
        score_trees(gold, other)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.ptb").write_text("(TOP (S (A a)))\n")
    assert score_trees(gold, folder).all.f1 == 100


@pytest.mark.parametrize("is_gold", [True, False])
def test_round_brackets_are_the_same_words_however_they_are_written(
    tmp_path: Path, is_gold: bool
) -> None:
    brackets, lines = tmp_path / "x.ptb", tmp_path / "x.jsonl"
    brackets.write_text("(S (A a) (-LRB- -LRB-) (B b-RRB-))\n")
    spans = '"tree": [[0, 3, "S"]], "entities": [[0, 1, "X"]]'
    lines.write_text(f'{{"words": ["a", "(", "b)"], "tags": ["A", "-LRB-", "B"], {spans}}}\n')
    paths = (lines, brackets) if is_gold else (brackets, lines)
    report = score_trees(*paths)
    assert (report.all.f1, report.all.errors) == (100, 0)
    assert str(report.fingerprint) == str(score_trees(brackets, brackets).fingerprint)
    ours, theirs, same = (
        [side for _, side in Sides(path, None, ReadSettings())] for path in (*paths, brackets)
    )
    assert list(evalb(ours, theirs)) == list(evalb(same, same))
    columns = tmp_path / "x.conll"
    columns.write_text("a B-X\n-LRB- O\nb-RRB- O\n\n")
    assert score_entities(*((lines, columns) if is_gold else (columns, lines))).score.all.f1 == 100


def test_standard_input_is_read_line_by_line(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, _ = written(pair, GOLD, "")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOLD.encode())))
    assert score_trees(gold, "-", predicted_format="ptb").all.f1 == 100


def test_evalb_prints_over_files(pair: tuple[Path, Path]) -> None:
    files = written(pair, GOLD, GOLD)
    ours, theirs = ((side for _, side in Sides(path, None, ReadSettings())) for path in files)
    printed = list(evalb(ours, theirs))
    assert "Bracketing FMeasure       = 100.00" in printed[-1].text


class TestEntities:
    def test_are_scored_by_strict_match(self, tmp_path: Path) -> None:
        (tmp_path / "g.data").write_text("a b\n0,2 X|0,1 Y\n\n")
        (tmp_path / "p.data").write_text("a b\n0,2 X|1,2 Y\n\n")
        report = score_entities(tmp_path / "g.data", tmp_path / "p.data")
        data = report.to_dict()
        assert (data["task"], data["f1"], data["matched"]) == ("entities", 50, 1)
        assert data["types"]["Y"]["gold"] == 1
        assert data["macro"]["f1"] == 50
        assert data["depth"]["outer"]["matched"] == 1
        assert data["length"]["2"]["gold"] == 1

    @pytest.mark.parametrize("policy", ["drop-span", "drop-sentence"])
    def test_gold_spans_that_were_dropped_still_count(self, tmp_path: Path, policy: str) -> None:
        (tmp_path / "g.data").write_text("a b c\n0,2 X|1,3 Y\n\n")
        (tmp_path / "p.data").write_text("a b c\n0,2 X\n\n")
        paths = tmp_path / "g.data", tmp_path / "p.data"
        settings = ReadSettings(on_crossing=policy)  # type: ignore[arg-type]
        score = score_entities(*paths, settings=settings).score
        assert (score.all.gold, score.all.found) == (2, 1)
        with pytest.raises(DataError, match="cross"):
            score_entities(*paths)

    def test_other_words_are_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "g.data").write_text("a\n\n\nb\n\n\n")
        (tmp_path / "p.data").write_text("a\n\n\nc\n\n\n")
        with pytest.raises(DataError, match=r"p\.data:4: word 0 is 'c'.*gold: .*g\.data:4"):
            score_entities(tmp_path / "g.data", tmp_path / "p.data")

    def test_the_layer_has_to_be_there(self, tmp_path: Path) -> None:
        (tmp_path / "g.data").write_text("a\n\n\n")
        (tmp_path / "p.jsonl").write_text('{"words": ["a"]}\n')
        with pytest.raises(DataError, match=r"p\.jsonl:1: this sentence has no entities"):
            score_entities(tmp_path / "g.data", tmp_path / "p.jsonl")


def test_the_layers_of_a_file_are_told_by_its_format_or_its_first_sentence(tmp_path: Path) -> None:
    settings = ReadSettings()
    path = tmp_path / "x.jsonl"
    path.write_text('{"tree": "(S (A a))", "entities": []}\n')
    assert layers_of(path, None, settings) == {"tree", "entities"}
    path.write_text("")
    assert layers_of(path, None, settings) == set()
    (tmp_path / "x.data").write_text("")
    assert layers_of(tmp_path / "x.data", None, settings) == {"entities"}
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.ptb").write_text("(A a)\n")
    assert layers_of(folder, None, settings) == {"tree"}
