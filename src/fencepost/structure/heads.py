"""Head children and head words of phrases in Penn trees.

The rules are our own. Each searches the children of a phrase, from the left or from the right, for
the first with one of some labels; if there is none, the next rule is tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from fencepost.structure.nodes import TAG, WORD, Nodes
from fencepost.structure.tree import Tree

_Rule = tuple[Literal["left", "right"], frozenset[str]]


def _rules(*rules: str) -> tuple[_Rule, ...]:
    parsed: list[_Rule] = []
    for rule in rules:
        side, *labels = rule.split()
        parsed.append(("left" if side == "left:" else "right", frozenset(labels)))
    return tuple(parsed)


NAMES = frozenset({"NNP", "NNPS"})  # tags of proper nouns
_NOUNS = frozenset({"NN", "NNS", "NX", "NML", "NAC"}) | NAMES
_VERBS = "VB VBD VBG VBN VBP VBZ MD"
_NOMINAL = _rules(
    "left: NP WHNP",
    "right: PRP WP EX CD $ QP",
    "right: JJ JJR JJS ADJP VBG VBN RB DT WDT PRP$ WP$ FW",
    "left: S SBAR",
)
_CLAUSE = _rules(
    "left: VP", f"left: {_VERBS}", "left: S SINV SQ SBAR UCP", "left: ADJP", "left: NP PP"
)
_HEADS: dict[str, tuple[_Rule, ...]] = {
    "ADJP": _rules("right: JJ JJR JJS VBN VBG ADJP", "right: RB CD QP NN NNS NNP"),
    "ADVP": _rules("right: RB RBR RBS ADVP", "right: IN RP JJ NN NP"),
    "CONJP": _rules("left: CC", "right: RB IN"),
    "FRAG": _rules("left: S VP NP PP ADJP ADVP SBAR"),
    "INTJ": _rules("left: UH INTJ"),
    "PP": _rules("left: IN TO VBG VBN RP", "left: PP", "left: JJ RB"),
    "PRN": _rules("left: S SINV VP NP PP ADJP SBAR"),
    "PRT": _rules("left: RP"),
    "QP": _rules("right: CD QP", "right: $ NN NNS"),
    "RRC": _rules("left: VP", "left: ADJP PP NP"),
    "S": _CLAUSE,
    "SBAR": _rules("left: IN WHNP WHPP WHADVP WHADJP DT TO", "left: S SINV SQ SBAR"),
    "SBARQ": _rules("left: SQ S SINV SBARQ"),
    "SINV": _CLAUSE,
    "SQ": _CLAUSE,
    "VP": _rules(f"left: TO {_VERBS}", "left: VP", "left: ADJP NP PP"),
    "WHADJP": _rules("right: JJ ADJP", "left: WRB"),
    "WHADVP": _rules("left: WRB IN"),
    "WHPP": _rules("left: IN TO"),
}
_IS_NOMINAL = frozenset({"NP", "WHNP", "NML", "NX", "NAC", "LST"})
_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "(", ")", "HYPH", "NFP"})
_BREAK = frozenset({",", ":", "-LRB-", "("})
_STOP = _BREAK | {"IN", "TO", "WDT", "WP", "WRB"}  # after a noun, the start of a modifier


def basic_category(label: str) -> str:
    """A label without function tags and features.

    >>> basic_category("NP-SBJ-1"), basic_category("NP=2"), basic_category("-LRB-")
    ('NP', 'NP', '-LRB-')
    """
    if label[:1] == "-":
        closing = label.find("-", 1)
        return label[: closing + 1] if closing > 0 else label
    features = _FEATURES.search(label, 1)
    return label if features is None else label[: features.start()]


_FEATURES = re.compile(r"[-=|#^~_\[]")


def head_child(label: str, children: Sequence[str]) -> int:
    """The index of the head among the children of a phrase.

    >>> head_child("NP", ["DT", "NN", "PP"]), head_child("VP", ["MD", "RB", "VP"])
    (1, 0)
    """
    if len(children) == 1:
        return 0
    label, children = basic_category(label), [basic_category(child) for child in children]
    rules = _HEADS.get(label, ())
    if label in _IS_NOMINAL:
        noun = _head_noun(children, _BREAK)
        if noun is not None:
            return noun
        rules = _NOMINAL
    places = range(len(children))
    for side, labels in rules:
        for place in places if side == "left" else reversed(places):
            if children[place] in labels:
                return place
    for place in reversed(places):
        if children[place] not in _PUNCTUATION and children[place] not in ("CC", "POS"):
            return place
    return len(children) - 1


def _head_noun(labels: Sequence[str], breaks: frozenset[str]) -> int | None:
    """The index of the last noun before any break that follows a noun."""
    noun = None
    for place, label in enumerate(labels):
        if label in _NOUNS:
            noun = place
        elif noun is not None and label in breaks:
            break
    return noun


def head_children(nodes: Nodes) -> list[int]:
    """The head child of each node; -1 for words."""
    labels, places = nodes.labels, nodes.places
    heads = []
    for node, place in enumerate(places):
        if place == WORD:
            heads.append(-1)
        elif place == TAG:
            heads.append(node + 1)
        else:
            children = list(nodes.children(node))
            heads.append(children[head_child(labels[node], [labels[one] for one in children])])
    return heads


_latest: tuple[Tree, list[int]] | None = None  # cache: a tree has several entities


def head_words(tree: Tree) -> list[int]:
    """The index of the head word of each node of a tree, in the order of `Nodes`."""
    global _latest
    latest = _latest
    if latest is not None and latest[0] is tree:
        return latest[1]
    nodes = Nodes(tree)
    words = list(nodes.lefts)
    for node, child in reversed(list(enumerate(head_children(nodes)))):
        if child >= 0:
            words[node] = words[child]
    _latest = tree, words
    return words


def head_in_tree(tree: Tree, start: int, end: int) -> int:
    """The index of the head word of the words between two boundaries.

    It is the head of the first node, from the root down, whose head lies there. The words need not
    be a phrase; those of a phrase have its head.

    >>> tree = Tree.from_brackets("(NP (NP (DT the) (NN bank)) (PP (IN of) (NP (NNP Oslo))))")
    >>> head_in_tree(tree, 0, 4), head_in_tree(tree, 2, 4)
    (1, 2)
    """
    return next(word for word in head_words(tree) if start <= word < end)


def head_in_tags(tags: Sequence[str]) -> int:
    """The index of the head word of some words, by their tags alone.

    >>> head_in_tags(["NNP", "IN", "NNP"]), head_in_tags(["NNP", "POS", "NN"])
    (0, 2)
    """
    noun = _head_noun(tags, _STOP)
    return head_child("NP", tags) if noun is None else noun
