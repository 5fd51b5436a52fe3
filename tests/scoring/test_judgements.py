import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import DataError
from fencepost.scoring import COLLINS, Comparison, side_of_tree
from fencepost.scoring.judgements import judge_entities, judge_trees
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.structure.span import by_place
from tests.strategies import nested_spans

TAGS = ("NN", ".", ",", "VB", "NN", "``")


def tree(text: str) -> Tree:
    return Tree.from_brackets(text)


LABELS = st.sampled_from(["S", "NP", "NP-SBJ", "PRT", "ADVP", "ROOT", "TOP", "-NONE-", ""])


@st.composite
def pairs(draw: st.DrawFn, labels: st.SearchStrategy[str] = LABELS) -> tuple[Tree, Tree]:
    """Two trees of the same words, some of which are punctuation marks."""
    n = draw(st.integers(1, len(TAGS)))
    sentence = Sentence(tuple("abcdef"[:n]), TAGS[:n])
    one, other = (
        Tree(sentence, tuple(by_place([Span(0, n, "ROOT"), *draw(nested_spans(n, labels))])))
        for _ in range(2)
    )
    return one, other


@given(pairs())
def test_trees_are_counted_as_evalb_counts_them(pair: tuple[Tree, Tree]) -> None:
    judgement = judge_trees(*pair)
    counts = Comparison(COLLINS).compare(*(side_of_tree(tree, wrapper=False) for tree in pair))
    if counts.status == 2:  # no word is left
        assert judgement.counts == (0, 0, 0)
        assert not judgement.words
    else:
        assert judgement.counts == (counts.matched, counts.gold, counts.predicted)
        assert judgement.is_exact == (counts.matched == counts.gold == counts.predicted)
        assert len(judgement.words) == counts.words


def test_children_are_spans_and_words_directly_below_and_depth_counts_what_counts() -> None:
    gold = tree("(TOP (S (NP (NP (D a) (N b))) (VP (V c) (N d) (PP (P e)) (. .)) (. !)))")
    judged = {
        (one.shown.label, one.shown.start, one.depth): one.children
        for one in judge_trees(gold, gold).gold
    }
    assert judged == {
        ("S", 0, 1): 3,
        ("NP", 0, 2): 1,
        ("NP", 0, 3): 2,
        ("VP", 2, 2): 4,
        ("PP", 4, 3): 1,
    }


def test_a_span_is_shown_as_it_stands_and_compared_without_punctuation() -> None:
    gold, predicted = tree("(S (, ,) (NP-SBJ (N a) (. .)))"), tree("(S (, ,) (NP (N a)) (. .))")
    judgement = judge_trees(gold, predicted)
    (_, ours), (_, theirs) = judgement.gold, judgement.predicted
    assert ours.span == theirs.span == Span(0, 1, "NP")
    assert (ours.shown, theirs.shown) == (Span(1, 3, "NP-SBJ"), Span(1, 2, "NP"))
    assert ours.right
    assert theirs.right


def test_the_tags_are_the_gold_ones() -> None:
    gold, predicted = tree("(S (N a) (. .))"), tree("(S (XX a) (XX .))")
    assert judge_trees(gold, predicted).is_exact
    untagged = Tree(Sentence(gold.words), gold.spans)
    assert judge_trees(untagged, predicted).words == ("a", ".")


def test_a_sentence_that_was_not_parsed_has_everything_missing() -> None:
    judgement = judge_trees(tree("(S (NP (N a)) (V b))"), None)
    assert judgement.counts == (0, 2, 0)
    assert not judgement.is_exact
    assert not judge_trees(tree("(TOP (. .))"), None).is_exact


def test_other_words_are_refused() -> None:
    with pytest.raises(DataError, match="same words"):
        judge_trees(tree("(S (N a))"), tree("(S (N b))"))
    with pytest.raises(DataError, match="same words"):
        judge_entities(Parse(Sentence(("a",))), Parse(Sentence(("b",))))


def test_entities_are_nested_and_those_that_cross_count() -> None:
    sentence = Sentence(tuple("abcd"))
    gold = Parse(
        sentence,
        entities=(Span(0, 3, "ORG"), Span(1, 3, "ORG"), Span(1, 2, "GPE")),
        dropped=(Span(2, 4, "PER"),),
    )
    judgement = judge_entities(gold, Parse(sentence, entities=(Span(1, 2, "GPE"),)))
    assert [(one.span.start, one.depth, one.children) for one in judgement.gold] == [
        (0, 1, 1),
        (1, 2, 1),
        (1, 3, 0),
        (2, 1, 0),
    ]
    assert judgement.counts == (1, 4, 1)
    assert not judgement.is_exact
    assert judge_entities(Parse(sentence), Parse(sentence, entities=())).is_exact
