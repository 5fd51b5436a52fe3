"""Parsing on a CPU without torch."""
