"""A builder for ONNX graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import helper, numpy_helper
from torch import Tensor, nn


class Graph:
    """Nodes and weights of an ONNX graph under construction; each method returns the name of its output."""

    def __init__(self, prefix: str = "") -> None:
        """Set the prefix of generated node names, which must differ between a graph and its subgraphs."""
        self._prefix = prefix
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def add(self, operator: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """Add a node with the same name as its output."""
        name = output or f"{self._prefix}{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, array: npt.NDArray[Any]) -> str:
        """Add a constant."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def convolution(self, name: str, x: str, layer: nn.Conv2d, *, scale: float = 1.0, maps: int | None = None) -> str:
        """Add a convolution of `scale` times the input: [B, K, H, W] → [B, maps, H, W] (default: all maps)."""
        weight, bias = as_array(layer.weight)[:maps] * np.float32(scale), as_array(layer.bias)[:maps]
        pad = weight.shape[-1] // 2
        inputs = [x, self.constant(f"{name}.weight", weight), self.constant(f"{name}.bias", bias)]
        return self.add("Conv", inputs, name, kernel_shape=list(weight.shape[2:]), pads=[pad] * 4)

    def dense(self, name: str, x: str, layer: nn.Linear, *, outputs: int | None = None) -> str:
        """Add a dense layer from [B, n] to [B, m], or only its first `outputs` outputs."""
        inputs = [x, self.constant(f"{name}.weight", as_array(layer.weight)[:outputs])]
        if layer.bias is not None:
            inputs.append(self.constant(f"{name}.bias", as_array(layer.bias)[:outputs]))
        return self.add("Gemm", inputs, name, transB=1)

    def relu(self, x: str) -> str:
        return self.add("Relu", [x])

    def leaky_relu(self, x: str) -> str:
        return self.add("LeakyRelu", [x], alpha=0.01)

    def flatten(self, x: str) -> str:
        """Flatten all axes except the first."""
        return self.add("Flatten", [x], axis=1)

    def pool(self, x: str) -> str:
        """Pool the mean and maximum over the board: [B, K, H, W] → [B, 2K]."""
        both = self.add("Concat", [self.add("GlobalAveragePool", [x]), self.add("GlobalMaxPool", [x])], axis=1)
        return self.flatten(both)

    def win_minus_loss(self, logits: str) -> str:
        """Convert logits [B, 3] of win, draw and loss to the value [B, 1]."""
        chances = self.add("Softmax", [logits], "value_chances", axis=1)
        difference = self.constant("win_minus_loss", np.array([[1.0], [0.0], [-1.0]], np.float32))
        return self.add("MatMul", [chances, difference], "value_difference")

    def no_value(self, planes: str) -> str:
        """Add zeros [B, 1, 1, 1] for planes [B, C, H, W], as the value of a network without a value head."""
        largest = self.add("ReduceMax", [planes], axes=[1, 2, 3])
        return self.add("Sub", [largest, largest])

    def add_bias(self, x: str, bias: str) -> str:
        """Add [B, K] to every point of [B, K, H, W]."""
        axes = self.constant(f"{bias}.axes", np.array([2, 3], np.int64))
        return self.add("Add", [x, self.add("Unsqueeze", [bias, axes])])


def as_array(tensor: Tensor | None) -> npt.NDArray[np.float32]:
    assert tensor is not None
    array: npt.NDArray[np.float32] = tensor.detach().numpy()
    return array
