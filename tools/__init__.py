"""Licences, advisories, and other versions of transformers."""
