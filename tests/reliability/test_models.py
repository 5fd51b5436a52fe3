"""Folders of models are the work of others: each loads as it was saved, or is refused with a word.

What may fill the memory or crash is loaded by `loading.py`, in a child of another process.
"""

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from fencepost import load
from fencepost.checkpoints.loading import load_model
from fencepost.checkpoints.model import CONFIG, FILES, GRAPHS, LABELS, WEIGHTS, save_model
from fencepost.checkpoints.trainable import load_trainable
from fencepost.errors import ModelError
from fencepost.model.pretrained import fetch_pretrained
from fencepost.run.calibrate import write_temperatures
from fencepost.runtime.manifest import MANIFEST, write_manifest
from tests.models import small_model, transformer_model
from tests.reliability.driver import Driver
from tests.tiny import tiny_transformer

TOKENIZER = "tokenizer.json"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """The folder of a model that reads words."""
    save_model(small_model("tree", "tags"), tmp_path / "words")
    return tmp_path / "words"


@pytest.fixture(scope="module")
def kept_pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pieces")
    model = transformer_model(tiny_transformer(folder), lstm_layers=1)
    save_model(model, folder / "model", with_steps=True)
    return folder / "model"


@pytest.fixture
def pieces(kept_pieces: Path, tmp_path: Path) -> Path:
    """The folder of a model with a transformer."""
    return Path(shutil.copytree(kept_pieces, tmp_path / "pieces"))


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def change(folder: Path, name: str, *keys: str, to: Any) -> None:
    """Change one thing in a file of JSON; there is no list of files any more."""
    (folder / MANIFEST).unlink(missing_ok=True)
    data = json.loads((folder / name).read_text())
    inner = data
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    (folder / name).write_text(json.dumps(data))


class TestManifest:
    def test_lists_all_that_is_loaded(self, pieces: Path) -> None:
        listed = json.loads((pieces / MANIFEST).read_text())
        assert listed["version"] == 1
        assert sorted(listed["files"]) == sorted(FILES)
        for name, one in listed["files"].items():
            assert one["bytes"] == (pieces / name).stat().st_size

    @pytest.mark.parametrize("name", FILES)
    def test_finds_what_is_wrong_with_a_file(self, pieces: Path, tmp_path: Path, name: str) -> None:
        path, whole = pieces / name, (pieces / name).read_bytes()
        path.write_bytes(whole[:-7])
        with pytest.raises(ModelError, match=rf"{name}: [\d,]+ bytes, where manifest\.json says"):
            load_model(pieces)
        path.write_bytes(whole)
        for place in (0, len(whole) // 2, len(whole) - 1):
            flip(path, place)
            with pytest.raises(ModelError, match=f"{name}: not as it was written"):
                load_model(pieces)
            flip(path, place)
        path.unlink()
        with pytest.raises(ModelError, match=f"{name}: cannot be read: No such file"):
            load_model(pieces)
        path.write_bytes(whole)
        load_model(pieces)

    def test_finds_weights_and_labels_of_another_model(self, words: Path, tmp_path: Path) -> None:
        other = small_model("tree", "tags", labels={"tree": ("VP", "PP"), "tags": ("X", "Y")})
        with torch.no_grad():
            next(other.network.parameters()).add_(1.0)
        save_model(other, tmp_path / "other")
        for name in (WEIGHTS, LABELS):
            before = (words / name).read_bytes()
            shutil.copyfile(tmp_path / "other" / name, words / name)
            with pytest.raises(ModelError, match=f"words/{name}: "):
                load_model(words)
            (words / name).write_bytes(before)

    def test_leaves_the_card_and_other_files_alone(self, words: Path) -> None:
        (words / "README.md").write_text("# Another card\n")
        (words / "notes.txt").write_text("mine")
        (words / "runs").mkdir()
        load_model(words)

    def test_need_not_be_there(self, words: Path) -> None:
        (words / MANIFEST).unlink()
        before = small_model("tree", "tags").network.weights()
        found = load_model(words).network.weights()
        assert all(np.array_equal(value, found[name]) for name, value in before.items())

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "no JSON"),
            ("[]", "not of version 1"),
            ('{"version": 2, "files": {}}', "not of version 1"),
            ('{"version": 1}', "not what was expected"),
            ('{"version": 1, "files": []}', "not what was expected"),
            ('{"version": 1, "files": {"config.json": 3}}', "not what was expected"),
            ('{"version": 1, "files": {"config.json": {"size": 3}}}', "not what was expected"),
            (
                '{"version": 1, "files": {"config.json": {"bytes": "3", "sha256": ""}}}',
                "a size and a checksum",
            ),
            ('{"version": 1, "files": {}}', "config.json is not in this list"),
            *(
                (f'{{"version": 1, "files": {{"{name}": {{"bytes": 1, "sha256": ""}}}}}}', "is no")
                for name in ("../x", "/etc/passwd", "..", "", "a/b", "x.py", MANIFEST)
            ),
            ('{"version": 1, "files": ' + "[" * 100_000, "no JSON"),
        ],
        ids=lambda value: value[:40],
    )
    def test_that_makes_no_sense_is_refused(self, words: Path, text: str, message: str) -> None:
        (words / MANIFEST).write_text(text)
        with pytest.raises(ModelError, match=rf"manifest\.json: .*{message}"):
            load_model(words)

    @pytest.mark.parametrize("name", [name for name in FILES if name not in GRAPHS])
    def test_has_to_list_all_that_is_loaded(self, pieces: Path, name: str) -> None:
        listed = json.loads((pieces / MANIFEST).read_text())
        del listed["files"][name]
        (pieces / MANIFEST).write_text(json.dumps(listed))
        with pytest.raises(ModelError, match=rf"manifest\.json: {name} is not in this list"):
            load_model(pieces)

    @pytest.mark.parametrize("is_listed", [True, False])
    def test_stays_right_when_temperatures_are_set(
        self, words: Path, tmp_path: Path, is_listed: bool
    ) -> None:
        if not is_listed:
            (words / MANIFEST).unlink()
        write_temperatures(words, {"tree": 2.5}, out=tmp_path / "copy")
        write_temperatures(words, {"tree": 1.5})
        for folder, value in ((words, 1.5), (tmp_path / "copy", 2.5)):
            assert load_model(folder).network.temperature("tree") == value
            assert (folder / MANIFEST).exists() == is_listed
            assert not list(folder.glob(".*"))

    def test_is_that_of_the_model_that_was_saved_last(self, words: Path) -> None:
        save_model(small_model("tree"), words)
        assert load_model(words).heads.names == ("tree",)
        assert not list(words.glob(".*"))


def test_a_full_disk_leaves_the_model_that_was_there(driver: Driver, words: Path) -> None:
    before = {path.name: path.read_bytes() for path in words.iterdir()}
    limit = (words / WEIGHTS).stat().st_size // 2
    told = driver.call("tests.reliability.loading:saved_on_a_full_disk", words, limit)
    assert "words: the model cannot be written (" in told
    assert "too large" in told
    assert {path.name: path.read_bytes() for path in words.iterdir()} == before


class Trap:
    """What writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (os.mkdir, (str(self.path),))


class TestCode:
    @pytest.fixture
    def sprung(self, tmp_path: Path) -> Path:
        return tmp_path / "sprung"

    def set_traps(self, folder: Path, sprung: Path) -> dict[str, str]:
        """Put code and pickles into a folder; returns what would name the code."""
        (folder / "trap.py").write_text(f"import os\nos.mkdir({str(sprung)!r})\nModel = object\n")
        (folder / "__init__.py").write_text(f"import os\nos.mkdir({str(sprung)!r})\n")
        for name in ("pytorch_model.bin", "training_args.bin", "weights.pt"):
            (folder / name).write_bytes(pickle.dumps(Trap(sprung)))
        names = ("AutoConfig", "AutoModel", "AutoTokenizer", "AutoModelForMaskedLM")
        return dict.fromkeys(names, "trap.Model")

    @pytest.mark.parametrize("kind", ["bert", "roberta"])
    def test_of_a_model_is_not_run(
        self,
        tmp_path: Path,
        sprung: Path,
        kind: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        save_model(transformer_model(tiny_transformer(tmp_path, kind=kind)), tmp_path / "model")
        named = self.set_traps(tmp_path / "model", sprung)
        monkeypatch.chdir(tmp_path / "model")
        for key, value in (
            ("auto_map", named),
            ("trust_remote_code", True),
            ("_attn_implementation", "someone/kernels"),
            ("attn_implementation", "someone/kernels"),
            ("custom_pipelines", {"x": {"impl": "trap.Model"}}),
            ("num_labels", 10**12),
        ):
            change(tmp_path / "model", CONFIG, "transformer", key, to=value)
        load_model(tmp_path / "model")
        change(tmp_path / "model", CONFIG, "transformer", "model_type", to="trap")
        with pytest.raises(ModelError, match="cannot be built"):
            load_model(tmp_path / "model")
        assert not sprung.exists()

    def test_of_a_transformer_to_start_from_is_not_run(self, tmp_path: Path, sprung: Path) -> None:
        folder = Path(tiny_transformer(tmp_path))
        named = self.set_traps(folder, sprung)
        for name in (CONFIG, "tokenizer_config.json"):
            change(folder, name, "auto_map", to=named)
        fetch_pretrained(str(folder))
        (folder / "model.safetensors").unlink()
        with pytest.raises(ModelError, match="a pickle may run code, so it is not read"):
            fetch_pretrained(str(folder))
        (folder / "pytorch_model.bin").unlink()
        with pytest.raises(ModelError, match="cannot be loaded from the folder"):
            fetch_pretrained(str(folder))
        assert not sprung.exists()

    def test_is_not_in_a_tokenizer(self, pieces: Path) -> None:
        for key, value in (
            ("pre_tokenizer", {"type": "Custom", "module": "trap"}),
            ("decoder", {"type": "Nothing"}),
            ("normalizer", [1]),
            ("model", {"type": "WordPiece", "vocab": "/etc/passwd", "unk_token": "x"}),
            ("model", {"type": "Unigram", "unk_id": 99, "vocab": []}),
        ):
            before = (pieces / TOKENIZER).read_text()
            change(pieces, TOKENIZER, key, to=value)
            with pytest.raises(ModelError, match=r"tokenizer\.json: cannot be read"):
                load_model(pieces)
            (pieces / TOKENIZER).write_text(before)
        load_model(pieces)

    @pytest.mark.parametrize("load", [load_model, load_trainable])
    @pytest.mark.parametrize("where", ["vocabulary", "added"])
    def test_a_tokenizer_with_pieces_that_have_no_vector_is_refused(
        self, pieces: Path, load: Callable[[Path], object], where: str
    ) -> None:
        data = json.loads((pieces / TOKENIZER).read_text())
        vocabulary, last = data["model"]["vocab"], data["added_tokens"][-1]
        if where == "vocabulary":
            vocabulary[max(vocabulary, key=vocabulary.__getitem__)] = 10**6
        else:
            data["added_tokens"].append({**last, "id": 3, "content": "zork"})  # a new one
        (pieces / TOKENIZER).write_text(json.dumps(data))
        write_manifest(pieces, json.loads((pieces / MANIFEST).read_text())["files"])
        with pytest.raises(
            ModelError, match=r"tokenizer\.json: piece \d+, where \d+ have a vector"
        ):
            load(pieces)

    @pytest.mark.parametrize("value", ["timm/x", {"model_type": "resnet"}, True])
    @pytest.mark.parametrize("key", ["use_pretrained_backbone", "backbone", "pretrained_model"])
    def test_and_weights_are_not_fetched(self, pieces: Path, key: str, value: object) -> None:
        change(pieces, CONFIG, "transformer", key, to=value)
        if isinstance(value, dict):
            load_trainable(pieces)  # a table of settings is not a place
        else:
            with pytest.raises(ModelError, match=f"{key}: .* fetched from elsewhere"):
                load_trainable(pieces)


@pytest.mark.parametrize("graph", [b"", b"no graph", b"\x08\x09" * 10_000])
def test_a_graph_in_the_folder_is_never_run(pieces: Path, graph: bytes) -> None:
    model = load_model(pieces)
    inputs = model.read([["the", "cat"], ["dogs"]])
    before = model.network.read(inputs, tags=True)
    (pieces / MANIFEST).unlink()
    for name in GRAPHS:
        (pieces / name).write_bytes(graph)
    after = load_model(pieces).network.read(inputs, tags=True)
    assert np.array_equal(before.boundaries, after.boundaries)
    for name in GRAPHS:
        (pieces / name).unlink()
    load_model(pieces)


class TestPlaces:
    def test_the_name_of_a_transformer_is_only_a_name(
        self, pieces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def asked(*_: object, **__: object) -> None:
            raise AssertionError("something else was asked for")

        monkeypatch.setattr("fencepost.build.fetch_pretrained", asked)
        monkeypatch.setattr("socket.socket.connect", asked)
        monkeypatch.setattr("socket.getaddrinfo", asked)
        before = load_model(pieces).network.weights()
        for name in ("/etc", "../..", "someone/model", str(tmp_path), "http://x.test/y"):
            change(pieces, CONFIG, "network", "encoder", "model", to=name)
            found = load_model(pieces).network.weights()
            assert all(np.array_equal(value, found[name]) for name, value in before.items())

    @pytest.mark.parametrize("name", [*FILES, MANIFEST, "README.md", "other"])
    def test_a_link_out_of_the_folder_is_refused(
        self, pieces: Path, tmp_path: Path, name: str
    ) -> None:
        (pieces / "other").touch()
        (pieces / name).rename(tmp_path / "outside")
        (pieces / name).symlink_to(tmp_path / "outside")
        with pytest.raises(ModelError, match=f"{name}: a link that leads out of the folder"):
            load_model(pieces)
        (pieces / name).unlink()
        (pieces / name).symlink_to(Path("..") / "outside")
        with pytest.raises(ModelError, match=f"{name}: a link that leads out of the folder"):
            load_model(pieces)

    def test_links_inside_the_folder_to_it_and_in_a_cache_are_followed(
        self, pieces: Path, tmp_path: Path
    ) -> None:
        (pieces / WEIGHTS).rename(pieces / "version-2")
        (pieces / WEIGHTS).symlink_to("version-2")
        load_model(pieces)
        (tmp_path / "latest").symlink_to(pieces)
        load_model(tmp_path / "latest")
        blobs, snapshot = tmp_path / "cache/blobs", tmp_path / "cache/snapshots/abc"
        shutil.copytree(pieces, blobs)
        snapshot.mkdir(parents=True)
        for path in blobs.iterdir():
            (snapshot / path.name).symlink_to(Path("../../blobs") / path.name)
        load_model(snapshot)

    @pytest.mark.parametrize("name", [*FILES, MANIFEST])
    @pytest.mark.parametrize("kind", ["pipe", "folder", "circle", "nothing"])
    def test_what_is_no_plain_file_is_refused(self, pieces: Path, name: str, kind: str) -> None:
        put_in_the_place_of(pieces / name, kind)
        with pytest.raises(ModelError, match="cannot be read"):
            load_model(pieces)

    @pytest.mark.parametrize("kind", ["pipe", "folder", "circle", "nothing", "a gigabyte"])
    def test_a_card_that_is_no_plain_file_or_too_large_is_refused(
        self, words: Path, kind: str
    ) -> None:
        put_in_the_place_of(words / "README.md", kind)
        with pytest.raises(ModelError, match=r"README\.md: (cannot be read|[\d,]+ bytes)"):
            load(words)


def put_in_the_place_of(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "pipe":  # which nobody ever writes to
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "a gigabyte":
        path.touch()
        os.truncate(path, 2**30)
    else:
        path.symlink_to(path.name if kind == "circle" else "gone")


def with_weights(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    """What changes the weights in a folder."""

    def changed(folder: Path) -> None:
        (folder / MANIFEST).unlink()
        weights = load_file(folder / WEIGHTS)
        change(weights)
        save_file(weights, folder / WEIGHTS)

    return changed


def with_header(text: str, *, length: int | None = None) -> Callable[[Path], None]:
    """What gives the weights in a folder another header."""

    def changed(folder: Path) -> None:
        (folder / MANIFEST).unlink()
        size = len(text) if length is None else length
        data = size.to_bytes(8, "little") + text.encode() + bytes(64)
        (folder / WEIGHTS).write_bytes(data)

    return changed


FIRST = "tags.bias"
WRONG_WEIGHTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "not a number": (
        with_weights(lambda weights: weights[FIRST].fill_(float("nan"))),
        f"{FIRST} has numbers that are not finite",
    ),
    "infinite": (
        with_weights(lambda weights: weights[FIRST][-1:].fill_(float("-inf"))),
        f"{FIRST} has numbers that are not finite",
    ),
    "whole numbers": (
        with_weights(lambda weights: weights.update({FIRST: weights[FIRST].long()})),
        f"{FIRST} has numbers of the kind I64",
    ),
    "truth values": (
        with_weights(lambda weights: weights.update({FIRST: weights[FIRST].bool()})),
        f"{FIRST} has numbers of the kind BOOL",
    ),
    "a byte each": (
        with_weights(lambda weights: weights.update({FIRST: weights[FIRST].to(torch.float8_e5m2)})),
        f"{FIRST} has numbers of the kind F8",
    ),
    "one more": (
        with_weights(lambda weights: weights.update({"x" * 1000: torch.zeros(1)})),
        "do not fit the settings: x{100} is too much",
    ),
    "one less": (
        with_weights(lambda weights: weights.pop(FIRST)),
        f"do not fit the settings: {FIRST} is missing",
    ),
    "other shapes": (
        with_weights(
            lambda weights: weights.update({name: torch.zeros(0) for name in list(weights)})
        ),
        r"has \(0,\) and not .* more",
    ),
    "long header": (with_header("{}", length=2**62), "4,611,686,018,427,387,904 bytes of names"),
    "no header": (with_header("", length=0), "damaged"),
    "no numbers": (with_header("{}"), "damaged"),
    "absurd shape": (
        with_header('{"a": {"dtype": "F32", "shape": [4294967296, 4294967296], '
                    '"data_offsets": [0, 64]}}'),
        "damaged",
    ),
    "absurd places": (
        with_header('{"a": {"dtype": "F32", "shape": [16], '
                    '"data_offsets": [9223372036854775800, 9223372036854775864]}}'),
        "damaged",
    ),
    "overlapping": (
        with_header('{"a": {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}, '
                    '"b": {"dtype": "F32", "shape": [16], "data_offsets": [0, 64]}}'),
        "damaged",
    ),
    "deep": (with_header("[" * 100_000), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG_WEIGHTS)
def test_weights_that_make_no_sense_are_refused(words: Path, case: str) -> None:
    change_weights, message = WRONG_WEIGHTS[case]
    change_weights(words)
    with pytest.raises(ModelError, match=rf"weights\.safetensors: .*{message}"):
        load_model(words)


def test_weights_of_16_and_64_bits_are_read(words: Path) -> None:
    for kind in (torch.float64, torch.bfloat16, torch.float16):
        weights = {name: value.to(kind) for name, value in load_file(words / WEIGHTS).items()}
        (words / MANIFEST).unlink(missing_ok=True)
        save_file(weights, words / WEIGHTS)
        found = load_model(words).network.weights()
        assert {value.dtype for value in found.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("heads", "tree"), "S", "a list of strings"),
        (("heads", "tree"), [1], "a list of strings"),
        (("heads", "tree"), [["S"]], "a list of strings"),
        (("heads",), {}, "no labels for the head tree"),
        (("heads",), {"tree": ["S"]}, "no labels for the head tags"),
        (("words",), [["a", "b"], [1]], "a count above 0"),
        (("words",), [["a", "b"], [0, 1]], "a count above 0"),
        (("words",), [["a", "b"], [1.5, 1]], "a count above 0"),
        (("words",), [["a", "b"]], "not what was expected"),
        (("words",), None, "not what was expected"),
    ],
)
def test_labels_that_make_no_sense_are_refused(
    words: Path, keys: tuple[str, ...], value: object, message: str
) -> None:
    change(words, LABELS, *keys, to=value)
    with pytest.raises(ModelError, match=rf"labels\.json: .*{message}"):
        load_model(words)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("transformer", "layer_norm_eps"), float("nan")),
        (("transformer", "layer_norm_eps"), float("inf")),
        (("transformer", "vocab_size"), 1e6),
        (("transformer", "hidden_size"), 16.0),
        (("transformer", "type_vocab_size"), 0),
        (("transformer", "num_attention_heads"), 0),
        (("transformer",), []),
        (("pieces",), None),
        (("pieces", "before"), []),
        (("pieces", "after"), [10**6]),
        (("pieces", "padding"), -1),
        (("pieces", "nothing"), float("inf")),
        (("pieces", "window"), 10**9),
        (("pieces", "window"), 25),
        (("pieces", "window"), 2),
        (("temperatures",), [1.0]),
        (("temperatures", "tree"), float("inf")),
        (("temperatures", "tree"), float("nan")),
        (("temperatures", "tree"), 1e-320),
        (("network", "dropout"), float("nan")),
        (("network", "encoder", "layers"), 3),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    pieces: Path, keys: tuple[str, ...], value: object
) -> None:
    change(pieces, CONFIG, *keys, to=value)
    with pytest.raises(ModelError):
        load_model(pieces)


BILLION = 10**9
TOO_LARGE: dict[str, tuple[str, tuple[str, ...], object, str]] = {
    "lstm": ("words", ("network", "lstm_hidden"), BILLION, "less than or equal to 32768"),
    "lstm that is allowed": ("words", ("network", "lstm_hidden"), 2**15, "do not fit"),
    "layers of lstm": ("words", ("network", "lstm_layers"), 10**6, "less than or equal to 3"),
    "words": ("words", ("network", "encoder", "word_width"), BILLION, "less than or equal"),
    "words that are allowed": ("words", ("network", "encoder", "word_width"), 2**15, "do not fit"),
    "mlp": ("words", ("heads", "tree", "mlp"), BILLION, "less than or equal"),
    "mlp that is allowed": ("words", ("heads", "tree", "mlp"), 2**15, "do not fit"),
    "decoder": ("words", ("heads", "tree", "decoder"), 10**400, "less than or equal"),
    "decoder that is allowed": ("words", ("heads", "tree", "decoder"), 2**15, "do not fit"),
    "width": ("pieces", ("transformer", "hidden_size"), BILLION, "hidden_size: 1000000000"),
    "width that is allowed": ("pieces", ("transformer", "hidden_size"), 2**20, "do not fit"),
    "layers": ("pieces", ("transformer", "num_hidden_layers"), 10**6, "at most 100"),
    "layers that are allowed": ("pieces", ("transformer", "num_hidden_layers"), 100, "do not fit"),
    "inner width": ("pieces", ("transformer", "intermediate_size"), 2**24, "do not fit"),
    "positions": ("pieces", ("transformer", "max_position_embeddings"), 2**24, "do not fit"),
    "pieces": ("pieces", ("transformer", "vocab_size"), 2**24, "do not fit"),
    "mixed layers": ("pieces", ("network", "encoder", "layers"), 10**6, "less than or equal"),
    "roberta": ("roberta", ("transformer", "hidden_size"), 2**20, "do not fit"),
    "layers of roberta": ("roberta", ("transformer", "num_hidden_layers"), 10**6, "at most 100"),
    "labels of roberta": ("roberta", ("transformer", "num_labels"), 10**12, "the same"),
}  # fmt: skip


def unlisted(source: Path, target: Path) -> Path:
    """A copy of a folder, without the list of its files."""
    shutil.copytree(source, target)
    (target / MANIFEST).unlink()
    return target


def test_what_is_too_large_is_refused_at_once_and_without_memory(
    driver: Driver, words: Path, pieces: Path, tmp_path: Path
) -> None:
    save_model(transformer_model(tiny_transformer(tmp_path, kind="roberta")), tmp_path / "roberta")
    messages = {}
    for name, (kind, keys, value, message) in TOO_LARGE.items():
        folder = Path(shutil.copytree(tmp_path / kind, tmp_path / f"large {name}"))
        change(folder, CONFIG, *keys, to=value)
        messages[folder.name] = message
    for source, name, size in (
        (words, CONFIG, 2**30),
        (words, LABELS, 2**30),
        (pieces, TOKENIZER, 2**30),
        (words, WEIGHTS, 2**40),
        (words, MANIFEST, 2**30),
    ):
        folder = unlisted(source, tmp_path / f"long {name}")
        (folder / name).touch()
        os.truncate(folder / name, size)  # a hole, which takes no room
        messages[folder.name] = rf"{name}: [\d,]+ bytes, where at most"
    for source in (words, pieces):
        folder = unlisted(source, tmp_path / f"labels {source.name}")
        text = '{"heads": {"tree": [' + '"a",' * 10**7 + '"a"]}}'
        (folder / LABELS).write_text(text)
        messages[folder.name] = r"labels\.json: 40,\d+,\d+ bytes, where at most"
    for name in (CONFIG, LABELS):
        folder = unlisted(words, tmp_path / f"deep {name}")
        (folder / name).write_text("[" * 100_000)
        messages[folder.name] = f"{name}: no JSON"
    folders = (tmp_path / name for name in messages)
    found = driver.call("tests.reliability.loading:refused", tmp_path / "roberta", *folders)
    assert len(found) == len(messages)
    for line in found:
        assert re.search(messages[line["folder"]], line["told"]), line
        assert line["seconds"] < 1, line


def test_damage_anywhere_is_found_or_harmless_and_never_a_crash(
    driver: Driver, words: Path, pieces: Path, tmp_path: Path
) -> None:
    given = (1, 100, tmp_path / "scratch", words, pieces)
    found = driver.call("tests.reliability.loading:damaged", *given)
    assert len(found) == 200
    refused = [line for line in found if line["told"] not in ("the same", "another")]
    assert all("scratch/" in line["told"] for line in refused), "each names the file"
    listed = [line for line in found if line["listed"]]
    assert not [line for line in listed if line["told"] == "another"]
    assert len([line for line in refused if line["listed"]]) > 80, "most of 100 are no accident"
