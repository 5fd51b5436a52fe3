"""Sentences that are joined into long ones."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.examples import Example, collect_labels, example
from fencepost.batching.joining import Joining, joined
from fencepost.batching.steps import places
from fencepost.batching.vocabulary import FILLER
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.tasks.labels import NO_LABELS

TREES = ("(ROOT (S (NP (D a) (N b)) (V c)))", "(ROOT (N d))", "(ROOT (NP (N e)) (V f))")
ENTITIES = ((Span(0, 2, "PER"),), (), (Span(1, 2, "LOC"), Span(0, 2, "PER")))


def parses() -> list[Parse]:
    trees = [Tree.from_brackets(text) for text in TREES]
    return [
        Parse(tree.sentence, tree, entities) for tree, entities in zip(trees, ENTITIES, strict=True)
    ]


LABELS = collect_labels(parses(), ["tree", "entities", "tags"], bare=True)
BARE = LABELS["tree"].number(NO_LABELS)


def examples() -> list[Example]:
    found = [example(parse, LABELS) for parse in parses()]
    return [one for one in found if one is not None]


def named(one: Example, layer: str) -> list[tuple[int, int, str | None]]:
    return [(a, b, LABELS[layer].label(number)) for a, b, number in places(one.steps[layer])]


def test_trees_stand_side_by_side_under_a_root_without_a_label() -> None:
    one = joined(examples(), bare=BARE)
    assert one.words == tuple("abcdef")
    assert named(one, "tree") == [
        (0, 2, "NP"),
        (2, 3, None),
        (0, 3, "S"),
        (3, 4, None),
        (4, 5, "NP"),
        (5, 6, None),
        (0, 6, NO_LABELS),
    ]


def test_fillers_between_entities_are_as_the_oracle_has_them() -> None:
    assert named(joined(examples(), bare=BARE), "entities") == [
        (0, 2, "PER"),
        (2, 4, None),
        (4, 5, None),
        (5, 6, "LOC"),
        (4, 6, "PER"),
        (0, 6, None),
    ]


def test_tags_follow_their_words() -> None:
    tags = joined(examples(), bare=BARE).tags or ()
    assert [LABELS["tags"].label(tag) for tag in tags] == ["D", "N", "V", "N", "N", "V"]


def numbered_words(lengths: Sequence[int]) -> list[Example]:
    start = 0
    found = []
    for length in lengths:
        words = tuple(map(str, range(start, start + length)))
        found.append(Example(words, {"entities": ((length, FILLER),)}))
        start += length
    return found


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=30),
    st.floats(0, 0.9),
    st.integers(1, 40),
    st.integers(0, 99),
)
def test_no_sentence_is_lost_and_none_is_too_long(
    lengths: list[int], share: float, longest: int, seed: int
) -> None:
    given_ones = numbered_words(lengths)
    found = Joining(share, longest)(given_ones, bare=None, seed=seed)
    assert [word for one in found for word in one.words] == [
        word for one in given_ones for word in one.words
    ]
    for one in found:
        assert one in given_ones or len(one.words) <= longest


def test_about_the_share_is_joined_and_others_with_another_seed() -> None:
    given_ones = numbered_words([5] * 5000)
    found = [Joining(0.2, 100)(given_ones, bare=None, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    for some in found:
        share = sum(len(one.words) > 5 for one in some) / len(some)
        assert 0.15 < share < 0.2


def test_what_has_other_layers_or_weights_stays_apart() -> None:
    tree, *_ = examples()
    plain = Example(("x",), {"entities": ((1, FILLER),)})
    heavy = Example(("x",), {"entities": ((1, FILLER),)}, None, 2.0)
    assert Joining(0.99, 100)([tree, plain, heavy], bare=BARE, seed=1) == [tree, plain, heavy]


def test_one_word_that_is_an_entity_stays_one() -> None:
    sentence = Sentence(("Ann",))
    one = example(Parse(sentence, entities=(Span(0, 1, "PER"),)), LABELS)
    assert one is not None
    both = joined([one, one], bare=None)
    assert named(both, "entities") == [(0, 1, "PER"), (1, 2, "PER"), (0, 2, None)]
