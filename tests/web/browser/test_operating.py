"""Operating the laboratory in the browser: training runs and tournaments that outlive the server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect

from tengen.web.app import STATIC
from tests.web.browser.conftest import Serve
from tests.web.browser.visitor import Visitor

pytestmark = pytest.mark.thorough

SMALL = {
    "minutes": "0",
    "strength.every": "0",
    "milestone_every": "1",
    "play.games": "4",
    "net.channels": "4",
    "net.blocks": "1",
    "learner.batch": "16",
}
"""Configuration keys; the form shows the texts `lab.set.KEY`."""
TEXTS = json.loads(STATIC.joinpath("i18n", "en.json").read_text(encoding="utf-8"))
RUNNING = re.compile("The process is running")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "tengen.web.laboratory.managed" in line and line[-1].startswith(str(tmp_path)):
            process.kill()
            process.wait()


def train(visitor: Visitor, name: str, *, iterations: int = 100_000) -> Page:
    """Start a small training run through the form."""
    page = visitor.open("#/laboratory/start")
    visitor.choice("Algorithm").select_option("ppo")
    for key, value in (SMALL | {"iterations": str(iterations)}).items():
        page.get_by_label(TEXTS[f"lab.set.{key}"], exact=True).fill(value)
    page.get_by_label("Name", exact=True).fill(name)
    visitor.shoot("laboratory-start")
    visitor.button("Start").click()
    return page


def test_a_run_goes_on_while_its_server_is_killed_and_restarted(browser: Browser, folder: Path, serve: Serve) -> None:
    process, address = serve(folder)
    visitor = Visitor(browser, address)
    page = train(visitor, "long")
    expect(page.get_by_text(RUNNING)).to_be_visible()
    visitor.shoot("laboratory-live")
    process.kill()
    process.wait()
    visitor.context.close()  # not `leave`: the page has complained about the lost server
    process, address = serve(folder)
    visitor = Visitor(browser, address)
    page = visitor.open("#/laboratory/runs/long")
    expect(page.get_by_text(RUNNING)).to_be_visible()
    expect(page.get_by_role("img", name="losses.policy")).to_be_visible()
    visitor.button("Stop").click()
    expect(page.get_by_text("The process was stopped.")).to_be_visible()
    expect(page.locator(".live")).to_have_count(0)
    visitor.button("Resume").click()
    expect(page.get_by_text(RUNNING)).to_be_visible()
    visitor.button("Stop").click()
    expect(page.get_by_text("The process was stopped.")).to_be_visible()
    visitor.leave()


def test_networks_of_a_run_are_extended_compared_and_play_each_other(
    browser: Browser, folder: Path, serve: Serve
) -> None:
    _, address = serve(folder)
    visitor = Visitor(browser, address)
    page = visitor.page
    for name in ("first", "second"):
        train(visitor, name, iterations=2)
        expect(page.get_by_text("The process has finished.")).to_be_visible()
    page.get_by_label("More iterations").fill("1")
    page.keyboard.press("Tab")
    visitor.button("Extend").click()
    expect(page.get_by_text("3 steps")).to_be_visible()
    expect(page.get_by_text("The process has finished.")).to_be_visible()

    page.get_by_role("link", name="Policy during training").click()
    expect(page.get_by_role("status").filter(has_text="Iteration 3")).to_be_visible()
    page.get_by_label("Iteration").focus()
    page.keyboard.press("Home")
    expect(page.get_by_role("status").filter(has_text="Iteration 1:")).to_be_visible()
    visitor.put("c3")
    expect(visitor.button("Undo")).to_be_enabled()
    visitor.shoot("laboratory-policy")

    visitor.open("#/laboratory/compare")
    visitor.choice("Curve").select_option("losses.policy")
    visitor.choice("Horizontal axis").select_option("games")
    picture = page.get_by_role("img", name=re.compile("losses.policy: (first|second) .*(first|second)"))
    expect(picture).to_be_visible()
    expect(picture.locator(".chart-line")).to_have_count(2)
    expect(picture).to_contain_text("Games")
    visitor.shoot("laboratory-compare")

    visitor.open("#/laboratory/runs/first")
    page.get_by_role("link", name="Tournament between this run's networks").click()
    expect(visitor.choice("run").first).to_have_value("first")
    page.get_by_label("Openings per pair").fill("1")
    page.keyboard.press("Tab")
    visitor.shoot("laboratory-start-tournament")
    visitor.button("Start").click()
    expect(page.get_by_text("The process has finished.")).to_be_visible()
    expect(page.get_by_role("table", name="Ratings")).to_contain_text("ppo:run=first,iteration=1")
    page.get_by_role("table", name="Games").get_by_role("button").first.click()
    expect(visitor.stones).not_to_have_count(0)

    visitor.open("#/laboratory/runs/first")
    visitor.choice("Iteration").select_option("1")
    visitor.button("Play against this network").click()
    expect(page.get_by_label("iteration", exact=True)).to_have_value("1")
    visitor.leave()


def test_cards_and_papers_are_pages_with_figures(visitor: Visitor) -> None:
    page = visitor.open("#/laboratory/papers")
    page.get_by_role("link", name="Using DRL to train a Gomoku agent").click()
    expect(page.get_by_role("columnheader", name="the paper").first).to_be_visible()
    visitor.shoot("laboratory-paper")
    images = page.locator(".document img")
    listed = page.request.get(f"{visitor.address}api/papers").json()
    figures = next(paper["figures"] for paper in listed if paper["name"] == "pg9")
    assert figures
    expect(images).to_have_count(len(figures))
    for image in images.all():
        image.scroll_into_view_if_needed()
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") > 100
    page = visitor.open("#/laboratory/models/9x9")
    expect(page.get_by_role("heading", name="Results")).to_be_visible()
    expect(page.locator(".document img")).to_have_count(1)
    visitor.shoot("laboratory-model")


def test_a_read_only_server_shows_no_way_to_start(browser: Browser, folder: Path, serve: Serve) -> None:
    _, address = serve(folder, more=("--read-only",))
    visitor = Visitor(browser, address)
    page = visitor.open("#/laboratory")
    expect(page.get_by_text("Read-only")).to_be_visible()
    expect(page.get_by_role("link", name="Start a training run")).to_have_count(0)
    visitor.open("#/laboratory/start")
    expect(page.get_by_text("the server was started with --read-only")).to_be_visible()
    visitor.leave()
