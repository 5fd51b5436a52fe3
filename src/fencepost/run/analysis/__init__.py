"""The analysis of two annotations: figures, mistakes, examples, and a page of them."""
