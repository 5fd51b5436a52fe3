import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fencepost.text import split_words

ODD = [
    *[
        "👨\u200d👩\u200d👧",
        "👍🏽",
        "🇳🇴🇮🇸",
        "1️⃣",
        "❤️",
        "e\u0301",
        "\u0301",
        "\u200b",
        "\u200f\u202e",
    ],
    *["\ufeff", "\ud800", "\x00", "\x1f", "\u2028", "\u3000", "שלום", "می\u200cخواهم", "नमस्ते"],
    *["我来了。", "½", "™", "...", "--", "''", "``", "n't", "'s", "'tis", "cannot", "can't've"],
    *["U.S.", "Mr.", "no. 5", "1.", "J.", "http://a.b/c", "a@b.co", "#x", "@y", "$5", "5km", "-5"],
    *[".5", "co-", "e-mail", ":-)", "\\", "/", "_", "__", "a_b", "**", "'", '"', "[2]", ".", "?"],
    *["So", "so", "said", "(", ")", "•", "iOS"],
]
texts = st.one_of(
    st.text(st.characters(), max_size=60),  # lone surrogates too
    st.lists(st.sampled_from([*ODD, " ", "\n", "\n\n", "\r\n", "\t"]), max_size=20).map("".join),
)


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in split_words(text)]


@given(texts)
@example("".join(ODD))
def test_words_are_all_that_is_not_whitespace_in_order(text: str) -> None:
    last = 0
    for start, end in split_words(text):
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert not re.search(r"\s", text[start:end])
        last = end
    assert not text[last:].strip()


@given(
    st.lists(st.sampled_from(["The", "cat", "sat", ",", "n't", "'s", "Mr.", "(", "5", "%", "?"]))
)
def test_words_with_spaces_between_them_stay_as_they_are(given_words: list[str]) -> None:
    assert words(" ".join(given_words)) == given_words


@pytest.mark.parametrize(
    "line",
    [
        # contractions
        "I do|n't| ca|n't| wo|n’t| DO|N'T",
        "it|'s she|’ll we|'re they|'ve I|'m he|'d",
        "I|'d|'ve should|n't|'ve",
        "can|not| gon|na| Wan|na| got|ta| lem|me",
        "y'|all| 't|is| 't|was| d'|you",
        "is n't it 's",  # as a treebank's words are often joined again
        # apostrophes that stay
        "O'Brien ma'am o'clock L’Enfant rock 'n' roll 'em 'cause",
        "the '90s the 1960's the '80's in '71",
        "2003|'s the dogs|' James|'s she|]|'s",
        # quotes
        '“|So|,|”| he said|, "|no|"|.',
        "`|`".replace("|", "") + "|so|''",
        "‘|quoted|’| '|quoted|'",
        # hyphens and dashes
        "a well|-|known state|-|of|-|the|-|art thing",
        "a co-founder e-mailed a non-profit mid-June Anti-Federalist",
        "pre- and post-war th-| what|?",
        "this |--| that|—|or that| –| 1990|–|1995 2013|-|2014",
        # full stops
        "Mr.| and Mrs.| Roe met Dr.| Doe etc.",
        "the U.S.| at 5 p.m.| e.g.| a Ph.D.| et al.",
        "J.| R. R. Tolkien|, Roe|, J.|, and K. L.|; all",
        "No. 5 and no|.",
        "Vol. XII| but he said no|.| I left|.",
        "They got wed|.| plan B|.| It works|.",
        "it goes on| ...| or …| etc|...",
        "readme.txt node.js v2.0 a.b.c the end|.|Then",
        # numbers, money, measures
        "1,000.50 3.5|%| 9/11 1/2 10:30 1|,|2 20th 1980s 3D",
        "$|5 £|3.50 US$|10 A$|7",
        "10|km| 5|pm| 6:00|am| 2.5|kg| 4chan",
        "-5|°|C| .292 (|-3|) +3.1 x|-|5",
        "555-0199 1-555-555-0199 +4412345678 2014-05-12",
        "A|=|B| <|=| 7|+|8",
        # addresses and names on the web
        "(|https://example.org/a-b?c=(d|)|.",
        "www.example.org/it's|,| doi:10.1000/x-1|.",
        "jo.doe+x@mail.example.org|, example.com/a/b|!",
        "@jo_doe #so_far #1 C++ C#| and/or".replace("and/or", "and|/|or"),
        "s/he w/o n/a R&D AT&T this| &| that snake_case|.",
        # smileys and pictures
        "so| :)| :-( ;P :'D <3 ^^ note|:|)",
        "well|😀|👍🏽|👨‍👩‍👧|🇳🇴|🇮🇸|1️⃣|❤️|!",
        # marks and other scripts
        "e\u0301cole שלום|,| می‌خواهم नमस्ते",
        "so|.\u200b| it|'s\u200b| \ufeffso",
        "km|²| 54|º| 5|™",
        "!|!|!| ?|!| *****| ====| ~~ ____ _|so|_ **|so|**",
    ],
)
def test_words_are_cut_where_penn_cuts_them(line: str) -> None:
    expected = [word for word in re.split(r"[|\s]+", line) if word]
    assert words(line.replace("|", "")) == expected


def test_numbers_of_items_keep_their_full_stop() -> None:
    assert words("1. Stir.\n  2. Wait.\n2.1. Eat 3. Go") == [
        *["1.", "Stir", ".", "2.", "Wait", ".", "2.1.", "Eat", "3", ".", "Go"]
    ]


def test_an_initial_may_stand_at_the_end_of_a_line_but_not_of_a_paragraph() -> None:
    assert words("John Q.\nPublic") == ["John", "Q.", "Public"]
    assert words("vitamin Q.\n\nPublic") == ["vitamin", "Q", ".", "Public"]


def test_a_text_without_words_has_none() -> None:
    assert split_words("") == split_words(" \n\t\u3000") == []


def test_a_word_may_be_long() -> None:
    assert words("x" * 10_000 + "n't.") == ["x" * 10_000, "n't", "."]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    # Each is a start that some rule could follow far, only to fail and begin again one word on.
    [
        *["a-", "a.", "a's", "A. ", "a@", "1-", "1,", "+1", "www.", "a.com/", '"', ".", "'", " "],
        *["\n ", "\u200d", "\u0301", "😀\u200d", "_", "#", "[1]", "x", "n't", "http://", "1."],
    ],
)
def test_the_time_is_linear_in_the_length(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    start = time.process_time()
    for odd in (text, "http://" + text, "a" + text, text + "!"):
        split_words(odd)
    # A tenth of it is enough. With a square in it, it would be minutes.
    assert time.process_time() - start < 30
