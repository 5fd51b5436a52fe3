"""fencepost within other libraries: spaCy and NLTK."""
