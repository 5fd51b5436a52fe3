"""Whatever pattern a person writes: matches, or an error of ours, and soon."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.errors import DataError, PatternError
from fencepost.structure import Parse, Span, Tree
from tests.reliability.strategies import TEXTS

TREE = Tree.from_brackets(
    "(S (NP-SBJ (NP (DT The) (NN cat)) (PP (IN of) (NP (NNP Oslo)))) "
    "(VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .))"
)
PARSE = Parse(TREE.sentence, TREE, (Span(0, 4, "animal"), Span(3, 4, "place")))
GOOD = (
    "@NP=x $+ (VP < (VBD=verb $.. PP)) | S << /^NN/",
    "NP !<< NP ![< JJ | > (PP < (IN < of))] ?, =n",
    'S <... {@NP ; VP ; /[.]/} & <+(!VP|"PP") NN=n : (NN !== =n)',
    "NP{is animal|place, p<0.5, !has /x/, words>=2}=y .. ~y",
    "__ <<# __ >3 __ <-2 __ .+(/(a|b)*c{2,3}?/) __",
)
PIECES = (
    *("<", "> ", "<<", ">>", "$", "$++", "..", ",", ":", "==", "<=", "<...", "<+(", "<#", "!", "?"),
    *("&", "|", "[", "]", "(", ")", "{", "}", "=", "~", "@", "__", "/", '"', "\\", "#", "%", "NP"),
    *("/(a+)+$/", "=x", "~x", "{p<", "{is ", "9" * 14, "-", "\x00", "\ud800", "語"),
)


def ends_well(pattern: str) -> None:
    start = time.perf_counter()
    for layer in ("tree", "entities"):
        try:
            for number, match in enumerate(PARSE.find(pattern, layer=layer)):
                assert 0 <= match.start < match.end <= len(TREE)
                if number > 1_000:
                    break
        except PatternError as error:
            assert 0 <= error.place <= len(pattern)  # noqa: PT017
            assert "\x00" not in str(error)  # noqa: PT017
        except DataError as error:
            assert "too many possibilities" in str(error)  # noqa: PT017
    assert time.perf_counter() - start < 60


def mutated(random: Random) -> str:
    """A pattern of which something was cut out, repeated or put in."""
    pattern = random.choice(GOOD)
    for _ in range(random.randrange(1, 6)):
        one, other = sorted(random.choices(range(len(pattern) + 1), k=2))
        piece = random.choice(("", random.choice(PIECES), pattern[one:other] * 2))
        pattern = pattern[:one] + piece + pattern[other if random.random() < 0.5 else one :]
    return pattern


@settings(max_examples=300)
@given(st.randoms(use_true_random=False))
def test_a_pattern_that_was_changed_ends_in_matches_or_an_error_of_ours(random: Random) -> None:
    ends_well(mutated(random))


@settings(max_examples=100)
@given(TEXTS)
def test_any_text_as_a_pattern_ends_so_too(text: str) -> None:
    ends_well(text)


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 5_000,
        "NP" + "!" * 1_900 + "< NN",
        "NP " + "[" * 1_900,
        "NP" + " < NP" * 400,
        "__ " + "<< (__ " * 29,
        "__" + " << __" * 98,
        "/" + "(" * 1_900 + "/",
        "/" + "(a" * 19 + ")*" * 19 + "$/",
        "/(a{99}){99}/",
        "__=a " + "".join(f": __={name} " for name in "bcdefgh") + " : (=a !== =a)",
        '"' + "\\" * 1_999,
    ],
)
def test_patterns_made_to_hurt_do_not(pattern: str) -> None:
    ends_well(pattern)
