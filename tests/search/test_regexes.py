import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.search import regexes
from fencepost.search.regexes import MOST_CHARACTERS, Regex, RegexError

PIECES = [
    *("a", "b", ".", "[ab]", "[^a]", "(a|b)", "(?:ab)*", "a*", "b+", "a?", "^", "$", "|", "(a+)+"),
    *("a{2}", "b{1,2}", "a{,2}", r"\d", r"\.", "b{2,}", "(|a)", "a+?", "(a*)*", "{", "a{x", r"\w"),
    *("[]a]", r"[\]b]", "(a|b|)+", "(?:a{2}){2}"),
]
TEXTS = ["", "a", "b", "ab", "ba", "aab", "abab", "bbb", "c", "a{x", "1.", "]", "aaaa"]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=4).map("".join))
def test_an_expression_matches_what_it_matches_elsewhere(source: str) -> None:
    try:
        regex = Regex(source)
    except RegexError:
        with pytest.raises(re.error):
            re.compile(source)
        return
    assert [regex.search(text) for text in TEXTS] == [
        re.search(source, text) is not None for text in TEXTS
    ]


def test_case_may_be_ignored() -> None:
    assert Regex("(?i)^np").search("NPx")


@pytest.mark.parametrize("source", ["(a+)+$", "(a|a)*$", "(a|b)*a(a|b){30}$", "a?" * 40 + "a" * 40])
def test_what_is_slow_elsewhere_is_quick(source: str) -> None:
    start = time.perf_counter()
    Regex(source).search("ab" * 10 + "a" * 900 + "b")
    assert time.perf_counter() - start < 5


def test_very_long_words_match_nothing() -> None:
    assert Regex("a").search("a" * MOST_CHARACTERS)
    assert not Regex("a").search("a" * (MOST_CHARACTERS + 1))


def test_answers_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regexes, "_CACHE_SIZE", 3)
    regex = Regex("^ab*c")
    for _ in range(2):
        assert [regex.search(text) for text in ("abc", "ac", "abd", "xyz", "abbc")] == [
            *(True, True, False, False, True)
        ]


@pytest.mark.parametrize(
    ("source", "place", "message"),
    [
        ("a)", 1, "closes nothing"),
        ("(a", 0, "never closed"),
        ("[a", 0, "never closed"),
        ("*a", 0, "nothing before it to repeat"),
        ("a**+", 3, "possessive"),
        ("x\\", 1, "after the backslash"),
        (r"(a)\1", 3, r"\1 is not supported"),
        (r"\bNP", 0, r"\b is not supported"),
        ("(?=a)", 0, "only (?:…)"),
        ("[b-a]", 0, "bad character range"),
        ("a{3,2}", 1, "less than the first"),
        ("a{999}", 1, "at most 200"),
        ("(a{100}){100}", 0, "a shorter expression"),
        ("((){200}){200}" * 9 + "a" * 201, 0, "a shorter expression"),
        ("(" * 21, 20, "at most 20 groups"),
    ],
)
def test_a_mistake_is_told_with_its_place(source: str, place: int, message: str) -> None:
    with pytest.raises(RegexError) as raised:
        Regex(source)
    assert message in raised.value.message
    assert raised.value.place == place
