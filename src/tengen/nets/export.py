"""Export of networks to ONNX files, so that playing does not require torch.

Built-in networks are written layer by layer; torch traces third-party networks (`traced_graph`). Fixed scaling factors
are folded into the weights, and heads used only in training are left out. Export takes milliseconds, so self-play
exports the network in every iteration.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper
from torch import nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import FloatPlanes, plane_count
from tengen.errors import RunError
from tengen.nets.architectures import Net
from tengen.nets.dense import DenseNet
from tengen.nets.mdrnn import GatedMdrnnNet, MdrnnNet
from tengen.nets.mdrnn_graph import write_gated_mdrnn, write_mdrnn
from tengen.nets.onnx_check import INPUT, OPSET, OUTPUTS, check_network
from tengen.nets.onnx_graph import Graph
from tengen.nets.plain import PlainNet
from tengen.nets.pooled import POOL, PooledNet
from tengen.nets.residual import ResidualBlock, ResidualNet
from tengen.nets.sealing import seal
from tengen.nets.traced_graph import write_traced
from tengen.nets.wide import WideNet

_IR_VERSION = 8  # the newest version that onnxruntime 1.20 reads
_HEADS = ("policy_", "value_")
"""Prefixes of the names of layers that belong to one of the two outputs."""
_LAST_LAYERS = ("policy_map", "value_logits")
_LAYERS = ("Conv", "MatMul", "Gemm")
"""Operators with weights."""


@dataclass(frozen=True, slots=True)
class Int8Options:
    """Parts of an int8 network that are computed in 8 bits; `python -m benchmarks int8` measures their effects."""

    residuals: bool = False
    """Also quantise the sums of residual blocks, which changes many moves."""
    rectified: bool = True
    """Quantise the output of a layer after its Relu instead of before, so that negative numbers take no bits."""
    heads: bool = False
    """Also quantise the heads, except their last layers. Heads are cheap; their errors reach the output directly."""
    full_range: bool = False
    """Use all 8 bits of the weights. On processors without VNNI, the 16-bit sums of two products can then overflow."""


def export_onnx(net: Net, ruleset: Ruleset, *, name: str = "", discount: float | None = None) -> bytes:
    """Return the network as a sealed ONNX file. It maps planes [B, C, H, W] to log_policy [B, H·W] and value [B].

    Metadata: `ruleset`, `planes`, `net` (the configuration as JSON), `any_size`, `precision`, `name`, `sha256`, and
    `discount` if the value targets were discounted; a search should use the same discount. Raises `InputError` if a
    third-party network uses an operator that `onnx_check` does not allow.
    """
    graph = Graph()
    is_traced = False
    if isinstance(net, PlainNet):
        policy, value = _write_plain(net, graph)
    elif isinstance(net, ResidualNet):
        policy, value = _write_residual(net, graph)
    elif isinstance(net, DenseNet):
        policy, value = _write_dense(net, graph)
    elif isinstance(net, WideNet):
        policy, value = _write_wide(net, graph)
    elif isinstance(net, PooledNet):
        policy, value = _write_pooled(net, graph)
    elif isinstance(net, MdrnnNet):
        policy, value = write_mdrnn(net, graph, INPUT)
    elif isinstance(net, GatedMdrnnNet):
        policy, value = write_gated_mdrnn(net, graph, INPUT)
    else:
        is_traced = True
        policy, value = write_traced(net, ruleset, graph)
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
        opset_imports=[helper.make_opsetid("", OPSET)],
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
    if discount is not None:
        metadata["discount"] = repr(discount)
    helper.set_model_props(model, metadata)
    data = seal(model.SerializeToString())
    if is_traced:
        check_network(data, f"the ONNX graph of {type(net).__name__}")
    return data


def quantise(model: bytes, calibration: FloatPlanes, options: Int8Options | None = None) -> bytes:
    """Return the network as a sealed ONNX file with int8 weights and activations.

    With the default options, the network returns the same results on every processor.

    `calibration` has planes [N, C, H, W] from real games. They determine the range of the activations, so pass a few
    hundred positions from all phases of the game. Raises `RunError` if temporary files cannot be written.
    """
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    options = options or Int8Options()
    proto = onnx.load_from_string(model)
    metadata = {entry.key: entry.value for entry in proto.metadata_props if entry.key != "sha256"}
    excluded = _not_quantised(proto.graph, options)
    with _writing_temporary(), TemporaryDirectory() as folder, _quiet_root_logger():
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
            reduce_range=not options.full_range,
            calibrate_method=CalibrationMethod.MinMax,
            op_types_to_quantize=["Conv", "MatMul", "Gemm", "Relu", "Add"],
            nodes_to_exclude=excluded,
        )
        quantised = onnx.load(target)
    del quantised.metadata_props[:]
    helper.set_model_props(quantised, {**metadata, "precision": "int8"})
    return seal(quantised.SerializeToString())


def _not_quantised(graph: onnx.GraphProto, options: Int8Options) -> list[str]:
    """Return the names of the nodes that stay in float32."""
    heads = _LAST_LAYERS if options.heads else _HEADS
    layers = {node.output[0] for node in graph.node if node.op_type in _LAYERS}

    def stays(node: onnx.NodeProto) -> bool:
        if node.name.startswith(heads):
            return True
        if node.op_type == "Relu":
            return not (options.residuals or (options.rectified and node.input[0] in layers))
        return node.op_type == "Add" and not options.residuals

    return [node.name for node in graph.node if stays(node)]


@contextlib.contextmanager
def _writing_temporary() -> Iterator[None]:
    """Convert an `OSError`, such as a full disk, to a `RunError`."""
    try:
        yield
    except OSError as error:
        raise RunError(
            f"cannot write temporary files for int8: {error.strerror or error}; free some space, or set the environment"
            " variable TMPDIR to another folder"
        ) from None


@contextlib.contextmanager
def _quiet_root_logger() -> Iterator[None]:
    """Hide onnxruntime's advice to pre-process the graph, which cannot be simplified further."""
    logger = logging.getLogger()
    logger.addFilter(_is_error)
    try:
        yield
    finally:
        logger.removeFilter(_is_error)


def _is_error(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.ERROR


class _Calibration:
    """Reader that passes the calibration positions to onnxruntime in batches."""

    def __init__(self, planes: FloatPlanes, batch: int = 64) -> None:
        self._batches: Iterator[FloatPlanes] = (planes[at : at + batch] for at in range(0, len(planes), batch))

    def get_next(self) -> dict[str, FloatPlanes] | None:
        batch = next(self._batches, None)
        return None if batch is None else {INPUT: np.ascontiguousarray(batch)}


# -- the graphs -------------------------------------------------------------------------------------------------------


def _write_plain(net: PlainNet, graph: Graph) -> tuple[str, str]:
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


def _write_residual(net: ResidualNet, graph: Graph) -> tuple[str, str]:
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
    return policy, graph.win_minus_loss(value)


def _write_wide(net: WideNet, graph: Graph) -> tuple[str, str]:
    x = graph.leaky_relu(graph.convolution("stem", INPUT, net.stem))
    for number, (first, second) in enumerate(zip(net.first, net.second, strict=True)):
        assert isinstance(first, nn.Conv2d)
        assert isinstance(second, nn.Conv2d)
        y = graph.leaky_relu(graph.convolution(f"block{number}_first", x, first))
        y = graph.convolution(f"block{number}_second", y, second)
        x = graph.leaky_relu(graph.add("Add", [x, y], f"block{number}"))
    policy = graph.flatten(graph.leaky_relu(graph.convolution("policy_filters", x, net.policy_filters)))
    value = graph.flatten(graph.leaky_relu(graph.convolution("value_filters", x, net.value_filters)))
    value = graph.leaky_relu(graph.dense("value_hidden", value, net.value_hidden))
    return (
        graph.dense("policy_map", policy, net.policy_points),
        graph.add("Tanh", [graph.dense("value_logits", value, net.value)], "value_tanh"),
    )


def _write_dense(net: DenseNet, graph: Graph) -> tuple[str, str]:
    x = graph.flatten(INPUT)
    hidden = graph.relu(graph.dense("hidden", x, net.hidden))
    outputs = net.policy.out_features - 1 if net.can_resign else None
    policy = graph.dense("policy_map", hidden, net.policy, outputs=outputs)
    if net.value_hidden is None or net.value is None:
        return policy, graph.no_value(INPUT)
    value = graph.relu(graph.dense("value_hidden", x, net.value_hidden))
    return policy, graph.add("Tanh", [graph.dense("value_logits", value, net.value)], "value_tanh")


def _write_pooled(net: PooledNet, graph: Graph) -> tuple[str, str]:
    x = graph.relu(graph.convolution("stem", INPUT, net.stem))
    x = graph.add("MaxPool", [x], kernel_shape=[POOL, POOL], strides=[POOL, POOL])
    for number, layer in enumerate(net.trunk):
        assert isinstance(layer, nn.Conv2d)
        x = graph.relu(graph.convolution(f"trunk{number}", x, layer))
    x = graph.flatten(x)
    *hidden, last = net.dense
    for number, layer in enumerate(hidden):
        assert isinstance(layer, nn.Linear)
        x = graph.relu(graph.dense(f"dense{number}", x, layer))
    assert isinstance(last, nn.Linear)
    return graph.dense("policy_map", x, last), graph.no_value(INPUT)
