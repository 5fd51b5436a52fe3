"""Sentences in another form."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.batching.augmenting import (
    FORMS,
    STOPS,
    Augmenting,
    Form,
    in_form,
    other_quotes,
    without_stop,
)
from fencepost.batching.examples import Example, collect_labels, example
from fencepost.batching.steps import canonical_steps, numbered, places
from fencepost.batching.vocabulary import FILLER, Labels
from fencepost.structure import Parse, Sentence, Span, Tree
from fencepost.tasks.labels import NO_LABELS
from fencepost.tasks.layers import layer_spans
from tests.strategies import parses


def numbers_of(*some: Parse) -> dict[str, Labels]:
    heads = [
        head
        for head in ("tree", "entities", "tags")
        if any(getattr(parse, head) is not None for parse in some)
    ]
    return collect_labels(some, heads, bare=True)


def example_of(text: str, *entities: Span) -> tuple[Example, Labels]:
    tree = Tree.from_brackets(text)
    parse = Parse(tree.sentence, tree, entities or None)
    labels = numbers_of(parse)
    one = example(parse, labels)
    assert one is not None
    return one, labels["tree"]


def spans_of(one: Example, labels: Labels, layer: str = "tree") -> list[str]:
    return [
        str(Span(start, end, labels.label(number)))
        for start, end, number in places(one.steps[layer])
    ]


def cut(text: str, *entities: Span) -> list[str] | None:
    """The spans of a tree without its stop."""
    one, labels = example_of(text, *entities)
    found = without_stop(one, bare=labels.number(NO_LABELS))
    if found is None:
        return None
    assert found.words == one.words[:-1]
    assert found.tags == (one.tags or ())[:-1]
    return spans_of(found, labels)


def test_a_stop_under_the_root_is_taken_off() -> None:
    text = "(ROOT (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ red))) (. .)))"
    assert cut(text) == ["(0, 1) NP", "(1, 2) ∅", "(2, 3) ADJP", "(1, 3) VP", "(0, 3) S"]
    assert cut("(NP (DT the) (NN cat) (. !))") == ["(0, 2) NP"]
    assert cut("(ROOT (S (VB Go)) (: :) (. .))") == ["(0, 1) S", "(1, 2) ∅", rf"(0, 2) {NO_LABELS}"]


def test_a_root_without_a_label_makes_room_for_its_only_child() -> None:
    assert cut("(ROOT (S (VB Go) (RB on)) (. .))") == ["(0, 2) S"]


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP (PRP It)) (VP (VBZ is) (. .)))",  # in a phrase
        "(S (NP (PRP It)) (VP (VBZ is)))",  # there is none
        "(FRAG (INTJ (UH No)) (. .))",  # FRAG+INTJ may not be a label
        "(FRAG (. .))",  # nothing would be left
    ],
)
def test_other_stops_stay(text: str) -> None:
    assert cut(text) is None


def test_entities_have_to_agree() -> None:
    text = "(S (NP (NNP Mr)) (VP (VBZ is)) (. .))"
    assert cut(text, Span(0, 3, "work")) is None
    assert cut(text, Span(1, 3, "work")) is None
    one, _ = example_of(text, Span(0, 2, "work"), Span(0, 1, "person"))
    found = without_stop(one, bare=None)
    assert found is not None
    assert [place[:2] for place in places(found.steps["entities"])] == [(0, 1), (1, 2), (0, 2)]
    assert found.steps["entities"][-1][1] != FILLER


@given(parses(st.sampled_from(["a", "B", ".", "!", '"', "’", "n't"])), st.sampled_from(FORMS))
def test_a_changed_sentence_is_one_that_the_oracle_could_have_made(
    parse: Parse, form: Form
) -> None:
    labels = numbers_of(parse)
    one = example(parse, labels, weight=2.0)
    if one is None:
        return
    bare = labels["tree"].number(NO_LABELS) if "tree" in labels else None
    changed = in_form(one, form, bare=bare)
    if changed is None:
        return
    assert changed != one
    assert changed.weight == 2.0
    n = len(changed.words)
    assert len(one.words) - n == (form == "no-stop")
    assert changed.tags is None or len(changed.tags) == n
    if form != "no-stop":
        assert (changed.steps, changed.tags) == (one.steps, one.tags)
        return
    assert one.words[-1] in STOPS
    for layer, steps in changed.steps.items():
        found = places(steps)
        assert found[-1][:2] == (0, n)
        assert canonical_steps(found) == steps
        named = [Span(a, b, labels[layer].label(number)) for a, b, number in found]
        before = layer_spans(parse, layer) or ()
        kept = {span for span in named if span.label is not None and span[:2] != (0, n)}
        assert kept == {span for span in before if span.end < n or span.start > 0}
        spans = [span for span in named[:-1] if span.label is not None]
        assert numbered([*spans, named[-1]], labels[layer]) == steps


def with_stop(parse: Parse) -> Parse:
    """A parse with one more word, directly under the root of its tree."""
    words, tags = (*parse.words, "."), parse.tags
    sentence = Sentence(words, None if tags is None else (*tags, "."))
    tree = None
    if parse.tree is not None:
        root, *others = parse.tree.spans
        tree = Tree(sentence, (Span(0, len(words), root.label), *others))
    return Parse(sentence, tree, parse.entities)


@given(parses(), st.booleans())
def test_without_a_stop_that_was_put_on_all_is_as_before(parse: Parse, wrapped: bool) -> None:
    sentence = Sentence(parse.words, parse.tags)
    tree = None if parse.tree is None else Tree(sentence, parse.tree.spans)
    if tree is not None and wrapped:
        tree = Tree(sentence, (Span(0, len(sentence), "ROOT"), *tree.spans))
    parse = Parse(sentence, tree, parse.entities)
    longer = with_stop(parse)
    labels = numbers_of(parse, longer)
    before, after = example(parse, labels), example(longer, labels)
    if before is None or after is None:
        return
    bare = labels["tree"].number(NO_LABELS) if "tree" in labels else None
    found = without_stop(after, bare=bare)
    if found is None:  # the root has to be joined with its only child
        assert tree is not None
        assert not wrapped
        assert tree.spans[0][:2] == tree.spans[1][:2]
    else:
        assert found == before


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (('"', "a", '"', "b", '"'), ("“", "a", "”", "b", "“")),
        (("``", "`", "a", "'", "''"), ("“", "‘", "a", "’", "”")),
        (("It", "'s", "5'4\""), ("It", "’s", '5’4"')),
        (("„", "a", "“", "n't"), ('"', "a", '"', "n't")),
        (("a", "b"), ("a", "b")),
    ],
)
def test_quotes_are_exchanged(words: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert other_quotes(words) == others


def plain(words: str) -> Example:
    parts = tuple(words.split())
    return Example(parts, {"entities": ((len(parts), FILLER),)})


def test_about_the_share_is_changed_into_all_forms() -> None:
    examples = [plain(f"He said ' {number} ' .") for number in range(4000)]
    found = [Augmenting(0.2)(examples, bare=None, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    changed = [(one, old) for one, old in zip(found[0], examples, strict=True) if one != old]
    assert 0.17 < len(changed) / len(examples) < 0.23
    forms = Counter(
        form for one, old in changed for form in FORMS if in_form(old, form, bare=None) == one
    )
    assert set(forms) == set(FORMS)
    assert min(forms.values()) > 150


def test_only_the_forms_that_were_chosen_are_made() -> None:
    examples = [plain("A b ."), plain("A B .")]
    assert Augmenting(1.0, ("upper",))(examples, bare=None, seed=1) == [
        plain("A B ."),
        plain("A B ."),
    ]


def test_a_sentence_that_no_form_changes_stays() -> None:
    examples = [plain("猫 が")]
    assert Augmenting(1.0)(examples, bare=None, seed=1) == examples
