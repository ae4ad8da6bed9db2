"""Text in game files: code pages, line breaks and control characters.

Bytes that are invalid in the chosen code page are never dropped. They are stored in Python strings as lone surrogates
(`surrogateescape`), and the writers turn them back into the same bytes.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import TYPE_CHECKING, BinaryIO

from tengen.errors import RecordError
from tengen.records.limits import MAX_LINE, MAX_STREAM_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CHUNK = 2**16
"""Bytes read from a file at a time."""

CODE_PAGES = frozenset(
    {"ascii", "utf-8", "cp932", "cp936", "cp949", "cp950", "shift_jis", "euc_jp", "euc_kr", "gbk", "gb2312", "gb18030"}
    | {"big5", "koi8-r", "koi8-u", "cp437", "cp850", "cp866", "cp874"}
    | {f"iso8859-{part}" for part in range(1, 17)}
    | {f"cp{page}" for page in range(1250, 1259)}
)
"""Python names of the code pages that game files may use; Python's other codecs are excluded."""

_LINE_BREAK = re.compile(r"\r\n|\n\r|\r|\n")
_LINE_END = re.compile(r"\r\n|\r|\n")
# C0 and C1 control characters except the line break; tabs, VT and FF are replaced by spaces first.
_BLANKS = str.maketrans(dict.fromkeys("\t\v\f", " "))
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
# Surrogates that do not represent an undecodable byte.
_BROKEN = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_KEPT_BYTES = re.compile("[\udc80-\udcff]+")


def code_page(name: str) -> str:
    """Return Python's name for a code page, such as `cp1252` for `windows-1252`."""
    try:
        found = codecs.lookup(name.strip()).name if name.isascii() and len(name) <= 40 else ""
    except (LookupError, ValueError):
        found = ""
    found = "utf-8" if found == "utf-8-sig" else found
    if found not in CODE_PAGES:
        raise RecordError(
            f"unknown code page {name[:40]!r}"
            " (known code pages include utf-8, cp1252, cp1251, cp932, gbk, big5 and koi8-r)"
        )
    return found


def decode(data: bytes, page: str = "utf-8") -> str:
    """Decode bytes; undecodable bytes become lone surrogates. `page` is a result of `code_page`."""
    try:
        return data.decode(page, "surrogateescape")
    except UnicodeDecodeError:
        # Some double-byte code pages reject an ASCII byte, which surrogateescape cannot represent.
        return data.decode("ascii", "surrogateescape")


def encode(text: str, page: str = "utf-8") -> bytes:
    """Encode text and restore undecodable bytes; raise `RecordError` for a character that the code page lacks."""
    try:
        return text.encode(page, "surrogateescape")
    except UnicodeEncodeError as error:
        character = text[error.start : error.start + 1]
        raise RecordError(f"{character!r} in {text[:40]!r} cannot be written in {page}; choose utf-8") from None


def as_text(data: bytes | str, page: str = "utf-8") -> str:
    """Return the text of a file, given as bytes or as a string; a byte order mark overrides `page`."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    if data.startswith(codecs.BOM_UTF8):
        return decode(data[len(codecs.BOM_UTF8) :])
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return decode(data, page)


def stream_bytes(file: BinaryIO) -> Iterator[bytes]:
    """Yield the content of an open file in chunks; raise `RecordError` if it is larger than `MAX_STREAM_BYTES`."""
    total = 0
    while chunk := file.read(CHUNK):
        total += len(chunk)
        if total > MAX_STREAM_BYTES:
            raise RecordError(f"the file is larger than the limit of {MAX_STREAM_BYTES} bytes")
        yield chunk


def stream_text(chunks: Iterable[bytes], page: str = "utf-8") -> Iterator[str]:
    """Decode a file in chunks; a byte order mark overrides `page`. Undecodable bytes become lone surrogates.

    If a double-byte code page rejects a chunk, the file is decoded as ASCII from there on (see `decode`).
    """
    decoder: codecs.IncrementalDecoder | None = None
    for chunk in chunks:
        data = chunk
        if decoder is None:
            data, decoder = _choose_decoder(chunk, page)
        waiting = decoder.getstate()[0]
        try:
            yield decoder.decode(data)
        except UnicodeDecodeError:
            decoder = codecs.getincrementaldecoder("ascii")("surrogateescape")
            yield decoder.decode(waiting + data)
    if decoder is not None:
        waiting = decoder.getstate()[0]
        try:
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            yield waiting.decode("ascii", "surrogateescape")


def _choose_decoder(start: bytes, page: str) -> tuple[bytes, codecs.IncrementalDecoder]:
    """Return the start of a file without a UTF-8 byte order mark, and a decoder for the file."""
    if start.startswith(codecs.BOM_UTF8):
        return start[len(codecs.BOM_UTF8) :], codecs.getincrementaldecoder("utf-8")("surrogateescape")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return start, codecs.getincrementaldecoder("utf-16")("replace")
    return start, codecs.getincrementaldecoder(page)("surrogateescape")


def text_chunks(source: bytes | str | BinaryIO, page: str = "utf-8") -> Iterator[str]:
    """Yield the text of a file in chunks, given as its content or as an open file."""
    if isinstance(source, str):
        return iter([source.removeprefix("\ufeff")])
    return stream_text(stream_bytes(io.BytesIO(source) if isinstance(source, bytes) else source), page)


def split_lines(texts: Iterable[str]) -> Iterator[str]:
    """Split text that arrives in chunks into lines at CR, LF and CRLF only; yield them without line endings."""
    number = 1
    parts: list[str] = []
    length = 0
    ended_with_cr = False
    for text in filter(None, texts):
        # A line feed at the start may be the second half of CRLF.
        *complete, rest = _LINE_END.split(text.removeprefix("\n") if ended_with_cr else text)
        ended_with_cr = text.endswith("\r")
        for line in complete:
            yield _checked_line("".join((*parts, line)), number)
            parts.clear()
            length = 0
            number += 1
        parts.append(rest)
        length += len(rest)
        if length > MAX_LINE:
            raise RecordError(f"line {number} has more than {MAX_LINE} characters")
    yield _checked_line("".join(parts), number)


def _checked_line(line: str, number: int) -> str:
    if len(line) > MAX_LINE:
        raise RecordError(f"line {number} has more than {MAX_LINE} characters")
    return line


def tidy(text: str) -> str:
    """Normalise text for a record: LF between lines, no control characters, no whitespace at either end."""
    text = _CONTROLS.sub("", _LINE_BREAK.sub("\n", text).translate(_BLANKS))
    return _BROKEN.sub("\ufffd", text).strip()


def tidy_line(text: str) -> str:
    """Normalise text and join its lines; for names, events and dates."""
    return tidy(text).replace("\n", " ")


def displayable(text: str) -> str:
    """Normalise text and replace its undecodable bytes; any terminal or file accepts the result."""
    return _KEPT_BYTES.sub("\ufffd", tidy(text))


def has_kept_bytes(text: str) -> bool:
    """Return whether the text contains bytes that are invalid in its code page."""
    return _KEPT_BYTES.search(text) is not None


def shorten(text: str, length: int = 40) -> str:
    """Return at most `length` characters of the text, for messages."""
    return text if len(text) <= length else text[:length] + "…"
