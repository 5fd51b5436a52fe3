"""Runs that start from a model: what it fills in, and which of its heads are kept."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from fencepost.checkpoints.trainable import TrainableModel, load_trainable
from fencepost.config import Corpus, DataSettings, Settings, checked
from fencepost.errors import ConfigError, DataError, FencepostError
from fencepost.formats import read
from fencepost.parser.predict import predict
from fencepost.run.evaluate import untagged
from fencepost.run.training.corpora import hold_out, read_corpora
from fencepost.run.training.start import kept_heads, rehearsing, settings_of_run
from fencepost.run.training.train import Note, prepare_training, run_training
from fencepost.structure import Parse, Sentence
from tests.eight import LINES, settings, write_eight

HEADS: dict[str, Any] = {"tree": {}, "entities": {}, "tags": {}}
NEAREST = {
    "pointing": "nearest-first",
    "standing": True,
    "context": True,
    "recurrent": False,
    "previous_label": False,
}
WRAPPED = [(f"(ROOT {tree})", spans) for tree, spans in LINES]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that knows eight sentences."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("base")
    data = write_eight(folder / "data.jsonl", WRAPPED)
    list(run_training(settings(data, HEADS, epochs=30, threads=1), folder / "run"))
    return folder / "run/model"


@pytest.fixture
def mentions(tmp_path: Path) -> Path:
    """The eight sentences without trees, and with other types of entities."""
    lines = [
        {"words": parse.words, "entities": [[a, b, label.upper()] for a, b, label in spans]}
        for parse, (_, spans) in zip(read(write_eight(tmp_path / "x.jsonl")), LINES, strict=True)
    ]
    path = tmp_path / "mentions.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def toml(folder: Path, base: Path, text: str = "", data: str = "data.jsonl") -> Path:
    path = folder / "run.toml"
    path.write_text(
        f'[data]\ntrain = [{{ path = "{data}" }}]\nhold_out = 0.2\n{text}\n'
        f'[training]\ninit = "{base}"\n'
    )
    return path


class TestSettings:
    def test_init_and_data_are_enough(self, base: Path, tmp_path: Path) -> None:
        found, before = settings_of_run(toml(tmp_path, base)), load_trainable(base)
        assert found.network == before.network_settings
        assert found.heads == before.heads
        assert found.training.rate == 1e-3, "less than from scratch"

    def test_what_the_file_says_comes_first(self, base: Path, tmp_path: Path) -> None:
        text = "[network]\ndropout = 0.25\nencoder = { unknown = 0.5 }\n[search]\nbeams = 3\n"
        found = settings_of_run(toml(tmp_path, base, text), changes=["training.rate=0.5"])
        before = load_trainable(base).network_settings
        assert found.network.dropout == 0.25
        assert found.network.encoder == before.encoder.model_copy(update={"unknown": 0.5})
        assert found.network.lstm_hidden == before.lstm_hidden
        assert (found.search.beams, found.training.rate) == (3, 0.5)

    def test_heads_that_the_file_names_are_the_heads(self, base: Path, tmp_path: Path) -> None:
        found = settings_of_run(toml(tmp_path, base, "[heads.tree]\ngrid = 5\n[heads.tags]\n"))
        assert found.heads.names == ("tree", "tags")
        assert found.heads.tree is not None
        assert (found.heads.tree.grid, found.heads.tree.mlp) == (5, 48)
        assert found.training.pointing_loss == "all"

    def test_pointing_nearest_first_brings_its_loss(self, base: Path, tmp_path: Path) -> None:
        text = f"[heads]\nentities = {json.dumps(NEAREST).replace(':', ' =')}\n"
        found = settings_of_run(toml(tmp_path, base, text))
        assert found.training.pointing_loss == "canonical"

    def test_another_encoder_is_not_mixed_with_that_of_the_model(
        self, base: Path, tmp_path: Path
    ) -> None:
        text = '[network]\nencoder = { kind = "transformer", model = "bert-base-cased" }\n'
        found = settings_of_run(toml(tmp_path, base, text))
        assert found.network.encoder.kind == "transformer"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[data]\ntrain = []\n", r"\[network\] is missing.*\n?.*init = \"en-small\""),
            ('[network]\nencoder = { kind = "words" }\n', r"\[heads\] is missing"),
            ('init = "en-small"\n', r"init: no such .* It belongs under \[training\]$"),
            ("training = 3\n", r"\[network\] is missing"),
            ('[training]\ninit = "nowhere"\n', "nowhere: there is no such folder"),
            ('heads = 3\n[training]\ninit = "BASE"\n', "heads: Input should be"),
            ('heads = { tree = 3 }\n[training]\ninit = "BASE"\n', "heads.tree: Input should be"),
            ('network = 3\n[training]\ninit = "BASE"\n', "network: Input should be"),
            ("[training]\ninit = 3\n", r"\[network\] is missing"),
        ],
    )
    def test_a_clear_error_otherwise(
        self, base: Path, tmp_path: Path, text: str, message: str
    ) -> None:
        path = tmp_path / "bad.toml"
        path.write_text(text.replace("BASE", str(base)))
        with pytest.raises(FencepostError, match=message) as error:
            settings_of_run(path)
        assert "run.toml" not in str(error.value)


def going_on(data: Path, base: Path, heads: dict[str, Any] = HEADS, **training: Any) -> Settings:
    """Settings of a run from the model."""
    return settings(data, heads, init=str(base), threads=1, **training)


def run(chosen: Settings, out: Path) -> tuple[TrainableModel, list[str]]:
    notes = [event.text for event in run_training(chosen, out) if isinstance(event, Note)]
    return load_trainable(out / "model"), notes


def trees(model: TrainableModel, parses: list[Parse]) -> list[str]:
    return [str(parse.tree) for parse in predict(model, untagged(parses), tasks=("tree",))]


@pytest.mark.usefixtures("without_pictures")
class TestKeptHeads:
    def test_rehearse_what_the_model_finds(
        self, base: Path, mentions: Path, tmp_path: Path
    ) -> None:
        model, notes = run(going_on(mentions, base, epochs=20), tmp_path / "run")
        assert notes == [
            f"{base}: no sentence has the layers of tree, tags; these heads rehearse what they "
            "find in the 8 sentences",
            f"{base}: the head entities begins anew, since it has no label in common",
        ]
        before, gold = load_trainable(base), list(read(mentions))
        for name in ("tree", "tags"):
            assert model.numbers.labels[name] == before.numbers.labels[name]
        assert model.numbers.wrapper == "ROOT"
        assert trees(model, gold) == trees(before, gold)
        own = [parse.entities for parse in predict(model, untagged(gold), tasks=("entities",))]
        assert own == [parse.entities for parse in gold]

    def test_stay_as_they_are_without_rehearsal(
        self, base: Path, mentions: Path, tmp_path: Path
    ) -> None:
        model, notes = run(going_on(mentions, base, epochs=2, rehearse=0.0), tmp_path / "run")
        assert [note for note in notes if "rehearse" in note] == []
        ours, theirs = (one.network.state_dict() for one in (model, load_trainable(base)))
        for name, value in ours.items():
            if name.startswith(("heads.tree.", "tags.")):
                assert torch.equal(value, theirs[name]), name
        lstm = "lstm.layers.0.weight_hh_l0"
        assert not torch.equal(ours[lstm], theirs[lstm]), "the encoder learns"

    def test_layers_that_a_corpus_leaves_out_are_rehearsed(
        self, base: Path, tmp_path: Path
    ) -> None:
        data = write_eight(tmp_path / "data.jsonl", WRAPPED)
        chosen = going_on(data, base)
        corpus = chosen.data.train[0].model_copy(update={"layers": ("entities",)})
        pairs = list(read_corpora([corpus], chosen.data))
        old = load_trainable(base)
        kept = kept_heads(chosen.heads, old, pairs)
        assert kept == ("tree", "tags")
        silver = predict(old, untagged([parse for _, parse in pairs]), tasks=kept)
        model, examples = prepare_training(
            chosen, rehearsing(pairs, silver, kept), base=old, kept=kept
        )
        assert all(sorted(one.steps) == ["entities", "tree"] for one in examples)
        assert all(one.tags is not None for one in examples)
        assert model.numbers.labels["tree"] == old.numbers.labels["tree"]

    def test_have_to_have_the_same_settings(
        self, base: Path, mentions: Path, tmp_path: Path
    ) -> None:
        heads = {**HEADS, "tree": {"mlp": 7}}
        with pytest.raises(ConfigError, match=r"heads\.tree: .* has to stay as it is .* 48 and 7"):
            run(going_on(mentions, base, heads), tmp_path / "run")

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            (
                {"lstm_layers": 3},
                r"network\.lstm_layers: 3, where the model .* has [12]; the sizes",
            ),
            ({"lstm_hidden": 7}, r"network\.lstm_hidden: 7, where"),
            ({"encoder": {"kind": "words", "word_width": 9}}, r"network\.encoder\.word_width: 9,"),
            (
                {"encoder": {"kind": "transformer", "model": "x"}},
                r"encoder\.kind: 'transformer', .*",
            ),
        ],
    )
    def test_other_sizes_are_refused_before_heads_rehearse(
        self,
        base: Path,
        mentions: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        change: dict[str, Any],
        told: str,
    ) -> None:
        monkeypatch.delattr("fencepost.run.training.train.predict_together")
        data = going_on(mentions, base).model_dump()
        data["network"].update(change)
        with pytest.raises(ConfigError, match=told):
            run(checked(Settings, data, where="test"), tmp_path / "run")

    def test_a_head_that_neither_has_is_refused(self, mentions: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no sentence to train on has the layer 'tree'"):
            run(settings(mentions, HEADS), tmp_path / "run")


@pytest.mark.usefixtures("without_pictures")
def test_labels_of_the_model_stay_if_that_is_wanted(base: Path, tmp_path: Path) -> None:
    data = write_eight(tmp_path / "few.jsonl", [*WRAPPED[:2], ("(ROOT (S (NEW (X x))))", [])])
    for wanted in ((), ("tree", "tags")):
        chosen = going_on(data, base, epochs=1, keep_labels=wanted)
        model, notes = run(chosen, tmp_path / f"{len(wanted)}")
        before = load_trainable(base).numbers.labels
        names = model.numbers.labels["tree"].names
        if wanted:
            assert names == (*before["tree"].names, "S+NEW")
            assert (
                f"{base}: labels of tree that are new: 1 (NEW) and 1 combination on the same words"
                in notes
            )
        else:
            assert set(before["tree"].names) - set(names)
        assert model.numbers.labels["entities"].names == ("person", "animal")


def parses_of(*texts: str) -> list[tuple[Corpus, Parse]]:
    return [(Corpus(path="x"), Parse(Sentence(tuple(text.split())))) for text in texts]


class TestHoldOut:
    TEXTS = tuple(f"number {number}" for number in range(20))

    def test_a_share_is_taken_from_training(self) -> None:
        rest, dev = hold_out(parses_of(*self.TEXTS), 0.1)
        assert (len(rest), len(dev)) == (18, 2)
        words = [parse.words for parse in (*dev, *(parse for _, parse in rest))]
        assert sorted(words) == sorted(tuple(text.split()) for text in self.TEXTS)

    def test_the_same_sentences_are_taken_in_any_order(self) -> None:
        _, dev = hold_out(parses_of(*self.TEXTS), 0.1)
        _, again = hold_out(parses_of(*reversed(self.TEXTS)), 0.1)
        assert again == dev[::-1]

    def test_sentences_that_are_the_same_stay_together(self) -> None:
        rest, dev = hold_out(parses_of(*self.TEXTS, *self.TEXTS), 0.1)
        assert len(dev) == 4
        assert not {parse.words for parse in dev} & {parse.words for _, parse in rest}

    def test_one_is_left_on_each_side(self) -> None:
        for share in (0.001, 0.99):
            rest, dev = hold_out(parses_of("a", "b"), share)
            assert (len(rest), len(dev)) == (1, 1)
        with pytest.raises(DataError, match=r"at least two different sentences .* there is one"):
            hold_out(parses_of("a", "a"), 0.5)

    @pytest.mark.parametrize(
        ("dev", "share", "told"), [([], 0.0, "neither is"), ([{"path": "x"}], 0.1, "both are")]
    )
    def test_dev_is_files_or_a_share(self, dev: list[Any], share: float, told: str) -> None:
        data = {"train": [{"path": "x"}], "dev": dev, "hold_out": share}
        with pytest.raises(ConfigError, match=rf"hold_out = 0\.1.*{told} here"):
            checked(DataSettings, data, where="test")
