"""From parses to arrays: numbered labels and words, pieces, batches of similar length."""
