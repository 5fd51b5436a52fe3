import pytest

from fencepost.structure import Entity, Parse, Sentence, Span, Tree
from fencepost.structure.heads import head_child, head_in_tags, head_in_tree, head_words


@pytest.mark.parametrize(
    ("label", "children", "head"),
    [
        ("NP", "DT NN", 1),
        ("NP", "NN", 0),
        ("NP-SBJ", "DT NN PP", 1),
        ("NP", "NP PP", 0),
        ("NP", "NP , NP ,", 0),
        ("NP", "NP CC NP", 0),
        ("NP", "NP NN", 1),
        ("NP", "NNP NNP POS", 1),
        ("NP", "NNP , NNP", 0),
        ("NP", "NNP CC NNP", 2),
        ("NP", "DT JJ", 1),
        ("NP", "DT CD", 1),
        ("NP", "$ CD", 1),
        ("NP", "PRP", 0),
        ("NP", "DT POS", 0),
        ("WHNP", "WP", 0),
        ("WHNP", "WDT NN", 1),
        ("NML", "NN NN", 1),
        ("S", "NP VP .", 1),
        ("S", "NP ADJP", 1),
        ("S", "S CC S", 0),
        ("SQ", "VBZ NP ADJP", 0),
        ("SINV", "VP NP", 0),
        ("SBAR", "IN S", 0),
        ("SBARQ", "WHNP SQ .", 1),
        ("VP", "VBZ VP", 0),
        ("VP", "MD RB VP", 0),
        ("VP", "VP CC VP", 0),
        ("VP", "TO VP", 0),
        ("PP", "IN NP", 0),
        ("PP", "RB IN NP", 1),
        ("ADJP", "RB JJ PP", 1),
        ("ADVP", "RB RB", 1),
        ("QP", "RB CD", 1),
        ("FRAG", "NP .", 0),
        ("X", "NN .", 0),
        ("UCP", "ADJP CC NP", 2),
        ("X", ", .", 1),
    ],
)
def test_the_head_of_a_phrase(label: str, children: str, head: int) -> None:
    assert head_child(label, children.split()) == head


TREE = Tree.from_brackets(
    "(S (NP (NP (DT the) (NNP Bank)) (PP (IN of) (NP (NNP Oslo)))) (VP (VBD met) "
    "(NP (NP (NNP Ann) (POS 's)) (NN wife))))"
)


@pytest.mark.parametrize(
    ("start", "end", "word"),
    [(0, 4, "Bank"), (3, 4, "Oslo"), (2, 4, "of"), (5, 8, "wife"), (5, 7, "Ann"), (1, 3, "Bank")],
)
def test_the_head_of_any_words(start: int, end: int, word: str) -> None:
    assert TREE.sentence.words[head_in_tree(TREE, start, end)] == word


def test_all_words_have_a_head_word_of_their_own() -> None:
    tree = Tree(Sentence(("a", "b"), ("", "NN")), (Span(0, 2, "NP"),))
    assert head_words(tree) == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("tags", "head"),
    [("NNP NNP", 1), ("NNP IN NNP", 0), ("DT JJ", 1), ("NN , NN", 0), ("NNP POS", 0), ("XX", 0)],
)
def test_the_head_by_tags_alone(tags: str, head: int) -> None:
    assert head_in_tags(tags.split()) == head


class TestEntity:
    def test_it_is_a_name_if_its_head_is_a_proper_noun(self) -> None:
        source = TREE.sentence
        spans = ((0, 4), (3, 4), (5, 7), (5, 8))
        parse = Parse(source, TREE, tuple(Entity(*span, "X", source) for span in spans))
        assert parse.entities is not None
        assert [entity.is_name for entity in parse.entities] == [True, True, False, True]
        head = parse.entities[0].head_word
        assert head is not None
        assert (head.text, head.label, head.start, head.end) == ("Bank", "NNP", 1, 2)

    def test_without_a_tree_tags_tell(self) -> None:
        source = TREE.sentence
        (entity,) = Parse(source, None, (Entity(0, 4, "X", source),)).entities or ()
        assert entity.is_name

    def test_without_tags_nothing_is_known(self) -> None:
        source = Sentence(("Ann", "sat"))
        assert Entity(0, 1, "X", source).head_word is None
        assert Entity(0, 1, "X", source).is_name is None
        assert Entity(0, 1, "X").head_word is None
        assert Span(0, 1, "X").head_word is None
        assert Span(0, 1, "X").is_name is None
        tree = Tree(source, (Span(0, 2, "S"), Span(0, 1, "NP")))
        (entity,) = Parse(source, tree, (Entity(0, 1, "X", source),)).entities or ()
        assert entity.head_word is not None
        assert entity.head_word.text == "Ann"
        assert entity.is_name is None

    def test_it_follows_the_tree_of_its_parse(self) -> None:
        source = TREE.sentence
        (entity,) = Parse(source, TREE, (Entity(0, 4, "X", source),)).entities or ()
        (other,) = Parse(source, None, (entity,)).entities or ()
        assert isinstance(entity, Entity)
        assert isinstance(other, Entity)
        assert (entity.tree, other.tree) == (TREE, None)
        assert entity.within(TREE) is entity
