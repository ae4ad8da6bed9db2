"""The files of the front end: compressed, cached as long as they do not change, and none outside their folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from tengen.web.static_files import StaticFiles, serve_static_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "static"
    (inside / "js").mkdir(parents=True)
    (inside / "index.html").write_text('<script src="static/js/main.js"></script><a href="#/play">', "utf-8")
    (inside / "js" / "main.js").write_text("export const answer = 42;\n" * 100, "utf-8")
    (tmp_path / "secret.txt").write_text("secret", "utf-8")
    return inside


@pytest.fixture
def files(folder: Path) -> TestClient:
    app = FastAPI()
    serve_static_files(app, folder)
    return TestClient(app, raise_server_exceptions=False)


def script_of(page: str) -> str:
    found = re.search(r'src="(static/v[0-9a-f]{12}/js/main\.js)"', page)
    assert found, page
    return f"/{found[1]}"


def test_the_page_is_checked_and_its_files_are_kept_for_a_year(files: TestClient) -> None:
    page = files.get("/")
    assert page.headers["cache-control"] == "no-cache"
    assert 'href="#/play"' in page.text
    script = files.get(script_of(page.text))
    assert script.status_code == 200
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["content-type"].startswith("text/javascript")


def test_files_are_sent_compressed_to_those_who_can_read_it(files: TestClient, folder: Path) -> None:
    whole = (folder / "js" / "main.js").read_bytes()
    packed = files.get("/static/js/main.js", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(whole) / 10
    assert packed.content == whole  # the client has unpacked it
    plain = files.get("/static/js/main.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == whole
    assert {packed.headers["vary"], plain.headers["vary"]} == {"Accept-Encoding"}


def test_an_unchanged_file_is_not_sent_again(files: TestClient) -> None:
    first = files.get("/static/js/main.js")
    assert first.headers["cache-control"] == "no-cache"
    again = files.get("/static/js/main.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_changed_file_changes_the_address(files: TestClient, folder: Path) -> None:
    before = script_of(files.get("/").text)
    (folder / "js" / "main.js").write_text("export const answer = 43;", "utf-8")
    after = script_of(files.get("/").text)
    assert after != before
    assert files.get(after).text.endswith("43;")
    # A page that is still open gets the new file, but does not keep it.
    old = files.get(before)
    assert (old.text, old.headers["cache-control"]) == (files.get(after).text, "no-cache")


@pytest.mark.parametrize("path", ["/static/../secret.txt", "/static/%2e%2e/secret.txt", "/static/", "/static/js"])
def test_only_files_of_the_folder_are_served(folder: Path, path: str) -> None:
    app = FastAPI()
    serve_static_files(app, folder)
    answer = TestClient(app, raise_server_exceptions=False).get(path)
    assert answer.status_code >= 400
    assert b"secret" not in answer.content


def test_a_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = StaticFiles(folder)
    reads: list[Path] = []
    read = Path.read_bytes

    def counted(path: Path) -> bytes:
        reads.append(path)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", counted)
    app = FastAPI()
    app.add_api_route("/{path:path}", files.file)
    client = TestClient(app)
    for _ in range(3):
        assert client.get("/js/main.js").status_code == 200
    assert len(reads) == 1


def test_the_page_names_files_that_exist(client: TestClient) -> None:
    page = client.get("/", headers={"accept-encoding": "gzip"})
    scripts = re.findall(r'(?:src|href)="(static/v[^"]+)"', page.text)
    assert len(scripts) >= 6
    for script in scripts:
        assert client.get(f"/{script}").status_code == 200
    assert client.get("/static/nothing.js").status_code == 404


@pytest.mark.parametrize("mode", ["no-cors", "cors", "websocket"])
def test_pages_of_other_origins_embed_nothing(client: TestClient, mode: str) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
    assert client.get("/", headers=headers).status_code == 403
    assert client.get("/", headers=headers | {"sec-fetch-mode": "navigate"}).status_code == 200
