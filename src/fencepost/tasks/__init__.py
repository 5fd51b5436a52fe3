"""Conversion between annotations and the spans that the pointing system makes."""
