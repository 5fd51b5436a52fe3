"""Eight sentences with trees and entities, and a network small enough to learn them in seconds."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fencepost.config import Settings, checked

LINES: list[tuple[str, list[list[Any]]]] = [
    ("(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))", [[0, 2, "animal"]]),
    ("(S (NP (NNP Ann)) (VP (VBD met) (NP (NNP Bo))))", [[0, 1, "person"], [2, 3, "person"]]),
    ("(S (VP (VB Go) (ADVP (RB home))) (. !))", []),
    (
        "(NP (NP (DT the) (NN roof)) (PP (IN of) (NP (DT the) (NN house))))",
        [[0, 5, "object"], [3, 5, "place"]],
    ),
    ("(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ red))))", [[0, 1, "object"]]),
    ("(FRAG (INTJ (UH No)) (. .))", []),
    (
        "(S (NP (NNS Dogs)) (VP (VBP bark) (PP (IN at) (NP (NNS cats)))))",
        [[0, 1, "animal"], [3, 4, "animal"]],
    ),
    (
        "(S (S (NP (PRP I)) (VP (VBD came))) (CC and) (S (NP (PRP I)) (VP (VBD saw))))",
        [[0, 1, "person"], [3, 4, "person"]],
    ),
]


def write_eight(path: Path, lines: Sequence[tuple[str, list[list[Any]]]] = LINES) -> Path:
    """A file of JSON lines with them."""
    texts = (json.dumps({"tree": tree, "entities": spans}) for tree, spans in lines)
    path.write_text("\n".join(texts) + "\n")
    return path


def settings(data: Path, heads: dict[str, Any], **training: Any) -> Settings:
    """Of a run on such a file."""
    pointing = {"mlp": 48, "decoder": 48}
    return checked(
        Settings,
        {
            "data": {"train": [{"path": str(data)}], "dev": [{"path": str(data)}]},
            "network": {
                "encoder": {"kind": "words", "min_count": 1, "unknown": 0.0, "word_width": 32},
                "lstm_layers": 1,
                "lstm_hidden": 48,
                "dropout": 0.0,
            },
            "heads": {
                name: {} if name == "tags" else {**pointing, **h} for name, h in heads.items()
            },
            "training": {"epochs": 100, "batch_words": 30, "rate": 5e-3, **training},
        },
        where="test",
    )
