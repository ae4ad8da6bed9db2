"""Game files over HTTP: what comes in goes out again."""

from __future__ import annotations

import asyncio
import base64
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient

from tengen.web.app import create_app
from tengen.web.games.collections import Collections
from tengen.web.games.records import ReadRecord, ReadResult
from tengen.web.messages.records import ImportResult, Record
from tengen.web.services import ServerConfig
from tengen.web.workers.jobs import Job
from tengen.web.workers.scheduler import SearchPool, SearchPoolConfig
from tests.conftest import ROOT
from tests.web.conftest import GENEROUS
from tests.web.talk import Json

SAMPLES = ROOT / "tests" / "records" / "samples"


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_sample_is_read(client: TestClient, path) -> None:
    data = base64.b64encode(path.read_bytes()).decode()
    response = client.post("/api/import", json={"base64": data, "filename": path.name})
    assert response.status_code == 200, response.text
    result = response.json()
    assert result["gameCount"] >= 1
    assert all(node["parent"] < place for place, node in enumerate(result["record"]["nodes"]) if place)


@pytest.mark.parametrize("format", ["sgf", "json", "jsonl"])
def test_what_is_written_is_read_again(client: TestClient, format: str) -> None:
    data = (SAMPLES / "variations.sgf").read_text()
    record = client.post("/api/import", json={"text": data}).json()["record"]
    written = client.post("/api/export", json={"record": record, "format": format}).json()
    assert written["losses"] == []
    again = client.post("/api/import", json={"text": written["text"], "filename": written["filename"]}).json()
    assert again["record"] == record


def test_a_drawing_and_a_position_string_are_recognised(client: TestClient) -> None:
    drawing = client.post("/api/import", json={"text": ". . .\n. X .\n. O ."}).json()
    assert (drawing["format"], drawing["record"]["rules"]) == ("drawing", "3x3:3:freestyle")
    moves = client.post("/api/import", json={"text": "h8i9", "rules": "15x15:5:renju"}).json()
    assert moves["format"] == "pos"
    assert [node["move"] for node in moves["record"]["nodes"]] == [None, "h8", "i9"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "h8", "base64": "aDg="},
        {"base64": "!!"},
        {"text": "h8h8"},
        {"text": "(;GM[4]SZ[15];B[zz])"},
        {"text": "h8", "index": 1},
        {"text": "h8", "format": "exe"},
        {"text": "h8", "rules": "99x99"},
    ],
    ids=str,
)
def test_what_cannot_be_read_is_explained(client: TestClient, body) -> None:
    response = client.post("/api/import", json=body)
    assert response.status_code == 400
    assert response.json()["error"]


def test_a_record_that_is_no_tree_is_refused(client: TestClient) -> None:
    trees: list[list[Json]] = [[{}, {"parent": 1}], [{"parent": 0}], [{}, {}], [{}, {"parent": 0, "move": "h8"}]]
    for nodes in trees:
        response = client.post("/api/export", json={"record": {"nodes": nodes}, "format": "sgf"})
        assert response.status_code == 400, nodes


def test_rif_is_not_written(client: TestClient) -> None:
    response = client.post("/api/export", json={"record": {}, "format": "rif"})
    assert response.status_code == 400
    assert "not written" in response.json()["error"]


def test_studies_are_kept(client: TestClient) -> None:
    record = {"black": "Ann", "nodes": [{}, {"parent": 0, "colour": "black", "move": "h8", "comment": "<script>"}]}
    kept = client.post("/api/studies", json=record).json()
    assert client.get(f"/api/studies/{kept['id']}").json() == kept
    replaced = client.put(f"/api/studies/{kept['id']}", json=record | {"white": "Bob"}).json()
    assert replaced["record"]["white"] == "Bob"
    assert client.get("/api/studies/AAAAAAAAAAAAAAAAAAAAAA").status_code == 404
    assert client.put("/api/studies/AAAAAAAAAAAAAAAAAAAAAA", json=record).status_code == 404


def test_pictures(client: TestClient) -> None:
    svg = client.get("/api/picture.svg", params={"moves": "h8i9", "numbers": "true"})
    assert svg.headers["content-type"].startswith("image/svg+xml")
    assert svg.text.count("<circle") == 5 + 2 + 1  # stars, stones, the last move
    png = client.get("/api/picture.png", params={"moves": "h8i9", "rules": "renju", "boardXSize": 9})
    assert png.content.startswith(b"\x89PNG")
    assert client.get("/api/picture.svg", params={"moves": "<script>"}).status_code == 400


# ---- Collections ----------------------------------------------------------------------------------------------------

GAMES = "".join(
    f"(;GM[4]SZ[15]PB[Ann {number}]C[{number}];B[hh];W[ii]C[a comment](;B[jj])(;B[kk]))" for number in range(40)
)


def test_a_file_is_parsed_once_for_all_its_games(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    run = SearchPool.run

    async def counted(pool: SearchPool, job: Job, **options: Any) -> Any:
        if isinstance(job, ReadRecord):
            sizes.append(len(job.data))
        return await run(pool, job, **options)

    monkeypatch.setattr(SearchPool, "run", counted)
    first = client.post("/api/import", json={"text": GAMES}).json()
    for index in (0, 7, 39):
        alone = client.post("/api/import", json={"text": GAMES, "index": index}).json()
        assert alone["record"]["black"] == f"Ann {index}"
        assert alone == first | {"index": index, "record": alone["record"]}
        assert len(alone["record"]["nodes"]) == 5
    assert client.post("/api/import", json={"text": GAMES, "index": 40}).status_code == 400
    assert sizes[0] == len(GAMES)
    assert len(sizes) == 4
    assert max(sizes[1:]) < len(GAMES) / 10


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_a_kept_game_is_the_game_of_the_file(client: TestClient, path: Path) -> None:
    body = {"base64": base64.b64encode(path.read_bytes()).decode(), "filename": path.name}
    first = client.post("/api/import", json=body).json()
    assert client.post("/api/import", json=body).json() == first


def test_kept_files_are_bounded() -> None:
    async def read_many() -> list[int]:
        asked: list[int] = []

        class Pool:
            async def run(self, job: ReadRecord, owner: str) -> ReadResult:
                asked.append(len(job.data))
                record = ImportResult(format="sgf", game_count=2, titles=[], index=0, record=Record(), notes=[])
                return ReadResult(record, (zlib.compress(b"x"), b"y" * 400))

        collections = Collections(cast(SearchPool, Pool()), max_bytes=1000)
        for size in (10, 20, 30, 10, 30):
            job = ReadRecord(data=b"x" * size, format=None, filename=None, ruleset=None, rows="bottom", index=0)
            await collections.read(job, "owner")
        return asked

    # The third file pushes out the first, which is then read again; the third is still known.
    assert asyncio.run(read_many()) == [10, 20, 30, 10, 1]


# ---- Large records --------------------------------------------------------------------------------------------------


def test_large_records_are_checked_outside_the_event_loop(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("parsed in the process of the server")

    nodes: list[Json] = [{}] + [{"parent": place, "colour": "black", "comment": "x" * 100} for place in range(2000)]
    record = {"nodes": nodes}
    with monkeypatch.context() as patched:
        for name in ("model_validate", "model_validate_json"):
            patched.setattr(Record, name, refuse)
        patched.setattr(Record, "__pydantic_validator__", None)
        study = client.post("/api/studies", json=record)
        assert study.status_code == 201, study.text
        again = client.put(f"/api/studies/{study.json()['id']}", json=record)
        assert again.json() == study.json()
        assert client.get(f"/api/studies/{study.json()['id']}").json() == study.json()
        assert client.post("/api/export", json={"record": record, "format": "sgf"}).status_code == 200
    assert len(study.json()["record"]["nodes"]) == 2001


def test_invalid_records_are_refused_as_other_messages_are(client: TestClient) -> None:
    for body, field in (({"nodes": 3}, "nodes"), ({"colour": 1}, "colour"), ([], None)):
        response = client.post("/api/studies", json=body)
        assert (response.status_code, response.json()["code"], response.json()["field"]) == (422, "invalid", field)
    response = client.post("/api/export", json={"record": {"black": 1}, "format": "sgf"})
    assert (response.status_code, response.json()["field"]) == (422, "record.black")
    assert client.post("/api/studies").status_code == 422
    assert client.post("/api/studies", content=b"{", headers={"content-type": "application/json"}).status_code == 422


def test_studies_are_bounded_by_bytes() -> None:
    limits = replace(GENEROUS, max_study_bytes=10_000)
    config = ServerConfig(limits=limits, pool=SearchPoolConfig(workers=1))
    with TestClient(create_app(config)) as client:
        nodes: list[Json] = [{}] + [{"parent": 0, "colour": "black", "comment": "x" * 1000} for _ in range(10)]
        response = client.post("/api/studies", json={"nodes": nodes})
        assert (response.status_code, response.json()["code"]) == (400, "record")
        assert "larger than 10000 bytes" in response.json()["error"]
