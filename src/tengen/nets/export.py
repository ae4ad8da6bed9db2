"""Networks as ONNX files: what plays needs no torch.

The graph is written layer by layer, with the constants of the fixed scaling multiplied into the weights and the heads
that only training needs left out. That takes milliseconds, so a running self-play gets new weights by a new file.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import FloatPlanes, plane_count
from tengen.nets.architectures import Net
from tengen.nets.dense import DenseNet
from tengen.nets.plain import PlainNet
from tengen.nets.residual import ResidualBlock, ResidualNet
from tengen.nets.sealing import seal

INPUT = "planes"
OUTPUTS = ("log_policy", "value")

_OPSET = 17
_IR_VERSION = 8  # what onnxruntime 1.20 reads
_HEADS = ("policy_map", "value_logits")
"""The last layers stay in float32 when the others become int8: they cost nothing, and all of the error counts."""


def export_onnx(net: Net, ruleset: Ruleset, *, name: str = "") -> bytes:
    """The network as a sealed ONNX file: planes [B, C, H, W] → log_policy [B, H·W], value [B].

    Metadata: `ruleset`, `planes`, `net` (the configuration as JSON), `any_size`, `precision`, `name`, `sha256`.
    """
    graph = _Graph()
    if isinstance(net, PlainNet):
        policy, value = _write_plain(net, graph)
    elif isinstance(net, ResidualNet):
        policy, value = _write_residual(net, graph)
    elif isinstance(net, DenseNet):
        policy, value = _write_dense(net, graph)
    else:
        raise TypeError(f"no ONNX graph for {type(net).__name__}")
    graph.add("LogSoftmax", [policy], OUTPUTS[0], axis=1)
    graph.add("Reshape", [value, graph.constant("flat", np.array([-1], np.int64))], OUTPUTS[1])
    sizes = ("height", "width") if net.has_any_size else (ruleset.height, ruleset.width)
    planes = ["batch", plane_count(net.config.planes), *sizes]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "tengen",
            [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, planes)],
            [
                helper.make_tensor_value_info(OUTPUTS[0], TensorProto.FLOAT, ["batch", "area"]),
                helper.make_tensor_value_info(OUTPUTS[1], TensorProto.FLOAT, ["batch"]),
            ],
            graph.initializers,
        ),
        producer_name="tengen",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    metadata = {
        "name": name,
        "ruleset": str(ruleset),
        "planes": net.config.planes,
        "net": json.dumps(asdict(net.config)),
        "any_size": "yes" if net.has_any_size else "no",
        "precision": "fp32",
    }
    helper.set_model_props(model, metadata)
    return seal(model.SerializeToString())


def quantise(model: bytes, calibration: FloatPlanes) -> bytes:
    """The same network with int8 weights and activations, sealed; `calibration` are planes [N, C, H, W] of real games.

    Activations are scaled to the range they have on those positions, so a few hundred from all phases are wanted.
    """
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    proto = onnx.load_from_string(model)
    metadata = {entry.key: entry.value for entry in proto.metadata_props if entry.key != "sha256"}
    with TemporaryDirectory() as folder, _quiet_root_logger():
        source, target = Path(folder) / "fp32.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(model)
        quantize_static(
            source,
            target,
            _Calibration(calibration),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
            # AVX2 adds pairs of products in 16 bits, which full 8-bit weights overflow.
            reduce_range=True,
            calibrate_method=CalibrationMethod.MinMax,
            op_types_to_quantize=["Conv", "MatMul", "Gemm", "Relu", "Add"],
            nodes_to_exclude=[node.name for node in proto.graph.node if node.name in _HEADS],
        )
        quantised = onnx.load(target)
    del quantised.metadata_props[:]
    helper.set_model_props(quantised, {**metadata, "precision": "int8"})
    return seal(quantised.SerializeToString())


@contextlib.contextmanager
def _quiet_root_logger() -> Iterator[None]:
    """onnxruntime recommends its pre-processing to the root logger; our graphs have nothing left to simplify."""
    logger = logging.getLogger()
    logger.addFilter(_is_error)
    try:
        yield
    finally:
        logger.removeFilter(_is_error)


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR


class _Calibration:
    """Hands the calibration positions to onnxruntime in batches."""

    def __init__(self, planes: FloatPlanes, batch: int = 64) -> None:
        self._batches: Iterator[FloatPlanes] = (planes[at : at + batch] for at in range(0, len(planes), batch))

    def get_next(self) -> dict[str, FloatPlanes] | None:
        batch = next(self._batches, None)
        return None if batch is None else {INPUT: np.ascontiguousarray(batch)}


# -- the graphs -------------------------------------------------------------------------------------------------------


def _write_plain(net: PlainNet, graph: _Graph) -> tuple[str, str]:
    x = INPUT
    for number, layer in enumerate(net.trunk):
        assert isinstance(layer, nn.Conv2d)
        x = graph.relu(graph.convolution(f"trunk{number}", x, layer))
    policy = graph.flatten(graph.relu(graph.convolution("policy_filters", x, net.policy_filters)))
    value = graph.flatten(graph.relu(graph.convolution("value_filters", x, net.value_filters)))
    value = graph.relu(graph.dense("value_hidden", value, net.value_hidden))
    return (
        graph.dense("policy_map", policy, net.policy_points),
        graph.add("Tanh", [graph.dense("value_logits", value, net.value)], "value_tanh"),
    )


def _write_residual(net: ResidualNet, graph: _Graph) -> tuple[str, str]:
    x = graph.convolution("stem", INPUT, net.stem)
    for number, block in enumerate(net.blocks):
        assert isinstance(block, ResidualBlock)
        y = graph.convolution(f"block{number}_first", graph.relu(x), block.first, scale=block.scale)
        if block.pooled is not None:
            y = graph.add_bias(y, graph.dense(f"block{number}_pooled", graph.pool(graph.relu(y)), block.pooled))
        y = graph.convolution(f"block{number}_second", graph.relu(y), block.second)
        x = graph.add("Add", [x, y], f"block{number}")
    x = graph.relu(x)
    features = graph.convolution("policy_features", x, net.policy_features, scale=net.trunk_scale)
    bias = graph.dense("policy_bias", graph.pool(graph.relu(features)), net.policy_bias)
    policy = graph.relu(graph.add_bias(features, bias))
    policy = graph.flatten(graph.convolution("policy_map", policy, net.policy_maps, maps=1))
    value = graph.pool(graph.relu(graph.convolution("value_features", x, net.value_features, scale=net.trunk_scale)))
    value = graph.dense("value_logits", graph.relu(graph.dense("value_hidden", value, net.value_hidden)), net.value)
    chances = graph.add("Softmax", [value], "value_chances", axis=1)
    difference = graph.constant("win_minus_loss", np.array([[1.0], [0.0], [-1.0]], np.float32))
    return policy, graph.add("MatMul", [chances, difference], "value_difference")


def _write_dense(net: DenseNet, graph: _Graph) -> tuple[str, str]:
    x = graph.flatten(INPUT)
    hidden = graph.relu(graph.dense("hidden", x, net.hidden))
    policy = graph.dense("policy_map", hidden, net.policy)
    if net.value_hidden is None or net.value is None:
        nothing = graph.constant("nothing", np.zeros((net.hidden.out_features, 1), np.float32))
        return policy, graph.add("MatMul", [hidden, nothing], "value_logits")
    value = graph.relu(graph.dense("value_hidden", x, net.value_hidden))
    return policy, graph.add("Tanh", [graph.dense("value_logits", value, net.value)], "value_tanh")


class _Graph:
    """The nodes and weights of an ONNX graph as they are added; each method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def add(self, operator: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """A node, named like its output."""
        name = output or f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, array: npt.NDArray[Any]) -> str:
        """A weight."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def convolution(self, name: str, x: str, layer: nn.Conv2d, *, scale: float = 1.0, maps: int | None = None) -> str:
        """[B, K, H, W] → [B, maps or all, H, W]; the input counts `scale` times."""
        weight, bias = _array(layer.weight)[:maps] * np.float32(scale), _array(layer.bias)[:maps]
        pad = weight.shape[-1] // 2
        inputs = [x, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.add("Conv", inputs, name, kernel_shape=list(weight.shape[2:]), pads=[pad] * 4)

    def dense(self, name: str, x: str, layer: nn.Linear) -> str:
        """[B, n] → [B, m]."""
        weight = self.constant(f"{name}.weight", _array(layer.weight))
        return self.add("Gemm", [x, weight, self.constant(f"{name}.bias", _array(layer.bias))], name, transB=1)

    def relu(self, x: str) -> str:
        return self.add("Relu", [x])

    def flatten(self, x: str) -> str:
        """[B, …] → [B, all the rest]."""
        return self.add("Flatten", [x], axis=1)

    def pool(self, x: str) -> str:
        """[B, K, H, W] → [B, 2K]: mean and maximum over the board."""
        both = self.add("Concat", [self.add("GlobalAveragePool", [x]), self.add("GlobalMaxPool", [x])], axis=1)
        return self.flatten(both)

    def add_bias(self, x: str, bias: str) -> str:
        """[B, K, H, W] + [B, K], the same on every point."""
        axes = self.constant(f"{bias}.axes", np.array([2, 3], np.int64))
        return self.add("Add", [x, self.add("Unsqueeze", [bias, axes])])


def _array(tensor: Tensor | None) -> npt.NDArray[np.float32]:
    assert tensor is not None
    array: npt.NDArray[np.float32] = tensor.detach().numpy()
    return array
