"""What is parsed and what comes out: sentences, spans, trees, parses. Values that do not change."""

from fencepost.structure.parse import Parse
from fencepost.structure.sentence import Sentence
from fencepost.structure.span import Span
from fencepost.structure.tree import Leaf, Tree

__all__ = ["Leaf", "Parse", "Sentence", "Span", "Tree"]
