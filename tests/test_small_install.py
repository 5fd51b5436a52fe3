"""Everything that one does with a model, as `tests/wheel.sh` runs it where there is no torch."""

import json
import pickle
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

import fencepost

TEXT = "Ann met the mayor of Oslo. It rained."
GOLD = """\
(ROOT (S (NP (NNP Ann)) (VP (VBD met) (NP (NP (DT the) (NN mayor)) (PP (IN of) (NP (NNP Oslo)))))
 (. .)))
(ROOT (S (NP (PRP It)) (VP (VBD rained)) (. .)))
"""
needs_no_torch = pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed")


@cache
def parser() -> fencepost.Parser:
    return fencepost.load(threads=1)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.ptb"
    path.write_text(GOLD)
    return path


def fencepost_of(*arguments: str | Path) -> tuple[int, str, str]:
    """The status, standard output and standard error of a command."""
    run = [sys.executable, "-m", "fencepost", *map(str, arguments)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def said(*arguments: str | Path) -> str:
    """What a command that works prints."""
    status, out, err = fencepost_of(*arguments)
    assert status == 0, err
    return out


def test_torch_is_not_imported() -> None:
    code = "import fencepost, sys; fencepost.load().parse('No.'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_parse(precision: str) -> None:
    model = fencepost.load(threads=1, precision=precision)  # type: ignore[arg-type]
    first, second = model.parse(TEXT).sentences
    assert str(second.tree) == "(ROOT (S (NP (PRP It)) (VP (VBD rained)) (. .)))"
    assert first.entities is not None
    assert {"Ann", "Oslo", "the mayor of Oslo"} <= {entity.text for entity in first.entities}


def test_parse_many() -> None:
    (document,) = parser().parse_many([TEXT])
    assert document == parser().parse(TEXT)


def test_several_threads_share_a_parser() -> None:
    texts = [TEXT, "It rained.", "Ann met Bo in Oslo and fed the cat."] * 4
    expected = [parser().parse(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parser().parse, texts)) == expected


def test_readings_scores_and_edits() -> None:
    parse = parser().parse("It rained.")
    first, *_ = parser().n_best("It rained.", 3)
    assert first.tree == parse.tree
    assert first.tree is not None
    scored = parser().score("It rained.", first.tree)
    log_probs = parse.sentences[0].log_probs
    assert log_probs is not None
    assert scored.log_prob == pytest.approx(log_probs["tree"], abs=1e-4)
    edited = parser().edit(parse, must=[(1, 3, None)], tasks=["tree"])
    assert edited.tree is not None
    assert (1, 3) in {(node.start, node.end) for node in edited.tree}


def test_a_parser_goes_to_other_processes() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        document = pool.submit(parser().parse, TEXT).result()
    assert document == parser().parse(TEXT)
    with pytest.raises(TypeError, match=r"save this model, and load it with fencepost\.load"):
        pickle.dumps(fencepost.Parser(parser().model))


def test_constraints() -> None:
    document = parser().parse("It rained.", forbid=[(0, 1, "NP")], gazetteer={"It": "event"})
    assert document.entities is not None
    assert [(entity.text, entity.label) for entity in document.entities] == [("It", "event")]


def test_marginals_and_steps() -> None:
    marginals = parser().marginals("It rained.", samples=20, tasks=["tree"])
    steps = list(parser().steps("It rained.", tasks=["tree"]))
    assert marginals
    assert steps


def test_files_are_parsed_evaluated_and_audited(gold: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    said("parse", text, "-o", tmp_path / "out.jsonl", "-q")
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2
    (line,) = said(
        "evaluate", gold, "-m", "en-small", "--task", "tree", "--json", "-q"
    ).splitlines()
    assert json.loads(line)["f1"] > 80
    assert "14 steps" in said("audit", gold, "-m", "en-small", "-q")


def test_a_model_is_calibrated_and_saved(gold: Path, tmp_path: Path) -> None:
    gold.write_text(GOLD * 20)
    said("calibrate", gold, "-m", "en-small", "--out", tmp_path / "own", "-q")
    own = fencepost.load(tmp_path / "own", threads=1)
    assert own.parse("It rained.").tree == parser().parse("It rained.").tree


def test_a_corpus_is_parsed_in_shards(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"in/{name}.txt").write_text(TEXT)
    said("parse", tmp_path / "in", "-o", f"{tmp_path}/out/", "-q")
    documents = list(fencepost.read_documents(tmp_path / "out"))
    assert len(documents) == 2


def test_trees_are_drawn(gold: Path, tmp_path: Path) -> None:
    said("draw", gold, "-o", f"{tmp_path}/drawings/")
    assert (tmp_path / "drawings").is_dir()


@pytest.mark.skipif(find_spec("uvicorn") is None, reason="needs fencepost[serve]")
def test_requests_are_answered() -> None:
    run = [sys.executable, "-m", "fencepost", "serve", "--port", "8731", "--threads", "1"]
    server = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        asked = Request(
            "http://127.0.0.1:8731/v1/parse",
            json.dumps({"text": "It rained."}).encode(),
            {"Content-Type": "application/json"},
        )
        for _ in range(100):
            if server.poll() is not None:
                _, errors = server.communicate()
                pytest.fail(f"the server ended: {errors.decode()}")
            try:
                with urlopen(asked, timeout=10) as answer:
                    assert "rained" in answer.read().decode()
                return
            except ConnectionError:
                time.sleep(0.2)
            except OSError as error:  # what urllib makes of a refused connection
                if not isinstance(getattr(error, "reason", None), ConnectionError):
                    raise
                time.sleep(0.2)
        pytest.fail("the server never answered")
    finally:
        server.terminate()
        server.communicate(timeout=20)


@pytest.mark.skipif(find_spec("spacy") is None, reason="needs fencepost[spacy]")
def test_spacy() -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("fencepost")
    doc = nlp("Ann met the mayor of Oslo.")
    assert "Oslo" in {span.text for span in doc.spans["fencepost"]}


@pytest.mark.skipif(find_spec("nltk") is None, reason="needs fencepost[nltk]")
def test_nltk() -> None:
    tree = parser().parse("It rained.").tree
    assert tree is not None
    assert tree.to_nltk().leaves() == ["It", "rained", "."]


@pytest.mark.parametrize(
    ("option", "message"),
    [({"device": "cuda"}, "device 'cuda'"), ({"backend": "torch"}, 'backend = "torch"')],
)
@needs_no_torch
def test_what_needs_torch_says_what_to_install(option: dict[str, str], message: str) -> None:
    with pytest.raises(fencepost.FencepostError, match=r"pip install 'fencepost\[train\]'") as told:
        fencepost.load(**option)  # type: ignore[arg-type]
    assert message in str(told.value)


@needs_no_torch
@pytest.mark.parametrize("command", ["train", "finetune"])
def test_training_says_what_to_install(command: str, tmp_path: Path) -> None:
    status, _, err = fencepost_of(command, "settings.toml", "-o", tmp_path / "run")
    assert (status, err.count("\n")) == (2, 1)
    assert "pip install 'fencepost[train]'" in err
