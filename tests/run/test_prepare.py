import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.errors import ConfigError, DataError
from fencepost.run import prepare as job
from fencepost.run.prepare import SplitCounts, prepare

TREE = "( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD slept) (NP (-NONE- *)))))\n"
GENIA = (
    '<!DOCTYPE set SYSTEM "gpml.dtd">\n<set><article><bibliomisc>MEDLINE:1</bibliomisc><sentence>'
    '<cons lex="x" sem="G#DNA_N/A"><cons lex="x" sem="G#DNA_N/A">X</cons></cons> rises'
    "</sentence></article></set>"
)


def write_penn(folder: Path) -> Path:
    for section in range(25):
        (folder / f"{section:02}").mkdir(parents=True)
        (folder / f"{section:02}" / f"wsj_{section:02}01.mrg").write_text(TREE)
    return folder


def write_ace(folder: Path, *charseqs: str) -> Path:
    folder.mkdir()
    entities = "".join(
        f'<entity TYPE="PER"><entity_mention><extent>{charseq}</extent></entity_mention></entity>'
        for charseq in charseqs
    )
    for name in "abc":
        (folder / f"{name}.sgm").write_text("<TEXT>Ann of Oslo met Bo. Bo slept.</TEXT>Ed")
        (folder / f"{name}.apf.xml").write_text(f"<source_file>{entities}</source_file>")
    return folder


def lists(folder: Path, **texts: str) -> dict[str, Path]:
    for split, text in texts.items():
        (folder / f"{split}.ids").write_text(text)
    return {split: folder / f"{split}.ids" for split in texts}


def test_trees_are_written_and_counted_beside_the_published_numbers(tmp_path: Path) -> None:
    out = tmp_path / "data" / "ptb"
    counts = prepare("ptb", write_penn(tmp_path / "wsj"), out)
    clean = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD slept))))\n"
    assert (out / "train.ptb").read_text() == clean * 20
    assert (out / "dev.ptb").read_text() == (out / "test.ptb").read_text() == clean
    assert list(counts) == ["train", "dev", "test"]
    assert counts["dev"] == SplitCounts(documents=1, sentences=1, words=3, spans=3, published=1700)
    assert counts["train"].note == "20 sentences, where 39,832 are published"
    assert counts["test"].published == 2416


def test_a_number_that_is_as_published_needs_no_note() -> None:
    assert SplitCounts(sentences=1700, published=1700).note is None
    assert SplitCounts(sentences=17).note is None


def test_entities_are_written_with_ids_and_empty_splits_are_files_too(tmp_path: Path) -> None:
    (tmp_path / "GENIAcorpus3.02.xml").write_text(GENIA)
    out = tmp_path / "out"
    counts = prepare("genia", tmp_path, out)
    row = json.loads((out / "train.jsonl").read_text())
    assert row["id"] == "1-1"
    assert row["words"] == ["X", "rises"]
    assert row["entities"] == [[0, 1, "DNA"]]
    assert (out / "dev.jsonl").read_text() == (out / "test.jsonl").read_text() == ""
    assert counts["train"] == SplitCounts(
        documents=1, sentences=1, words=2, spans=1, duplicates=1, published=15022
    )
    assert counts["test"] == SplitCounts(published=1855)
    assert sorted(path.name for path in out.iterdir()) == ["dev.jsonl", "test.jsonl", "train.jsonl"]


def test_the_chinese_treebank_is_split_by_lists(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"chtb_000{number}.nw").write_bytes(
            "( (IP (NN 猫) (VV 睡觉)))".encode("gb18030")
        )
    ids = lists(tmp_path, train="1", dev="2", test="3")
    counts = prepare("ctb7", tmp_path, tmp_path / "out", ids=ids)
    assert (tmp_path / "out" / "test.ptb").read_text(
        encoding="utf-8"
    ) == "(TOP (IP (NN 猫) (VV 睡觉)))\n"
    assert counts["test"] == SplitCounts(documents=1, sentences=1, words=2, spans=1)


@pytest.mark.parametrize("corpus", ["ace2004", "ace2005"])
def test_crossing_entities_are_left_out_and_counted(tmp_path: Path, corpus: str) -> None:
    source = write_ace(
        tmp_path / "ace",
        '<charseq START="0" END="10">Ann of Oslo</charseq>',
        '<charseq START="7" END="17">Oslo met Bo</charseq>',
        '<charseq START="29" END="30">Ed</charseq>',
    )
    ids = lists(tmp_path, train="a", dev="b", test="c")
    out = tmp_path / "out"
    counts = prepare(corpus, source, out, ids=ids, on_crossing="drop-span")
    assert counts["dev"] == SplitCounts(
        documents=1, sentences=2, words=9, spans=1, crossing=1, outside=1
    )
    counts = prepare(corpus, source, out, ids=ids, on_crossing="drop-sentence", encoding="ascii")
    assert counts["dev"] == SplitCounts(documents=1, sentences=1, words=3, left_out=1, outside=1)
    with pytest.raises(DataError, match="cross"):
        prepare(corpus, source, out, ids=ids)


def test_when_something_fails_the_old_files_stay_as_they_were(tmp_path: Path) -> None:
    source, out = write_penn(tmp_path / "wsj"), tmp_path / "out"
    out.mkdir()
    (out / "train.ptb").write_text("from before")
    (source / "23" / "wsj_2301.mrg").write_text("( (S (NN cat)")  # the last file of all
    with pytest.raises(DataError, match=r"wsj_2301\.mrg:1: this bracket is never closed"):
        prepare("ptb", source, out)
    assert [path.name for path in out.iterdir()] == ["train.ptb"]
    assert (out / "train.ptb").read_text() == "from before"


def test_when_something_fails_no_new_folder_is_left(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        prepare("ptb", tmp_path / "nowhere", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "out" / "test.ptb").mkdir(parents=True)
    with pytest.raises(DataError, match=r"test\.ptb: cannot be written: this is a folder"):
        prepare("ptb", tmp_path / "nowhere", tmp_path / "out")


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(DataError, match="out: cannot be written: File exists"):
        prepare("ptb", write_penn(tmp_path / "wsj"), tmp_path / "out")


@pytest.mark.parametrize(
    ("corpus", "settings", "message"),
    [
        ("brown", {}, "'brown' is unknown; known are ptb, ctb7, genia, ace2004, ace2005"),
        ("ptb", {"encoding": "klingon"}, "the encoding 'klingon' is unknown"),
        ("ptb", {"encoding": "rot13"}, "the encoding 'rot13' is unknown"),
        ("genia", {"encoding": "utf-8"}, "says itself which encoding"),
        ("ptb", {"on_crossing": "drop"}, "on_crossing has to be"),
        ("ctb7", {}, r"missing: train \(--train\), dev \(--dev\), test \(--test\)"),
        ("ace2005", {"ids": {"train": Path("a"), "test": Path("b")}}, r"missing: dev \(--dev\)"),
        ("genia", {"ids": {"dev": Path("a")}}, "genia has fixed splits; a list for dev means"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_at_once(
    tmp_path: Path, corpus: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        prepare(corpus, tmp_path, tmp_path / "out", **settings)


def test_a_list_for_a_split_that_there_is_not_is_refused(tmp_path: Path) -> None:
    ids = lists(tmp_path, train="1", dev="2", test="3", extra="4")
    with pytest.raises(
        ConfigError, match="has train, dev and test; a list for extra means nothing"
    ):
        prepare("ctb7", tmp_path, tmp_path / "out", ids=ids)


def test_every_corpus_has_a_name_for_the_command_line() -> None:
    assert tuple(job.CORPORA) == ("ptb", "ctb7", "genia", "ace2004", "ace2005")
