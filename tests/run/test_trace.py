from hypothesis import given

from fencepost.run.trace import steps, trace
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.tasks import constituency
from fencepost.transition import Configuration
from tests.strategies import trees


def test_each_step_is_a_line() -> None:
    tree = Tree.from_brackets("(S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .))")
    assert list(trace(Parse(tree.sentence, tree), "tree")) == [
        "# tree of 4 words in 4 steps",
        "0 The 1 cat 2 sat 3 . 4",
        "step  cursor  candidates  points to  completes  label",
        "   1       0  1-4                 2  (0, 2)     NP",
        "   2       2  3-4                 3  (2, 3)     VP",
        "   3       3  0 4                 4  (3, 4)     ∅",
        "   4       4  0 2                 0  (0, 4)     S",
    ]


def test_entities_are_traced_with_their_name() -> None:
    parse = Parse(Sentence(("a",), id="one"), entities=(Span(0, 1, "X"),))
    assert next(trace(parse, "entities")) == "# one: entities of 1 word in 1 step"


def test_a_layer_that_is_not_there_has_no_trace() -> None:
    parse = Parse(Sentence(("a",)))
    assert list(trace(parse, "tree")) == list(trace(parse, "entities")) == []


def test_a_sentence_without_words_has_no_steps() -> None:
    lines = list(trace(Parse(Sentence(()), entities=()), "entities"))
    assert lines[:2] == ["# entities of 0 words in 0 steps", "0"]
    assert len(lines) == 3


@given(trees())
def test_steps_start_from_the_configurations_of_the_reference(tree: Tree) -> None:
    configuration = Configuration(len(tree.sentence))
    for cursor, left, boundary, _ in steps(constituency.encode(tree)):
        right = range(cursor + 1, configuration.n + 1)
        assert cursor == configuration.cursor
        assert (*left, *right) == configuration.candidates()
        configuration = configuration.point(boundary)
    assert configuration.is_final


def test_many_candidates_are_shortened() -> None:
    n = 100
    tree = Tree(Sentence(("x",) * n), tuple(Span(start, n, "X") for start in range(n)))
    lines = list(trace(Parse(tree.sentence, tree), "tree"))
    assert "  0 1 2 3 4 5 6 7 ... 90 91 92 93 94 95 96 97 100  " in lines[3 + n - 1]
    assert max(map(len, lines[3:])) < 120
