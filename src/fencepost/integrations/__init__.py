"""Doors for people who come with spaCy or NLTK."""
