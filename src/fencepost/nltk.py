"""fencepost for those who work with NLTK.

from fencepost.nltk import Parser

for tree in Parser().parse(["Dogs", "bark", "."]):
    tree.pretty_print()
"""

from fencepost.integrations.nltk import Parser

__all__ = ["Parser"]
