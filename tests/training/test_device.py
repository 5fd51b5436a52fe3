import os

import pytest
import torch

from fencepost.errors import ConfigError
from fencepost.training.device import accelerator_for


def test_one_process_can_train_with_one_precision_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fencepost.training.device._try", lambda accelerator: None)
    environment = dict(os.environ)
    for precision, is_cast in (("fp32", False), ("bf16", True), ("fp32", False)):
        accelerator = accelerator_for("cpu", precision)  # type: ignore[arg-type]
        assert accelerator.device == torch.device("cpu")
        with accelerator.autocast():
            assert torch.is_autocast_enabled("cpu") == is_cast
    assert dict(os.environ) == environment


def test_a_device_that_was_chosen_for_accelerate_is_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "mine")
    accelerator_for()
    assert os.environ["ACCELERATE_TORCH_DEVICE"] == "mine"


def test_a_processor_without_half_precision_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(accelerator: object) -> None:
        raise RuntimeError("could not create a primitive descriptor\nand more")

    monkeypatch.setattr("fencepost.training.device._try", fail)
    with pytest.raises(ConfigError, match=r"bf16 cannot be used on cpu, use fp32: could not.*or$"):
        accelerator_for("cpu", "bf16")


def test_no_random_number_is_used() -> None:
    before = torch.get_rng_state()
    accelerator_for()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("device", ["nonsense", "cuda:77"])
def test_a_device_that_is_not_there_is_told(device: str) -> None:
    with pytest.raises(ConfigError, match=rf"training.device: '{device}' cannot be used: "):
        accelerator_for(device)
