"""Game files over HTTP: what comes in goes out again."""

from __future__ import annotations

import base64

import pytest
from starlette.testclient import TestClient

from tests.conftest import ROOT
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
