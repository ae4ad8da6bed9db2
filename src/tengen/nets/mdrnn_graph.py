"""The recurrent networks as ONNX graphs, for boards of any size.

The board is skewed (row y moves y points to the right), so that its anti-diagonals become columns, and a `Scan`
iterates over the columns. Its states are [N, 1 + H, k]: a border row, then the units of a column. For the unit in row
y, row y of the state is the neighbour above and row y + 1 the neighbour to the left. The state of a cell outside the
board is the border.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper
from torch import nn

from tengen.nets.mdrnn import FLIPS, LEAK, GatedLayer, GatedMdrnnNet, GatedSweep, MdrnnNet, PlainSweep, Sweep
from tengen.nets.onnx_graph import Graph, as_array

_END = np.iinfo(np.int64).max


def write_mdrnn(net: MdrnnNet, graph: Graph, planes: str) -> tuple[str, str]:
    """Write the network; return the names of policy [B, H·W] and value."""
    board = _Board(graph, planes)
    states = board.sweep(net.sweep, "sweep", board.features(planes))
    policy = graph.add("MatMul", [states, graph.constant("output", as_array(net.output)[:, None])])
    return graph.flatten(policy), graph.no_value(planes)


def write_gated_mdrnn(net: GatedMdrnnNet, graph: Graph, planes: str) -> tuple[str, str]:
    """Write the network; return the names of policy [B, H·W] and value [B, 1]."""
    board = _Board(graph, planes)
    x = board.features(planes)
    for number, layer in enumerate(net.layers):
        assert isinstance(layer, GatedLayer)
        states = board.sweep(layer.sweep, f"layer{number}", x)
        merged = _linear(graph, f"layer{number}_merge", states, layer.merge)
        skipped = _linear(graph, f"layer{number}_skip", x, layer.skip)
        x = graph.add("LeakyRelu", [graph.add("Add", [merged, skipped])], alpha=LEAK)
    policy = graph.flatten(_linear(graph, "policy_map", x, net.policy))
    pooled = graph.pool(graph.add("Transpose", [x], perm=[0, 3, 1, 2]))
    value = graph.dense("value_logits", graph.relu(graph.dense("value_hidden", pooled, net.value_hidden)), net.value)
    return policy, graph.win_minus_loss(value)


def _linear(graph: Graph, name: str, x: str, layer: nn.Linear) -> str:
    """Write a dense layer over the last axis: [..., n] → [..., m]."""
    product = graph.add("MatMul", [x, graph.constant(f"{name}.weight", as_array(layer.weight).T)])
    return graph.add("Add", [product, graph.constant(f"{name}.bias", as_array(layer.bias))])


class _Board:
    """Operations that depend on the board size, which the graph computes from the planes."""

    def __init__(self, graph: Graph, planes: str) -> None:
        self._graph = graph
        shape = graph.add("Shape", [planes])
        self._height, self._width = (
            graph.add("Gather", [shape, graph.constant(f"axis_{axis}", np.array([axis], np.int64))]) for axis in (2, 3)
        )
        self._both = graph.add("Add", [self._height, self._width])
        self._columns = graph.add("Sub", [self._both, self._number(1)])
        ones = graph.add(
            "ConstantOfShape",
            [self._shape(self._number(1), self._height, self._width, self._number(1))],
            value=helper.make_tensor("one", TensorProto.FLOAT, [1], [1.0]),
        )
        self._inside = self._skew(ones)
        """[D, 1, H, 1]: 1 where a row of a column is on the board."""

    def features(self, planes: str) -> str:
        """Transpose [B, C, H, W] → [B, H, W, C]."""
        return self._graph.add("Transpose", [planes], perm=[0, 2, 3, 1])

    def sweep(self, sweep: Sweep, name: str, features: str) -> str:
        """Write four sweeps; return the sum of their states: [B, H, W, c] → [B, H, W, k]."""
        graph = self._graph
        corners = graph.add("Concat", [self._flip(features, flip) for flip in FLIPS], axis=0)
        border = graph.constant(f"{name}.border", as_array(sweep.border))
        if isinstance(sweep, PlainSweep):
            own = graph.add("MatMul", [corners, graph.constant(f"{name}.input", as_array(sweep.input))])
        else:
            assert isinstance(sweep, GatedSweep)
            own = _linear(graph, f"{name}.input", corners, sweep.input)
        graph.constant(f"{name}.hidden", as_array(sweep.hidden))
        columns = self._skew(own)
        count = graph.add("Slice", [graph.add("Shape", [corners]), self._number(0), self._number(1)])
        rows = graph.add("Add", [self._height, self._number(1)])
        state = graph.add("Expand", [border, self._shape(count, rows, self._number(len(as_array(sweep.border))))])
        swept = f"{name}.columns"
        body = _gated_body(name) if isinstance(sweep, GatedSweep) else _plain_body(name)
        states = [state] * (2 if sweep.sees_diagonal else 1)
        graph.nodes.append(
            helper.make_node(
                "Scan",
                [*states, columns, self._inside],
                [*(f"{name}.last{number}" for number in range(len(states))), swept],
                name=f"{name}.scan",
                body=body,
                num_scan_inputs=2,
            )
        )
        boards = [f"{name}.corner{number}" for number in range(len(FLIPS))]
        graph.nodes.append(helper.make_node("Split", [self._unskew(swept)], boards, name=f"{name}.split", axis=0))
        return graph.add("Sum", [self._flip(board, flip) for board, flip in zip(boards, FLIPS, strict=True)])

    def _flip(self, x: str, axes: tuple[int, ...]) -> str:
        if not axes:
            return x
        graph = self._graph
        vectors = [np.full(len(axes), value, np.int64) for value in (-1, -_END, -1)]
        starts, ends, steps = (graph.constant(f"flip{len(graph.initializers)}", vector) for vector in vectors)
        where = graph.constant(f"flip{len(graph.initializers)}", np.array(axes, np.int64))
        return graph.add("Slice", [x, starts, ends, where, steps])

    def _skew(self, x: str) -> str:
        """Skew [N, H, W, c] → [H + W - 1, N, H, c]: pad rows by H points, then reshape to rows one point shorter."""
        graph = self._graph
        wide = graph.add("Pad", [x, self._pads(axis=2)])
        flat = graph.add("Reshape", [wide, self._shape(self._number(0), self._number(-1), self._last(x))])
        cut = graph.add(
            "Slice", [flat, self._number(0), graph.add("Mul", [self._height, self._columns]), self._number(1)]
        )
        skewed = graph.add("Reshape", [cut, self._shape(self._number(0), self._height, self._columns, self._last(x))])
        return graph.add("Transpose", [skewed], perm=[2, 0, 1, 3])

    def _unskew(self, x: str) -> str:
        """Invert `_skew`."""
        graph = self._graph
        rows = graph.add("Transpose", [x], perm=[1, 2, 0, 3])
        flat = graph.add("Reshape", [rows, self._shape(self._number(0), self._number(-1), self._last(rows))])
        padded = graph.add("Pad", [flat, self._pads(axis=1, rank=3)])
        wide = graph.add("Reshape", [padded, self._shape(self._number(0), self._height, self._both, self._last(rows))])
        return graph.add("Slice", [wide, self._number(0), self._width, self._number(2)])

    # -- shapes inside the graph -----------------------------------------------------------------------------------

    def _number(self, value: int) -> str:
        return self._graph.constant(f"number{len(self._graph.initializers)}", np.array([value], np.int64))

    def _shape(self, *parts: str) -> str:
        return self._graph.add("Concat", list(parts), axis=0)

    def _last(self, x: str) -> str:
        graph = self._graph
        return graph.add("Slice", [graph.add("Shape", [x]), self._number(-1), self._number(_END)])

    def _pads(self, axis: int, rank: int = 4) -> str:
        """Return the padding that adds H points at the end of one axis."""
        parts = [self._number(0)] * (2 * rank)
        parts[rank + axis] = self._height
        return self._shape(*parts)


def _plain_body(name: str) -> Any:
    """Return the loop body of `PlainSweep`: one column."""
    graph = Graph(f"{name}.")
    above, left = _neighbours(graph, "state")
    both = graph.add("MatMul", [graph.add("Add", [above, left]), f"{name}.hidden"])
    new = graph.add("Tanh", [graph.add("Add", ["own", both])], "new")
    return _body(graph, name, ["state"], new)


def _gated_body(name: str) -> Any:
    """Return the loop body of `GatedSweep`: one column; `older` is the state of the column before the previous one."""
    graph = Graph(f"{name}.")
    above, left = _neighbours(graph, "state")
    corner, _ = _neighbours(graph, "older")
    neighbours = graph.add("Concat", [above, left, corner], axis=-1)
    mixed = graph.add("Add", ["own", graph.add("MatMul", [neighbours, f"{name}.hidden"])])
    parts = ["candidate", "above_gate", "corner_gate", "new_gate"]
    graph.nodes.append(helper.make_node("Split", [mixed], parts, axis=-1))
    to_above, to_corner, to_new = (graph.add("Sigmoid", [part]) for part in parts[1:])
    memory = _mix(graph, _mix(graph, left, above, to_above), corner, to_corner)
    new = _mix(graph, memory, graph.add("Tanh", ["candidate"]), to_new)
    return _body(graph, name, ["state", "older"], new)


def _mix(graph: Graph, one: str, other: str, share: str) -> str:
    """Compute one + share · (other - one)."""
    difference = graph.add("Sub", [other, one])
    return graph.add("Add", [one, graph.add("Mul", [share, difference])])


def _neighbours(graph: Graph, state: str) -> tuple[str, str]:
    """Return rows 0 … H - 1 and 1 … H of a state [N, 1 + H, k]."""
    ends = {
        key: graph.constant(f"{state}.{key}", np.array([value], np.int64))
        for key, value in (("zero", 0), ("one", 1), ("minus_one", -1), ("end", _END))
    }
    return (
        graph.add("Slice", [state, ends["zero"], ends["minus_one"], ends["one"]]),
        graph.add("Slice", [state, ends["one"], ends["end"], ends["one"]]),
    )


def _body(graph: Graph, name: str, states: list[str], new: str) -> Any:
    """Return the subgraph, which maps states and a column to new states and the column's units."""
    one = graph.constant("one", np.array(1.0, np.float32))
    outside = graph.add("Mul", [graph.add("Sub", [one, "inside"]), f"{name}.border"])
    column = graph.add("Add", [graph.add("Mul", [new, "inside"]), outside])
    zero, first = graph.constant("zero", np.array([0], np.int64)), graph.constant("first", np.array([1], np.int64))
    border = graph.add("Slice", ["state", zero, first, first])
    graph.add("Concat", [border, column], "next", axis=1)
    graph.add("Identity", [new], "unit")
    outputs = ["next", "unit"]
    if len(states) > 1:
        graph.add("Identity", ["state"], "next_older")
        outputs.insert(1, "next_older")
    shapes: dict[str, list[str | int]] = {
        "state": ["n", "r", "k"],
        "older": ["n", "r", "k"],
        "own": ["n", "h", "m"],
        "inside": [1, "h", 1],
    }

    def describe(label: str) -> Any:
        return helper.make_tensor_value_info(label, TensorProto.FLOAT, shapes.get(label, ["n", "q", "k"]))

    return helper.make_graph(
        graph.nodes,
        f"{name}.body",
        [describe(label) for label in (*states, "own", "inside")],
        [describe(label) for label in outputs],
        graph.initializers,
    )
