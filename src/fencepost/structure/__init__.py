"""Immutable values: sentences, spans, trees, parses and documents."""

from fencepost.structure.document import Document
from fencepost.structure.entity import Entity, FoundSpan
from fencepost.structure.parse import Parse
from fencepost.structure.sentence import Sentence
from fencepost.structure.span import Span
from fencepost.structure.tree import Leaf, Tree

__all__ = ["Document", "Entity", "FoundSpan", "Leaf", "Parse", "Sentence", "Span", "Tree"]
