"""The optimiser, the loop and its checkpoints."""
