"""Checks on network files before onnxruntime loads them.

An untrusted file can contain any graph: endless loops, terabyte-sized tensors, operators that read files. Only the
operators and attributes that `export`, `mdrnn_graph`, `traced_graph` and the quantiser write are allowed. The shape of
every tensor is inferred for the board, to limit the memory and time of a forward pass and to check the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tengen.core.contracts import Ruleset
from tengen.core.planes import plane_count
from tengen.errors import InputError
from tengen.nets.onnx_reader import FLOAT, INT8, INT64, TYPES, UINT8, Array, Graph, Node, read_model

INPUT = "planes"
OUTPUTS = ("log_policy", "value")

OPSET = 17
_DOMAINS = ("", "ai.onnx")
_MAX_NODES = 20_000
_MAX_STEPS = 1_000
"""Maximum number of iterations of a Scan; a board has at most 43 anti-diagonals."""
_MAX_SHAPE_LENGTH = 64
"""Maximum number of elements in a tensor that the graph uses as a shape."""
_MAX_NUMBER = 1 << 40
_BATCH = 3
"""Positions per forward pass in the check; chosen to differ from every other dimension of our networks."""
_LARGEST_BOARD = 22

MAX_BYTES = 128 << 20
"""Maximum memory per position in a forward pass, excluding weights."""
MAX_OPERATIONS = 100_000_000_000
"""Maximum number of multiplications per position in a forward pass."""


class NetworkFile(NamedTuple):
    """Properties of a file that passed the check."""

    metadata: Mapping[str, str]
    ruleset: Ruleset
    plane_layout: str
    has_any_size: bool


def check_network(data: bytes, place: str) -> NetworkFile:
    """Check the graph and metadata of a network file; raise an `InputError` that names `place` if it is invalid."""
    model = read_model(data, place)
    metadata = model.metadata
    if "planes" not in metadata or "ruleset" not in metadata:
        raise InputError(f"{place} was not written by Tengen: its metadata lacks planes or ruleset")
    try:
        ruleset = Ruleset.parse(metadata["ruleset"])
        channels = plane_count(metadata["planes"])
        if model.opset != OPSET:
            raise ValueError(f"it uses opset {model.opset}, not {OPSET}")
        has_any_size = _check_interface(model.graph, channels, ruleset)
        sizes = {(ruleset.height, ruleset.width)} | ({(_LARGEST_BOARD, _LARGEST_BOARD)} if has_any_size else set())
        for height, width in sorted(sizes):
            _check_board(model.graph, channels, height, width)
    except (ValueError, IndexError) as error:
        raise InputError(f"{place} is not a network that Tengen can use: {error}") from None
    return NetworkFile(metadata, ruleset, metadata["planes"], has_any_size)


def _check_interface(graph: Graph, channels: int, ruleset: Ruleset) -> bool:
    """Check the names and types of inputs and outputs; return whether the network accepts any board size."""
    if [value.name for value in graph.inputs] != [INPUT] or [value.name for value in graph.outputs] != list(OUTPUTS):
        raise ValueError(f"its input must be {INPUT} and its outputs {' and '.join(OUTPUTS)}")
    if any(value.kind != FLOAT for value in (*graph.inputs, *graph.outputs)):
        raise ValueError("its inputs and outputs must be float32")
    shape = graph.inputs[0].shape
    if len(shape) != 4 or not isinstance(shape[0], str) or shape[1] != channels:
        raise ValueError(f"its input has the shape {shape}, not [batch, {channels}, height, width]")
    if shape[2:] == (ruleset.height, ruleset.width):
        return False
    if not all(isinstance(size, str) for size in shape[2:]):
        raise ValueError(f"its input is for {shape[3]}×{shape[2]} boards, not {ruleset}")
    return True


def _check_board(graph: Graph, channels: int, height: int, width: int) -> None:
    """Infer all shapes for a board; check the outputs and the cost."""
    planes = Value(FLOAT, (_BATCH, channels, height, width))
    run = _Run(graph, {INPUT: planes})
    policy, value = (run.values[name] for name in OUTPUTS)
    for name, found, shape in ((OUTPUTS[0], policy, (_BATCH, height * width)), (OUTPUTS[1], value, (_BATCH,))):
        if found.kind != FLOAT or found.shape != shape:
            raise ValueError(f"{name} has the shape {found.shape} for {_BATCH} boards of {width}×{height}, not {shape}")


# -- shapes -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """Type and shape of a tensor, and its values if it may be used as a shape."""

    kind: int
    shape: tuple[int, ...]
    numbers: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.size * TYPES[self.kind].itemsize


class _Run:
    """Symbolic execution of a graph, in which tensors have shapes but no data."""

    def __init__(self, graph: Graph, inputs: Mapping[str, Value], outer: Mapping[str, Value] | None = None) -> None:
        """Execute the graph; `outer` has the tensors outside a loop body. Raises `ValueError` if it is invalid."""
        self._outer = outer
        self.values: dict[str, Value] = dict(inputs)
        self.operations = 0
        self.peak = 0
        """Peak memory in bytes, excluding constants and inputs."""
        for name, array in graph.constants.items():
            self._define(name, _constant(array))
        if len(graph.nodes) > _MAX_NODES:
            raise ValueError(f"it has more than {_MAX_NODES:,} operations")
        last_use = {name: place for place, node in enumerate(graph.nodes) for name in node.inputs}
        live: dict[str, int] = {}
        in_use = 0
        for place, node in enumerate(graph.nodes):
            outputs = self._execute(node)
            for name, value in zip(node.outputs, outputs, strict=True):
                self._define(name, value)
                live[name] = value.bytes
                in_use += value.bytes
            self._check_cost(node, in_use)
            for name in {*node.inputs, *node.outputs}:
                if name in live and last_use.get(name, place) <= place:
                    in_use -= live.pop(name)
        for output in graph.outputs:
            if output.name not in self.values:
                raise ValueError(f"its output {output.name!r:.80} is never computed")

    def _define(self, name: str, value: Value) -> None:
        if not name or name in self.values or (self._outer is not None and name in self._outer):
            raise ValueError(f"the tensor {name!r:.80} is defined twice")
        self.values[name] = value

    def _get(self, name: str) -> Value:
        found = self.values.get(name) or (self._outer or {}).get(name)
        if found is None:
            raise ValueError(f"the tensor {name!r:.80} is used before it is computed")
        return found

    def _execute(self, node: Node) -> Sequence[Value]:
        rule = OPERATORS.get(node.operator) if node.domain in _DOMAINS else None
        shown = f"{node.domain}.{node.operator}" if node.domain else node.operator
        if rule is None:
            raise ValueError(f"the operator {shown!r:.80} is not allowed")
        if unknown := node.attributes.keys() - rule.attributes:
            raise ValueError(f"{shown} has the attribute {min(unknown)!r:.40}, which is not allowed")
        inputs = [self._get(name) for name in node.inputs]
        low, high = rule.inputs
        if not low <= len(inputs) <= high:
            raise ValueError(f"{shown} has {len(inputs)} inputs, not {low}–{high}")
        if node.operator == "Scan":
            return self._scan(node, inputs)
        try:
            outputs = rule.infer(_Call(node, inputs))
        except (ValueError, IndexError, TypeError, KeyError, ZeroDivisionError, OverflowError) as error:
            shapes = ", ".join(str(list(value.shape)) for value in inputs)
            raise ValueError(f"{shown} cannot be applied to {shapes:.200}: {error}") from None
        self.operations += rule.cost(inputs) * sum(output.size for output in outputs)
        if len(outputs) != len(node.outputs):
            raise ValueError(f"{shown} has {len(node.outputs)} outputs, not {len(outputs)}")
        return outputs

    def _check_cost(self, node: Node, in_use: int) -> None:
        self.peak = max(self.peak, in_use)
        if self.peak > MAX_BYTES * _BATCH:
            raise ValueError(
                f"{node.operator} {node.name!r:.80} needs {self.peak // _BATCH:,} bytes per position;"
                f" the limit is {MAX_BYTES:,}"
            )
        if self.operations > MAX_OPERATIONS * _BATCH:
            raise ValueError(f"it needs more than {MAX_OPERATIONS:,} multiplications per position")

    def _scan(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        """Execute the body of a Scan once, on behalf of all iterations."""
        body, count = node.attributes.get("body"), node.attributes.get("num_scan_inputs")
        if self._outer is not None:
            raise ValueError("a Scan inside a Scan is not allowed")
        if not isinstance(body, Graph) or not isinstance(count, int) or not 1 <= count <= len(inputs):
            raise ValueError("a Scan has no valid body")
        states, columns = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
        lengths = {value.shape[0] for value in columns if value.shape}
        if len(lengths) != 1 or not all(value.shape for value in columns) or not 1 <= max(lengths) <= _MAX_STEPS:
            raise ValueError(
                f"a Scan has inputs of lengths {sorted(lengths)}; all must have the same length, 1–{_MAX_STEPS}"
            )
        steps = max(lengths)
        if len(body.inputs) != len(inputs) or len(body.outputs) != len(node.outputs):
            raise ValueError("the inputs or outputs of a Scan body do not match those of the Scan")
        given = [*states, *(Value(value.kind, value.shape[1:]) for value in columns)]
        names = [value.name for value in body.inputs]
        if len(set(names)) < len(names) or any(name in self.values for name in names):
            raise ValueError("a Scan body defines a tensor twice")
        run = _Run(body, dict(zip(names, given, strict=True)), self.values)
        self.operations += run.operations * steps
        self.peak = max(self.peak, run.peak)
        outputs = [run.values[value.name] for value in body.outputs]
        for state, after in zip(states, outputs, strict=False):
            if (state.kind, state.shape) != (after.kind, after.shape):
                raise ValueError(f"a Scan state variable changes shape from {state.shape} to {after.shape}")
        swept = [Value(value.kind, (steps, *value.shape)) for value in outputs[len(states) :]]
        return [*(Value(state.kind, state.shape) for state in states), *swept]


def _constant(array: Array) -> Value:
    kind = next(kind for kind, dtype in TYPES.items() if dtype == array.dtype)
    is_shape = kind == INT64 and array.ndim <= 1 and array.size <= _MAX_SHAPE_LENGTH
    return Value(kind, array.shape, tuple(array.reshape(-1).tolist()) if is_shape else None)


class _Call(NamedTuple):
    """An operation and its inputs."""

    node: Node
    inputs: list[Value]

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.node.attributes.get(name, default)

    def axis(self, rank: int, default: int | None = None) -> int:
        """Return the attribute `axis` as a non-negative index."""
        axis = self.attribute("axis", default)
        if not isinstance(axis, int) or not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is invalid for {rank} dimensions")
        return axis % rank

    def numbers(self, place: int) -> tuple[int, ...]:
        """Return an input that is used as a shape."""
        numbers = self.inputs[place].numbers
        if numbers is None:
            raise ValueError(f"input {place} cannot be used as a shape")
        return numbers

    def floats(self) -> list[Value]:
        """Return all inputs, which must be float32."""
        if any(value.kind != FLOAT for value in self.inputs):
            raise ValueError("the inputs must be float32")
        return self.inputs


def _numbers(numbers: Sequence[int]) -> Value:
    """Return a tensor that may be used as a shape."""
    if len(numbers) > _MAX_SHAPE_LENGTH or any(abs(number) > _MAX_NUMBER for number in numbers):
        raise ValueError("a shape has too many numbers, or numbers that are too large")
    return Value(INT64, (len(numbers),), tuple(numbers))


def _same(call: _Call) -> list[Value]:
    return [Value(FLOAT, call.floats()[0].shape)]


def _identity(call: _Call) -> list[Value]:
    return [call.inputs[0]]


def _along_axis(call: _Call) -> list[Value]:
    call.axis(len(call.inputs[0].shape))
    return _same(call)


def _elementwise(compute: Callable[[int, int], int]) -> Callable[[_Call], list[Value]]:
    def infer(call: _Call) -> list[Value]:
        one, other = call.inputs
        if one.kind == other.kind == INT64:
            a, b = call.numbers(0), call.numbers(1)
            if len(a) != len(b):
                raise ValueError("the shapes have different lengths")
            return [_numbers([compute(x, y) for x, y in zip(a, b, strict=True)])]
        return _sum(call)

    return infer


def _sum(call: _Call) -> list[Value]:
    return [Value(FLOAT, _broadcast(*(value.shape for value in call.floats())))]


def _broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    found: tuple[int, ...] = ()
    for shape in shapes:
        longest = max(len(found), len(shape))
        one, other = (1,) * (longest - len(found)) + found, (1,) * (longest - len(shape)) + shape
        if any(x != y and 1 not in (x, y) for x, y in zip(one, other, strict=True)):
            raise ValueError(f"{found} and {shape} do not match")
        found = tuple(y if x == 1 else x for x, y in zip(one, other, strict=True))
    return found


def _conv(call: _Call) -> list[Value]:
    x, weight, *bias = call.floats()
    batch, channels, *board = x.shape
    filters, inputs, *kernel = weight.shape
    pads = call.attribute("pads", (0,) * 4)
    if inputs != channels or len(board) != 2 or len(kernel) != 2 or any(one.shape != (filters,) for one in bias):
        raise ValueError("the weights do not match the input")
    if tuple(call.attribute("kernel_shape", kernel)) != tuple(kernel) or len(pads) != 4:
        raise ValueError("the kernel size does not match the weights")
    if any(not 0 <= pad < max(kernel) for pad in pads):
        raise ValueError(f"the padding {pads} is too large")
    sizes = [size + pads[axis] + pads[axis + 2] - kernel[axis] + 1 for axis, size in enumerate(board)]
    return [Value(FLOAT, _positive(batch, filters, *sizes))]


def _max_pool(call: _Call) -> list[Value]:
    batch, channels, *board = call.floats()[0].shape
    kernel, strides = call.attribute("kernel_shape"), call.attribute("strides", (1, 1))
    if len(board) != 2 or len(kernel) != 2 or len(strides) != 2 or min(*kernel, *strides) < 1:
        raise ValueError(f"the kernel {kernel} or the strides {strides} are invalid")
    sizes = [(size - k) // stride + 1 for size, k, stride in zip(board, kernel, strides, strict=True)]
    return [Value(FLOAT, _positive(batch, channels, *sizes))]


def _positive(*shape: int) -> tuple[int, ...]:
    if min(shape) < 1:
        raise ValueError(f"the output would be empty: {shape}")
    return shape


def _global_pool(call: _Call) -> list[Value]:
    batch, channels, _, _ = call.floats()[0].shape
    return [Value(FLOAT, (batch, channels, 1, 1))]


def _reduce_max(call: _Call) -> list[Value]:
    shape = list(call.floats()[0].shape)
    for axis in call.attribute("axes"):
        shape[axis] = 1
    return [Value(FLOAT, tuple(shape))]


def _gemm(call: _Call) -> list[Value]:
    a, b, *bias = call.floats()
    (rows, inner), (one, other) = a.shape, b.shape
    inputs, columns = (other, one) if call.attribute("transB", 0) else (one, other)
    if inputs != inner or any(_broadcast((rows, columns), one.shape) != (rows, columns) for one in bias):
        raise ValueError("the weights do not match the input")
    return [Value(FLOAT, (rows, columns))]


def _mat_mul(call: _Call) -> list[Value]:
    a, b = (value.shape for value in call.floats())
    if a[-1] != b[-2]:
        raise ValueError("the matrix sizes do not match")
    return [Value(FLOAT, (*_broadcast(a[:-2], b[:-2]), a[-2], b[-1]))]


def _flatten(call: _Call) -> list[Value]:
    shape = call.floats()[0].shape
    axis = call.axis(len(shape), 1)
    return [Value(FLOAT, (math.prod(shape[:axis]), math.prod(shape[axis:])))]


def _concat(call: _Call) -> list[Value]:
    first = call.inputs[0]
    axis = call.axis(len(first.shape))
    if first.kind == INT64:
        return [_numbers([number for place in range(len(call.inputs)) for number in call.numbers(place)])]
    rests = {(value.shape[:axis], value.shape[axis + 1 :]) for value in call.floats()}
    if len(rests) != 1:
        raise ValueError("the shapes do not match")
    length = sum(value.shape[axis] for value in call.inputs)
    return [Value(FLOAT, (*first.shape[:axis], length, *first.shape[axis + 1 :]))]


def _split(call: _Call) -> list[Value]:
    shape = call.floats()[0].shape
    axis, parts = call.axis(len(shape)), len(call.node.outputs)
    if shape[axis] % parts:
        raise ValueError(f"the input cannot be split into {parts} equal parts")
    return [Value(FLOAT, (*shape[:axis], shape[axis] // parts, *shape[axis + 1 :]))] * parts


def _unsqueeze(call: _Call) -> list[Value]:
    shape, axes = call.inputs[0].shape, call.numbers(1)
    rank = len(shape) + len(axes)
    if call.inputs[0].kind != FLOAT or len(set(axes)) < len(axes) or any(not 0 <= axis < rank for axis in axes):
        raise ValueError(f"the axes {axes} are invalid")
    sizes = iter(shape)
    return [Value(FLOAT, tuple(1 if axis in axes else next(sizes) for axis in range(rank)))]


def _squeeze(call: _Call) -> list[Value]:
    shape, axes = call.inputs[0].shape, call.numbers(1)
    if call.inputs[0].kind != FLOAT or any(not 0 <= axis < len(shape) or shape[axis] != 1 for axis in axes):
        raise ValueError(f"the axes {axes} are invalid")
    return [Value(FLOAT, tuple(size for axis, size in enumerate(shape) if axis not in axes))]


def _reshape(call: _Call) -> list[Value]:
    given, wanted = call.inputs[0], call.numbers(1)
    shape = [given.shape[axis] if size == 0 else size for axis, size in enumerate(wanted)]
    if given.kind != FLOAT or shape.count(-1) > 1 or min(shape) < -1:
        raise ValueError(f"the shape {shape} is invalid")
    if -1 in shape:
        shape[shape.index(-1)] = given.size // -math.prod(shape)
    if math.prod(shape) != given.size:
        raise ValueError(f"the shape {shape} is invalid")
    return [Value(FLOAT, tuple(shape))]


def _transpose(call: _Call) -> list[Value]:
    shape, perm = call.floats()[0].shape, call.attribute("perm")
    if sorted(perm) != list(range(len(shape))):
        raise ValueError(f"the permutation {perm} is invalid")
    return [Value(FLOAT, tuple(shape[axis] for axis in perm))]


def _slice(call: _Call) -> list[Value]:
    given = call.inputs[0]
    starts, ends = call.numbers(1), call.numbers(2)
    axes = call.numbers(3) if len(call.inputs) > 3 else tuple(range(len(starts)))
    steps = call.numbers(4) if len(call.inputs) > 4 else (1,) * len(starts)
    shape = list(given.shape)
    numbers = given.numbers
    if len({axis % len(shape) for axis in axes}) < len(axes) or any(
        not -len(shape) <= axis < len(shape) for axis in axes
    ):
        raise ValueError(f"the axes {axes} are invalid")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        taken = slice(start, end, step)
        shape[axis] = len(range(*taken.indices(shape[axis])))
        numbers = None if numbers is None else numbers[taken]
    if given.kind == INT64:
        if numbers is None:
            raise ValueError("the input cannot be used as a shape")
        return [_numbers(numbers)]
    return [Value(FLOAT, _positive(*shape))] if given.kind == FLOAT else []


def _gather(call: _Call) -> list[Value]:
    numbers = call.numbers(0)
    return [_numbers([numbers[place] for place in call.numbers(1)])]


def _shape(call: _Call) -> list[Value]:
    return [_numbers(call.inputs[0].shape)]


def _constant_of_shape(call: _Call) -> list[Value]:
    value = call.attribute("value")
    if not isinstance(value, np.ndarray) or value.dtype != TYPES[FLOAT] or value.size != 1:
        raise ValueError("the value must be a single float32")
    return [Value(FLOAT, _positive(*call.numbers(0)))]


def _expand(call: _Call) -> list[Value]:
    given = call.inputs[0]
    if given.kind != FLOAT:
        raise ValueError("the input must be float32")
    return [Value(FLOAT, _broadcast(given.shape, _positive(*call.numbers(1))))]


def _pad(call: _Call) -> list[Value]:
    given, pads = call.inputs[0], call.numbers(1)
    rank = len(given.shape)
    if given.kind != FLOAT or len(pads) != 2 * rank or min(pads) < 0:
        raise ValueError(f"the padding {pads} is invalid")
    return [Value(FLOAT, tuple(size + pads[axis] + pads[axis + rank] for axis, size in enumerate(given.shape)))]


def _quantize(call: _Call) -> list[Value]:
    x, scale, zero = call.inputs
    if x.kind != FLOAT or scale.kind != FLOAT or scale.size != 1 or zero.size != 1 or zero.kind not in (INT8, UINT8):
        raise ValueError("the scale and zero point do not match")
    return [Value(zero.kind, x.shape)]


def _dequantize(call: _Call) -> list[Value]:
    x, scale, zero = call.inputs
    if scale.kind != FLOAT or scale.shape != zero.shape or x.kind != zero.kind:
        raise ValueError("the scale and zero point do not match")
    if scale.size != 1 and scale.shape != (x.shape[call.axis(len(x.shape), 1)],):
        raise ValueError("there must be one scale, or one per channel")
    return [Value(FLOAT, x.shape)]


def _scan_is_special(call: _Call) -> list[Value]:
    raise ValueError("a Scan must be evaluated by its graph")


def _one(inputs: Sequence[Value]) -> int:
    return 1


def _kernel(inputs: Sequence[Value]) -> int:
    """Return the number of multiplications per output of a convolution."""
    return math.prod(inputs[1].shape[1:])


def _inner(inputs: Sequence[Value]) -> int:
    """Return the number of multiplications per output of a matrix product."""
    return inputs[0].shape[-1]


class Operator(NamedTuple):
    """An operator that a network may use."""

    infer: Callable[[_Call], list[Value]]
    """Function that returns the outputs; it raises an error if the inputs do not match."""
    inputs: tuple[int, int]
    """Minimum and maximum number of inputs."""
    attributes: frozenset[str] = frozenset()
    cost: Callable[[Sequence[Value]], int] = _one
    """Function that returns the number of multiplications per output."""


_ANY = (1, 64)
_AXIS = frozenset({"axis"})
OPERATORS: Mapping[str, Operator] = {
    "Add": Operator(_elementwise(lambda x, y: x + y), (2, 2)),
    "Concat": Operator(_concat, _ANY, _AXIS),
    "ConstantOfShape": Operator(_constant_of_shape, (1, 1), frozenset({"value"})),
    "Conv": Operator(_conv, (2, 3), frozenset({"kernel_shape", "pads"}), _kernel),
    "DequantizeLinear": Operator(_dequantize, (3, 3), _AXIS),
    "Expand": Operator(_expand, (2, 2)),
    "Flatten": Operator(_flatten, (1, 1), _AXIS),
    "Gather": Operator(_gather, (2, 2)),
    "Gemm": Operator(_gemm, (2, 3), frozenset({"transB"}), _inner),
    "GlobalAveragePool": Operator(_global_pool, (1, 1)),
    "GlobalMaxPool": Operator(_global_pool, (1, 1)),
    "Identity": Operator(_identity, (1, 1)),
    "LeakyRelu": Operator(_same, (1, 1), frozenset({"alpha"})),
    "LogSoftmax": Operator(_along_axis, (1, 1), _AXIS),
    "MatMul": Operator(_mat_mul, (2, 2), cost=_inner),
    "MaxPool": Operator(_max_pool, (1, 1), frozenset({"kernel_shape", "strides"})),
    "Mul": Operator(_elementwise(lambda x, y: x * y), (2, 2)),
    "Pad": Operator(_pad, (2, 2)),
    "QuantizeLinear": Operator(_quantize, (3, 3)),
    "ReduceMax": Operator(_reduce_max, (1, 1), frozenset({"axes"})),
    "Relu": Operator(_same, (1, 1)),
    "Reshape": Operator(_reshape, (2, 2)),
    "Scan": Operator(_scan_is_special, _ANY, frozenset({"body", "num_scan_inputs"})),
    "Shape": Operator(_shape, (1, 1)),
    "Sigmoid": Operator(_same, (1, 1)),
    "Slice": Operator(_slice, (3, 5)),
    "Softmax": Operator(_along_axis, (1, 1), _AXIS),
    "Split": Operator(_split, (1, 1), _AXIS),
    "Squeeze": Operator(_squeeze, (2, 2)),
    "Sub": Operator(_elementwise(lambda x, y: x - y), (2, 2)),
    "Sum": Operator(_sum, _ANY),
    "Tanh": Operator(_same, (1, 1)),
    "Transpose": Operator(_transpose, (1, 1), frozenset({"perm"})),
    "Unsqueeze": Operator(_unsqueeze, (2, 2)),
}
"""All operators that our networks use; a test compares them with those that the exporters write."""
