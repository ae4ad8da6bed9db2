"""Fixtures of the browser tests: a server and a Chromium. `make test-web` installs both and saves screenshots.

The fixtures are limited to this folder, because Playwright runs an event loop in the test's thread, which would break
tests elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.web.browser.visitor import Visitor

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def start_server(
    data: Path, port: int = 0, runs: Path | None = None, more: tuple[str, ...] = ()
) -> tuple[subprocess.Popen[str], str]:
    """Start a server that stores its games in `data`; return its process and address."""
    command = [sys.executable, "-m", "tengen.cli", "serve", "--no-open", "--workers", "1"]
    command += ["--port", str(port), "--data", str(data), *(["--runs", str(runs)] if runs else []), *more]
    # In an empty working folder, so that it does not show the runs of this one.
    process = subprocess.Popen(command, cwd=data, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stderr is not None
    said = process.stderr.readline()
    assert "http://" in said, said + process.stderr.read()
    address = next(word for word in said.split() if word.startswith("http://"))
    # The address is printed before the server accepts requests.
    for _ in range(200):
        try:
            urllib.request.urlopen(f"{address}api/info").close()
            break
        except OSError:
            time.sleep(0.1)
    return process, address


def stop_server(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


Serve = Callable[..., tuple[subprocess.Popen[str], str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers as `start_server` does, and stop them after the test, also when it fails."""
    started: list[subprocess.Popen[str]] = []

    def start(*args: Any, **options: Any) -> tuple[subprocess.Popen[str], str]:
        process, address = start_server(*args, **options)
        started.append(process)
        return process, address

    yield start
    for process in started:
        stop_server(process)


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the server."""
    process, address = start_server(tmp_path_factory.mktemp("games"))
    yield address
    stop_server(process)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    assert path, "no Chromium: `make test-web` installs it, or name one by CHROMIUM=/path"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Visitor]:
    """A visitor with a desktop browser; the test fails on console errors and on requests to other hosts."""
    visitor = Visitor(browser, address)
    yield visitor
    visitor.leave()


@pytest.fixture
def phone(browser: Browser, address: str) -> Iterator[Visitor]:
    """A visitor with a small touch screen."""
    visitor = Visitor(
        browser,
        address,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
    )
    yield visitor
    visitor.leave()
