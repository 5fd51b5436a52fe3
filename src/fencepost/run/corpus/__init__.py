"""Parsing a corpus: rows in, rows out, in shards that are written whole or not at all."""
