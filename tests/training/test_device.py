import os

import pytest
import torch
from accelerate.utils import DistributedType

from fencepost.errors import ConfigError
from fencepost.training.device import _check_kind, _device_of_process, accelerator_for, set_threads
from fencepost.training.processes import Processes


def test_one_process_can_train_with_one_precision_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fencepost.training.device._try_precision", lambda accelerator: None)
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

    monkeypatch.setattr("fencepost.training.device._try_precision", fail)
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


@pytest.mark.parametrize("device", ["cuda:1", "cuda:0", "mps"])
def test_several_processes_cannot_share_one_device(device: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{device}' is one device.*2 processes.*\"cuda\""):
        _device_of_process(device, Processes(2, 1))


def test_each_process_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert _device_of_process("cuda", Processes(4, 3)) == "cuda:1"
    assert _device_of_process("cpu", Processes(4, 3)) == "cpu"
    assert _device_of_process("cuda:1", Processes()) == "cuda:1"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ConfigError, match="2 processes on this machine, and 1 GPUs"):
        _device_of_process("cuda", Processes(4, 3))


def test_what_a_launcher_may_be_told_beyond_batches_is_refused() -> None:
    class Told:
        distributed_type = DistributedType.FSDP
        num_processes = 2

    with pytest.raises(ConfigError, match=r"asks for FSDP with 2 processes where 2 were"):
        _check_kind(Told(), Processes(2, 0))
    Told.distributed_type = DistributedType.MULTI_GPU
    _check_kind(Told(), Processes(2, 0))
    with pytest.raises(ConfigError, match=r"asks for MULTI_GPU with 2 processes where 4 were"):
        _check_kind(Told(), Processes(4, 0))


def test_the_launcher_does_not_divide_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "4")
    assert accelerator_for().gradient_accumulation_steps == 1


def test_threads_are_as_many_as_asked_for_or_as_they_were() -> None:
    before = torch.get_num_threads()
    try:
        set_threads(2, "cpu")
        assert torch.get_num_threads() == 2
        set_threads(None, "cpu")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
