"""The model that ships: any text gives something sensible, and its card tells the truth."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

import fencepost
from experiments.en_small import corpora
from fencepost.checkpoints.model import FILES, STEP_GRAPHS
from fencepost.checkpoints.shipped import MODELS
from fencepost.config import read_settings
from fencepost.run.evaluate import evaluate, main_figure
from fencepost.runtime.manifest import check_contents, check_sizes, read_manifest
from fencepost.structure import Document
from tests.shared import SHARED, needs_shared_data

CARD = (MODELS / "en-small/README.md").read_text(encoding="utf-8")


@cache
def parser() -> fencepost.Parser:
    return fencepost.load(threads=1)


def test_a_sentence_gets_the_tree_and_the_entities_that_a_person_would_give_it() -> None:
    document = parser().parse("The old gardener planted roses in Bergen.")
    assert str(document.tree) == (
        "(ROOT (S (NP (DT The) (JJ old) (NN gardener)) (VP (VBD planted) (NP (NNS roses)) "
        "(PP (IN in) (NP (NNP Bergen)))) (. .)))"
    )
    assert document.entities is not None
    found = {entity.text: entity.label for entity in document.entities}
    assert found["The old gardener"] == "person"
    assert found["Bergen"] == "place"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("Rain", 1),
        ("🙂", 1),
        ("x" * 10_000, 1),
        ("\ud800 \x00", 2),
        ("مرحبا بالعالم", 2),
    ],
)
def test_odd_texts_give_sensible_results(text: str, words: int) -> None:
    document = parser().parse(text)
    assert document.status == "ok"
    assert [len(parse.words) for parse in document.sentences] == ([words] if words else [])
    for parse in document.sentences:
        assert parse.tree is not None
        assert parse.tree.words == parse.words


@pytest.mark.slow
def test_a_sentence_of_three_thousand_words_is_read_in_windows() -> None:
    words = ["the", "cat", "and"] * 999 + ["the", "cat", "slept"]
    document = parser().parse(words)
    assert document.tree is not None
    assert len(document.tree) == 3000


def test_a_sentence_alone_and_in_a_batch_gets_the_same_parse() -> None:
    texts = [
        "Ann met the mayor of Oslo.",
        "No!",
        "While it rained, the children who live next door built a boat out of two old doors.",
        "He said that she said that they would come.",
    ]
    together = list(parser().parse_many(texts))
    for text, document in zip(texts, together, strict=True):
        alone = parser().parse(text)
        assert alone == document
        for one, other in zip(alone.sentences, document.sentences, strict=True):
            assert one.log_prob == pytest.approx(other.log_prob, abs=1e-4)


def test_plain_data_comes_back() -> None:
    document = parser().parse("Ann met Bo. They left.")
    assert Document.from_dict(json.loads(json.dumps(document.to_dict()))) == document


def test_the_weights_fit_in_sixty_megabytes() -> None:
    files = [path for path in (MODELS / "en-small").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 60e6
    assert {"LICENSE.md", "README.md", "weights.safetensors"} <= {path.name for path in files}


def test_its_files_are_those_that_were_saved() -> None:
    listed = read_manifest(MODELS / "en-small", known=FILES)
    assert listed is not None
    assert sorted(listed) == sorted(set(FILES) - {"lstm.onnx", *STEP_GRAPHS})
    check_sizes(MODELS / "en-small", listed)
    check_contents(MODELS / "en-small", listed)


@pytest.mark.slow
@needs_shared_data
def test_raw_texts_give_valid_trees_over_exactly_these_texts() -> None:
    lines = (SHARED / "gum/text/dev.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines[::3]]  # of every kind of text
    for text, document in zip(texts, parser().parse_many(texts), strict=True):
        assert document.status == "ok"
        covered = ""
        for parse in document.sentences:
            assert parse.tree is not None
            assert (parse.tree.start, parse.tree.end) == (0, len(parse.words))
            covered += "".join(parse.tree.words)
            for entity in parse.entities or ():
                assert isinstance(entity, fencepost.Entity)
                assert text[entity.start_char : entity.end_char] == entity.text
        assert covered == re.sub(r"\s+", "", text)


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", ["MASC", "GUM"])
def test_the_card_has_the_scores_that_evaluate_prints(name: str) -> None:
    reports = evaluate(parser().model, corpora()[name])
    (shown,) = re.findall(rf"^\| \*\*{name}\*\* \| [\d,]+ \| (.+) \|$", CARD, re.M)
    figures = [cell.strip() for cell in shown.split("|")]
    for layer, figure in zip(("tree", "entities", "tags"), figures, strict=True):
        if figure:
            assert main_figure(reports[layer]) == pytest.approx(float(figure), abs=0.02), layer


def test_its_licence_allows_any_use_and_names_every_corpus_it_was_trained_on() -> None:
    licence = (MODELS / "en-small/LICENSE.md").read_text(encoding="utf-8")
    assert "CC BY-SA 4.0" in licence
    settings = read_settings("configs/en-small.toml")
    for corpus in settings.data.train:
        name = re.search(r"shared/data/(\w+)/", corpus.path)
        assert name
        assert f"**{name[1].upper()}**" in licence
        assert f"| {name[1].upper()} (" in CARD


def test_the_model_names_no_folder_of_the_machine_that_made_it() -> None:
    for path in (MODELS / "en-small").glob("*.json"):
        assert not re.search(r'"/(?!/)[a-z]+/', Path(path).read_text(encoding="utf-8")[:20_000])
