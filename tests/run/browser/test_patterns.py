"""Patterns in JavaScript say what Python's say; tests/web/local has them find the same."""

import re

import pytest

from fencepost.errors import ConfigError
from fencepost.run.browser.patterns import escaped, javascript


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a|bc", "(?:a|bc)"),
        ("a*b+?c?", "a*b+?c?"),
        ("(?:ab){2,3}a{2}", "(?:ab){2,3}a{2,2}"),
        (r"[^a-c\d]", r"[^a-c\p{Nd}]"),
        (r"\w", r"[\p{L}\p{N}_]"),
        (r"[^\W\d_]", r"[^[^[\p{L}\p{N}_]]\p{Nd}\x5f]"),
        ("(?<=x)a(?!b)(?<!c)(?=d)", "(?<=x)a(?!b)(?<!c)(?=d)"),
        ("(?>a|b)c", r"(?=(?<atom0>[ab]))\k<atom0>c"),
        ("(?P<word>a)", "(?<word>a)"),
        (r"^a\Z", r"(?<![\s\S])a(?![\s\S])"),
        ("(?m:^)a", r"(?<![^\n])a"),
        (".", r"[^\n]"),
        ("[^a]", "[^a]"),
    ],
)
def test_each_part_has_a_form(pattern: str, expected: str) -> None:
    assert javascript(re.compile(pattern)) == expected


def test_letters_without_case_are_those_that_python_takes_for_the_same() -> None:
    assert javascript(re.compile("(?i:s)t")) == r"[Ss\u{17f}]t"
    assert javascript(re.compile("(?i:[k])")) == r"[Kk\u{212a}]"


def test_blanks_are_those_of_python() -> None:
    found = javascript(re.compile(r"\s"))
    assert all((escaped(code) in found) == chr(code).isspace() for code in range(0x1C, 0x21))
    assert r"\u{feff}" not in found


@pytest.mark.parametrize(
    ("pattern", "construct"),
    [(r"a\b", "AT_BOUNDARY"), ("(a)(?(1)b|c)", "GROUPREF_EXISTS"), ("a$", "AT_END")],
)
def test_what_has_no_form_is_refused(pattern: str, construct: str) -> None:
    with pytest.raises(ConfigError, match=f"^{construct} in a pattern"):
        javascript(re.compile(pattern))
