"""Safe reading of untrusted or damaged files.

Sizes, counts and types are checked before memory is allocated. Failures raise an `InputError` that names the file.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

import numpy as np
import numpy.typing as npt

from tengen.core.files import open_regular
from tengen.errors import InputError

MAX_JSON_BYTES = 16 << 20
MAX_ARRAY_BYTES = 4 << 30
"""Maximum total size of the arrays in a file, in bytes after decompression."""
_MAX_TENSOR_HEADER_BYTES = 4 << 20
_TENSOR_BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
"""Bytes per element for each tensor type of a safetensors file."""
_TENSOR_HEADER_LENGTH = 8
_METADATA = "__metadata__"
_ARRAY_HEADER = re.compile(
    rb"\{'descr': '([<>|](?:b1|[iu][1248]|f[248]))', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \}[ \n]*"
)
_MAX_ARRAY_HEADER_BYTES = 4096
_MAX_RANK, _MAX_DIGITS = 8, 18


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Return the content of a regular file of at most `max_bytes`."""
    try:
        with open_regular(path) as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise InputError(f"{path} is missing") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    if len(data) > max_bytes:
        raise InputError(f"{path} is larger than {max_bytes:,} bytes")
    return data


def read_json(path: Path, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Read a JSON file and return its value."""
    return parse_json(read_bytes(path, max_bytes), str(path))


def parse_json(data: bytes | str, place: str) -> Any:
    """Parse JSON and return its value. Error messages refer to the text as `place`."""
    try:
        return json.loads(data)
    except RecursionError:
        raise InputError(f"{place} is damaged: its values are nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{place} is damaged: {error}") from None


# -- NumPy arrays -----------------------------------------------------------------------------------------------------


def parse_arrays(data: bytes, place: str, max_bytes: int = MAX_ARRAY_BYTES) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an npz file by name. They must be numeric and take at most `max_bytes` in total."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > max_bytes:
                raise ValueError(f"its arrays occupy more than {max_bytes:,} bytes")
            if len({member.filename for member in members}) < len(members):
                raise ValueError("two arrays have the same name")
            return {member.filename.removesuffix(".npy"): _parse_member(archive, member) for member in members}
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        # A damaged zip file may look encrypted (`RuntimeError`) or use an unknown method (`NotImplementedError`).
        raise InputError(f"{place} is damaged: {error}") from None


def _parse_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{member.filename!r} uses unsupported compression method {member.compress_type}")
    with archive.open(member) as file:
        shape, in_columns, kind = _read_array_header(file)
        count = math.prod(shape)
        if file.tell() + count * kind.itemsize != member.file_size:
            raise ValueError(f"{member.filename!r} has {member.file_size:,} bytes, which does not match shape {shape}")
        array = np.frombuffer(bytearray(file.read()), kind)
    if len(array) != count:
        raise ValueError(f"{member.filename!r} is truncated")
    return array.reshape(shape[::-1]).T if in_columns else array.reshape(shape)


def map_array(path: Path, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """Memory-map an npy file read-only and return its array, which must be one-dimensional and of the given type."""
    wanted = np.dtype(kind)
    try:
        with open_regular(path) as file:
            shape, _, found = _read_array_header(file)
            begin, size = file.tell(), os.fstat(file.fileno()).st_size
            if found != wanted or len(shape) != 1:
                raise ValueError(
                    f"expected a one-dimensional array of type {wanted}, not type {found} with shape {shape}"
                )
            if begin + shape[0] * wanted.itemsize != size:
                raise ValueError(f"its size is {size:,} bytes, which does not match {shape[0]:,} elements")
            return np.memmap(file, wanted, "r", begin, shape) if shape[0] else np.empty(0, wanted)
    except FileNotFoundError:
        raise InputError(f"{path} is missing") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is damaged: {error}") from None


def _read_array_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, a flag for column-major order, and the element type from the header of an npy file.

    Raises `ValueError` if the header is damaged. NumPy's own reader parses headers as Python literals and can raise
    many different errors.
    """
    magic = file.read(8)
    if magic not in (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"):
        raise ValueError("it is not a version 1 or 2 npy file")
    length = int.from_bytes(file.read(2 if magic[6] == 1 else 4), "little")
    if length > _MAX_ARRAY_HEADER_BYTES:
        raise ValueError(f"its header length of {length:,} bytes is too large")
    match = _ARRAY_HEADER.fullmatch(file.read(length))
    if match is None:
        raise ValueError("its header cannot be read")
    sizes = [size for size in match[3].decode("ascii").replace(" ", "").split(",") if size]
    if len(sizes) > _MAX_RANK or any(len(size) > _MAX_DIGITS for size in sizes):
        raise ValueError("its shape is too large")
    return tuple(map(int, sizes)), match[2] == b"True", np.dtype(match[1].decode("ascii"))


# -- tensors ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """The header of a safetensors file."""

    metadata: Mapping[str, str]
    shapes: Mapping[str, tuple[int, ...]]
    """Shape of each tensor by name."""
    kinds: Mapping[str, str]
    """Element type of each tensor by name, such as F32."""

    def check_shapes(self, wanted: Mapping[str, tuple[int, ...]], place: str) -> None:
        """Raise `InputError` unless the file has exactly the expected tensors, with the expected shapes."""
        for name in sorted(wanted.keys() | self.shapes.keys()):
            found, shape = self.shapes.get(name), wanted.get(name)
            if found is None:
                raise InputError(f"{place} does not match its network: {name} is missing")
            if shape is None:
                raise InputError(
                    f"{place} does not match its network: {name!r:.80} is not one of the network's weights"
                )
            if found != shape:
                raise InputError(f"{place} does not match its network: {name} has shape {found}, not {shape}")


def parse_tensor_header(data: bytes, place: str) -> TensorHeader:
    """Read the header of a safetensors file and check that its declared sizes match its content."""
    return read_tensor_header(io.BytesIO(data), len(data), place)


def read_tensor_header(file: BinaryIO, size: int, place: str) -> TensorHeader:
    """Read the header of a safetensors file of `size` bytes; the tensors must fill the file without gaps."""
    length = int.from_bytes(file.read(_TENSOR_HEADER_LENGTH), "little")
    if size < _TENSOR_HEADER_LENGTH or not 2 <= length <= min(_MAX_TENSOR_HEADER_BYTES, size - _TENSOR_HEADER_LENGTH):
        raise InputError(
            f"{place} is damaged: its header length of {length:,} bytes is invalid for a file of {size:,} bytes"
        )
    table = parse_json(file.read(length), f"the header of {place}")
    metadata = table.pop(_METADATA, {}) if isinstance(table, dict) else None
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise InputError(f"{place} is damaged: its header is not a table of tensors")
    try:
        spans = sorted((*_tensor_span(name, entry), name) for name, entry in table.items())
    except ValueError as error:
        raise InputError(f"{place} is damaged: {error}") from None
    end = 0
    for begin, stop, name in spans:
        if begin != end:
            raise InputError(f"{place} is damaged: {name!r:.80} starts at byte {begin}, not {end}")
        end = stop
    if end != size - _TENSOR_HEADER_LENGTH - length:
        raise InputError(
            f"{place} is damaged: its tensors occupy {end:,} bytes,"
            f" but its header is followed by {size - _TENSOR_HEADER_LENGTH - length:,} bytes"
        )
    shapes = {name: tuple(entry["shape"]) for name, entry in table.items()}
    return TensorHeader(metadata, shapes, {name: entry["dtype"] for name, entry in table.items()})


def _tensor_span(name: str, entry: Any) -> tuple[int, int]:
    """Return the start and end offsets of a tensor. Raises `ValueError` unless they match its shape."""
    table: dict[str, Any] = entry if isinstance(entry, dict) else {}
    shape, offsets, kind = table.get("shape"), table.get("data_offsets"), table.get("dtype")
    if not _is_sizes(shape) or not _is_sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"{name!r:.80} has an invalid shape or invalid offsets")
    if not isinstance(kind, str) or kind not in _TENSOR_BYTES:
        raise ValueError(f"{name!r:.80} has the unknown type {kind!r:.40}")
    begin, end = offsets
    if end - begin != math.prod(shape) * _TENSOR_BYTES[kind]:
        raise ValueError(f"{name!r:.80} occupies {end - begin:,} bytes, which does not match shape {shape}")
    return begin, end


def _is_sizes(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(size) is int and 0 <= size < 1 << 62 for size in value)
