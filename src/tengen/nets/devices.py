"""Devices that run networks: the CPU, an NVIDIA GPU or an Apple GPU."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from tengen.core.extras import needs_package
from tengen.errors import InputError

if TYPE_CHECKING:
    import torch


class Device(StrEnum):
    """Device that runs a network."""

    AUTO = "auto"
    """CUDA if it is available, otherwise the CPU. Never MPS, which is slower for small networks."""
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


_PROVIDERS = {
    Device.CPU: "CPUExecutionProvider",
    Device.CUDA: "CUDAExecutionProvider",
    Device.MPS: "CoreMLExecutionProvider",
}


def onnx_providers(device: Device) -> list[str]:
    """Return onnxruntime's execution providers for a device, the preferred one first.

    Raises `InputError` if the installed onnxruntime does not support the device, and `MissingExtraError` if there is
    no onnxruntime.
    """
    with needs_package("a network", "onnxruntime"):
        import onnxruntime
    cpu, known = _PROVIDERS[Device.CPU], onnxruntime.get_available_providers()
    if device is Device.AUTO:
        cuda = _PROVIDERS[Device.CUDA]
        return [cuda, cpu] if cuda in known else [cpu]
    provider = _PROVIDERS[device]
    if provider not in known:
        remedy = "pip install onnxruntime-gpu, or use device cpu" if device is Device.CUDA else "use device cpu"
        raise InputError(f"device {device} is not available to onnxruntime, which offers {', '.join(known)}: {remedy}")
    return [provider] if device is Device.CPU else [provider, cpu]


def torch_device(device: Device) -> torch.device:
    """Return the torch device; raise `InputError` if this machine or this version of torch does not support it."""
    import torch

    has_cuda = torch.cuda.is_available()
    if device is Device.AUTO:
        return torch.device("cuda" if has_cuda else "cpu")
    has_device = {Device.CPU: True, Device.CUDA: has_cuda, Device.MPS: torch.backends.mps.is_available()}[device]
    if not has_device:
        raise InputError(
            f"device {device} is not available to torch {torch.__version__} on this machine: use device cpu or auto"
        )
    return torch.device(device.value)


def describe_gpu() -> str:
    """Describe the GPU that the installed packages can use."""
    try:
        import torch
    except ImportError:
        return "unknown: torch is not installed"
    if torch.cuda.is_available():
        return f"{torch.cuda.get_device_name()}, used by torch {torch.__version__}"
    if torch.backends.mps.is_available():
        return f"Apple GPU, available to torch {torch.__version__} with --device mps"
    return f"none that torch {torch.__version__} can use"
