import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.structure import Span
from fencepost.text import split_words
from fencepost.text.gazetteer import Gazetteer
from fencepost.transition import Constraints
from tests.text.test_words import texts

NAMES = {"New York": "place", "New York Times": "paper", "Times": "paper", "Ann Lee": "person"}


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in split_words(text)]


def found(gazetteer: Gazetteer, text: str) -> list[str]:
    """What is found in a text, as it stands there."""
    places = split_words(text)
    spans = gazetteer.find([text[start:end] for start, end in places])
    return [text[places[span.start][0] : places[span.end - 1][1]] for span in spans]


def test_phrases_are_found_from_left_to_right() -> None:
    known = Gazetteer.of(NAMES)
    assert known.find(words("Ann Lee reads the Times in New York")) == (
        Span(0, 2, "person"),
        Span(4, 5, "paper"),
        Span(6, 8, "place"),
    )


def test_the_longest_phrase_is_found_and_nothing_within_it() -> None:
    known = Gazetteer.of(NAMES)
    assert known.find(["New", "York", "Times"]) == (Span(0, 3, "paper"),)
    assert known.find(["New", "York", "Times", "Times"])[1:] == (Span(3, 4, "paper"),)


def test_of_phrases_that_overlap_the_left_one_is_found() -> None:
    known = Gazetteer.of({"a b": "X", "b c d": "Y"})
    assert known.find(["a", "b", "c", "d"]) == (Span(0, 2, "X"),)
    assert known.find(["b", "c", "d", "b"]) == (Span(0, 3, "Y"),)


def test_a_phrase_is_not_found_where_the_sentence_breaks_it_off() -> None:
    known = Gazetteer.of(NAMES)
    assert known.find(["in", "New"]) == ()
    assert known.find(["in", "New", "York"]) == (Span(1, 3, "place"),)
    assert known.find([]) == ()


def brute_force(phrases: dict[str, str], sentence: list[str]) -> tuple[Span, ...]:
    spans: list[Span] = []
    end = 0
    for start in range(len(sentence)):
        fits = [p for p in phrases if sentence[start : start + len(p.split())] == p.split()]
        if fits and start >= end:
            longest = max(fits, key=lambda phrase: len(phrase.split()))
            end = start + len(longest.split())
            spans.append(Span(start, end, phrases[longest]))
    return tuple(spans)


@given(
    st.dictionaries(
        st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(" ".join),
        st.sampled_from(["X", "Y"]),
        max_size=6,
    ),
    st.lists(st.sampled_from("abcd"), max_size=12),
)
def test_what_is_found_is_what_brute_force_finds(
    phrases: dict[str, str], sentence: list[str]
) -> None:
    assert Gazetteer.of(phrases).find(sentence) == brute_force(phrases, sentence)


@given(texts.filter(str.strip), st.booleans())
@example("1. FC Harbour", False)
@example("Roe, J.", False)
def test_a_phrase_is_found_however_it_was_split(phrase: str, ignore_case: bool) -> None:
    known = Gazetteer.of({phrase: "X"}, ignore_case=ignore_case)
    once = " ".join(phrase.split())
    within = words(f"so {once}, so")[1:-2]
    for sentence in (words(once), within, once.split()):
        assert known.find(sentence) == (Span(0, len(sentence), "X"),)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("U.S.", "The U.S. is large."),
        ("Ann's", "It is at Ann's."),
        ("Ann", "It is Ann's."),
        ("Ann's Diner", "Is Ann's Diner open?"),
        ("1. FC Harbour", "They saw 1. FC Harbour win."),
        ("1. FC Harbour", "1. FC Harbour won."),
        ("George W.", "So George W., they say, left."),
        ("George W.", "So did George W."),
        ("well-known Inc.", "Ask Well-known Inc. or well-known Inc. now."),
        ("Yahoo!", 'They said "Yahoo!" again.'),
        ("can't", "We can't go."),
    ],
)
def test_phrases_are_found_in_text_as_it_is_split(phrase: str, text: str) -> None:
    assert found(Gazetteer.of({phrase: "X"}), text) == [phrase]


def test_spelling_is_exact_unless_case_is_ignored() -> None:
    phrases = {"St. Roe": "place", "straße": "way"}
    text = ["ST. ROE", "St. Roe", "st. roe", "Straße", "STRASSE"]
    exact, folded = Gazetteer.of(phrases), Gazetteer.of(phrases, ignore_case=True)
    assert [bool(exact.find(words(each))) for each in text] == [False, True, False, False, False]
    assert [bool(folded.find(words(each))) for each in text] == [True] * 5
    assert [bool(folded.find(each.split())) for each in text] == [True] * 5


def test_a_phrase_in_small_letters_is_found_in_capitals() -> None:
    known = Gazetteer.of({"st. roe": "place"}, ignore_case=True)
    for text in ("St. Roe", "ST. ROE", "st. roe"):
        assert found(known, f"So is {text} there.") == [text]


def test_the_same_phrase_may_be_given_twice_with_one_label() -> None:
    pairs = [("New York", "place"), ("New  York", "place"), ("New York", "place")]
    assert Gazetteer.of(pairs) == Gazetteer.of({"New York": "place"})


@pytest.mark.parametrize(
    ("pairs", "ignore_case", "message"),
    [
        (
            [("Ann Lee", "person"), ("Ann Lee", "ship")],
            False,
            r"^'Ann Lee' is person and 'Ann Lee' is ship; the same words should have the same",
        ),
        ([("Ann's", "shop"), ("Ann 's", "person")], False, r"^\"Ann's\" is shop and \"Ann 's\" is"),
        ([("US", "place"), ("us", "people")], True, r"^'US' is place and 'us' is people"),
        ([(" ", "place")], False, r"^the phrase ' ' has no words"),
        ([("New York", "")], False, r"^the phrase 'New York' has no label"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(
    pairs: list[tuple[str, str]], ignore_case: bool, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Gazetteer.of(pairs, ignore_case=ignore_case)


def test_phrases_that_differ_in_case_have_labels_of_their_own() -> None:
    known = Gazetteer.of({"US": "place", "us": "people"})
    assert known.find(["us", "US"]) == (Span(0, 1, "people"), Span(1, 2, "place"))


def test_words_are_not_one_string() -> None:
    with pytest.raises(TypeError, match="not one string: 'New York'"):
        Gazetteer.of(NAMES).find("New York")


def test_what_is_found_can_be_asked_of_a_parse() -> None:
    sentence = ["New", "York", "is", "large"]
    asked = Constraints.of(must=Gazetteer.of(NAMES).find(sentence))
    limits = asked.limits({"place": ("place",), "paper": ("paper",)}, 4, open_root=True)
    assert limits.chains(0, 2) == ("place",)


def test_a_file_has_a_phrase_and_its_label_on_each_line(tmp_path: Path) -> None:
    path = tmp_path / "names.tsv"
    path.write_bytes(
        "\ufeffNew York\tplace\r\n"
        "# Ann Lee\tperson\n"
        "\n"
        " \t \n"
        " #so_far \t a tag \n"
        "Zoë’s\u2028Café\tplace".encode()
    )
    expected = {"New York": "place", "#so_far": "a tag", "Zoë’s Café": "place"}
    assert Gazetteer.read(path) == Gazetteer.of(expected)
    assert Gazetteer.read(str(path), ignore_case=True) == Gazetteer.of(expected, ignore_case=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tX\n\nNew York place\n", r":3: 0 tabs; a line has a phrase, one tab and .* label$"),
        (b"# so\nNew York\tplace\tX\n", r":2: 2 tabs; a line has"),
        (b"New York\t \n", r":1: the phrase 'New York' has no label$"),
        (b" \tplace\n", r":1: the phrase ' ' has no words$"),
        (b"New York\tplace\na\tX\nNew York\tX\n", r":3: 'New York' is place and 'New York' is X;"),
        (b"a\tX\nZo\xeb\tX\n", r":2: not utf-8: byte 0xeb at column 3$"),
        (b"Zo\xeb\tX\n", r":1: not utf-8"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "names.tsv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"names\.tsv" + message):
        Gazetteer.read(path)


def test_a_line_that_does_not_end_is_no_phrase(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.text.gazetteer._MOST_LINE", 10)
    path = tmp_path / "names.tsv"
    path.write_text("New\tplace\nNew York\tplace\n")  # ten bytes, and more
    with pytest.raises(DataError, match=r"names\.tsv:2: this line has more than 10 bytes, which"):
        Gazetteer.read(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.tsv: cannot be read: No such file"):
        Gazetteer.read(tmp_path / "nothing.tsv")


def test_the_time_does_not_grow_with_the_number_of_phrases() -> None:
    names = [f"N{number}" for number in range(100)]
    phrases = {f"The {one} {other} {one}": "X" for one in names for other in names}
    known = Gazetteer.of(phrases)
    sentence = ["The", "N1", "N2", "N3"] * 10_000
    start = time.process_time()
    assert known.find(sentence) == ()
    # A hundredth of it is enough. Asking each phrase at each word would take a minute.
    assert time.process_time() - start < 10
