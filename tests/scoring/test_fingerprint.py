from hypothesis import given
from hypothesis import strategies as st

from fencepost.scoring import Fingerprint

DATA = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["a", "b", "0 1 X"]), min_size=1, max_size=3),
        st.lists(
            st.tuples(st.integers(0, 1), st.integers(1, 2), st.sampled_from("XY")), max_size=2
        ),
    ),
    max_size=3,
)


def taken(data: list[tuple[list[str], list[tuple[int, int, str]]]]) -> Fingerprint:
    fingerprint = Fingerprint()
    for words, spans in data:
        fingerprint.add(words, spans)
    return fingerprint


@given(DATA, DATA)
def test_only_the_same_data_have_the_same_fingerprint(
    one: list[tuple[list[str], list[tuple[int, int, str]]]],
    other: list[tuple[list[str], list[tuple[int, int, str]]]],
) -> None:
    assert (str(taken(one)) == str(taken(other))) == (one == other)


def test_it_counts_what_it_has_seen() -> None:
    fingerprint = taken([(["a", "b"], [(0, 2, "X")]), (["c"], [])])
    assert (fingerprint.sentences, fingerprint.words, fingerprint.spans) == (2, 3, 1)
    assert str(fingerprint).startswith("2 sentences, 3 words, 1 span, sha256 ")
