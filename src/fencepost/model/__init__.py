"""The network: encoder, boundaries, pointing decoder, heads and search."""
