"""The list of the games that were played in this browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.web.browser.visitor import Visitor


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
    page.get_by_label("Search").fill("nobody")
    expect(row).to_have_count(0)
    page.get_by_label("Search").fill("beginner lost")
    expect(row).to_have_count(1)
    with page.expect_download() as download:
        row.get_by_role("button", name="PSQ").click()
    assert download.value.path().read_text(encoding="utf-8").startswith("Piskvorky 15x15")
    row.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    visitor.open("#/games")
    expect(row.locator(".num")).to_have_text(re.compile(r"\d+"))
    visitor.shoot("games")
    row.get_by_role("button", name="Delete game").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete game").click()
    expect(page.get_by_text("No games yet")).to_be_visible()


def test_a_listed_game_is_opened_again(visitor: Visitor) -> None:
    play_and_resign(visitor)
    visitor.open("#/games")
    visitor.page.locator(".game-row a").click()
    expect(visitor.page.get_by_role("status")).to_have_text("You resigned after 2 moves")
