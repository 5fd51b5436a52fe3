from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats import read, write
from fencepost.formats.annotations import with_text
from fencepost.formats.cas import _NO_XML
from fencepost.structure import Parse, Sentence, Span
from tests.formats.tools import ENTITIES, PARSE, SENTENCE, through
from tests.strategies import WORDS, parses

CORE = "http:///de/tudarmstadt/ukp/dkpro/core/api"
HEAD = (
    '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
    f'xmlns:s="{CORE}/segmentation/type.ecore" xmlns:ner="{CORE}/ner/type.ecore" '
    'xmlns:custom="http:///webanno/custom.ecore" xmlns:x="http:///other.ecore">'
)
TEXT = "Ann met Bo. It rained."
SOFA = f'<cas:Sofa xmi:id="9" sofaID="_InitialView" sofaString="{TEXT}"/>'


def element(name: str, begin: int, end: int, **features: object) -> str:
    told = "".join(f' {key}="{value}"' for key, value in features.items())
    return f'<{name} sofa="9" begin="{begin}" end="{end}"{told}/>'


TOKENS = "".join(
    element("s:Token", *place)
    for place in ((0, 3), (4, 7), (8, 10), (10, 11), (12, 14), (15, 21), (21, 22))
)
SENTENCES = element("s:Sentence", 0, 11) + element("s:Sentence", 12, 22, id="b")
Made = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Writes an XMI file with some elements around a text."""

    def make(*elements: str, sofa: str = SOFA) -> Path:
        path = tmp_path / "doc.xmi"
        path.write_text(f"{HEAD}{''.join(elements)}{sofa}</xmi:XMI>")
        return path

    return make


def is_sayable(parse: Parse) -> bool:
    """Whether XML can say the id, as it can say all that words and labels are drawn from."""
    return parse.entities is not None and not _NO_XML.search(parse.id or "")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cas") / "x.xmi"


@given(several=st.lists(parses(WORDS.filter(str.strip)).filter(is_sayable), min_size=1, max_size=3))
def test_what_was_written_is_read_again(shared: Path, several: list[Parse]) -> None:
    again = through(several, shared, "cas")
    for number, (found, parse) in enumerate(zip(again, several, strict=True), 1):
        assert found.entities == parse.entities
        own = with_text(parse.sentence)
        assert (found.sentence.text, found.sentence.offsets) == (own.text, own.offsets)
        assert any(parse.tags or ()) <= (found.tags == parse.tags)
        assert found.id == (parse.id or f"x-{number}")


@pytest.mark.filterwarnings("ignore:open_binary is deprecated")
def test_cassis_reads_what_we_write_and_we_read_what_it_writes(tmp_path: Path) -> None:
    cassis = pytest.importorskip("cassis")
    path = tmp_path / "x.xmi"
    plain = Parse(Sentence(("It", "rained", ".")), entities=())
    write([PARSE, plain], path)
    types = cassis.load_dkpro_core_typesystem()
    with open(path, "rb") as file:
        cas = cassis.load_cas_from_xmi(file, typesystem=types)
    name = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
    found = [(one.get_covered_text(), one.value) for one in cas.select(name)]
    expected = ["Ann's", "Ann's 😀 Bank (Oslo)", "Bank (Oslo)", "Oslo"]
    assert sorted(found) == sorted(zip(expected, ["PER", "ORG", "ORG", "GPE"], strict=True))
    cas.to_xmi(tmp_path / "y.xmi")
    first, second = read(tmp_path / "y.xmi")
    assert (first.entities, first.tags, first.id) == (ENTITIES, SENTENCE.tags, "doc-7")
    assert (second.words, second.entities) == (plain.words, ())


def test_sentences_of_a_document_are_read_with_their_entities(made: Made) -> None:
    ner = element("ner:NamedEntity", 8, 10, value="PER", identifier="q")
    first, second = read(made(ner, TOKENS, SENTENCES))
    assert (first.sentence.text, first.id, first.tags) == ("Ann met Bo.", "doc-1", None)
    assert (first.entities, second.entities) == ((Span(2, 3, "PER"),), ())
    assert second.id == "b"


def test_layers_that_people_made_are_entities_and_relations_are_not(made: Made) -> None:
    path = made(
        element("custom:Mention", 0, 3, value="PER"),
        element("custom:Place", 8, 10),
        element("custom:Quote", 12, 14, label="Q"),
        element("custom:Link", 0, 3, Governor=4, Dependent=5),
        element("x:Mention", 0, 3, value="OTHER"),
        '<custom:Mention sofa="7" begin="0" end="3" value="OF ANOTHER VIEW"/>',
        "<custom:Mention/>",
        TOKENS,
        SENTENCES,
    )
    first, second = read(path)
    assert first.entities == (Span(0, 1, "PER"), Span(2, 3, "Place"))
    assert second.entities == (Span(0, 1, "Q"),)


def test_words_and_sentences_are_found_if_there_are_none(made: Made) -> None:
    first, second = read(made(element("ner:NamedEntity", 0, 3, value="PER")))
    assert first.words == ("Ann", "met", "Bo", ".")
    assert (first.entities, second.entities) == ((Span(0, 1, "PER"),), ())
    (whole,) = read(made(TOKENS))
    assert len(whole.words) == 7


def test_blanks_are_no_words_and_are_cut_off_entities(made: Made) -> None:
    blank, entity = element("s:Token", 3, 4), element("ner:NamedEntity", 0, 4, value="PER")
    first, _ = read(made(blank, entity, TOKENS, SENTENCES, element("s:Stem", 0, 1)))
    assert first.entities == (Span(0, 1, "PER"),)


def test_an_empty_sentence_is_passed_over(made: Made) -> None:
    sentences = SENTENCES.replace('begin="12"', 'begin="11"')
    assert len(list(read(made(TOKENS, sentences, element("s:Sentence", 11, 11))))) == 2


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ((element("s:Token", 0, 99),), r"1: Token at 0 to 99 is not within a text of 22"),
        ((element("s:Token", 0, 3).replace("3", "x"),), "Token: `begin` and `end` have to be num"),
        (('<s:Token sofa="9" begin="0"/>',), "have to be numbers"),
        ((element("ner:NamedEntity", 0, 3),), "NamedEntity at 0 to 3 has no value"),
        ((TOKENS, element("s:Sentence", 0, 11)), "outside of all sentences"),
        ((TOKENS, SENTENCES, element("ner:N", 0, 2, value="A")), "begin and end with words"),
        ((TOKENS, SENTENCES, element("ner:N", 8, 14, value="A")), "begin and end with words"),
        (("<",), "this is no XML"),
    ],
)
def test_what_is_wrong_is_told(made: Made, elements: tuple[str, ...], message: str) -> None:
    with pytest.raises(DataError, match=rf"doc\.xmi:.*{message}"):
        list(read(made(*elements)))


def test_a_file_without_a_text_is_refused(made: Made) -> None:
    with pytest.raises(DataError, match="there is no text here"):
        list(read(made(TOKENS, sofa="")))


def test_declared_entities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xmi"
    path.write_text('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>')
    with pytest.raises(DataError, match="files that declare entities are not read"):
        list(read(path))


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (Parse(Sentence(())), "a sentence without words"),
        (Parse(Sentence(("a",))), "no entities annotated"),
        (Parse(Sentence(("\x00",)), entities=()), r"holds '\\x00', which XML cannot say"),
        (Parse(Sentence(("a",)), entities=(Span(0, 1, "\x01"),)), "which XML cannot say"),
    ],
)
def test_what_would_not_come_back_is_refused(tmp_path: Path, parse: Parse, message: str) -> None:
    with pytest.raises(DataError, match=message):
        write([parse], tmp_path / "x.xmi")


def test_a_word_of_blanks_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a word of blanks alone"):
        write([Parse(Sentence(("a", " ")), entities=())], tmp_path / "x.xmi")
