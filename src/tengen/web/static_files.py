"""Serves the pages and their files, compressed and cached.

The page links to its files under `static/v…/`, where the version changes with the files. Browsers may therefore cache
them for a year without asking again. They always revalidate the page itself, which links to new addresses after an
update. Under `static/` without a version, browsers revalidate the same files on every use.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from tengen.errors import NotFoundError

_PAGE = "index.html"
_VERSION = re.compile(r"v[0-9a-f]{12}/")
_REFERENCE = re.compile(r'(href|src)="static/')
_SMALLEST_COMPRESSED = 256
"""Files smaller than this are not compressed, because that would not save any space."""
_FOREVER = "public, max-age=31536000, immutable"
_CHECKED = "no-cache"
_TYPES = {".js": "text/javascript", ".ts": "text/plain", ".svg": "image/svg+xml", ".json": "application/json"}
"""Media types that must not depend on the settings of the machine."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file in memory, as it was at `stamp`."""

    stamp: tuple[int, int]
    content: bytes
    compressed: bytes | None
    tag: str
    media_type: str


class StaticFiles:
    """The files of a folder. A changed file is read again, so that developers see changes without a restart."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, _File] = {}
        self._names: set[str] = set()
        """Names of all files. All other paths are refused, including paths that lead out of the folder."""
        self._version = self._find_version()
        """The version in the page that was served last."""

    def page(self, request: Request) -> Response:
        """Return the page, which links to its files under the current version."""
        self._version = self._find_version()
        file = self._read(_PAGE, self._folder / _PAGE)
        text = _REFERENCE.sub(rf'\1="static/{self._version}/', file.content.decode())
        return _respond(request, _packed(file.stamp, text.encode(), file.media_type), _CHECKED)

    def file(self, request: Request, path: str) -> Response:
        """Return a file by its path below `static/`, with or without a version. Raises `NotFoundError`."""
        version = _VERSION.match(path)
        name = path[version.end() :] if version else path
        found = self._folder / name
        if name not in self._names or not found.is_file():
            raise NotFoundError(f"there is no file {name!r}")
        is_current = version is not None and version.group() == f"{self._version}/"
        return _respond(request, self._read(name, found), _FOREVER if is_current else _CHECKED)

    def _find_version(self) -> str:
        """List all files and return a digest that changes whenever a file changes."""
        paths = sorted(path for path in self._folder.rglob("*") if path.is_file())
        self._names = {path.relative_to(self._folder).as_posix() for path in paths}
        stamps = "".join(f"{path.relative_to(self._folder)} {_stamp(path)} " for path in paths)
        return f"v{hashlib.sha256(stamps.encode()).hexdigest()[:12]}"

    def _read(self, name: str, path: Path) -> _File:
        known = self._files.get(name)
        stamp = _stamp(path)
        if known is None or known.stamp != stamp:
            media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
            known = self._files[name] = _packed(stamp, path.read_bytes(), media_type)
        return known


def serve_static_files(app: FastAPI, folder: Path) -> None:
    """Add the routes for the page and its files."""
    files = StaticFiles(folder)

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def index(request: Request) -> Response:
        return files.page(request)

    @app.api_route("/static/{path:path}", methods=["GET", "HEAD"], include_in_schema=False)
    def file(request: Request, path: str) -> Response:
        return files.file(request, path)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _packed(stamp: tuple[int, int], content: bytes, media_type: str) -> _File:
    # A timestamp in the gzip header would make equal files differ.
    packed = gzip.compress(content, mtime=0) if len(content) >= _SMALLEST_COMPRESSED else content
    return _File(
        stamp=stamp,
        content=content,
        compressed=packed if len(packed) < len(content) else None,
        tag=f'"{hashlib.sha256(content).hexdigest()[:16]}"',
        media_type=media_type,
    )


def _respond(request: Request, file: _File, caching: str) -> Response:
    headers = {"Cache-Control": caching, "ETag": file.tag, "Vary": "Accept-Encoding"}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    is_packed = file.compressed is not None and "gzip" in request.headers.get("accept-encoding", "")
    if is_packed:
        headers["Content-Encoding"] = "gzip"
    content = file.compressed if is_packed else file.content
    return Response(content, headers=headers, media_type=file.media_type)
