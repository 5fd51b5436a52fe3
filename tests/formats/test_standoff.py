import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.formats.standoff import (
    WORD,
    Mention,
    line_breaks,
    passages,
    sentence_breaks,
    trim,
)
from fencepost.structure import Span

TEXTS = st.text("aB1.-, '\n\r\t(é語\u00a0", max_size=40)


@st.composite
def marked_texts(draw: st.DrawFn) -> tuple[str, list[Mention]]:
    """A text, and mentions in it that hold more than blanks; they may cross."""
    text = draw(TEXTS)
    places = draw(st.lists(st.tuples(*[st.integers(0, len(text))] * 2), max_size=5))
    return text, [
        Mention(start, end, draw(st.sampled_from("XY")))
        for start, end in places
        if text[start:end].strip()
    ]


@given(marked_texts(), st.sampled_from([line_breaks, sentence_breaks]))
def test_every_mention_comes_out_as_its_characters(
    marked: tuple[str, list[Mention]], breaks: object
) -> None:
    text, mentions = marked
    wanted = sorted(trim(mention, text) for mention in mentions)
    found: list[Mention] = []
    for sentence, entities, start in passages(text, mentions, name="d", breaks=breaks):  # type: ignore[arg-type]
        assert sentence.offsets is not None
        for first, behind, label in entities:
            begin, end = sentence.offsets[first][0], sentence.offsets[behind - 1][1]
            found.append(Mention(start + begin, start + end, label or ""))
    assert found == wanted


@given(marked_texts())
def test_words_are_all_of_the_text_but_its_blanks(marked: tuple[str, list[Mention]]) -> None:
    text, mentions = marked
    read = list(passages(text, mentions, name="d"))
    assert "".join(word for p in read for word in p.sentence.words) == "".join(text.split())
    for number, (sentence, _, start) in enumerate(read, 1):
        assert sentence.id == f"d-{number}"
        assert sentence.text
        assert text.startswith(sentence.text, start)
        for word, (begin, end) in zip(sentence.words, sentence.offsets or (), strict=True):
            assert sentence.text[begin:end] == word


@given(TEXTS)
def test_without_mentions_a_line_is_a_sentence(text: str) -> None:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    assert [p.sentence.text for p in passages(text, [], name="d")] == lines


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The U.S. didn't pay 1,000.", "The U.S. didn't pay 1,000 ."),
        ("IL-2, (p50/p65)...", "IL-2 , ( p50/p65 ) ..."),
        ("a -- b @ c_d #x", "a -- b @ c_d # x"),
    ],
)
def test_words_are_cut_by_the_stated_rules(text: str, words: str) -> None:
    assert WORD.findall(text) == words.split()


def test_words_are_cut_where_a_mention_or_a_cut_is() -> None:
    (passage,) = passages("anti-CD28s", [Mention(5, 9, "X")], name="d", cuts=[4, 0, 10])
    assert passage.sentence.words == ("anti", "-", "CD28", "s")
    assert passage.entities == (Span(2, 3, "X"),)


def test_words_may_be_told() -> None:
    (passage,) = passages("a-b c.", [], name="d", words=re.compile(r"\S+"))
    assert passage.sentence.words == ("a-b", "c.")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It slept. It woke! Why? 7 ran.", ["It slept.", "It woke!", "Why?", "7 ran."]),
        ("Mr. Smith met J. Doe. He left.", ["Mr. Smith met J. Doe.", "He left."]),
        ('He said "Yes." Then (He) left.', ['He said "Yes."', "Then (He) left."]),
        ("One line\ngoes on\n \nnext", ["One line\ngoes on", "next"]),
        ("no. capital", ["no. capital"]),
    ],
)
def test_prose_is_cut_into_sentences(text: str, sentences: list[str]) -> None:
    found = passages(text, [], name="d", breaks=sentence_breaks)
    assert [p.sentence.text for p in found] == sentences


def test_a_sentence_does_not_end_within_a_mention() -> None:
    text = "He read Yes. Oh. It ended."
    found = passages(text, [Mention(8, 16, "X")], name="d", breaks=sentence_breaks)
    assert [p.sentence.text for p in found] == ["He read Yes. Oh.", "It ended."]


def test_a_stretch_of_blanks_is_no_sentence() -> None:
    found = list(passages("a  b", [], name="d", breaks=lambda text: range(len(text))))
    assert [p.sentence.words for p in found] == [("a",), ("b",)]
    assert [p.sentence.id for p in found] == ["d-1", "d-2"]


def test_blanks_at_the_ends_of_a_mention_do_not_count() -> None:
    assert trim(Mention(0, 5, "X"), " ab\u00a0\n") == Mention(1, 3, "X")


@pytest.mark.parametrize(
    ("mention", "kind"),
    [
        (Mention(0, 9, "X"), "out of range"),
        (Mention(-1, 1, "X"), "out of range"),
        (Mention(1, 1, "X"), "out of range"),
        (Mention(1, 2, "X"), "misaligned"),
    ],
)
def test_a_mention_of_nothing_is_refused(mention: Mention, kind: str) -> None:
    with pytest.raises(DataError, match=f"X at characters {mention.start}") as raised:
        list(passages("a b", [mention], name="d"))
    assert raised.value.kind == kind


@pytest.mark.parametrize("unit", [".", "\n", "a.", "'", "...'", "a-", "\n \n", ". "])
def test_time_is_linear_in_the_length_of_the_text(unit: str) -> None:
    begin = time.process_time()
    list(passages(unit * 50_000, [], name="d", breaks=sentence_breaks))
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी किताब।", ["हिन्दी", "किताब", "।"]),
        ("e\u0301te\u0301 \u0301x", ["e\u0301te\u0301", "\u0301x"]),
        ("U.S.A is in the U.S. now.", ["U.S.A", "is", "in", "the", "U.S.", "now", "."]),
        ("\u0301", ["\u0301"]),
        ("", []),
    ],
)
def test_words_are_not_cut_at_combining_marks_and_initials(text: str, words: list[str]) -> None:
    found = [word for passage in passages(text, [], name="x") for word in passage.sentence.words]
    assert found == words
