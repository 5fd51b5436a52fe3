"""The network in torch: encoders, boundaries, pointing heads and losses."""
