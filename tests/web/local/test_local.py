"""The parser in JavaScript finds what Python finds."""

import unicodedata
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import fencepost
from fencepost.batching.numbers import Numbers
from fencepost.batching.pieces import Speller, case_of, piece_inputs
from fencepost.batching.vocabulary import Labels
from fencepost.checkpoints.model import save_model
from fencepost.checkpoints.shipped import find_model
from fencepost.checkpoints.trainable import new_model
from fencepost.config import HeadsSettings, NetworkSettings
from fencepost.decoding.rules import Rules
from fencepost.decoding.walk import walk
from fencepost.model.stepper import stepper_of
from fencepost.parser.steps import Step
from fencepost.run.browser.packing import packed
from fencepost.run.browser.tables import splitter_tables, tokenizer_tables
from fencepost.runtime.step_graphs import step_graphs
from fencepost.runtime.weights import Weights
from fencepost.tasks.labels import NO_LABELS
from fencepost.text import split_text
from fencepost.web.answers import plain_document
from fencepost.web.jobs import Answered
from tests.heads import SETTINGS, WIDTH, head_with
from tests.reliability.strategies import SENTENCES, hostile_text
from tests.runtime.test_encoder import random
from tests.text.test_words import ODD
from tests.tiny import tiny_transformer
from tests.web.local.helpers import (
    as_packed,
    exported,
    needs_node,
    needs_runtime,
    node_test,
    unpacked,
)

TEXTS = (
    "The cat sat on the mat. Dogs bark at Ann; it's RED, isn't it?",
    "no " * 60 + "go home.",  # more pieces than a window has
    "👍🏽 猫が座った。\u200b Mr. Bo can't go ‘home’\ud800!",
    " \n",
)


def texts() -> list[str]:
    """Texts of all sorts; what hits one rule of the splitters seldom hits another."""
    chance = Random(1)
    sorts = [*ODD, *SENTENCES, " ", "\n", "\n\n", "\r\n", "\t", ". ", "The ", "?", "! “", "• "]
    found = [*SENTENCES, *(hostile_text(chance)[:3000] for _ in range(500))]
    found += ("".join(chance.choices(sorts, k=chance.randrange(30))) for _ in range(1500))
    found += (
        "".join(chr(chance.randrange(0x3200)) for _ in range(chance.randrange(40)))
        for _ in range(500)
    )
    return found


@needs_node
@pytest.mark.slow
def test_texts_are_split_as_in_python(tmp_path: Path) -> None:
    cutter = fencepost.load(threads=1).model.cutter
    assert cutter is not None
    speller = Speller(cutter)
    chance = Random(2)
    spelled = [word for text in texts() for sentence in split_text(text) for word in sentence.words]
    letters = (chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000)
    spelled += chance.sample([f"a{char}B" for char in letters], 20_000)
    words = list(dict.fromkeys(spelled))
    windows = []
    for which in ("last", "first", "mean"):
        for window in (3, 7, 40):
            sentence = chance.sample(words, 30)
            windows.append(expected_windows(sentence, cutter, speller, which, window))
    special = {"before": cutter.before, "after": cutter.after, "nothing": cutter.nothing}
    cases = {
        "tables": {
            "splitter": splitter_tables(),
            "tokenizer": tokenizer_tables(cutter.tokenizer, path="en-small"),
        },
        "settings": special,
        "texts": [[text, [one.words for one in split_text(text)]] for text in texts()],
        "words": [
            [word, pieces, case_of(word) if is_known(word) else None]
            for word, pieces in zip(words, speller(words), strict=True)
        ],
        "windows": windows,
    }
    node_test("splitting.test.mjs", cases, tmp_path)


def is_known(word: str) -> bool:
    """Whether this Python has all of the characters: a browser may have newer ones."""
    return all(unicodedata.category(char) != "Cn" for char in word)


def expected_windows(
    sentence: list[str], cutter: Any, speller: Speller, which: Any, window: int
) -> dict[str, Any]:
    inputs = piece_inputs(
        [sentence],
        spell=speller,
        before=cutter.before,
        after=cutter.after,
        padding=cutter.padding,
        window=window,
        which=which,
    )
    counts = inputs.mask.sum(1)
    width = inputs.pieces.shape[1]
    picked = sorted(
        (word, *divmod(place, width), share)
        for word, place, share in zip(
            inputs.words.tolist(), inputs.picked.tolist(), inputs.shares.tolist(), strict=True
        )
    )
    rows = {
        name: [row[:count].tolist() for row, count in zip(array, counts, strict=True)]
        for name, array in (("pieces", inputs.pieces), ("cases", inputs.cases))
    }
    order = [[row, place, word, share] for word, row, place, share in picked]
    expected = {**rows, "picked": order}
    return {"sentence": sentence, "which": which, "window": window, "expected": expected}


@needs_node
def test_files_are_checked(tmp_path: Path) -> None:
    node_test("files.test.mjs", {}, tmp_path)


@needs_node
@needs_runtime
@pytest.mark.slow
def test_heads_of_any_settings_take_the_steps_of_python(tmp_path: Path) -> None:
    cases = []
    for number, settings in enumerate(SETTINGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        is_open, temperature = number % 2 == 0, (0.5, 1.0, 2.0)[number % 3]
        head = head_with(number, settings, open_root=is_open, temperature=temperature).float()
        own = {f"heads.tree.{name}": one.numpy() for name, one in head.state_dict().items()}
        weights = packed(own)
        save_file(weights, folder / "weights.safetensors")
        same = {name.removeprefix("heads.tree."): one for name, one in unpacked(weights).items()}
        head.load_state_dict(
            {name: one.new_tensor(same[name]) for name, one in head.state_dict().items()}
        )
        stored = Weights(folder / "weights.safetensors").stored
        for part, graph in step_graphs(stored, "heads.tree.", file="weights.safetensors").items():
            (folder / f"tree-{part}.onnx").write_bytes(graph)
        bare = 2 if number % 4 == 1 else None
        rules = Rules(is_open, bare=bare, nearest_first=head.nearest_first, temperature=temperature)
        plain = {
            "openRoot": is_open,
            "bare": bare,
            "nearestFirst": head.nearest_first,
            "temperature": temperature,
        }
        batches = [expected_walk(head, rules, lengths) for lengths in ([1], [2], [9], [3, 1, 6])]
        name = f"{number}: {settings}"
        cases.append({"name": name, "folder": str(folder), "rules": plain, "batches": batches})
    node_test("walk.test.mjs", {"heads": cases}, tmp_path)


def expected_walk(head: Any, rules: Rules, lengths: list[int]) -> dict[str, Any]:
    shape = (len(lengths), max(lengths) + 1, WIDTH)
    noise = np.random.default_rng(7).standard_normal(shape, dtype=np.float32)
    found: list[list[dict[str, Any]]] = [[] for _ in lengths]
    for choice in walk(stepper_of(head), noise, np.array(lengths), rules):
        for index in (~choice.where.is_final).nonzero()[0].tolist():
            points = np.exp(choice.points[index]).tolist()
            found[choice.rows[index]].append(
                {
                    "boundary": int(choice.boundary[index]),
                    "label": int(choice.label[index]),
                    "logProb": float(choice.log_probs[index]),
                    "candidates": [
                        [place, chance]
                        for place, chance in enumerate(points)
                        if choice.points[index, place] > float("-inf")
                    ],
                }
            )
    return {"boundaries": noise.ravel().tolist(), "lengths": lengths, "expected": found}


@needs_node
@needs_runtime
@pytest.mark.slow
def test_models_give_the_documents_of_python(tmp_path: Path) -> None:
    paper: dict[str, Any] = {"mlp": 6, "decoder": 5}
    ours = paper | {
        "pointing": "nearest-first",
        "standing": True,
        "context": True,
        "grid": 4,
        "recurrent": False,
        "previous_label": False,
        "perceptrons": "authors",
    }
    labels = {
        "tree": Labels(("S", "NP+VP", NO_LABELS, "X\\+")),
        "entities": Labels(("person", "org+place")),
        "tags": Labels(("N", "V", "D")),
    }
    models: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("paper", {}, {"tree": paper, "entities": paper | {"previous_label": True}, "tags": {}}),
        ("halves, LSTM", {"lstm_layers": 2, "boundary": "halves"}, {"tree": paper}),
        ("entities", {"encoder": {"case": True, "pieces": "mean"}}, {"entities": paper}),
        (
            "ours",
            {"boundary": "whole", "encoder": {"layers": 2, "pieces": "first"}},
            {"tree": ours, "entities": ours, "tags": {}},
        ),
    ]
    cases = []
    for number, (name, network, heads) in enumerate(models):
        folder = tmp_path / str(number)
        transformer = tiny_transformer(folder / "transformer", kind=("bert", "electra")[number % 2])
        settings: dict[str, Any] = {"lstm_layers": 0, "lstm_hidden": 8, **network}
        settings["encoder"] = {
            "kind": "transformer",
            "model": transformer,
            **network.get("encoder", {}),
        }
        some = {head: labels[head] for head in heads}
        numbers = Numbers(some, wrapper="ROOT" if number % 2 else None)
        chosen = HeadsSettings.model_validate(heads)
        model = random(new_model(NetworkSettings.model_validate(settings), chosen, numbers))
        save_model(model, folder / "model")
        cases.append({"name": name, **expected_model(folder / "model", folder)})
    node_test("parser.test.mjs", {"models": cases}, tmp_path)


@needs_node
@needs_runtime
@pytest.mark.slow
def test_the_model_that_ships_gives_the_documents_of_python(tmp_path: Path) -> None:
    own = expected_model(find_model("en-small"), tmp_path)
    node_test("parser.test.mjs", {"models": [{"name": "en-small", **own}]}, tmp_path)


def expected_model(model: Path, folder: Path) -> dict[str, Any]:
    """An exported model, and what Python finds with the same weights."""
    exported(model, folder / "page")
    parser = fencepost.load(as_packed(model, folder / "packed"), threads=1)
    documents: list[Any] = []
    steps: list[Any] = []
    for text in TEXTS:
        document = parser.parse(text, beams=1)
        plain = plain_document(Answered(document))
        for one in plain["sentences"]:
            one.pop("brackets", None)
        documents.append({"text": text, "sentences": plain["sentences"]})
    for parse in parser.parse(TEXTS[0]).sentences:
        found: list[Step] = list(parser.steps(list(parse.words)))
        (plain,) = plain_document(Answered(fencepost.Document((parse,)), (), (tuple(found),)))[
            "sentences"
        ]
        steps += (
            {"words": list(parse.words), "layer": layer, "expected": own}
            for layer, own in plain["steps"].items()
        )
    return {"folder": str(folder / "page"), "documents": documents, "steps": steps}
