"""Training runs: their folder, metrics and picture, one seed or several."""
