"""Networks as `Evaluator`s: with onnxruntime (the default), OpenVINO or torch, or averaged over symmetries.

All accept float32 planes [B, C, H, W] and return the log-policy [B, H·W] over all points, legal or not, and the value
[B] for the side to move. Evaluators are thread-safe.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tengen.core.contracts import Evaluator, Ruleset
from tengen.core.extras import needs_extra
from tengen.core.planes import FloatPlanes
from tengen.core.symmetry import permutation, symmetries, transform_array
from tengen.errors import InputError
from tengen.nets.devices import Device, onnx_providers
from tengen.nets.onnx_check import INPUT, OUTPUTS, check_network

if TYPE_CHECKING:
    from tengen.nets.architectures import Net

Floats = npt.NDArray[np.float32]
_MAX_VALUE = 1.05
"""Largest value accepted from a network; int8 rounding may push values above 1."""


class OnnxEvaluator:
    """A network file run by onnxruntime."""

    def __init__(self, model: bytes, *, threads: int = 1, place: str = "model", device: Device = Device.CPU) -> None:
        """Load the content of an ONNX file; raise an `InputError` that names `place` if it is not a usable network."""
        providers = onnx_providers(device)
        import onnxruntime

        self.file = check_network(model, place)
        self.metadata = self.file.metadata
        self._place = place
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Spinning threads would take CPU time from threads that have work.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=providers)
        except Exception as error:  # onnxruntime raises many different exception classes
            raise InputError(f"onnxruntime cannot read the network {place}: {error}") from None

    @property
    def plane_layout(self) -> str:
        """Name of the input layout in `tengen.core.planes`."""
        return self.file.plane_layout

    def evaluate(self, planes: FloatPlanes) -> tuple[Floats, Floats]:
        """Evaluate planes [B, C, H, W]; return log-policy [B, H·W] and value [B].

        Raises `InputError` if the output is NaN, infinite or out of range.
        """
        try:
            log_policy, value = self._session.run(OUTPUTS, {INPUT: planes})
        except Exception as error:  # onnxruntime raises many different exception classes
            raise InputError(f"onnxruntime cannot run the network {self._place}: {error}") from None
        _check_outputs(log_policy, value, planes, self._place)
        return log_policy, value


class OpenVinoEvaluator:
    """An fp32 network file run by OpenVINO on the CPU, in bf16 if the processor has instructions for it.

    Needs the extra `openvino`.
    """

    def __init__(self, model: bytes, *, threads: int = 1, place: str = "model") -> None:
        """Load the content of an ONNX file; raise an `InputError` that names `place` if it is not a usable network."""
        with needs_extra("backend openvino", "openvino"):
            import openvino

        self.file = check_network(model, place)
        self._place = place
        core = openvino.Core()
        has_bf16 = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
        settings = {
            "INFERENCE_PRECISION_HINT": "bf16" if has_bf16 else "f32",
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,  # every network in the process would be pinned to the same cores
        }
        try:
            self._model = core.compile_model(core.read_model(model), "CPU", settings)
        except Exception as error:  # OpenVINO raises RuntimeError and its own classes
            raise InputError(f"OpenVINO cannot read the network {place}: {error}") from None
        self._local = threading.local()  # a request must not be used by two threads at the same time

    @property
    def plane_layout(self) -> str:
        """Name of the input layout in `tengen.core.planes`."""
        return self.file.plane_layout

    def evaluate(self, planes: FloatPlanes) -> tuple[Floats, Floats]:
        """Evaluate planes [B, C, H, W]; return log-policy [B, H·W] and value [B].

        Raises `InputError` if the output is NaN, infinite or out of range.
        """
        if not hasattr(self._local, "request"):
            self._local.request = self._model.create_infer_request()
        try:
            answers = self._local.request.infer({INPUT: planes}, share_inputs=True)
        except Exception as error:
            raise InputError(f"OpenVINO cannot run the network {self._place}: {error}") from None
        log_policy, value = (answers[name] for name in OUTPUTS)
        _check_outputs(log_policy, value, planes, self._place)
        return log_policy, value


def _check_outputs(log_policy: Floats, value: Floats, planes: FloatPlanes, place: str) -> None:
    """Raise an `InputError` that names `place` if the outputs for `planes` have wrong shapes or impossible values."""
    rows, area = len(planes), planes.shape[2] * planes.shape[3]
    if log_policy.shape != (rows, area) or value.shape != (rows,):
        raise InputError(
            f"the network {place} returned shapes {log_policy.shape} and {value.shape} for {rows} positions"
        )
    # Both comparisons are false for NaN.
    if not (np.abs(value).max(initial=0) <= _MAX_VALUE and np.abs(log_policy).max(initial=0) < np.inf):
        raise InputError(
            f"the network {place} returned NaN, infinity or a value outside [-1, 1]; its weights are probably damaged"
        )


class TorchEvaluator:
    """A torch network; it uses the number of threads configured in torch."""

    def __init__(self, net: Net) -> None:
        self._net = net.eval()

    @property
    def plane_layout(self) -> str:
        """Name of the input layout in `tengen.core.planes`."""
        return self._net.config.planes

    def evaluate(self, planes: FloatPlanes) -> tuple[Floats, Floats]:
        """Evaluate planes [B, C, H, W]; return log-policy [B, H·W] and value [B]."""
        import torch

        with torch.inference_mode():
            output = self._net(torch.from_numpy(planes))
            return torch.log_softmax(output.policy_logits, dim=1).numpy(), output.value_to_move.numpy()


class AveragedEvaluator:
    """Averages another evaluator's policy and value over all symmetries of a position."""

    def __init__(self, evaluator: Evaluator, ruleset: Ruleset) -> None:
        self._evaluator = evaluator
        self._ruleset = ruleset

    @property
    def plane_layout(self) -> str:
        """Name of the input layout in `tengen.core.planes`."""
        return self._evaluator.plane_layout

    def evaluate(self, planes: FloatPlanes) -> tuple[Floats, Floats]:
        """Evaluate planes [B, C, H, W] under all symmetries; return log-policy [B, H·W] and value [B]."""
        used = symmetries(self._ruleset)
        turned = np.concatenate([transform_array(planes, symmetry) for symmetry in used])
        log_policies, values = self._evaluator.evaluate(turned)
        turned_back = [
            part[:, permutation(symmetry, self._ruleset)]
            for symmetry, part in zip(used, np.split(log_policies, len(used)), strict=True)
        ]
        log_policy: Floats = np.logaddexp.reduce(turned_back) - np.float32(np.log(len(used)))
        return log_policy, values.reshape(len(used), -1).mean(axis=0)
