import gzip
from pathlib import Path

import pytest

from fencepost.errors import DataError
from fencepost.formats.corpora.genia import entity_type, genia_documents
from fencepost.structure import Parse, Span

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/css" href="gpml.css" ?>
<!DOCTYPE set SYSTEM "gpml.dtd">
<set>
<import resource="GENIAontology.daml" prefix="G"></import>
"""
NESTED = (
    '<cons lex="IL-2_gene_expression" sem="G#other_name">'
    '<cons lex="IL-2_gene" sem="G#DNA_domain_or_region">'
    '<cons lex="IL-2" sem="G#protein_molecule">IL-2</cons> gene</cons> expression</cons> rises.'
)
COORDINATED = (
    '<cons lex="(AND IL-2_receptor IL-4_receptor)" '
    'sem="(AND G#protein_molecule G#protein_molecule)">'
    '<cons lex="IL-2*">IL-2</cons> and <cons lex="IL-4*">IL-4</cons> '
    '<cons lex="*receptor">receptors</cons></cons> bind &amp; stay.'
)


def article(name: str, *sentences: str) -> str:
    title, *abstract = (f"<sentence>{sentence}</sentence>" for sentence in sentences)
    return (
        f"<article>\n<articleinfo>\n<bibliomisc>MEDLINE:{name}</bibliomisc>\n</articleinfo>\n"
        f"<title>\n{title}\n</title>\n<abstract>\n{chr(10).join(abstract)}\n</abstract>\n</article>\n"
    )


def write_corpus(folder: Path, *articles: str, name: str = "GENIAcorpus3.02.xml") -> Path:
    path = folder / name
    path.write_text(f"{HEAD}{''.join(articles)}</set>\n", encoding="utf-8")
    return path


def only(folder: Path, sentence: str) -> Parse:
    (document,) = genia_documents(write_corpus(folder, article("95369245", sentence)))
    (parse,) = document.parses
    return parse


def test_terms_within_terms_are_nested_entities(tmp_path: Path) -> None:
    parse = only(tmp_path, NESTED)
    assert parse.words == ("IL-2", "gene", "expression", "rises", ".")
    assert parse.entities == (Span(0, 2, "DNA"), Span(0, 1, "protein"))
    assert parse.sentence.text == "IL-2 gene expression rises."
    assert parse.sentence.whitespace == (" ", " ", " ", "", "")


def test_coordinated_terms_are_one_entity(tmp_path: Path) -> None:
    parse = only(tmp_path, COORDINATED)
    assert parse.words == ("IL-2", "and", "IL-4", "receptors", "bind", "&", "stay", ".")
    assert parse.entities == (Span(0, 4, "protein"),)


def test_of_several_types_the_first_in_the_order_of_the_types_counts() -> None:
    sem = "(OR G#cell_type G#protein_molecule G#RNA_molecule)"
    assert entity_type(sem) == "RNA"
    assert entity_type("(AND G#cell_line G#cell_type)") == "cell_line"
    assert entity_type("G#cell_component") is None


def test_words_are_cut_where_a_term_begins_or_ends(tmp_path: Path) -> None:
    parse = only(
        tmp_path,
        'anti-<cons lex="CD28" sem="G#protein_molecule">CD28</cons>-mediated '
        '<cons lex="x" sem="G#other_name">up</cons>regulation',
    )
    assert parse.words == ("anti-", "CD28", "-mediated", "up", "regulation")
    assert parse.entities == (Span(1, 2, "protein"),)


def test_marked_words_are_the_words_cut_at_terms(tmp_path: Path) -> None:
    parse = only(
        tmp_path,
        '<w c="IN">for</w> <cons lex="CD28" sem="G#protein_molecule"><w c="*">CD28</w></cons>'
        '<w c="JJ">-mediated</w> <w c="NN">(<cons lex="B_cell" sem="G#cell_type">B-cell</cons>)</w>'
        '<w c="*">Pan/</w>E2A <w c="NN">T cell</w> <w></w><w c=".">.</w>',
    )
    assert parse.words == (
        *("for", "CD28", "-mediated", "(", "B-cell", ")", "Pan/", "E2A", "T", "cell", "."),
    )
    assert parse.entities == (Span(1, 2, "protein"), Span(4, 5, "cell_type"))


def test_the_same_entity_twice_counts_once(tmp_path: Path) -> None:
    inner = '<cons lex="a" sem="G#protein_molecule">CD28</cons>'
    path = write_corpus(
        tmp_path,
        article("1", f'<cons lex="b" sem="G#protein_family_or_group">{inner}</cons> rises'),
    )
    (document,) = genia_documents(path)
    assert document.parses[0].entities == (Span(0, 1, "protein"),)
    assert document.duplicates == 1


def test_splits_are_in_the_order_of_the_corpus_and_may_divide_an_abstract(tmp_path: Path) -> None:
    path = write_corpus(tmp_path, article("1", "a", "b", "c"), article("2", "d"), article("3", "e"))
    documents = list(genia_documents(path, train=2, dev=2))
    assert [(d.split, d.name, [p.words[0] for p in d.parses]) for d in documents] == [
        ("train", "1", ["a", "b"]),
        ("dev", "1", ["c"]),
        ("dev", "2", ["d"]),
        ("test", "3", ["e"]),
    ]
    assert documents[1].parses[0].id == "1-3"


def test_a_document_that_is_there_twice_gets_another_name(tmp_path: Path) -> None:
    path = write_corpus(tmp_path, *(article("97218353", "a") for _ in range(3)))
    assert [document.name for document in genia_documents(path)] == [
        *("97218353", "97218353b", "97218353bb"),
    ]


def test_an_article_without_a_name_gets_its_number(tmp_path: Path) -> None:
    path = write_corpus(tmp_path, article("1", "a"), "<article><sentence>b</sentence></article>")
    assert [d.parses[0].id for d in genia_documents(path)] == ["1-1", "article2-1"]


def test_a_sentence_without_words_keeps_its_number_and_is_left_out(tmp_path: Path) -> None:
    path = write_corpus(tmp_path, article("1", "a", " ", "c"))
    documents = list(genia_documents(path, train=2))
    assert [document.left_out for document in documents] == [1, 0]
    assert documents[1].parses[0].id == "1-3"


def test_terms_outside_of_sentences_are_passed_over(tmp_path: Path) -> None:
    note = '<note><cons lex="x" sem="G#protein_molecule">X</cons></note><sentence>a</sentence>'
    path = write_corpus(tmp_path, f"<article>{note}</article>")
    assert next(genia_documents(path)).parses[0].entities == ()


def test_a_sentence_within_a_sentence_breaks_nothing(tmp_path: Path) -> None:
    assert only(tmp_path, "<sentence>a</sentence>").words == ("a",)


def test_the_file_is_found_in_a_folder_the_merged_one_first(tmp_path: Path) -> None:
    folder = tmp_path / "GENIAcorpus3.02"
    folder.mkdir()
    path = write_corpus(folder, article("1", "plain"))
    packed = folder / "GENIAcorpus3.02.xml.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert next(genia_documents(tmp_path)).parses[0].words == ("plain",)
    assert next(genia_documents(packed)).parses[0].words == ("plain",)
    write_corpus(folder, article("1", "<w>merged</w>"), name="GENIAcorpus3.02.merged.xml")
    assert next(genia_documents(tmp_path)).parses[0].words == ("merged",)


def test_a_folder_without_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "GENIAcorpus3.02.pos.xml").write_text("<set/>")
    with pytest.raises(DataError, match=r"neither GENIAcorpus3\.02\.merged\.xml nor"):
        list(genia_documents(tmp_path))


def test_a_file_without_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no <sentence> was found"):
        list(genia_documents(write_corpus(tmp_path)))


def test_a_term_without_a_word_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"3\.02\.xml:11: DNA at characters 2 to 3 holds no word"):
        only(tmp_path, 'a <cons lex="" sem="G#DNA_N/A"> </cons>')


def test_broken_xml_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "GENIAcorpus3.02.xml"
    path.write_text("<set>\n<article>\n<title></set>")
    with pytest.raises(DataError, match=r"3\.02\.xml:3: this is no XML: mismatched tag"):
        list(genia_documents(path))
    path.write_text("")
    with pytest.raises(DataError, match="this is no XML: no element found"):
        list(genia_documents(path))


def test_a_file_that_declares_entities_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "GENIAcorpus3.02.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE set [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;&a;&a;">\n]>\n'
        "<set><article><sentence>&b;</sentence></article></set>"
    )
    with pytest.raises(DataError, match=r"3\.02\.xml:3: the entity 'a' is declared here"):
        list(genia_documents(path))


def test_an_entity_that_only_the_document_type_may_define_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the entity 'beta' is unknown"):
        only(tmp_path, "TGF-&beta; rises")


@pytest.mark.parametrize("encoding", ["klingon", "gb18030"])
def test_an_encoding_that_cannot_be_decoded_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "GENIAcorpus3.02.xml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>\n<set/>')
    with pytest.raises(DataError, match=r"3\.02\.xml: cannot be decoded"):
        list(genia_documents(path))


def test_terms_may_nest_as_deep_as_they_like(tmp_path: Path) -> None:
    depth = 10_000
    parse = only(
        tmp_path,
        '<cons lex="x" sem="G#protein_molecule">a ' * depth + "b" + "</cons>" * depth,
    )
    assert parse.entities is not None
    assert len(parse.words) == depth + 1
    assert len(parse.entities) == depth
