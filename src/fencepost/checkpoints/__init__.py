"""Model folders: what is in them, loading, checking, saving, and the models that ship."""
