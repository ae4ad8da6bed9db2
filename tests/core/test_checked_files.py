"""Files of strangers: sizes and types are checked before memory is allocated, and every failure is our error."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from tengen.core.checked_files import map_array, parse_arrays, parse_tensor_header, read_bytes, read_json
from tengen.errors import InputError


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def test_arrays_come_back_as_they_were() -> None:
    arrays = {
        "a": np.arange(6, dtype=np.int16).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "empty": np.empty((0, 4), np.float32),
        "number": np.array(7, np.uint64),
        "flags": np.array([True, False]),
    }
    found = parse_arrays(npz(**arrays), "x.npz")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
        assert found[name].flags.writeable


def member(header: bytes, content: bytes = b"") -> bytes:
    """An npz file with one array of which only the header is given."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content
        archive.writestr("a.npy", data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"{'descr': '<f4', 'fortran_order': False, 'shape': (8000000000,), }\n", "does not match"),
        (b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", "shape is too large"),
        (b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "header cannot be read"),
        (b"{'descr': '<f4', 'fortran_order': False, 'shape': (((((1,), }\n", "header cannot be read"),
        (b"[" * 4000, "header cannot be read"),
    ],
)
def test_an_array_that_declares_another_size_is_refused(header: bytes, message: str) -> None:
    with pytest.raises(InputError, match=rf"x\.npz is damaged: .*{message}"):
        parse_arrays(member(header, b"\0" * 16), "x.npz")


def test_zip_flags_methods_and_sizes_are_checked() -> None:
    good = npz(a=np.arange(100))
    place = good.index(b"PK\x01\x02")  # the directory, which decides
    for offset, value, message in (
        (8, 1, "password"),
        (10, 14, "compression method"),
        (10, 99, "compression method"),
        (24, 255, "does not match|Bad CRC|Error"),
    ):
        bad = bytearray(good)
        bad[place + offset] = value
        with pytest.raises(InputError, match=rf"x\.npz is damaged: .*({message})"):
            parse_arrays(bytes(bad), "x.npz")
    with pytest.raises(InputError, match="its arrays occupy more than 100 bytes"):
        parse_arrays(good, "x.npz", max_bytes=100)


def test_a_mapped_array_must_fill_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(10, dtype=np.uint16))
    assert map_array(path, np.uint16).tolist() == list(range(10))
    for kind in (np.int16, np.float32):
        with pytest.raises(InputError, match=r"a\.npy is damaged: .*, not type uint16"):
            map_array(path, kind)
    data = path.read_bytes()
    for content in (data[:-2], data + b"\0", data.replace(b"(10,)", b"(99,)"), b"", b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.npy is damaged"):
            map_array(path, np.uint16)
    with pytest.raises(InputError, match=r"b\.npy is missing"):
        map_array(tmp_path / "b.npy", np.uint16)


def test_a_file_must_be_regular_and_small_enough(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a", 5) == b"12345"
    with pytest.raises(InputError, match="is larger than 4 bytes"):
        read_bytes(tmp_path / "a", 4)
    with pytest.raises(InputError, match="is missing"):
        read_bytes(tmp_path / "b", 4)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"cannot read .*pipe: it is not a regular file"):
        read_bytes(tmp_path / "pipe", 4)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "1" * 5000, "\x00", ""])
def test_json_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"a\.json is damaged"):
        read_json(tmp_path / "a.json")


def tensors(header: object, content: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


def entry(shape: list[object], begin: int, end: int, kind: str = "F32") -> dict[str, object]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def test_the_header_of_a_tensor_file_is_read() -> None:
    header = parse_tensor_header(save({"a": np.zeros((2, 3), np.float32)}, metadata={"x": "y"}), "x")
    assert header.shapes == {"a": (2, 3)}
    assert header.kinds == {"a": "F32"}
    assert header.metadata == {"x": "y"}
    header.check_shapes({"a": (2, 3)}, "x")
    for wanted, message in (
        ({}, "not one of the network's weights"),
        ({"a": (3, 2)}, "has shape"),
        ({"a": (2, 3), "b": ()}, "b is missing"),
    ):
        with pytest.raises(InputError, match=f"x does not match its network: .*{message}"):
            header.check_shapes(wanted, "x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 8,
        struct.pack("<Q", 1 << 40) + b"{}",
        tensors([], b""),
        tensors({"a": 3}, b""),
        tensors({"a": entry([1 << 50], 0, 4)}, b"\0" * 4),
        tensors({"a": entry([-1], 0, 4)}, b"\0" * 4),
        tensors({"a": entry([1.0], 0, 4)}, b"\0" * 4),
        tensors({"a": entry([1], 4, 8)}, b"\0" * 8),
        tensors({"a": entry([1], 0, 4), "b": entry([1], 0, 4)}, b"\0" * 4),
        tensors({"a": entry([1], 0, 4)}, b"\0" * 8),
        tensors({"a": entry([1], 0, 4, "X9")}, b"\0" * 4),
        tensors({"__metadata__": {"a": 3}}, b""),
        struct.pack("<Q", 100_000) + b"[" * 100_000,
    ],
)
def test_a_tensor_file_that_declares_another_size_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"x\.safetensors is damaged"):
        parse_tensor_header(data, "x.safetensors")
