import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.drawing.widths import advance, cells, direction, is_picture, reads_right_to_left


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("cat", 3),
        ("é", 1),
        ("e\u0301", 1),
        ("猫", 2),
        ("ｶﾞ", 2),
        ("ＡＢ", 4),
        ("한국", 4),
        ("\u1112\u1161\u11ab", 2),  # one syllable in three parts
        ("שָׁלוֹם", 4),
        ("می\u200cخواهم", 7),
        ("क्\u200dष", 2),  # a joiner between letters does not hide the second
        ("😀", 2),
        ("👨\u200d👩\u200d👧\u200d👦", 2),
        ("🏃🏽\u200d♂\ufe0f", 2),
        ("👍🏽", 2),
        ("🏽", 2),
        ("❤", 1),
        ("❤\ufe0f", 2),
        ("❤\ufe0f\u200d🔥", 2),
        ("1\ufe0f\u20e3", 2),
        ("a\ufe0f", 1),
        ("\ufe0f", 0),
        ("🇳🇴", 2),
        ("🇳🇴🇸🇪", 4),
        ("🏴\U000e0067\U000e0062\U000e007f", 2),
        ("\U0001fae8", 2),  # newer than some versions of Python
        ("㈱", 2),
        ("a\u200eb", 2),
        ("\u200d", 0),
    ],
)
def test_columns_are_those_of_terminals(text: str, columns: int) -> None:
    assert cells(text) == columns


@given(st.text(), st.text(st.characters(categories=["L", "N"]), max_size=5))
def test_columns_add_up(text: str, letters: str) -> None:
    assert 0 <= cells(text) <= 2 * len(text)
    if not text.endswith("\u200d"):
        inner = "\u1160" <= letters[:1] <= "\u11ff" or "\ud7b0" <= letters[:1] <= "\ud7ff"
        assert inner or cells(text + letters) == cells(text) + cells(letters)


@given(st.text())
def test_any_text_has_a_width(text: str) -> None:
    assert 0 <= advance(text) <= advance(text, bold=True) <= 20 * len(text)


@pytest.mark.parametrize(
    ("text", "ems"),
    [
        ("", 0.0),
        (" ", 0.32),
        ("cat", 0.55 + 0.62 + 0.4),
        ("W", 0.99),
        ("~", 0.84),
        ("é", 0.62),
        ("e\u0301", 0.62),
        ("Ễ", 0.64),
        ("…", 0.96),
        ("æ", 1.1),
        ("ж", 0.75),
        ("Ж", 0.9),
        ("猫", 1.0),
        ("😀", 1.4),
        ("👨\u200d👩\u200d👧", 1.4),
        ("🇳🇴", 1.4),
        ("❤\ufe0f", 1.4),
        ("\U0001fae8", 1.4),
        ("🏽", 1.4),
        ("㈱", 1.0),
        ("ש", 0.72),
        ("ب", 0.8),
        ("س", 1.25),
        ("𝔘", 0.9),
        ("ቀ", 1.1),
        ("\u00ad", 0.0),
    ],
)
def test_letters_have_the_widths_of_a_wide_font(text: str, ems: float) -> None:
    assert advance(text) == pytest.approx(ems)


def test_bold_letters_are_wider() -> None:
    assert advance("NP", bold=True) == pytest.approx(1.14 * advance("NP"))


def test_the_direction_of_a_sentence_is_that_of_most_letters() -> None:
    assert reads_right_to_left(("הילד", "אמר", "OK", "."))
    assert reads_right_to_left(("كتب", "الطالب"))
    assert not reads_right_to_left(("He", "said", "לא"))
    assert not reads_right_to_left((".", "2024"))
    assert not reads_right_to_left(())


def test_a_word_without_letters_goes_as_its_sentence_does() -> None:
    assert [direction("(", mirrored=way) for way in (False, True)] == ["ltr", "rtl"]
    assert [direction("U.S.", mirrored=way) for way in (False, True)] == ["ltr", "ltr"]
    assert [direction("לא!", mirrored=way) for way in (False, True)] == ["rtl", "rtl"]


@pytest.mark.parametrize("word", ["😀", "👨\u200d👩", "🇳🇴", "❤\ufe0f", "1\ufe0f\u20e3", "😀!"])
def test_emoji_are_pictures(word: str) -> None:
    assert is_picture(word)


@pytest.mark.parametrize("word", ["cat", "é", "猫", "cat😀", "❤", "…", "。", "㈱", "1"])
def test_letters_and_signs_are_none(word: str) -> None:
    assert not is_picture(word)
