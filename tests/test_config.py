import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import ValidationError

from fencepost.config import (
    EntitiesSettings,
    TransformerSettings,
    WordsSettings,
    read_settings,
)
from fencepost.errors import ConfigError

CONFIGS = Path(__file__).parents[1] / "configs"
FILES = r'data.{}: a list of files is expected, as in \[{{ path = "gt.ptb" }}\]$'
SMALL = """
[data]
train = [{ path = "train.ptb" }]
dev = [{ path = "dev.ptb" }]
[network]
encoder = { kind = "words" }
[heads.tree]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.toml"
    path.write_text(text)
    return path


def test_the_defaults_are_the_papers(tmp_path: Path) -> None:
    settings = read_settings(written(tmp_path, SMALL))
    training, network, tree = settings.training, settings.network, settings.heads.tree
    assert tree is not None
    assert (training.betas, training.encoder_rate, training.rate) == ((0.9, 0.9), 5e-5, 2.5e-3)
    assert (training.warmup, training.clip, training.batch_words) == (0.1, 5.0, 3000)
    assert (network.dropout, network.lstm_layers, network.lstm_hidden) == (0.33, 3, 1000)
    assert (tree.mlp, tree.decoder, tree.previous_label) == (500, 1000, False)
    assert isinstance(network.encoder, WordsSettings)


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_every_config_that_we_ship_can_be_read(path: Path) -> None:
    assert read_settings(path).heads.names


def test_a_pretrained_encoder_is_named(tmp_path: Path) -> None:
    text = SMALL.replace('kind = "words"', 'kind = "transformer", model = "bert-large-cased"')
    encoder = read_settings(written(tmp_path, text)).network.encoder
    assert isinstance(encoder, TransformerSettings)
    assert (encoder.model, encoder.pieces, encoder.layers) == ("bert-large-cased", "last", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SMALL + "[training]\nwarmup_steps = 3\n",
            "training.warmup_steps: no such setting; did you mean training.warmup",
        ),
        (SMALL + "[training]\nepochs = 0\n", "training.epochs: Input should be greater than 0"),
        (SMALL.replace("[heads.tree]", "[heads]"), "at least one of tree, entities, tags"),
        (
            SMALL.replace('"words"', '"bert"'),
            'network.encoder: kind = "bert": no such kind; "words" or "transformer" is right',
        ),
        (SMALL.replace('[{ path = "train.ptb" }]', '"gt.ptb"'), FILES.format("train")),
        (SMALL.replace('[{ path = "train.ptb" }]', '["gt.ptb"]'), FILES.format("train.0")),
        (SMALL.replace('[{ path = "dev.ptb" }]', '{ path = "gt.ptb" }'), FILES.format("dev")),
        (SMALL.replace("[heads.tree]", "[heads.trees]"), "heads.trees: .* mean heads.tree"),
        (
            "init = 'en-small'\n" + SMALL.partition("[network]")[0],
            r":\n  init: no such setting; did you mean training.init\? It belongs under \[training",
        ),
        (SMALL + "[training]\nbeams = 3\n", r"training.beams: .* mean search.beams\? It belongs"),
        (SMALL + "[quux]\n", r"quux: no such setting; known here: seed, data, network, heads"),
        (
            SMALL.replace('"words"', '"words", word_widht = 3'),
            r"encoder.words.word_widht: .* mean network.encoder.word_width\?",
        ),
        ("seed = ", "no TOML"),
    ],
)
def test_what_is_wrong_is_named_key_by_key(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as raised:
        read_settings(path)
    assert "x.toml" in str(raised.value) or "heads" in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read"):
        read_settings(tmp_path / "none.toml")


def test_single_settings_can_be_changed(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    changes = ["training.epochs=3", "network.encoder.kind=words", "heads.tags.weight = 0.5"]
    settings = read_settings(path, changes=changes)
    assert settings.training.epochs == 3
    assert settings.heads.names == ("tree", "tags")
    for change, message in (
        ("training.epochs", "a setting is expected, as in"),
        ("=3", "a setting is expected, as in"),
        ("data.train.path=x", "train is no table"),
        ("seed=-3", "seed: Input should be greater than or equal to 0"),
        ("epochs=3", r"epochs: no such setting; did you mean training.epochs\?"),
        ("training.epoch=3", r"training.epoch: no such setting; did you mean training.epochs\?"),
    ):
        with pytest.raises(ConfigError, match=message):
            read_settings(path, changes=[change])


MAPPED = """
[[data.train]]
path = "train.ptb"
sample = 0.25
rename = { HEADING = "NP" }
rename_tags = { "PP$" = "PRP$" }
relabel = [{ label = "NP", tags = ["WP", "WDT"], to = "WHNP" }]
splice = ["NML"]
"""
MAPPED = SMALL.replace('train = [{ path = "train.ptb" }]\n', "") + MAPPED


def test_a_corpus_says_how_it_is_read_and_how_often_it_is_seen(tmp_path: Path) -> None:
    (corpus,) = read_settings(written(tmp_path, MAPPED)).data.train
    assert (corpus.rename, corpus.splice, corpus.sample) == ({"HEADING": "NP"}, ("NML",), 0.25)
    assert corpus.rename_tags == {"PP$": "PRP$"}
    assert [(rule.label, rule.tags, rule.to) for rule in corpus.relabel] == [
        ("NP", ("WP", "WDT"), "WHNP")
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.25", "0", r"data\.train\.0\.sample: Input should be greater than 0"),
        ('"NP" }', '"" }', r"data\.train\.0\.rename\.HEADING: String should have at least 1"),
        ('["WP", "WDT"]', "[]", r"data\.train\.0\.relabel\.0\.tags: .* at least 1"),
        ('["NML"]', '"NML"', r'data\.train\.0\.splice: a list is expected, as in \["NML"\]'),
    ],
)
def test_a_corpus_that_cannot_be_read_so_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        read_settings(written(tmp_path, MAPPED.replace(old, new)))


def test_dev_files_are_scored_whole(tmp_path: Path) -> None:
    text = SMALL.replace('"dev.ptb"', '"dev.ptb", sample = 0.5')
    with pytest.raises(ConfigError, match=r"data\.dev\.0\.sample: 0\.5; .* 1 is right"):
        read_settings(written(tmp_path, text))


def test_a_target_is_not_shared_with_labels_that_are_not_allowed(tmp_path: Path) -> None:
    both = '[training]\npointing_loss = "canonical"\nlabel_smoothing = 0.1\n'
    with pytest.raises(ConfigError, match=r"label_smoothing: .* 0 is right"):
        read_settings(written(tmp_path, SMALL + both))


class TestTooMuch:
    def test_a_file_without_an_end_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        path = tmp_path / "x.toml"
        with open(path, "wb") as file:
            file.truncate(10 << 30)  # a hole, which takes no room
        for each in (path, Path("/dev/zero")):
            with pytest.raises(ConfigError, match=f"{each}: more than 1,048,576 bytes, where a"):
                read_settings(each)

    def test_a_pipe_is_read_like_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "x.toml"
        os.mkfifo(path)
        for text, is_wrong in ((SMALL, False), (SMALL + "#" * (1 << 20), True)):
            writer = threading.Thread(target=self.write, args=(path, text))
            writer.start()
            if is_wrong:
                with pytest.raises(ConfigError, match="more than 1,048,576 bytes"):
                    read_settings(path)
            else:
                assert read_settings(path).heads.names == ("tree",)
            writer.join(20)

    @staticmethod
    def write(path: Path, text: str) -> None:
        with suppress(BrokenPipeError):
            path.write_text(text)

    def test_as_much_as_is_allowed_is_read(self, tmp_path: Path) -> None:
        text = SMALL + "#" * ((1 << 20) - len(SMALL))
        assert read_settings(written(tmp_path, text)).heads.names == ("tree",)

    @pytest.mark.parametrize("value", ["9" * 5_000, "[" * 100_000])
    def test_what_python_cannot_read_is_told(self, tmp_path: Path, value: str) -> None:
        with pytest.raises(ConfigError, match=r"x\.toml: no TOML: "):
            read_settings(written(tmp_path, f"seed = {value}\n{SMALL}"))
        with pytest.raises(ConfigError, match=r"seed: .*integer"):
            read_settings(written(tmp_path, SMALL), changes=[f"seed={value}"])

    def test_bytes_that_are_no_text_are_told(self, tmp_path: Path) -> None:
        path = tmp_path / "x.toml"
        path.write_bytes(b"seed = \xff")
        with pytest.raises(ConfigError, match=r"x\.toml: no TOML: 'utf-8' codec"):
            read_settings(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("heads.tree.recurrent=false", "heads.tree: .* false here: standing, context"),
        ("heads.entities.recurrent=false", "heads.entities: .* needs standing = true"),
        ("heads.tree.grid=true", "heads.tree.grid: Input should be a valid integer"),
        ("heads.tree.grid=1", "heads.tree: grid = 1 scores all spans alike"),
        ("heads.tree.standing=yes", "heads.tree.standing: Input should be a valid boolean"),
        ("heads.tree.pointing=nearest-first", 'pointing_loss has to be "canonical"'),
        ("heads.tree.pointing=farthest", "'softmax' or 'nearest-first'"),
    ],
)
def test_heads_that_cannot_work_are_refused(tmp_path: Path, change: str, message: str) -> None:
    path = written(tmp_path, f"{SMALL}[heads.entities]\n")
    with pytest.raises(ConfigError, match=message):
        read_settings(path, changes=[change])


def test_the_last_label_needs_the_lstm() -> None:
    with pytest.raises(ValidationError, match="previous_label = false"):
        EntitiesSettings(recurrent=False, standing=True, context=True)
