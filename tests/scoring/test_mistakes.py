from collections import Counter
from collections.abc import Sequence
from random import Random
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from fencepost.scoring.judgements import Judged, judge_entities, judge_trees
from fencepost.scoring.mistakes import Mistake, entity_mistakes, tree_mistakes
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.scoring.test_judgements import pairs, tree
from tests.strategies import nested_spans


def of_trees(gold: str, predicted: str) -> list[Mistake]:
    return tree_mistakes(judge_trees(tree(gold), tree(predicted)))


def of_entities(gold: Sequence[Span], predicted: Sequence[Span]) -> list[Mistake]:
    sentence = Sentence(tuple("abcdef"))
    one, other = (Parse(sentence, entities=tuple(spans)) for spans in (gold, predicted))
    return entity_mistakes(judge_entities(one, other))


def wrong(side: Sequence[Judged]) -> Counter[Span]:
    return Counter(one.shown for one in side if not one.right)


def told(mistakes: list[Mistake]) -> list[tuple[str, str]]:
    return [(mistake.reason, mistake.kind) for mistake in mistakes]


@given(pairs())
def test_each_wrong_bracket_has_one_reason(pair: tuple[Tree, Tree]) -> None:
    check_reasons(*pair)


@given(st.integers(0, 1_000_000))
def test_so_it_is_in_trees_that_are_full_of_mistakes(seed: int) -> None:
    random = Random(seed)
    sentence = Sentence(tuple("abcdef"))

    def full() -> Tree:
        """A tree with two children a node, and a label of two."""
        spans, stretches = [], [(0, len(sentence))]
        while stretches:
            start, end = stretches.pop()
            spans.append(Span(start, end, random.choice("AB")))
            if end - start > 1:
                middle = random.randint(start + 1, end - 1)
                stretches += ((middle, end), (start, middle))
        # Some are left out, so that the rest has more children.
        return Tree(sentence, (spans[0], *(s for s in spans[1:] if random.random() < 0.7)))

    for _ in range(20):
        check_reasons(full(), full())


def check_reasons(gold: Tree, predicted: Tree) -> None:
    judgement = judge_trees(gold, predicted)
    found = tree_mistakes(judgement)
    assert Counter(span for one in found for span in one.missing) == wrong(judgement.gold)
    assert Counter(span for one in found for span in one.extra) == wrong(judgement.predicted)
    for one in found:
        assert one.missing or one.extra
        assert (one.moved is not None) == (one.reason == "attachment")
        if one.reason == "label":
            assert len(one.missing) == len(one.extra) == 1


@given(nested_spans(6), nested_spans(6))
def test_each_wrong_entity_has_one_reason(gold: list[Span], predicted: list[Span]) -> None:
    found = of_entities(gold, predicted)
    assert Counter(span for one in found for span in one.missing) == Counter(gold) - Counter(
        predicted
    )
    assert Counter(span for one in found for span in one.extra) == Counter(predicted) - Counter(
        gold
    )
    for one in found:
        if one.reason == "boundary":
            (ours,), (theirs,) = one.missing, one.extra
            assert ours.label == theirs.label
            assert max(ours.start, theirs.start) < min(ours.end, theirs.end)


def test_a_sentence_that_was_not_parsed_is_missing() -> None:
    found = tree_mistakes(judge_trees(tree("(S (NP (N a)) (V b))"), None))
    assert told(found) == [("missing", "S"), ("missing", "NP")]


def test_a_long_sentence_full_of_mistakes_takes_no_time() -> None:
    # With a look at all others for each that is wrong, this took minutes.
    size = 4000
    sentence = Sentence(("a",) * size)
    whole = Span(0, size, "S")
    pairs = tuple(Span(start, start + 2, "X") for start in range(0, size, 2))
    words = tuple(Span(start, start + 1, "X") for start in range(size))
    began = process_time()
    found = tree_mistakes(
        judge_trees(Tree(sentence, (whole, *pairs)), Tree(sentence, (whole, *words)))
    )
    assert process_time() - began < 2
    assert Counter(one.reason for one in found) == {"missing": size // 2, "extra": size}


class TestLabels:
    def test_other_labels_over_the_same_words_are_one_mistake(self) -> None:
        (one,) = of_trees("(S (NP (N a)) (V b))", "(S (ADJP (N a)) (V b))")
        assert (one.reason, one.kind) == ("label", "NP → ADJP")
        assert (one.missing, one.extra) == ((Span(0, 1, "NP"),), (Span(0, 1, "ADJP"),))

    def test_a_chain_is_paired_from_the_outermost_on(self) -> None:
        found = of_trees("(S (A (B (N a))) (V b))", "(S (C (N a)) (V b))")
        assert told(found) == [("label", "A → C"), ("missing", "B")]

    def test_a_bracket_without_a_label_has_a_name(self) -> None:
        pair = of_trees("(S ( (N a) (N b)) (N c))", "(S (N a) (N b) (N c))")
        assert told(pair) == [("missing", "(no label)")]


class TestEntities:
    def test_other_labels(self) -> None:
        assert told(of_entities([Span(0, 2, "X")], [Span(0, 2, "Y")])) == [("label", "X → Y")]

    def test_boundaries(self) -> None:
        for gold, predicted, how in (
            ((1, 4), (1, 3), "too short"),
            ((1, 3), (0, 4), "too long"),
            ((1, 3), (2, 4), "shifted"),
        ):
            found = of_entities([Span(*gold, "X")], [Span(*predicted, "X")])
            assert told(found) == [("boundary", f"X: {how}")]

    def test_those_that_share_the_most_words_are_a_pair(self) -> None:
        found = of_entities([Span(0, 6, "X"), Span(0, 2, "X")], [Span(0, 5, "X")])
        assert told(found) == [("boundary", "X: too short"), ("missing", "X")]
        assert found[0].missing == (Span(0, 6, "X"),)

    def test_what_has_another_label_and_other_words_is_missing_and_extra(self) -> None:
        assert told(of_entities([Span(0, 2, "X")], [Span(1, 3, "Y")])) == [
            ("missing", "X"),
            ("extra", "Y"),
        ]
        assert told(of_entities([Span(0, 2, "X")], [Span(2, 3, "X")])) == [
            ("missing", "X"),
            ("extra", "X"),
        ]
