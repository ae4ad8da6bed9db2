"""The manifest of a checkpoint: the sha256 of every file that it needs, in the format of `sha256sum`.

    0f6a…  checkpoints/000012/weights.safetensors
    71c3…  replay/000012.npz
    # 5b1e…  the lines above

Paths are relative to the run folder; to verify the files, run `sha256sum --check checkpoints/000012/manifest` there.
The last line protects the manifest itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from tengen.errors import InputError

MANIFEST_FILE = "manifest"
MAX_MANIFEST_BYTES = 16 << 20
_LINE = re.compile(r"([0-9a-f]{64})  ([^\n]+)\n")


def sha256(data: bytes) -> str:
    """Return the checksum of a file's content."""
    return hashlib.sha256(data).hexdigest()


def format_manifest(checksums: Mapping[str, str]) -> bytes:
    """Return the content of a manifest; `checksums` maps paths to their sha256."""
    lines = "".join(f"{checksum}  {path}\n" for path, checksum in sorted(checksums.items())).encode("utf-8")
    return lines + _last_line(lines)


def parse_manifest(data: bytes, place: str) -> dict[str, str]:
    """Return the sha256 of each file by path.

    Raises an `InputError` that names `place` if the manifest does not match its own checksum.
    """
    cut = data.rfind(b"# ")
    lines = data[: max(cut, 0)]
    if cut < 0 or data[cut:] != _last_line(lines):
        raise InputError(f"{place} does not match its own checksum")
    return {path: checksum for checksum, path in _LINE.findall(lines.decode("utf-8"))}


def _last_line(lines: bytes) -> bytes:
    return f"# {sha256(lines)}  the lines above\n".encode("ascii")
