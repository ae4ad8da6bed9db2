"""The list of the games that were played in this browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.conftest import Serve
from tests.web.browser.visitor import Visitor

LONG_GAME = (
    "i7k8e7h9h8g9i9g7g10i6g8j7l9i8j6j9l7k5l5l6k10k7k6m5j8j4i3m8m7k9h5k4"
    "e8l4f8d8m4n4o3k3n3o2j2h4i4k2k1j5m2e6f5f9f4f7g11h10g12h6i5"
)
"""The first 59 moves of a game of the engine with itself, without a five."""


def play_and_resign(visitor: Visitor) -> None:
    """Play two stones against the weakest level and resign."""
    visitor.open("#/play")
    visitor.page.get_by_role("slider", name="Level").fill("1")
    visitor.point("h8").click()
    expect(visitor.stones).to_have_count(2)
    visitor.await_turn()
    visitor.button("Resign").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(visitor.button("Rematch")).to_be_visible()


def test_a_game_is_listed_searched_reviewed_saved_and_deleted(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open("#/games")
    expect(page.get_by_text("No games yet")).to_be_visible()
    play_and_resign(visitor)
    visitor.open("#/games")
    row = page.locator(".game-row")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Beginner")
    expect(row).to_contain_text("Lost")
    expect(row).to_contain_text("Freestyle · 15 × 15 · 5 in a row")
    visitor.choice("Result").select_option("Won")
    expect(page.get_by_text("No games match the search.")).to_be_visible()
    expect(row).to_have_count(0)
    visitor.choice("Result").select_option("Lost")
    expect(row).to_have_count(1)
    with page.expect_download() as download:
        row.get_by_role("button", name="PSQ").click()
    assert download.value.path().read_text(encoding="utf-8").startswith("Piskvorky 15x15")
    row.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    visitor.open("#/games")
    expect(row.locator(".games-accuracy")).to_have_text(re.compile(r"\d+"))
    visitor.shoot("games")
    row.get_by_role("button", name="Delete game").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete game").click()
    expect(page.get_by_text("No games yet")).to_be_visible()


def test_a_listed_game_is_opened_again(visitor: Visitor) -> None:
    play_and_resign(visitor)
    visitor.open("#/games")
    visitor.page.locator(".game-row a").click()
    expect(visitor.page.get_by_role("status")).to_have_text("You resigned after 2 moves")


def start_games(visitor: Visitor, rules: str, opponent: dict[str, object], count: int) -> None:
    """Start games of this browser, as the form does."""
    for _ in range(count):
        body = {"rules": rules, "black": {"kind": "person", "name": ""}, "white": opponent}
        assert visitor.page.request.post(f"{visitor.address}api/games", data=body).ok


def test_the_search_looks_at_games_that_are_not_on_the_page(visitor: Visitor) -> None:
    visitor.open("#/games")
    start_games(visitor, "9x9:5:renju", {"kind": "level", "level": 2}, 1)
    start_games(visitor, "15x15:5:freestyle", {"kind": "person", "name": "Ann"}, 101)
    page = visitor.page
    page.reload()
    rows = page.locator(".game-row")
    expect(rows).to_have_count(100)
    expect(page.get_by_text("102 games")).to_be_visible()
    visitor.choice("Rule").select_option("Renju")
    expect(rows).to_have_count(1)
    expect(page.get_by_text("1 of 102 games")).to_be_visible()
    page.reload()  # the search is in the address
    expect(rows).to_have_count(1)
    visitor.button("Clear the search").click()
    visitor.choice("Opponent").select_option("Ann · 101")
    expect(rows).to_have_count(100)
    visitor.button("More games").click()
    expect(rows).to_have_count(101)
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(page.get_by_text("No games match the search.")).to_be_visible()
    page.get_by_label("To", exact=True).fill("2999-01-01")
    expect(rows).to_have_count(100)


def test_the_list_fits_on_a_phone(phone: Visitor) -> None:
    phone.open("#/games")
    start_games(phone, "15x15:5:freestyle:swap2", {"kind": "agent", "agent": "alphabeta:nodes=5000"}, 2)
    phone.page.reload()
    expect(phone.page.locator(".game-row")).to_have_count(2)
    width = phone.page.evaluate("document.documentElement.scrollWidth")
    assert width == 390
    phone.shoot("games-phone")
    for box in phone.page.locator(".game-row *").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().right)"
    ):
        assert box <= 390


@pytest.mark.thorough
def test_a_finished_game_is_found_after_a_restart_and_reviewed(browser: Browser, tmp_path: Path, serve: Serve) -> None:
    process, address = serve(tmp_path)
    visitor = Visitor(browser, address)
    page = visitor.page
    position = {"rules": "15x15:5:freestyle", "moves": re.findall(r"[a-o]\d+", LONG_GAME)}
    visitor.open(f"#/play/new?position={quote(json.dumps(position))}")
    page.get_by_role("radio", name="Person").check()
    visitor.button("Start game").click()
    visitor.put("f6")
    visitor.await_turn()
    visitor.button("Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(visitor.button("Rematch")).to_be_visible()
    process.kill()
    process.wait()
    process, _ = serve(tmp_path, port=urlsplit(address).port or 0)
    visitor.open("#/games")
    row = page.locator(".game-row")
    expect(row).to_contain_text("60 moves")
    row.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    # Processor time, because the machine may be busy.
    times = [worker.cpu_times() for worker in psutil.Process(process.pid).children(recursive=True)]
    assert sum(one.user + one.system for one in times) < 20
    visitor.context.close()  # not `leave`: the page may have complained about the lost server
