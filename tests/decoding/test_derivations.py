import pytest

from fencepost.batching.steps import canonical_steps, places


@pytest.mark.parametrize(
    ("steps", "oracle"),
    [
        ([(3, 2)], ((3, 2),)),
        ([(1, 0), (2, 0), (0, 1), (3, 0), (0, 2)], ((2, 1), (3, 0), (0, 2))),
        ([(1, 0), (2, 1), (0, 0), (3, 1), (0, 0)], ((1, 0), (2, 1), (3, 1), (0, 0))),
        ([(1, 0), (3, 0), (0, 0)], ((3, 0),)),
    ],
)
def test_other_steps_to_a_parse_become_those_of_its_oracle(
    steps: list[tuple[int, int]], oracle: tuple[tuple[int, int], ...]
) -> None:
    assert canonical_steps(places(steps)) == oracle
