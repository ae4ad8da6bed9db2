"""Runs and tournaments in the browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.conftest import start_server, stop_server
from tests.web.browser.visitor import Visitor
from tests.web.talk import write_network

pytestmark = pytest.mark.thorough

TOURNAMENT = """
name = "Two players"
rules = "6x6:4:freestyle"
format = "round-robin"
rounds = 1
seed = 1
players = ["naive:level=3", "random"]
"""


@pytest.fixture
def lab(browser: Browser, tmp_path: Path) -> Iterator[Visitor]:
    """Start a server that shows a run of three iterations and a tournament of two games."""
    run = tmp_path / "runs" / "zero" / "first"
    (run / "games").mkdir(parents=True)
    (run / "config.toml").write_text('[run]\nalgorithm = "alphazero"\n[config]\nruleset = "6x6:4:freestyle"\n', "utf-8")
    strength = {"elo": 120.0, "error": 40.0}
    metrics = [
        {"iteration": i, "games": 64 * i, "seconds": 32 * i, "losses": {"policy": 3.5 / i}, "strength": strength}
        for i in (1, 2, 3)
    ]
    (run / "metrics.jsonl").write_text("\n".join(map(json.dumps, metrics)) + "\n", "utf-8")
    (run / "games" / "000003.sgf").write_text("(;GM[4]SZ[6];B[cc];W[dd];B[cd])", "utf-8")
    write_network(run)
    (tmp_path / "runs" / "two.toml").write_text(TOURNAMENT, "utf-8")
    command = [sys.executable, "-m", "tengen.cli", "tournament", "two.toml", "--quiet"]
    subprocess.run(command, cwd=tmp_path / "runs", check=True, capture_output=True)
    process, address = start_server(tmp_path, runs=tmp_path / "runs")
    visitor = Visitor(browser, address)
    yield visitor
    visitor.leave()
    stop_server(process)


def test_a_run_has_curves_and_its_games_can_be_replayed(lab: Visitor) -> None:
    page = lab.open("#/laboratory")
    page.get_by_role("link", name="zero/first").click()
    expect(page.get_by_role("heading", name="zero/first")).to_be_visible()
    expect(page.get_by_text("alphazero · 6x6:4:freestyle · 3 steps · 2.0 games/s")).to_be_visible()
    expect(page.get_by_role("img", name="losses.policy")).to_be_visible()
    expect(page.get_by_role("img", name="Strength (Elo)")).to_be_visible()
    lab.shoot("laboratory-run")
    lab.button("000003.sgf").click()
    expect(lab.stones).to_have_count(3)


def test_the_network_of_a_run_is_played_against(lab: Visitor) -> None:
    page = lab.open("#/laboratory")
    page.get_by_role("link", name="zero/first").click()
    lab.button("Play against this network").click()
    expect(lab.choice("run")).to_have_value("zero/first")
    lab.button("Start game").click()
    lab.put("c3")
    expect(lab.stones).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text(re.compile("Your move"))
    lab.open("#/laboratory/runs/zero%2Ffirst")
    lab.button("Analyse with this network").click()
    expect(page.locator(".engine-name").first).to_have_text("alphazero:run=zero/first")
    lab.button("Analyse").click()
    expect(page.locator(".candidate-row").first).to_be_visible()


def test_a_tournament_has_tables_and_its_games_can_be_replayed(lab: Visitor) -> None:
    page = lab.open("#/laboratory")
    page.get_by_role("link", name="Tournaments").click()
    page.get_by_role("link", name="Two players").click()
    expect(page.get_by_role("table", name="Ratings")).to_contain_text("naive:level=3")
    expect(page.get_by_role("table", name="Crosstable")).to_be_visible()
    lab.shoot("laboratory-tournament")
    page.get_by_role("table", name="Games").get_by_role("button").first.click()
    expect(lab.stones).not_to_have_count(0)
