"""Static word vectors in a run: read, added, kept as they are, saved, and taken along."""

from pathlib import Path

import pytest
import torch

from fencepost.batching.vocabulary import RESERVED
from fencepost.checkpoints.trainable import TrainableModel, load_trainable
from fencepost.config import Settings
from fencepost.errors import ConfigError
from fencepost.model.encoder import WordEncoder
from fencepost.parser.predict import predict
from fencepost.run.training.train import run_training
from fencepost.structure import Sentence
from tests.eight import settings, write_eight


def with_vectors(tmp_path: Path, width: int = 32, **training: object) -> Settings:
    data = write_eight(tmp_path / "data.jsonl")
    path = tmp_path / "vectors.txt"
    rows = {"cat": 0.5, "the": -1.0, "zebra": 2.0}
    path.write_text("".join(f"{w} {' '.join([str(x)] * width)}\n" for w, x in rows.items()))
    chosen = settings(data, {"tags": {}}, epochs=1, **training)
    encoder = chosen.network.encoder.model_copy(update={"vectors": str(path)})
    network = chosen.network.model_copy(update={"encoder": encoder})
    return chosen.model_copy(update={"network": network})


def static_of(model: TrainableModel) -> torch.Tensor:
    encoder = model.network.encoder
    assert isinstance(encoder, WordEncoder)
    assert encoder.static is not None
    return encoder.static.weight


def test_vectors_stay_as_they_were_read_and_are_saved(tmp_path: Path) -> None:
    list(run_training(with_vectors(tmp_path), tmp_path / "run"))
    model = load_trainable(tmp_path / "run/model")
    assert static_of(model)[RESERVED:, 0].tolist() == [0.5, -1.0, 2.0]
    assert static_of(model)[:RESERVED].abs().sum() == 0
    (tmp_path / "vectors.txt").unlink()  # the model does not need it any more
    assert load_trainable(tmp_path / "run/model").numbers.static is not None


def test_a_word_is_looked_up_in_small_letters_too(tmp_path: Path) -> None:
    list(run_training(with_vectors(tmp_path), tmp_path / "run"))
    model = load_trainable(tmp_path / "run/model")
    known = model.read([["zebra", "Zebra", "gnu"]])
    assert known.static[0, 1] == known.static[0, 2] != known.static[0, 3]  # type: ignore[attr-defined]
    assert len(predict(model, [Sentence(("Zebra",))])) == 1


def test_vectors_come_from_the_new_file_when_a_model_is_tuned_on(tmp_path: Path) -> None:
    list(run_training(with_vectors(tmp_path), tmp_path / "old"))
    chosen = with_vectors(tmp_path, init=str(tmp_path / "old/model"))
    (tmp_path / "vectors.txt").write_text(f"gnu {' '.join(['3'] * 32)}\n")
    list(run_training(chosen, tmp_path / "new"))
    model = load_trainable(tmp_path / "new/model")
    assert static_of(model)[RESERVED:, 0].tolist() == [3.0]


def test_vectors_of_another_width_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"word_width: 32, where the vectors of .* have 5 numbers"
    ):
        list(run_training(with_vectors(tmp_path, width=5), tmp_path / "run"))
