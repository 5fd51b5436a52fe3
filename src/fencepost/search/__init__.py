"""Tregex patterns over trees, with conditions on entities and probabilities."""

from fencepost.search.matches import Match, Node
from fencepost.search.pattern import Pattern
from fencepost.search.queries import Layer, find, find_in_document, find_in_parse

__all__ = ["Layer", "Match", "Node", "Pattern", "find", "find_in_document", "find_in_parse"]
