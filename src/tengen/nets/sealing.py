"""The checksum inside a network file, which can be verified without the onnx package.

A protobuf message can be extended by appending fields. A sealed file is an ONNX model followed by one more metadata
entry, `sha256`: the checksum of all bytes before this entry. Other programs show the entry in the model's metadata.
"""

from __future__ import annotations

import hashlib

from tengen.errors import InputError

# metadata_props is field 14 of ModelProto; its key and value are fields 1 and 2 of StringStringEntryProto.
_ENTRY = b"\x72\x4a\x0a\x06sha256\x12\x40"
_DIGITS = 64


def seal(model: bytes) -> bytes:
    """Append the checksum to a model without one."""
    return model + _ENTRY + hashlib.sha256(model).hexdigest().encode("ascii")


def check_seal(data: bytes, place: str) -> str:
    """Verify a sealed file and return its checksum; raise `InputError` if it is damaged or not sealed."""
    body, entry, digits = data[: -_DIGITS - len(_ENTRY)], data[-_DIGITS - len(_ENTRY) : -_DIGITS], data[-_DIGITS:]
    if entry != _ENTRY:
        raise InputError(f"{place} is damaged, truncated, or not a network written by Tengen: its checksum is missing")
    found = hashlib.sha256(body).hexdigest()
    if found.encode("ascii") != digits:
        raise InputError(
            f"{place} is damaged: its sha256 is {found[:12]}…, not {digits[:12].decode('ascii', 'replace')}…"
        )
    return found
