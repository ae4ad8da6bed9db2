from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
import torch

from tengen.errors import InputError
from tengen.nets.devices import Device, onnx_providers, torch_device
from tengen.nets.evaluators import OnnxEvaluator
from tengen.nets.models import find_model

CPU, CUDA, COREML = "CPUExecutionProvider", "CUDAExecutionProvider", "CoreMLExecutionProvider"


@pytest.mark.parametrize(
    ("available", "device", "providers"),
    [
        ([CPU], Device.AUTO, [CPU]),
        ([CUDA, CPU], Device.AUTO, [CUDA, CPU]),
        ([COREML, CPU], Device.AUTO, [CPU]),
        ([CUDA, CPU], Device.CPU, [CPU]),
        ([CUDA, CPU], Device.CUDA, [CUDA, CPU]),
        ([COREML, CPU], Device.MPS, [COREML, CPU]),
    ],
)
def test_providers_follow_the_device(monkeypatch, available, device, providers) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: available)
    assert onnx_providers(device) == providers


@pytest.mark.parametrize("device", [Device.CUDA, Device.MPS])
def test_a_missing_device_is_refused_in_one_sentence(monkeypatch, device) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CPU])
    with pytest.raises(InputError, match=f"device {device} is not available to onnxruntime, which offers {CPU}: "):
        OnnxEvaluator(find_model("6x6x4").read_bytes(), device=device)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(InputError, match=f"device {device} is not available to torch"):
        torch_device(device)


def test_auto_takes_cuda_if_there_is_one(monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert torch_device(Device.AUTO) == torch.device("cuda")
    assert torch_device(Device.CPU) == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device(Device.AUTO) == torch.device("cpu")


def test_the_session_gets_the_providers_of_the_device(monkeypatch) -> None:
    model, asked = find_model("6x6x4").read_bytes(), []
    real = onnxruntime.InferenceSession

    def session(data, options, providers):
        asked.append(providers)
        return real(data, options, providers=[CPU])

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    evaluator = OnnxEvaluator(model, device=Device.CUDA)
    assert asked == [[CUDA, CPU]]
    planes = np.zeros((1, *evaluator._session.get_inputs()[0].shape[1:2], 6, 6), np.float32)
    assert evaluator.evaluate(planes)[0].shape == (1, 36)
