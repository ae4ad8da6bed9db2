"""Networks of strangers: what the graph may contain, what it may cost, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, InputError
from tengen.nets.architectures import NetConfig, NetKind, build_net
from tengen.nets.export import Int8Options, export_onnx, quantise
from tengen.nets.models import load_model
from tengen.nets.onnx_check import OPERATORS, check_network
from tengen.nets.sealing import seal
from tests.nets.positions import random_planes
from tests.nets.test_networks import Own

SIX = Ruleset.parse("6x6:4")


def export(kind: NetKind, ruleset: Ruleset = SIX) -> bytes:
    return export_onnx(build_net(NetConfig(kind=kind, channels=8, blocks=2), ruleset), ruleset)


def test_the_allowed_operators_and_attributes_are_those_that_our_networks_use() -> None:
    used: dict[str, set[str]] = {}

    def collect(graph: Any) -> None:
        for node in graph.node:
            assert node.domain == ""
            used.setdefault(node.op_type, set()).update(attribute.name for attribute in node.attribute)
            for attribute in node.attribute:
                collect(attribute.g)

    for kind in NetKind:
        net = build_net(NetConfig(kind=kind, channels=8, blocks=2), SIX)
        data = export_onnx(net, SIX)
        collect(onnx.load_from_string(data).graph)
        if net.has_int8:
            planes = random_planes(SIX, 64, net.config.planes)
            for options in (Int8Options(), Int8Options(residuals=True, heads=True)):  # the latter in older files
                collect(onnx.load_from_string(quantise(data, planes, options)).graph)
    collect(onnx.load_from_string(export_onnx(Own(NetConfig(), SIX), SIX)).graph)  # traced, not written by us
    assert {name: set(operator.attributes) for name, operator in OPERATORS.items()} == used


@pytest.mark.parametrize("kind", NetKind)
def test_the_networks_of_all_architectures_pass_and_are_known_by_their_size(kind: NetKind) -> None:
    for ruleset in (SIX, Ruleset.parse("9x7")):
        found = check_network(export(kind, ruleset), "x")
        assert found.ruleset == ruleset
        assert found.plane_layout == "own-other-last-colour"
        assert found.has_any_size == build_net(NetConfig(kind=kind), ruleset).has_any_size


# -- crafted files ----------------------------------------------------------------------------------------------------

PLANES = helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", 4, "height", "width"])
POLICY = helper.make_tensor_value_info("log_policy", TensorProto.FLOAT, ["batch", "area"])
VALUE = helper.make_tensor_value_info("value", TensorProto.FLOAT, ["batch"])
METADATA = {"planes": "own-other-last-colour", "ruleset": "6x6:4:freestyle"}


def constant(name: str, *numbers: int) -> Any:
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def craft(
    nodes: list[Any],
    constants: tuple[Any, ...] = (),
    *,
    inputs: tuple[Any, ...] = (PLANES,),
    outputs: tuple[Any, ...] = (POLICY, VALUE),
    opset: int = 17,
    change: Callable[[Any], None] = lambda _: None,
    metadata: dict[str, str] = METADATA,
) -> bytes:
    """A network that answers with a uniform policy and the value 0, after some nodes; sealed like ours."""
    whole = [
        helper.make_node("ReduceMax", ["planes"], ["largest"], axes=[1, 2, 3]),
        helper.make_node("Sub", ["largest", "largest"], ["zero"]),
        helper.make_node("Reshape", ["zero", "flat"], ["value"]),
        helper.make_node("ReduceMax", ["planes"], ["points"], axes=[1]),
        helper.make_node("Sub", ["points", "points"], ["zeros"]),
        helper.make_node("Flatten", ["zeros"], ["row"], axis=1),
        helper.make_node("LogSoftmax", ["row"], ["log_policy"], axis=1),
        *nodes,
    ]
    if any("value" in node.output for node in nodes):
        del whole[2]
    graph = helper.make_graph(whole, "g", list(inputs), list(outputs), [constant("flat", -1), *constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    helper.set_model_props(model, metadata)
    change(model)
    return seal(model.SerializeToString())


def load(tmp_path: Path, data: bytes) -> Any:
    (tmp_path / "theirs.onnx").write_bytes(data)
    return load_model(tmp_path / "theirs.onnx")


def test_a_crafted_network_of_allowed_parts_is_used(tmp_path: Path) -> None:
    evaluator, info = load(tmp_path, craft([]))
    assert info.has_any_size
    log_policy, value = evaluator.evaluate(random_planes(SIX, 3, "own-other-last-colour"))
    np.testing.assert_allclose(log_policy, -np.log(36), rtol=1e-6)
    assert value.tolist() == [0, 0, 0]


def endless_loop() -> Any:
    """A Loop without a limit whose condition is always true."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Identity", ["x"], ["y"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
        ],
    )
    return helper.make_node("Loop", ["", "yes", "zero"], ["looped"], body=body)


def scan(columns: str, body: list[Any], output: str = "swept") -> Any:
    graph = helper.make_graph(
        body,
        "body",
        [helper.make_tensor_value_info("column", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
    )
    return helper.make_node("Scan", [columns], [output], body=graph, num_scan_inputs=1)


def doubled(times: int) -> list[Any]:
    """Concatenations that double a tensor again and again."""
    names = ["planes", *(f"double{number}" for number in range(times))]
    return [helper.make_node("Concat", [a, a], [b], axis=0) for a, b in pairwise(names)]


def external(model: Any) -> None:
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[4])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def with_function(model: Any) -> None:
    model.functions.add(name="f", domain="theirs")


def rank_lie(model: Any) -> None:
    model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[1 << 40], raw_data=b"\0\0\0\0")


def not_a_number(model: Any) -> None:
    model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[1], raw_data=np.float32("nan").tobytes())


def take_policy_from(model: Any, name: str) -> None:
    """Let the policy be computed from another tensor."""
    for node in model.graph.node:
        if node.op_type == "LogSoftmax":
            node.input[0] = name
    nodes = sorted(model.graph.node, key=lambda node: "log_policy" in node.output)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


HUGE = (constant("huge", 300_000, 300_000),)
CRAFTED = {
    "endless loop": (craft([endless_loop()]), "the operator 'Loop' is not allowed"),
    "condition": (craft([helper.make_node("If", ["planes"], ["x"])]), "the operator 'If' is not allowed"),
    "unknown operator": (craft([helper.make_node("Magic", ["planes"], ["x"])]), "the operator 'Magic'"),
    "foreign domain": (
        craft([helper.make_node("Relu", ["planes"], ["x"], domain="com.microsoft")]),
        "the operator 'com.microsoft.Relu' is not allowed",
    ),
    "unknown attribute": (craft([helper.make_node("Relu", ["planes"], ["x"], depth=3)]), "the attribute 'depth'"),
    "string attribute": (craft([helper.make_node("Relu", ["planes"], ["x"], a="b")]), "field 4 of an attribute"),
    "external data": (craft([], change=external), r"field 13 of a tensor is not allowed"),
    "function": (craft([], change=with_function), "field 25 of the file is not allowed"),
    "lying tensor": (craft([], change=rank_lie), "'w' has 1 values, which do not fit"),
    "NaN weight": (craft([], change=not_a_number), "'w' has values that are NaN or infinite"),
    "huge constant": (
        craft(
            [helper.make_node("ConstantOfShape", ["huge"], ["x"], value=helper.make_tensor("v", 1, [1], [1.0]))], HUGE
        ),
        "ConstantOfShape .* needs .* bytes per position",
    ),
    "huge expansion": (craft([helper.make_node("Expand", ["zero", "huge"], ["x"])], HUGE), "bytes per position"),
    "doubling": (craft(doubled(40)), "bytes per position"),
    "endless numbers": (
        craft(
            [helper.make_node("Mul", ["n", "n"], ["m"]), helper.make_node("Mul", ["m", "m"], ["k"])],
            (constant("n", 1 << 20),),
        ),
        "too many numbers, or numbers that are too large",
    ),
    "slow product": (
        craft(
            [
                helper.make_node("Expand", ["zeros4", "square"], ["m"]),
                *(helper.make_node("MatMul", ["m", "m"], [f"m{n}"]) for n in range(50)),
            ],
            (constant("square", 2000, 2000), numpy_helper.from_array(np.zeros((1, 1), np.float32), "zeros4")),
        ),
        "multiplications per position",
    ),
    "scan inside a scan": (
        craft([scan("planes", [scan("column", [helper.make_node("Relu", ["column"], ["out"])], "out")])]),
        "a Scan inside a Scan|defined twice|used before",
    ),
    "long scan": (
        craft(
            [
                helper.make_node("Expand", ["zeros4", "long"], ["m"]),
                scan("m", [helper.make_node("Relu", ["column"], ["out"])]),
            ],
            (constant("long", 100_000, 1), numpy_helper.from_array(np.zeros((1, 1), np.float32), "zeros4")),
        ),
        "a Scan has inputs of lengths",
    ),
    "cycle": (
        craft([helper.make_node("Relu", ["b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]),
        "'b' is used before it is computed",
    ),
    "twice": (craft([helper.make_node("Relu", ["planes"], ["row"])]), "'row' is defined twice"),
    "other inputs": (
        craft([], inputs=(PLANES, helper.make_tensor_value_info("x", 1, [1]))),
        "its input must be planes",
    ),
    "other outputs": (craft([], outputs=(VALUE, POLICY)), "its outputs log_policy and value"),
    "integer input": (
        craft([], inputs=(helper.make_tensor_value_info("planes", TensorProto.INT64, ["b", 4, "h", "w"]),)),
        "must be float32",
    ),
    "other planes": (
        craft([], inputs=(helper.make_tensor_value_info("planes", 1, ["b", 5, "h", "w"]),)),
        r"its input has the shape .* not \[batch, 4, height, width\]",
    ),
    "other board": (
        craft([], inputs=(helper.make_tensor_value_info("planes", 1, ["b", 4, 9, 9]),)),
        "its input is for 9×9 boards, not 6x6:4:freestyle",
    ),
    "other policy": (
        craft(
            [helper.make_node("Flatten", ["planes"], ["more"], axis=1)],
            change=lambda model: take_policy_from(model, "more"),
        ),
        r"log_policy has the shape \(3, 144\) for 3 boards of 6×6, not \(3, 36\)",
    ),
    "old operators": (craft([], opset=7), "uses opset 7, not 17"),
    "no metadata": (craft([], metadata={}), "lacks planes or ruleset"),
    "unknown rules": (
        craft([], metadata={**METADATA, "ruleset": "6x6:4:magic"}),
        "is not a network that Tengen can use",
    ),
    "unknown planes": (craft([], metadata={**METADATA, "planes": "magic"}), "unknown plane layout 'magic'"),
    "unknown precision": (
        craft([], metadata={**METADATA, "precision": "int1"}),
        "has the unknown precision 'int1'",
    ),
    "unknown discount": (
        craft([], metadata={**METADATA, "discount": "x"}),
        "the discount must be above 0 and at most 1, not 'x'",
    ),
    "no protobuf": (seal(b"\xff\xff\xff\xff"), "is not a network that Tengen can use"),
    "two graphs": (seal(craft([])[:-76] * 2), "field [17] of the file occurs twice"),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_network_is_refused_by_name(tmp_path: Path, name: str) -> None:
    data, message = CRAFTED[name]
    with pytest.raises(InputError, match=message) as raised:
        load(tmp_path, data)
    assert str(tmp_path / "theirs.onnx") in str(raised.value)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    data = b""
    for _ in range(2000):  # graph in attribute in node in graph …
        for field in (6, 5, 1):
            data = _field(field, data)
    with pytest.raises(InputError, match="is not a network that Tengen can use"):
        load(tmp_path, seal(_field(7, data)))


def _field(number: int, content: bytes) -> bytes:
    length = len(content)
    text = bytearray([number << 3 | 2])
    while length > 127:
        text.append(length & 127 | 128)
        length >>= 7
    return bytes([*text, length]) + content


@pytest.mark.parametrize("value", [1e30, -2.0, float("inf")])
def test_answers_out_of_range_are_refused_when_they_come(tmp_path: Path, value: float) -> None:
    """The value is in range for an empty board, so that it is found in play."""
    weight = numpy_helper.from_array(np.array([min(value, 3e38)], np.float32), "much")
    nodes = [
        helper.make_node("Mul", ["largest", "much"], ["product"]),
        *([helper.make_node("Mul", ["product", "much"], ["more"])] if value == float("inf") else []),
        helper.make_node("Reshape", ["more" if value == float("inf") else "product", "flat"], ["value"]),
    ]
    seen = helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["batch", 1, "height", "width"])
    evaluator, _ = load(tmp_path, craft(nodes, (weight,), inputs=(seen,), metadata={**METADATA, "planes": "board"}))
    planes = np.zeros((1, 1, 6, 6), np.float32)
    evaluator.evaluate(planes)
    planes[0, 0, 0, 0] = 1
    with pytest.raises(InputError, match=r"theirs\.onnx returned NaN, infinity or a value outside \[-1, 1\]"):
        evaluator.evaluate(planes)
    for agent in ("policy", "alphazero"):
        with (
            make_agent(f'{agent}:model="{tmp_path / "theirs.onnx"}"') as player,
            pytest.raises((InputError, AgentError)),
        ):
            player.choose(Position.from_moves(SIX, "c3 c4"), Limits(simulations=20))
