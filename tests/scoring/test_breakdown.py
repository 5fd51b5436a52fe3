from hypothesis import given
from hypothesis import strategies as st

from fencepost.scoring import EntityScore
from fencepost.scoring.breakdown import BINS, bin_of, entity_breakdown, tree_breakdown
from fencepost.structure import Parse, Sentence, Span, Tree
from tests.scoring.test_judgements import pairs, tree
from tests.strategies import nested_spans


@given(st.lists(pairs(), max_size=4))
def test_the_bins_of_trees_add_up_to_the_whole(found: list[tuple[Tree, Tree]]) -> None:
    scores = tree_breakdown(found)
    assert set(scores.by) == {"length", "children", "depth", "sentence", "label"}
    for bins in scores.by.values():
        for field in ("gold", "predicted", "found", "right"):
            total = sum(getattr(match, field) for match in bins.values())
            assert total == getattr(scores.all, field)
    assert scores.all.found == scores.all.right
    assert scores.sentences == len(found)


@given(nested_spans(6), nested_spans(6))
def test_the_bins_of_entities_are_those_of_the_score(
    gold: list[Span], predicted: list[Span]
) -> None:
    sentence = Sentence(tuple("abcdef"))
    one, other = (Parse(sentence, entities=tuple(spans)) for spans in (gold, predicted))
    scores = entity_breakdown([(one, other)])
    score = EntityScore()
    score.add(gold, predicted)
    assert scores.all == score.all
    assert scores.by["length"] == score.lengths
    assert dict(scores.by["label"]) == score.types
    for bins in scores.by.values():
        for field in ("gold", "predicted", "found", "right"):
            total = sum(getattr(match, field) for match in bins.values())
            assert total == getattr(scores.all, field)
    # What is inner for the score is what stands deeper than the first level.
    assert (
        score.depths["inner"].gold == scores.by["depth"]["2"].gold + scores.by["depth"][">2"].gold
    )


def test_gold_is_binned_by_the_gold_tree_and_predicted_by_the_predicted_one() -> None:
    gold = tree("(S (NP (D a) (N b) (N c)))")
    predicted = tree("(S (NP (D a) (NX (N b) (N c))))")
    children = tree_breakdown([(gold, predicted)]).by["children"]
    assert (children["3"].gold, children["3"].found, children["3"].predicted) == (1, 1, 0)
    assert (children["2"].gold, children["2"].predicted, children["2"].right) == (0, 2, 1)
    assert (children["3"].recall, children["2"].precision) == (100, 50)


def test_labels_come_in_the_order_of_their_gold_counts() -> None:
    gold = tree("(S (NP (N a)) (NP (N b)) (VP (V c)) (ADVP (R d)))")
    assert list(tree_breakdown([(gold, tree("(X (N a) (N b) (V c) (R d))"))]).by["label"]) == [
        "NP",
        "ADVP",
        "S",
        "VP",
        "X",
    ]


def test_sentences_without_a_word_that_counts_are_not_exact_and_not_wrong() -> None:
    mark, word = tree("(TOP (. .))"), tree("(TOP (S (N a)))")
    scores = tree_breakdown([(mark, mark), (word, word), (word, None)])
    assert (scores.sentences, scores.countable, scores.exact, scores.unparsed) == (3, 2, 1, 1)
    assert scores.exact_match == 50
    assert tree_breakdown([]).exact_match == 0


def test_numbers_fall_into_the_bins_of_the_paper() -> None:
    lengths, children = BINS["tree"]["length"], BINS["tree"]["children"]
    assert [bin_of(n, lengths) for n in (1, 10, 11, 30, 40, 41, 99)] == [
        *("1-10", "1-10", "11-20", "21-30", "31-40", ">40", ">40")
    ]
    assert [bin_of(n, children) for n in (1, 2, 3, 4, 5, 6)] == ["1", "2", "3", "4-5", "4-5", ">5"]
