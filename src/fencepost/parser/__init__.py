"""Sentences in, parses out; models on disk."""
