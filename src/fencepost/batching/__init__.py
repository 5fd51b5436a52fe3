"""From parses to tensors: numbered labels and words, pieces, batches of similar length."""
