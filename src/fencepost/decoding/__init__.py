"""Decoding: configurations, rules, constraints, the walk and the beam. Numpy, and no torch."""
