"""Reading the structure of an ONNX file without the onnx package.

An ONNX file is one protobuf message. This reader accepts only the fields that our networks use and rejects all others:
external data, functions, sparse tensors, strings. Non-repeated fields must not occur twice, because parsers handle
duplicates differently. Memory use is limited by the size of the file.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tengen.errors import InputError

MAX_MODEL_BYTES = 1 << 30
"""Maximum size of a network file. The largest configurable network takes 760 MB."""
_MAX_FIELDS = 1_000_000
_MAX_RANK = 8

# Protobuf wire types.
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

# TensorProto.DataType
FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
TYPES: Mapping[int, np.dtype[Any]] = {
    FLOAT: np.dtype("<f4"),
    UINT8: np.dtype("u1"),
    INT8: np.dtype("i1"),
    INT32: np.dtype("<i4"),
    INT64: np.dtype("<i8"),
}
"""Tensor types that networks may use."""
_TYPED_FIELDS = {FLOAT: 4, UINT8: 5, INT8: 5, INT32: 5, INT64: 7}
"""Field of TensorProto that holds the values of each type if they are not raw bytes."""

Array: TypeAlias = npt.NDArray[Any]
Fields: TypeAlias = dict[int, list[Any]]


@dataclass(frozen=True, slots=True)
class ValueInfo:
    """An input or output of a graph."""

    name: str
    kind: int
    shape: tuple[int | str, ...]
    """Size of each dimension, or the name of a dimension of any size."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operation."""

    name: str
    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    """Values by name: int, float, tuple of ints, array or `Graph`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of operations."""

    nodes: tuple[Node, ...]
    """Operations in execution order."""
    constants: Mapping[str, Array]
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """An ONNX file."""

    graph: Graph
    opset: int
    """Version of the standard operator set."""
    metadata: Mapping[str, str] = field(default_factory=dict)


def read_model(data: bytes, place: str) -> Model:
    """Read an ONNX file; raise an `InputError` that names `place` and the problem if it is invalid."""
    if len(data) > MAX_MODEL_BYTES:
        raise InputError(f"{place} is larger than {MAX_MODEL_BYTES:,} bytes")
    try:
        return _Reader().model(memoryview(data))
    except RecursionError:
        raise InputError(f"{place} is not a network that Tengen can use: its graphs are nested too deeply") from None
    except (ValueError, struct.error) as error:
        raise InputError(f"{place} is not a network that Tengen can use: {error}") from None


class _Reader:
    """Parser for protobuf messages that limits the total number of fields."""

    def __init__(self) -> None:
        self._left = _MAX_FIELDS

    # -- messages of ONNX ------------------------------------------------------------------------------------------

    def model(self, data: int | memoryview) -> Model:
        # ir_version, producer, domain, model version, documentation; graph; opsets; metadata
        found = self._message(data, "the file", once=range(1, 8), repeated=(8, 14))
        if 7 not in found:
            raise ValueError("it has no graph")
        opset = 0
        for entry in found.get(8, ()):
            part = self._message(entry, "an operator set", once=(1, 2))
            if _text(part, 1) in ("", "ai.onnx"):
                opset = _number(part, 2)
        metadata: dict[str, str] = {}
        for entry in found.get(14, ()):
            part = self._message(entry, "the metadata", once=(1, 2))
            if _text(part, 1) in metadata:
                raise ValueError(f"its metadata contains {_text(part, 1)!r:.40} twice")
            metadata[_text(part, 1)] = _text(part, 2)
        return Model(self.graph(_bytes(found, 7)), opset, metadata)

    def graph(self, data: int | memoryview) -> Graph:
        # nodes, name, constants, documentation, inputs, outputs, intermediate shapes (not used)
        found = self._message(data, "the graph", once=(2, 10), repeated=(1, 5, 11, 12, 13))
        constants: dict[str, Array] = {}
        for entry in found.get(5, ()):
            name, array = self.tensor(entry)
            if name in constants:
                raise ValueError(f"the constant {name!r:.80} is defined twice")
            constants[name] = array
        return Graph(
            tuple(self.node(entry) for entry in found.get(1, ())),
            constants,
            tuple(self.value_info(entry) for entry in found.get(11, ())),
            tuple(self.value_info(entry) for entry in found.get(12, ())),
        )

    def node(self, data: int | memoryview) -> Node:
        found = self._message(data, "an operation", once=(3, 4, 6, 7), repeated=(1, 2, 5))
        attributes: dict[str, Any] = {}
        for entry in found.get(5, ()):
            name, value = self.attribute(entry)
            if name in attributes:
                raise ValueError(f"an operation has the attribute {name!r:.40} twice")
            attributes[name] = value
        inputs, outputs = (tuple(_decode(entry) for entry in found.get(number, ())) for number in (1, 2))
        return Node(_text(found, 3), _text(found, 4), _text(found, 7), inputs, outputs, attributes)

    def attribute(self, data: int | memoryview) -> tuple[str, Any]:
        # name, float, int, tensor, graph, ints, type
        found = self._message(data, "an attribute", once=(1, 2, 3, 5, 6, 20), repeated=(8,))
        name = _text(found, 1)
        match _number(found, 20):
            case 1:
                (value,) = struct.unpack("<f", _bytes(found, 2))
                return name, value
            case 2:
                return name, _number(found, 3)
            case 4:
                return name, self.tensor(_bytes(found, 5))[1]
            case 5:
                return name, self.graph(_bytes(found, 6))
            case 7:
                return name, tuple(self._integers(found.get(8, ())))
            case kind:
                raise ValueError(f"the attribute {name!r:.40} has the unsupported type {kind}")

    def tensor(self, data: int | memoryview) -> tuple[str, Array]:
        # sizes, type, values by type, name, raw values, documentation, location of the values
        found = self._message(data, "a tensor", once=(2, 8, 9, 12, 14), repeated=(1, 4, 5, 7))
        name = _text(found, 8)
        kind = _number(found, 2)
        if _number(found, 14):
            raise ValueError(f"{name!r:.80} has its values in a separate file")
        if kind not in TYPES:
            raise ValueError(f"{name!r:.80} has the unsupported type {kind}")
        shape = tuple(self._integers(found.get(1, ())))
        if len(shape) > _MAX_RANK or any(size < 0 for size in shape):
            raise ValueError(f"{name!r:.80} has the invalid shape {shape}")
        typed = found.get(_TYPED_FIELDS[kind], [])
        if 9 in found:
            if typed:
                raise ValueError(f"{name!r:.80} stores its values twice")
            raw = _bytes(found, 9)
            if len(raw) % TYPES[kind].itemsize:
                raise ValueError(
                    f"{name!r:.80} has {len(raw)} bytes, which is not a multiple of {TYPES[kind].itemsize}"
                )
            array = np.frombuffer(raw, TYPES[kind])
        elif kind == FLOAT:
            if any(isinstance(part, int) or len(part) % 4 for part in typed):
                raise ValueError(f"{name!r:.80} has values that are not floats")
            array = np.frombuffer(b"".join(typed), TYPES[kind])
        else:
            values = list(self._integers(typed))
            low, high = np.iinfo(TYPES[kind]).min, np.iinfo(TYPES[kind]).max
            if any(not low <= value <= high for value in values):
                raise ValueError(f"{name!r:.80} has values outside the range of its type")
            array = np.array(values, TYPES[kind])
        if array.size != math.prod(shape):
            raise ValueError(f"{name!r:.80} has {array.size} values, which do not fit the shape {shape}")
        if kind == FLOAT and not np.isfinite(array).all():
            raise ValueError(f"{name!r:.80} has values that are NaN or infinite")
        return name, array.reshape(shape)

    def value_info(self, data: int | memoryview) -> ValueInfo:
        found = self._message(data, "an input or output", once=(1, 2, 3))
        name = _text(found, 1)
        kinds = self._message(_bytes(found, 2), f"the type of {name!r:.80}", once=(1,))
        tensor = self._message(_bytes(kinds, 1), f"the type of {name!r:.80}", once=(1, 2))
        sizes: list[int | str] = []
        dimensions = (
            self._message(_bytes(tensor, 2), f"the shape of {name!r:.80}", repeated=(1,)) if 2 in tensor else {}
        )
        for entry in dimensions.get(1, ()):
            part = self._message(entry, f"the shape of {name!r:.80}", once=(1, 2))
            sizes.append(_text(part, 2) if 2 in part else _number(part, 1))
        return ValueInfo(name, _number(tensor, 1), tuple(sizes))

    # -- protobuf --------------------------------------------------------------------------------------------------

    def _message(self, data: int | memoryview, what: str, once: Any = (), repeated: tuple[int, ...] = ()) -> Fields:
        """Return the fields of a message by number; raise `ValueError` for fields not in `once` or `repeated`."""
        if not isinstance(data, memoryview):
            raise ValueError(f"expected {what}, found a number")
        found: Fields = {}
        for number, value in self._fields(data):
            if number not in repeated and number not in once:
                raise ValueError(f"field {number} of {what} is not allowed")
            if number in found and number not in repeated:
                raise ValueError(f"field {number} of {what} occurs twice")
            found.setdefault(number, []).append(value)
        return found

    def _fields(self, data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
        at = 0
        while at < len(data):
            self._left -= 1
            if self._left < 0:
                raise ValueError(f"it has more than {_MAX_FIELDS:,} fields")
            key, at = _varint(data, at)
            wire = key & 7
            if wire == _VARINT:
                value, at = _varint(data, at)
                yield key >> 3, value
                continue
            if wire == _BYTES:
                length, at = _varint(data, at)
            elif wire in (_FIXED64, _FIXED32):
                length = 8 if wire == _FIXED64 else 4
            else:
                raise ValueError(f"the field at byte {at} has the unknown wire type {wire}")
            if length > len(data) - at:
                raise ValueError("it is truncated in the middle of a field")
            yield key >> 3, data[at : at + length]
            at += length

    def _integers(self, values: Any) -> Iterator[int]:
        """Yield the numbers in a repeated field, packed or not."""
        for value in values:
            if isinstance(value, int):
                yield _signed(value)
                continue
            at = 0
            while at < len(value):
                self._left -= 1
                if self._left < 0:
                    raise ValueError(f"it has more than {_MAX_FIELDS:,} fields")
                number, at = _varint(value, at)
                yield _signed(number)


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Read a varint; return its value and the offset after it."""
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("it is truncated in the middle of a number")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & (1 << 64) - 1, at
        shift += 7


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


def _number(fields: Fields, number: int) -> int:
    value = fields[number][0] if number in fields else 0
    if not isinstance(value, int):
        raise ValueError(f"field {number} is not a number")
    return _signed(value)


def _bytes(fields: Fields, number: int) -> memoryview:
    value = fields[number][0] if number in fields else memoryview(b"")
    if not isinstance(value, memoryview):
        raise ValueError(f"field {number} is not a message")
    return value


def _text(fields: Fields, number: int) -> str:
    return _decode(_bytes(fields, number))


def _decode(value: int | memoryview) -> str:
    if not isinstance(value, memoryview):
        raise ValueError("expected a name, found a number")
    return bytes(value).decode("utf-8")
