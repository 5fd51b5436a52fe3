import gzip
from pathlib import Path

import pytest

from fencepost.errors import CrossingSpansError, DataError
from fencepost.formats.corpora.ace import ace_documents
from fencepost.formats.corpora.document import CorpusDocument
from fencepost.formats.settings import OnCrossing
from fencepost.structure import Span

SGM = """<DOC>
<DOCID> {name} </DOCID>
<DOCTYPE SOURCE="newswire"> NEWS STORY </DOCTYPE>
<BODY>
<HEADLINE>
Oslo calls
</HEADLINE>
<TEXT>
{text}
</TEXT>
</BODY>
</DOC>
"""
TEXT = """Mr. Lie of the Bank
of Oslo met AT&amp;T's lawyers. They talked.

<TURN>
It was late
</TURN>"""


def plain(sgm: str) -> str:
    """The characters that the annotation counts, by another road than the reader takes."""
    out, depth = [], 0
    for character in sgm:
        depth += character == "<"
        if not depth:
            out.append(character)
        depth -= character == ">"
    return "".join(out)


def apf(sgm: str, *mentions: tuple[str, str], tail: str = "") -> str:
    """An annotation of the last place where each of the strings stands."""
    text = plain(sgm)
    rows = []
    for number, (label, extent) in enumerate(mentions, 1):
        start = text.rindex(extent)
        charseq = f'<charseq START="{start}" END="{start + len(extent) - 1}">{extent}</charseq>'
        rows.append(
            f'<entity ID="E{number}" TYPE="{label}" SUBTYPE="X" CLASS="SPC">\n'
            f'<entity_mention ID="E{number}-1" TYPE="NAM">\n<extent>\n{charseq}\n</extent>\n'
            f"<head>\n{charseq}\n</head>\n</entity_mention>\n</entity>\n"
        )
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">\n'
        f'<source_file URI="d.sgm">\n<document DOCID="d">\n{"".join(rows)}{tail}</document>\n'
        "</source_file>\n"
    )


def write_document(
    folder: Path, name: str, *mentions: tuple[str, str], text: str = TEXT, tail: str = ""
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sgm = SGM.format(name=name, text=text)
    (folder / f"{name}.sgm").write_text(sgm, encoding="utf-8")
    (folder / f"{name}.apf.xml").write_text(apf(sgm, *mentions, tail=tail), encoding="utf-8")


def write_lists(folder: Path, **lists: str) -> dict[str, Path]:
    ids = {}
    for split, text in lists.items():
        ids[split] = folder / f"{split}.txt"
        ids[split].write_text(text)
    return ids


def only(
    folder: Path,
    *mentions: tuple[str, str],
    text: str = TEXT,
    tail: str = "",
    on_crossing: OnCrossing = "error",
) -> CorpusDocument:
    """One document, read; those of the other splits are there because they have to be."""
    write_document(folder, "a", *mentions, text=text, tail=tail)
    write_document(folder, "b")
    write_document(folder, "c")
    ids = write_lists(folder, train="a", dev="b", test="c")
    return next(ace_documents(folder, ids, on_crossing=on_crossing))


def test_full_extents_are_entities_and_heads_are_not(tmp_path: Path) -> None:
    document = only(
        tmp_path,
        ("ORG", "Bank\nof Oslo"),
        ("GPE", "Oslo"),
        ("PER", "Mr. Lie of the Bank\nof Oslo"),
    )
    first, second, third = document.parses
    assert first.words[:8] == ("Mr", ".", "Lie", "of", "the", "Bank", "of", "Oslo")
    assert first.entities == (Span(0, 8, "PER"), Span(5, 8, "ORG"), Span(7, 8, "GPE"))
    assert second.words == ("They", "talked", ".")
    assert third.words == ("It", "was", "late")
    assert third.entities == ()
    assert [parse.id for parse in document.parses] == ["a-1", "a-2", "a-3"]


def test_escaped_characters_count_as_written_and_are_read_as_meant(tmp_path: Path) -> None:
    document = only(tmp_path, ("ORG", "AT&amp;T"), ("PER", "AT&amp;T's lawyers"), ("PER", "They"))
    assert document.parses[0].words[9:] == ("AT&T", "'s", "lawyers", ".")
    assert document.parses[0].entities == (Span(9, 12, "PER"), Span(9, 10, "ORG"))
    assert document.parses[1].entities == (Span(0, 1, "PER"),)


def test_what_only_looks_like_markup_is_text(tmp_path: Path) -> None:
    text = "If 3 < 5 & R&D; &MD; then &#65; &#x42; met Ann"
    write_document(tmp_path, "a", text=text)
    document = only(tmp_path, text=text)
    assert document.parses[0].sentence.text == "If 3 < 5 & R&D; &MD; then A B met Ann"


def test_extents_of_relations_and_events_are_no_entities(tmp_path: Path) -> None:
    charseq = '<extent><charseq START="0" END="3">none</charseq></extent>'
    document = only(tmp_path, tail=f"<event><event_mention>{charseq}</event_mention></event>")
    assert document.parses[0].entities == ()


def test_mentions_outside_of_the_text_are_counted_and_left_out(tmp_path: Path) -> None:
    document = only(tmp_path, ("GPE", "Oslo calls"), ("GPE", "calls\n\n\nMr."), ("GPE", "Oslo"))
    assert document.outside == 2
    assert document.parses[0].entities == (Span(7, 8, "GPE"),)


def test_without_text_the_body_is_read_and_without_both_the_document_is_refused(
    tmp_path: Path,
) -> None:
    only(tmp_path)
    ids = {split: tmp_path / f"{split}.txt" for split in ("train", "dev", "test")}
    (tmp_path / "a.apf.xml").write_text("<source_file/>")
    (tmp_path / "a.sgm").write_text('<DOC><BODY id="1">\r\nIt rains.</DOC>')
    (parse,) = next(ace_documents(tmp_path, ids)).parses
    assert parse.words == ("It", "rains", ".")
    (tmp_path / "a.sgm").write_text("<DOC>It rains.</DOC>")
    with pytest.raises(DataError, match=r"a\.sgm: this document has neither <TEXT> nor <BODY>"):
        next(ace_documents(tmp_path, ids))


def test_lines_that_end_as_on_windows_count_as_one_character(tmp_path: Path) -> None:
    only(tmp_path, ("GPE", "Oslo"), ("PER", "They"))
    path = tmp_path / "a.sgm"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    ids = {split: tmp_path / f"{split}.txt" for split in ("train", "dev", "test")}
    first, second, _ = next(ace_documents(tmp_path, ids)).parses
    assert first.entities == (Span(7, 8, "GPE"),)
    assert second.entities == (Span(0, 1, "PER"),)


def test_a_charseq_that_says_something_else_is_misaligned(tmp_path: Path) -> None:
    write_document(tmp_path, "a")
    tail = (
        '<entity TYPE="PER"><entity_mention><extent>\n'
        '<charseq START="{start}" END="{end}">Oslo</charseq>\n</extent></entity_mention></entity>'
    )
    start = plain(SGM.format(name="a", text=TEXT)).index("Bank")
    with pytest.raises(DataError, match=r"a\.apf\.xml:6: document a: .* 'Bank' .* 'Oslo'") as info:
        only(tmp_path, tail=tail.format(start=start, end=start + 3))
    assert info.value.kind == "misaligned"


@pytest.mark.parametrize(("start", "end"), [(5, 4), (0, 9999), (-1, 3)])
def test_offsets_that_are_not_in_the_document_are_refused(
    tmp_path: Path, start: int, end: int
) -> None:
    charseq = f'<charseq START="{start}" END="{end}">x</charseq>'
    tail = (
        f'<entity TYPE="PER"><entity_mention><extent>{charseq}</extent></entity_mention></entity>'
    )
    with pytest.raises(DataError, match=f"characters {start} to {end} of") as info:
        only(tmp_path, tail=tail)
    assert info.value.kind == "out of range"


@pytest.mark.parametrize(
    ("mention", "message"),
    [
        ('<entity TYPE="PER">{}START="1"{}', "a charseq needs two numbers"),
        ('<entity TYPE="PER">{}START="one" END="2"{}', "a charseq needs two numbers"),
        ('<entity>{}START="1" END="2"{}', "has no TYPE"),
        ("<entity", "this is no XML"),
    ],
)
def test_a_broken_annotation_is_named_with_its_line(
    tmp_path: Path, mention: str, message: str
) -> None:
    before = "<entity_mention><extent><charseq "
    after = ">x</charseq></extent></entity_mention></entity>"
    with pytest.raises(DataError, match=rf"a\.apf\.xml:5: .*{message}"):
        only(tmp_path, tail=mention.format(before, after))


def test_a_mention_of_blanks_is_refused_with_the_name_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.apf\.xml: PER at .* holds no word"):
        only(tmp_path, ("PER", " "))


def test_the_same_entity_twice_counts_once(tmp_path: Path) -> None:
    document = only(tmp_path, ("GPE", "Oslo"), ("GPE", "Oslo"), ("LOC", "Oslo"))
    assert document.parses[0].entities == (Span(7, 8, "GPE"), Span(7, 8, "LOC"))
    assert document.duplicates == 1


def test_crossing_entities_follow_the_policy(tmp_path: Path) -> None:
    crossing = (("PER", "Mr. Lie of the Bank"), ("ORG", "Bank\nof Oslo"))
    with pytest.raises(CrossingSpansError, match=r"a\.apf\.xml: sentence a-1: .* cross"):
        only(tmp_path, *crossing)
    dropped = only(tmp_path, *crossing, on_crossing="drop-span")
    assert dropped.parses[0].entities == (Span(0, 6, "PER"),)
    assert dropped.parses[0].dropped == (Span(5, 8, "ORG"),)
    left_out = only(tmp_path, *crossing, on_crossing="drop-sentence")
    assert [parse.id for parse in left_out.parses] == ["a-2", "a-3"]
    assert left_out.left_out == 1


def test_the_last_stage_of_the_annotation_is_preferred(tmp_path: Path) -> None:
    source = tmp_path / "ace_2005_td_v7" / "data" / "English"
    for stage, text in (("fp1", "one"), ("fp2", "two"), ("adj", "three"), ("timex2norm", "four")):
        write_document(source / "bn" / stage, "CNN_ENG_20030630.0001", text=text)
        write_document(source / "nw" / stage, "AFP_ENG_20030330.0211", text=text)
        write_document(source / "wl" / stage, "BACONS_20041113.0225", text=text)
    (source / "nw" / "timex2norm" / "AFP_ENG_20030330.0211.apf.xml").unlink()
    ids = write_lists(
        tmp_path,
        train="bn/timex2norm/CNN_ENG_20030630.0001",
        dev="AFP_ENG_20030330.0211.sgm # one without its last stage",
        test=r"wl\adj\BACONS_20041113.0225.apf.xml",
    )
    documents = list(ace_documents(tmp_path, ids))
    assert [(d.split, d.parses[0].words[0]) for d in documents] == [
        ("train", "four"),
        ("dev", "three"),
        ("test", "four"),
    ]


def test_two_documents_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_document(tmp_path / "fp1", name)
        write_document(tmp_path / "fp2", name)
    ids = write_lists(tmp_path, train="a", dev="b", test="c")
    with pytest.raises(DataError, match="has the same name; give a folder"):
        list(ace_documents(tmp_path, ids))


def test_packed_files_are_read(tmp_path: Path) -> None:
    only(tmp_path, ("GPE", "Oslo"))
    for suffix in ("sgm", "apf.xml"):
        path = tmp_path / f"a.{suffix}"
        (tmp_path / f"a.{suffix}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    ids = {split: tmp_path / f"{split}.txt" for split in ("train", "dev", "test")}
    assert next(ace_documents(tmp_path, ids)).parses[0].entities == (Span(7, 8, "GPE"),)


def test_a_document_without_its_annotation_or_in_two_lists_is_named(tmp_path: Path) -> None:
    only(tmp_path)
    (tmp_path / "b.apf.xml").unlink()
    ids = write_lists(tmp_path, train="a", dev="b", test="c")
    with pytest.raises(DataError, match=r"dev\.txt: no document for b; looked for DOC\.sgm and"):
        list(ace_documents(tmp_path, ids))
    ids = write_lists(tmp_path, train="a", dev="c", test="x/a.sgm")
    with pytest.raises(DataError, match=r"test\.txt: a of test is also in the list of train"):
        list(ace_documents(tmp_path, ids))
