"""Vectors of boundaries: halves of the words beside them, or all."""

import torch

from fencepost.model.boundaries import boundary_vectors, whole_boundary_vectors


def test_a_boundary_takes_one_half_of_each_neighbour_or_both_wholly() -> None:
    states = torch.arange(16.0).view(1, 4, 4)
    assert boundary_vectors(states)[0, 1].tolist() == [4, 5, 10, 11]
    assert whole_boundary_vectors(states)[0, 1].tolist() == [4, 5, 6, 7, 8, 9, 10, 11]
    assert boundary_vectors(states).shape[1] == whole_boundary_vectors(states).shape[1] == 3
