import torch

from fencepost.model.boundaries import at, boundary_vectors
from fencepost.model.layers import SharedDropout, TwoWayLSTM


def test_a_boundary_knows_what_is_before_it_and_what_is_behind() -> None:
    states = torch.arange(12.0).reshape(1, 3, 4)
    assert boundary_vectors(states).tolist() == [[[0, 1, 6, 7], [4, 5, 10, 11]]]


def test_vectors_are_found_at_their_boundaries() -> None:
    vectors = torch.arange(12.0).reshape(2, 3, 2)
    assert at(vectors, torch.tensor([[2, 0], [1, 1]])).tolist() == [
        [[4, 5], [0, 1]],
        [[8, 9], [8, 9]],
    ]


def test_padding_never_changes_what_an_lstm_reads() -> None:
    torch.manual_seed(1)
    lstm = TwoWayLSTM(4, hidden=3, layers=2, dropout=0.5).eval()
    long, short = torch.randn(1, 6, 4), torch.randn(1, 2, 4)
    together = lstm(
        torch.cat((long, torch.nn.functional.pad(short, (0, 0, 0, 4), value=9.0))),
        torch.tensor([6, 2]),
    )
    assert torch.allclose(together[1, :2], lstm(short, torch.tensor([2]))[0], atol=1e-6)
    assert torch.allclose(together[0], lstm(long, torch.tensor([6]))[0], atol=1e-6)


def test_without_layers_vectors_pass_through() -> None:
    lstm = TwoWayLSTM(4, hidden=3, layers=0, dropout=0.5)
    vectors = torch.randn(1, 2, 4)
    assert lstm(vectors, torch.tensor([2])) is vectors
    assert lstm.width == 4


def test_dropout_is_the_same_for_all_steps_of_a_row() -> None:
    torch.manual_seed(1)
    dropped = SharedDropout(0.5)(torch.ones(4, 7, 50))
    assert bool((dropped == dropped[:, :1]).all())
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert not bool((dropped[0] == dropped[1]).all())
