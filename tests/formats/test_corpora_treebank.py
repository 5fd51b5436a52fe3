import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.formats.corpora.document import CorpusDocument
from fencepost.formats.corpora.treebank import ctb_documents, ptb_documents

TREE = """
( (S
    (NP-SBJ-1 (DT The) (NN cat) )
    (VP (VBD was)
      (VP (VBN seen)
        (NP (-NONE- *-1) )
        (PP=2 (IN by) (NP-LGS (-LRB- -LRB-) (PRP us) (-RRB- -RRB-) ))))
    (. .) ))
"""
CLEAN = (
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBD was) (VP (VBN seen) "
    "(PP (IN by) (NP (-LRB- -LRB-) (PRP us) (-RRB- -RRB-))))) (. .)))"
)
SECTIONS = range(25)

CHINESE = """<DOC>
<DOCID> CTB-chtb_0001.fid </DOCID>
<HEADER>
1994-01-01
</HEADER>
<BODY>
<S ID=1>
( (IP-HLN (NP-PN-SBJ (NR 上海) (NR 浦东)) (VP (VV 开发) (NP-OBJ (-NONE- *pro*))) (PU 。)))
</S>
<S ID=2>
( (IP (NP-SBJ (-NONE- *pro*))
      (VP (-NONE- *RNR*))))
</S>
<S ID=3>
( (FRAG (NN 完)))
</S>
</BODY>
</DOC>
"""


def write_sections(folder: Path, sections: Iterator[int] | range = SECTIONS) -> Path:
    for section in sections:
        (folder / f"{section:02}").mkdir(parents=True)
        (folder / f"{section:02}" / f"wsj_{section:02}01.mrg").write_text(TREE)
    return folder


def write_lists(folder: Path, **lists: str) -> dict[str, Path]:
    ids = {}
    for split, text in lists.items():
        ids[split] = folder / f"{split}.txt"
        ids[split].write_text(text)
    return ids


def names(documents: Iterator[CorpusDocument]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for document in documents:
        found[document.split].append(document.name)
    return found


def test_sections_02_to_21_train_22_is_for_development_and_23_for_testing(tmp_path: Path) -> None:
    found = names(ptb_documents(write_sections(tmp_path)))
    assert found["train"] == [f"wsj_{section:02}01" for section in range(2, 22)]
    assert found["dev"] == ["wsj_2201"]
    assert found["test"] == ["wsj_2301"]


def test_traces_functions_and_indices_go_and_the_outer_bracket_is_top(tmp_path: Path) -> None:
    (parse,) = next(ptb_documents(write_sections(tmp_path))).parses
    assert str(parse.tree) == CLEAN
    assert parse.words[5] == "("
    assert parse.id == "wsj_0201-1"


def test_a_tree_that_has_a_label_at_its_top_keeps_it(tmp_path: Path) -> None:
    write_sections(tmp_path)
    (tmp_path / "02" / "wsj_0201.mrg").write_text("(NP-SBJ (NN cat) (NN food))\n(NN cat)\n")
    parses = next(ptb_documents(tmp_path)).parses
    assert [str(parse.tree) for parse in parses] == ["(NP (NN cat) (NN food))", "(NN cat)"]


@pytest.mark.parametrize("place", ["wsj", "combined/wsj", "treebank_3/parsed/mrg/wsj"])
def test_the_sections_are_found_below_the_given_folder(tmp_path: Path, place: str) -> None:
    write_sections(tmp_path / place)
    (tmp_path / "treebank_3/tagged/pos/wsj/02").mkdir(parents=True)
    (tmp_path / "treebank_3/tagged/pos/wsj/02/wsj_0201.pos").write_text("The/DT")
    assert len(list(ptb_documents(tmp_path))) == 22


def test_upper_case_and_packed_files_are_read_and_no_file_twice(tmp_path: Path) -> None:
    write_sections(tmp_path)
    (tmp_path / "22" / "wsj_2201.mrg").unlink()
    (tmp_path / "22" / "WSJ_2202.MRG").write_text(TREE)
    (tmp_path / "22" / "wsj_2203.mrg.gz").write_bytes(gzip.compress(TREE.encode()))
    (tmp_path / "23" / "wsj_2301.mrg.gz").write_bytes(gzip.compress(TREE.encode()))
    found = names(ptb_documents(tmp_path))
    assert found["dev"] == ["wsj_2202", "wsj_2203"]
    assert found["test"] == ["wsj_2301"]


def test_a_missing_section_is_named_with_the_place_looked_at(tmp_path: Path) -> None:
    write_sections(tmp_path / "wsj", (section for section in SECTIONS if section not in (5, 22)))
    with pytest.raises(DataError, match=r"wsj: missing sections: 05, 22; .* 05/wsj_0500\.mrg"):
        list(ptb_documents(tmp_path))


def test_a_folder_without_sections_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "wsj_0200.mrg").write_text(TREE)  # in no section
    with pytest.raises(DataError, match=r"no sections .* 02/wsj_0200\.mrg"):
        list(ptb_documents(tmp_path))


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such folder"):
        list(ptb_documents(tmp_path / "nowhere"))


def test_the_same_sections_in_two_folders_are_refused(tmp_path: Path) -> None:
    write_sections(tmp_path / "a" / "wsj")
    write_sections(tmp_path / "b" / "wsj")
    with pytest.raises(DataError, match="has the same sections; give one of the two"):
        list(ptb_documents(tmp_path))


def test_a_second_folder_with_some_of_the_sections_does_no_harm(tmp_path: Path) -> None:
    write_sections(tmp_path / "sample" / "wsj", range(2, 4))
    write_sections(tmp_path / "whole" / "wsj")
    assert len(list(ptb_documents(tmp_path))) == 22


def test_a_copyright_notice_is_passed_over(tmp_path: Path) -> None:
    write_sections(tmp_path)
    notice = "*x*x*x*x*\r\n*x* Copyright (C) 1995 *x*\r\n*x*x*x*x*\r\n"
    (tmp_path / "02" / "wsj_0201.mrg").write_bytes((notice + TREE).encode())
    (parse,) = next(ptb_documents(tmp_path)).parses
    assert str(parse.tree) == CLEAN


def test_a_broken_tree_is_named_with_file_and_line(tmp_path: Path) -> None:
    write_sections(tmp_path)
    (tmp_path / "03" / "wsj_0301.mrg").write_text(TREE + "\n( (S (NP\n (NN cat)))))\n")
    with pytest.raises(DataError, match=r"wsj_0301\.mrg:11: this bracket closes nothing"):
        list(ptb_documents(tmp_path))


def test_text_in_another_encoding_is_refused_and_can_be_named(tmp_path: Path) -> None:
    write_sections(tmp_path)
    (tmp_path / "02" / "wsj_0201.mrg").write_bytes("\n( (NP (NN caf\xe9)))".encode("latin-1"))
    with pytest.raises(DataError, match=r"wsj_0201\.mrg:2: not utf-8; pass the right encoding"):
        next(ptb_documents(tmp_path))
    assert next(ptb_documents(tmp_path, encoding="latin-1")).parses[0].words == ("café",)


def write_chinese(folder: Path, *numbers: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (folder / f"chtb_{number:04}.nw").write_text(CHINESE, encoding="utf-8")
    return folder


def test_lines_of_sgml_and_trees_of_nothing_but_traces_are_left_out(tmp_path: Path) -> None:
    write_chinese(tmp_path, 1, 2, 3)
    document = next(ctb_documents(tmp_path, write_lists(tmp_path, train="1", dev="2", test="3")))
    assert [str(parse.tree) for parse in document.parses] == [
        "(TOP (IP (NP (NR 上海) (NR 浦东)) (VP (VV 开发)) (PU 。)))",
        "(TOP (FRAG (NN 完)))",
    ]
    assert [parse.id for parse in document.parses] == ["chtb_0001-1", "chtb_0001-3"]
    assert (document.name, document.left_out) == ("chtb_0001", 1)


def test_file_ids_are_understood_in_every_form(tmp_path: Path) -> None:
    write_chinese(tmp_path, 1, 2, 3, 41, 43, 80, 81, 2000)
    ids = write_lists(
        tmp_path,
        train="# training\n0002\n1 # the first\nchtb_0003.nw\n\n0001",
        dev="0041-0080",
        test="CHTB_0081, 1999 - chtb_2001",
    )
    assert names(ctb_documents(tmp_path, ids)) == {
        "train": ["chtb_0002", "chtb_0001", "chtb_0003"],
        "dev": ["chtb_0041", "chtb_0043", "chtb_0080"],
        "test": ["chtb_0081", "chtb_2000"],
    }


@pytest.mark.parametrize("entry", ["0009", "5-8", "3-1", "wsj_0001", "1" * 5000])
def test_an_id_without_a_file_is_named(tmp_path: Path, entry: str) -> None:
    write_chinese(tmp_path, 1, 2, 3)
    ids = write_lists(tmp_path, train="1", dev=f"2\n{entry}", test="3")
    with pytest.raises(DataError, match=rf"dev\.txt: no document for {entry}; .* chtb_NNNN\.\*"):
        list(ctb_documents(tmp_path, ids))


def test_of_many_ids_without_a_file_the_first_are_named(tmp_path: Path) -> None:
    write_chinese(tmp_path, 1)
    ids = write_lists(tmp_path, train="11\n12\n13\n14\n15\n16\n17", dev="", test="")
    with pytest.raises(DataError, match="no document for 11, 12, 13, 14, 15 and 2 more;"):
        list(ctb_documents(tmp_path, ids))


def test_an_id_in_two_lists_is_refused(tmp_path: Path) -> None:
    write_chinese(tmp_path, 1, 2, 3, 4)
    ids = write_lists(tmp_path, train="1-2", dev="3", test="chtb_0002")
    with pytest.raises(DataError, match=r"test\.txt: 0002 of test is also in the list of train"):
        list(ctb_documents(tmp_path, ids))
    ids = write_lists(tmp_path, train="1", dev="2-4", test="3-4")
    with pytest.raises(DataError, match="0003, 0004 of test are also in the list of dev"):
        list(ctb_documents(tmp_path, ids))


def test_an_empty_list_is_refused(tmp_path: Path) -> None:
    write_chinese(tmp_path, 1, 2)
    ids = write_lists(tmp_path, train="1", dev="# nothing yet\n", test="2")
    with pytest.raises(DataError, match=r"dev\.txt: this list names no document"):
        list(ctb_documents(tmp_path, ids))


def test_utf_8_and_gb18030_are_told_apart_file_by_file(tmp_path: Path) -> None:
    write_chinese(tmp_path, 1)
    (tmp_path / "chtb_0002.mz").write_bytes(CHINESE.encode("gb18030"))
    (tmp_path / "chtb_0003.bn.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + CHINESE.encode()))
    ids = write_lists(tmp_path, train="1", dev="2", test="3")
    documents = list(ctb_documents(tmp_path, ids))
    assert [document.parses[0].words[0] for document in documents] == ["上海"] * 3
    with pytest.raises(DataError, match=r"chtb_0002\.mz:8: not utf-8; pass"):
        list(ctb_documents(tmp_path, ids, encoding="utf-8"))


def test_text_in_no_known_encoding_is_refused(tmp_path: Path) -> None:
    write_chinese(tmp_path, 2, 3)
    (tmp_path / "chtb_0001.nw").write_bytes(b"( (NP (NN \xff\xff)))")
    ids = write_lists(tmp_path, train="1", dev="2", test="3")
    with pytest.raises(DataError, match="not utf-8 and not gb18030"):
        list(ctb_documents(tmp_path, ids))


def test_the_bracketed_files_in_utf_8_are_preferred(tmp_path: Path) -> None:
    ids = write_lists(tmp_path, train="1", dev="2", test="3")
    source = tmp_path / "LDC2010T07"
    write_chinese(source / "data" / "utf-8" / "bracketed", 1, 2, 3)
    write_chinese(source / "data" / "gbk" / "bracketed", 1, 2, 3)
    write_chinese(source / "data" / "utf-8" / "segmented", 1, 2, 3)
    (source / "data" / "utf-8" / "bracketed" / "chtb_0001.nw").write_text("( (NN 对))")
    (source / "data" / "utf-8" / "bracketed" / "chtb_0001.raw").write_text("对")
    (source / "data" / "utf-8" / "bracketed" / "chtb_0001.nw.pos").write_text("对_NN")
    assert next(ctb_documents(source, ids)).parses[0].words == ("对",)


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    write_chinese(tmp_path / "a", 1, 2, 3)
    write_chinese(tmp_path / "b", 1)
    ids = write_lists(tmp_path, train="1", dev="2", test="3")
    with pytest.raises(DataError, match=r"b/chtb_0001\.nw has the same name"):
        list(ctb_documents(tmp_path, ids))
