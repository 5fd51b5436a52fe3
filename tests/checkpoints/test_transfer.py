"""What one model has learned, in another."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from fencepost.batching.numbers import Numbers
from fencepost.batching.vocabulary import Labels, Vocabulary
from fencepost.checkpoints.trainable import TrainableModel, new_model
from fencepost.checkpoints.transfer import transfer_weights
from fencepost.config import HeadsSettings, NetworkSettings, checked
from fencepost.errors import ModelError
from fencepost.runtime.shapes import LABEL_TABLES
from fencepost.tasks.labels import NO_LABELS
from tests.models import small_model
from tests.tiny import tiny_transformer


def fresh(
    like: TrainableModel, *, labels: tuple[str, ...] = ("S", "NP+VP"), words: str = "ab"
) -> TrainableModel:
    """A new model of the same sizes with other labels and words."""
    numbers = replace(
        like.numbers,
        labels={head: Labels(labels) for head in like.numbers.labels},
        words=Vocabulary(tuple(words), (1,) * len(words)),
        characters=Vocabulary(tuple(words), (1,) * len(words)),
    )
    torch.manual_seed(2)
    return new_model(like.network_settings, like.heads, numbers)


def weights(model: TrainableModel) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in model.network.state_dict().items()}


def test_a_model_transferred_to_itself_stays_as_it_is() -> None:
    old = small_model("tree", "entities", "tags")
    before = weights(old)
    other = small_model("tree", "entities", "tags")
    with torch.no_grad():
        for parameter in other.network.parameters():
            parameter.fill_(9.0)
    model, notes = transfer_weights(old, other)
    assert notes == []
    assert model.numbers == old.numbers
    assert weights(model).keys() == before.keys()
    for name, value in weights(model).items():
        assert torch.equal(value, before[name]), name


def test_labels_in_another_order_keep_their_rows() -> None:
    old = small_model("tree", "tags")
    model, notes = transfer_weights(old, fresh(old, labels=("NP+VP", "S")))
    assert notes == []
    for name in ("heads.tree.label_vectors", "tags.weight", "tags.bias"):
        assert torch.equal(weights(model)[name], weights(old)[name][[0, 2, 1]]), name


def test_new_labels_are_fresh_and_old_ones_are_named() -> None:
    old = small_model("tree")
    new = fresh(old, labels=("X", "S"))
    model, notes = transfer_weights(old, new)
    assert notes == [
        "labels of tree that are new: 1 (X)",
        "labels of tree that are left behind: 2 (NP, VP) and 1 combination on the same words; "
        'training.keep_labels = ["tree"] would keep them',
    ]
    rows = weights(model)["heads.tree.label_vectors"]
    before = weights(old)["heads.tree.label_vectors"]
    assert torch.equal(rows[[0, 2]], before[[0, 1]])
    assert not any(torch.equal(rows[1], row) for row in before)


def test_of_many_labels_the_most_common_are_told() -> None:
    old = small_model("tree", "tags")
    names = tuple(f"L{number}" for number in range(12))
    more = fresh(old, labels=("S", NO_LABELS, *names, "S+L1", "L2+L2", r"C\+\+"))
    _, notes = transfer_weights(more, fresh(old, labels=("S",)))
    told = "L0, L1, L2, L3, L4, L5, L6, L7, L8, L9, …"
    assert notes == [
        f"labels of tags that are left behind: 16 (\\0, {', '.join(names[:9])}, …); "
        'training.keep_labels = ["tags"] would keep them',
        f"labels of tree that are left behind: 13 ({told}) and 2 combinations on the same words; "
        'training.keep_labels = ["tree"] would keep them',
    ]
    few = fresh(old, labels=("S", "S+S"))
    assert transfer_weights(few, fresh(old, labels=("S", NO_LABELS, "S+S")))[1] == [
        "labels of tags that are new: 1 (\\0)"
    ]


def test_what_a_decoder_knows_of_labels_goes_with_them() -> None:
    plain = small_model("tree")
    heads = {"tree": {"mlp": 8, "decoder": 8, "context": True, "grid": 4, "standing": True}}
    sizes = checked(HeadsSettings, heads, where="test")
    old = new_model(plain.network_settings, sizes, plain.numbers)
    with torch.no_grad():
        for parameter in old.network.parameters():
            torch.nn.init.normal_(parameter)
    model, notes = transfer_weights(old, fresh(old, labels=("X", "S")))
    assert notes == [
        "labels of tree that are new: 1 (X)",
        "labels of tree that are left behind: 2 (NP, VP) and 1 combination on the same words; "
        'training.keep_labels = ["tree"] would keep them',
    ]
    assert old.numbers.labels["tree"].names == ("S", "NP+VP")
    for name in LABEL_TABLES:  # a row for no span, for the filler, for each label
        rows, before = (weights(one)[f"heads.tree.{name}"] for one in (model, old))
        assert torch.equal(rows[[0, 1, 3]], before[[0, 1, 2]]), name
        assert not rows[2].any(), "a new label is not known yet"


def test_words_are_kept_and_new_ones_are_appended() -> None:
    old = small_model("tree")
    model, _ = transfer_weights(old, fresh(old, words="xb"))
    assert model.numbers.words is not None
    assert model.numbers.characters is not None
    assert model.numbers.words.items == ("a", "b", "x")
    assert model.numbers.characters.items == ("a", "b", "c", "x")
    for name in ("encoder.words.weight", "encoder.characters.weight"):
        before = weights(old)[name]
        assert torch.equal(weights(model)[name][: len(before)], before)
        assert len(weights(model)[name]) == len(before) + 1
    assert model.read([["x", "a"]]).lengths.tolist() == [2]


def test_heads_come_and_go() -> None:
    old, new = small_model("tree", "tags"), small_model("tree", "entities")
    own = weights(new)
    model, notes = transfer_weights(old, new)
    assert notes == ["the head entities is new", "the head tags is left behind"]
    for name, value in weights(model).items():
        expected = own if name.startswith("heads.entities") else weights(old)
        assert torch.equal(value, expected[name]), name


def test_other_sizes_of_the_network_are_refused() -> None:
    old = small_model("tree")
    network = old.network_settings.model_copy(update={"lstm_hidden": 5})
    with pytest.raises(ModelError, match=r"has the shape .* there and .* here; the sizes"):
        transfer_weights(old, new_model(network, old.heads, old.numbers))


def test_a_head_with_other_settings_begins_anew() -> None:
    old = small_model("tree", "tags")
    heads = checked(HeadsSettings, {"tree": {"mlp": 9, "decoder": 8}, "tags": {}}, where="test")
    new = new_model(old.network_settings, heads, old.numbers)
    own = weights(new)
    model, notes = transfer_weights(old, new)
    assert notes == [
        "the head tree begins anew, since its settings differ there and here: mlp 8 and 9"
    ]
    for name, value in weights(model).items():
        expected = own if name.startswith("heads.") else weights(old)
        assert torch.equal(value, expected[name]), name


def test_a_head_without_a_label_in_common_begins_anew() -> None:
    old = small_model("tree", "tags")
    model, notes = transfer_weights(old, fresh(old, labels=("X", "Y")))
    assert notes == [
        f"the head {name} begins anew, since it has no label in common" for name in ("tags", "tree")
    ]
    for name in ("tags.weight", "heads.tree.label_vectors", "heads.tree.biaffine"):
        assert not torch.equal(weights(model)[name], weights(old)[name]), name
    assert torch.equal(
        weights(model)["lstm.layers.0.weight_hh_l0"], weights(old)["lstm.layers.0.weight_hh_l0"]
    )


def test_heads_that_are_kept_keep_their_temperatures() -> None:
    old = small_model("tree", "entities", "tags")
    for name in ("tree", "entities"):
        old.network.head(name).temperature = 1.5
    model, _ = transfer_weights(
        old, small_model("tree", "entities", "tags"), calibrated=("tree", "tags")
    )
    assert [model.network.temperature(name) for name in ("tree", "entities")] == [1.5, 1.0]


def on_transformer(folder: Path, kind: str) -> TrainableModel:
    folder.mkdir()
    network = {
        "encoder": {"kind": "transformer", "model": tiny_transformer(folder, kind=kind)},
        "lstm_layers": 0,
    }
    return new_model(
        checked(NetworkSettings, network, where="test"),
        checked(HeadsSettings, {"tree": {"mlp": 8, "decoder": 8}}, where="test"),
        Numbers({"tree": Labels(("S",))}),
    )


def test_a_transformer_comes_along(tmp_path: Path) -> None:
    old = on_transformer(tmp_path / "old", "bert")
    with torch.no_grad():
        for parameter in old.network.parameters():
            parameter.add_(1.0)
    model, notes = transfer_weights(old, on_transformer(tmp_path / "new", "bert"))
    assert notes == []
    for name, value in weights(model).items():
        assert torch.equal(value, weights(old)[name]), name


def test_other_pieces_are_refused(tmp_path: Path) -> None:
    old, new = (on_transformer(tmp_path / kind, kind) for kind in ("bert", "roberta"))
    with pytest.raises(ModelError, match="its tokenizer has other pieces"):
        transfer_weights(old, new)
    with pytest.raises(ModelError, match="its encoder is 'words', and here it is 'transformer'"):
        transfer_weights(small_model("tree"), new)
