"""Noise, damage and depth: a reader returns records or raises a `TengenError`, never anything else."""

from __future__ import annotations

import codecs
import io
import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.core.contracts import Colour, Rule, Ruleset
from tengen.core.geometry import Point
from tengen.errors import RecordError, TengenError
from tengen.records import json_record, lib, opening_file, position_string, sgf, sgf_reader
from tengen.records.game import GameRecord, Node, move_of
from tengen.records.text import code_page, decode, encode, split_lines, stream_text, text_chunks, tidy, tidy_line
from tests.records.sample_files import READERS, SAMPLE_FORMATS, sample

DEPTH = 5_000
RENJU = Ruleset(15, 15, 5, Rule.RENJU)


def read_or_reject(name: str, data: bytes) -> list[GameRecord]:
    try:
        found = list(READERS[name](data))
    except TengenError:
        return []
    for record in found:
        record.check()
    # Tengen's own format can store everything that a reader accepts.
    assert json_record.read(json_record.write(found)) == found
    return found


@pytest.mark.parametrize("name", READERS)
@given(data=st.binary(max_size=300))
def test_noise(name: str, data: bytes) -> None:
    read_or_reject(name, data)


VALID_STARTS = {
    "pos": b"15/renju/h8",
    "offsets": b"0,0, ",
    "psq": b"Piskvorky 15x15, 1:1, 0\n8,8,1\n",
    "sgf": b"(;GM[4]SZ[15];B[hh]",
    "rif": b"<database><games><game id='1'><move>h8 ",
    "lib": bytes.fromhex("ff52656e4c6962ff0304ffffffffffffffffffff 0000 7800"),
    "json": b'{"format":"tengen-game","version":1,"ruleset":"15x15:5:renju","nodes":[{},{"black":"h8"}',
    "jsonl": b'{"size":15,"rule":"renju","moves":"h8',
}


@pytest.mark.parametrize("name", READERS)
@given(data=st.binary(max_size=100) | st.text("[]();:\\BWACLhi8,\n{}\"'<>/-0", max_size=100).map(str.encode))
def test_noise_after_a_valid_start(name: str, data: bytes) -> None:
    read_or_reject(name, VALID_STARTS[name] + data)


def mutate(data: bytes, seed: int) -> bytes:
    """Damage the data at a few random places: change, remove, repeat or copy bytes, or truncate it."""
    rng = random.Random(seed)
    for _ in range(rng.randrange(1, 5)):
        if not data:
            break
        start = rng.randrange(len(data))
        end = min(len(data), start + rng.randrange(1, 12))
        damage = rng.randrange(5)
        if damage == 0:
            data = data[:start] + bytes([rng.randrange(256)]) + data[start + 1 :]
        elif damage == 1:
            data = data[:start] + data[end:]
        elif damage == 2:
            data = data[:end] + data[start:end] * rng.randrange(1, 4) + data[end:]
        elif damage == 3:
            data = data[:start]
        else:
            other = rng.randrange(len(data))
            data = data[:start] + data[other : other + 8] + data[start:]
    return data


@pytest.mark.parametrize("file", SAMPLE_FORMATS)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_damaged_samples(file: str, seed: int) -> None:
    read_or_reject(SAMPLE_FORMATS[file], mutate(sample(file), seed))


@pytest.mark.parametrize("file", SAMPLE_FORMATS)
@pytest.mark.parametrize("name", READERS)
def test_every_reader_on_every_sample(name: str, file: str) -> None:
    found = read_or_reject(name, sample(file))
    assert found or name != SAMPLE_FORMATS[file]


# ---- Depth and limits -----------------------------------------------------------------------------------------------


def deep_record() -> GameRecord:
    """A branch of passes, thousands of nodes deep, with a second child at every node."""
    record = GameRecord(ruleset=RENJU)
    node, colour = record.root, Colour.BLACK
    for _ in range(DEPTH):
        child = node.add(Node(moves=(move_of(colour, None),)))
        node.add(Node(moves=(move_of(colour, Point("h8")),), comment="instead"))
        node, colour = child, colour.opponent
    return record


def test_deep_trees_survive_a_round_trip_through_every_tree_format() -> None:
    record = deep_record()
    record.check()
    assert sgf.read(sgf.write([record])) == [record]
    assert json_record.read(json_record.write([record])) == [record]
    assert lib.read(lib.write([record])) == [record]
    assert len(record.moves()) == DEPTH


def test_long_games_survive_a_round_trip_through_the_line_formats() -> None:
    record = GameRecord.from_points(RENJU, [None] * DEPTH)
    assert position_string.read(position_string.write([record])) == [record]
    assert json_record.as_dict(record)["moves"] == "--" * DEPTH


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("sgf", b"(;GM[4]" + b"(;" * 30_000, "a branch is deeper than 20000 nodes"),
        ("sgf", b"(;GM[4]" + b";" * 30_000 + b")", "a branch is deeper than 20000 nodes"),
        ("sgf", b"(" * 200_000, "no SGF game"),
        ("sgf", b"(;GM[4]C[" + b"\\]" * 200_000, "no complete value"),
        ("lib", VALID_STARTS["lib"][:22] + b"\x00\x02" * 30_000, "a branch is deeper than 20000 nodes"),
        ("lib", VALID_STARTS["lib"] + b"\x69\x08" + b"a" * 2**21, "a text field is not NUL-terminated"),
        ("pos", b"--" * 30_000, "more than 20000 moves"),
        ("offsets", b"0,0, " * 30_000, "more than 20000 stones"),
        ("json", b'{"a":' * 100_000, "unusable JSON"),
        ("rif", b"<a>" * 200_000, "invalid XML"),
    ],
)
def test_readers_stop_at_their_limits(name: str, data: bytes, message: str) -> None:
    with pytest.raises(RecordError) as error:
        list(READERS[name](data))
    assert message in str(error.value)


def test_long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.records.text.MAX_LINE", 10)
    with pytest.raises(RecordError, match="line 2 has more than 10 characters"):
        position_string.read("h8\n" + "a1b1c1d1e1f")
    with pytest.raises(RecordError, match="line 2 has more than 10 characters"):
        list(split_lines(text_chunks(io.BytesIO(b"12345\n12345678901"))))
    with pytest.raises(RecordError, match="line 1 has more than 10 characters"):
        list(split_lines(["123456", "123456"]))


def test_too_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sgf_reader, lib, json_record):
        monkeypatch.setattr(module, "MAX_NODES", 10)
    record = GameRecord.from_points(RENJU, [None] * 20)
    record.root.comment = "not bare"
    for name, data in (
        ("sgf", sgf.write([record])),
        ("lib", lib.write([record])),
        ("json", json_record.write([record])),
    ):
        with pytest.raises(RecordError, match="10"):
            list(READERS[name](data))


def test_long_branches_without_moves_are_read_in_one_pass() -> None:
    chain = VALID_STARTS["lib"][:22] + b"\x00\x02" * 19_000 + b"\x78\x40"
    (record,) = lib.read(chain)
    assert record.moves() == [move_of(Colour.BLACK, Point("h8"))]


# ---- Text -----------------------------------------------------------------------------------------------------------


@given(st.text())
def test_tidy_is_idempotent(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
    assert tidy_line(tidy_line(text)) == tidy_line(text)
    assert "\n" not in tidy_line(text)
    assert not any(ord(letter) < 32 and letter != "\n" for letter in tidy(text))


# Without cp932, cp950 and big5, which have two codes for some characters.
@pytest.mark.parametrize("page", ["utf-8", "cp1252", "gbk", "shift_jis", "euc_kr", "gb18030", "koi8-r"])
@given(data=st.binary(max_size=60))
def test_no_byte_is_lost_in_decoding(page: str, data: bytes) -> None:
    assert encode(decode(data, code_page(page)), code_page(page)) == data


@given(data=st.binary(max_size=60), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_chunks_do_not_change_the_text(data: bytes, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(data)) for cut in (0, *cuts, len(data))})
    chunks = [data[start:end] for start, end in itertools.pairwise(ends)]
    if not data.startswith((codecs.BOM_UTF8[:2], codecs.BOM_UTF16_LE[:1], codecs.BOM_UTF16_BE[:1])):
        for page in ("utf-8", "cp1252", "gbk"):
            assert encode("".join(stream_text(chunks, page)), page) == data
        assert "".join(stream_text(chunks)) == decode(data)


@given(text=st.text("ab\r\n"), cuts=st.lists(st.integers(0, 20), max_size=4))
def test_chunks_do_not_change_the_lines(text: str, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(text)) for cut in (0, *cuts, len(text))})
    chunks = [text[start:end] for start, end in itertools.pairwise(ends)]
    assert list(split_lines(chunks)) == text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@pytest.mark.parametrize("name", ["zlib", "rot13", "idna", "punycode", "unicode_escape", "no such", "ä", "x" * 100, ""])
def test_codecs_that_are_not_code_pages_are_rejected(name: str) -> None:
    with pytest.raises(RecordError, match="unknown code page"):
        code_page(name)


def test_offsets_are_detected_by_the_first_line() -> None:
    assert opening_file.is_offsets(b"# text\n\n -1,2, 0,0")
    assert not opening_file.is_offsets(b"h8h9")
    assert not opening_file.is_offsets(b"")
