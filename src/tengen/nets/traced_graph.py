"""The ONNX graph of a network for which Tengen has no writer: torch traces the forward pass."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import torch
from onnx import AttributeProto, helper, load_from_string, numpy_helper
from torch import Tensor, nn

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.errors import InputError
from tengen.nets.architectures import Net
from tengen.nets.onnx_check import INPUT, OPSET
from tengen.nets.onnx_graph import Graph

_POLICY, _VALUE = "traced_policy", "traced_value"
_DEFAULTS: dict[str, dict[str, Any]] = {
    "Conv": {"dilations": [1, 1], "group": 1, "strides": [1, 1]},
    "Gemm": {"alpha": 1.0, "beta": 1.0},
    "MaxPool": {"ceil_mode": 0, "dilations": [1, 1], "pads": [0, 0, 0, 0]},
}
"""Attributes that torch writes even with their default values; `onnx_check` rejects them in network files."""


class _Played(nn.Module):
    """The part of a network that is used in play."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net = net

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        output = self.net(planes)
        return output.policy_logits, output.value_to_move


def write_traced(net: Net, ruleset: Ruleset, graph: Graph) -> tuple[str, str]:
    """Add the nodes of a network; return the names of its policy logits and value.

    Raises `InputError` if torch cannot trace the network.
    """
    planes = torch.zeros(2, plane_count(net.config.planes), ruleset.height, ruleset.width)
    buffer = io.BytesIO()
    was_training = net.training
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                _Played(net).eval(),
                (planes,),
                buffer,  # type: ignore[arg-type]  # the tracing exporter also writes to buffers
                dynamo=False,
                opset_version=OPSET,
                input_names=[INPUT],
                output_names=[_POLICY, _VALUE],
                dynamic_axes={INPUT: {0: "batch"}},
            )
    except Exception as error:
        sentence = " ".join(str(error).split())[:300]
        raise InputError(f"{type(net).__name__} cannot be exported to ONNX: {sentence}") from error
    finally:
        net.train(was_training)
    traced = load_from_string(buffer.getvalue()).graph
    graph.initializers += traced.initializer
    for node in traced.node:
        if node.op_type == "Constant":
            graph.constant(node.output[0], np.asarray(numpy_helper.to_array(node.attribute[0].t)))
            continue
        defaults = _DEFAULTS.get(node.op_type, {})
        kept = [one for one in node.attribute if one.name not in defaults or _value(one) != defaults[one.name]]
        del node.attribute[:]
        node.attribute.extend(kept)
        graph.nodes.append(node)
    return _POLICY, _VALUE


def _value(attribute: AttributeProto) -> object:
    value = helper.get_attribute_value(attribute)
    return value if isinstance(value, (int, float)) else list(value)
