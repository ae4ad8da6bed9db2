"""Reviewing a game in the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.browser.visitor import Visitor

# White does not stop a four: a blunder that an engine sees even with very little time.
LOST = "(;GM[4]SZ[15];B[hh];W[gh];B[ih];W[hg];B[jh];W[ii];B[kh];W[ao];B[lh])"


def reviewed(visitor: Visitor) -> None:
    visitor.open("#/review")
    visitor.import_text(LOST)
    expect(visitor.page.get_by_text("Key moves")).to_be_visible()
    expect(visitor.page.locator("progress")).to_have_count(0)


def test_a_loaded_game_is_judged_move_by_move(visitor: Visitor) -> None:
    reviewed(visitor)
    assert all(value.isdigit() for value in visitor.page.locator(".accuracy-value").all_inner_texts())
    mistakes = visitor.page.locator(".mistake-row")
    assert mistakes.count() >= 1
    mistakes.first.click()
    expect(visitor.page.locator(".move-detail .quality")).to_have_text(re.compile("inaccuracy|mistake|blunder"))
    visitor.shoot("review")
    visitor.button("Show answer").click()
    expect(visitor.page.locator(".preview").first).to_be_visible()


@pytest.mark.thorough
def test_a_click_on_the_graph_goes_to_the_move(visitor: Visitor) -> None:
    reviewed(visitor)
    graph = visitor.page.locator(".chance-graph")
    box = graph.bounding_box()
    assert box is not None
    graph.click(position={"x": box["width"] * 4 / 9, "y": box["height"] / 2})
    expect(visitor.stones).to_have_count(4)
    expect(visitor.page.locator(".moves [aria-current]")).to_contain_text("h9")


def test_space_stops_the_review_and_the_page_says_so(visitor: Visitor) -> None:
    visitor.hear_only(lambda message: message["type"] != "review")
    page = visitor.open("#/review?rules=15x15:5:freestyle&moves=h8,i9,j10&start=1")
    expect(page.locator("progress")).to_have_count(1)
    page.keyboard.press("Space")
    expect(page.locator("progress")).to_have_count(0)
    expect(visitor.button("Review game")).to_be_visible()


def test_a_mistake_may_be_tried_again(visitor: Visitor) -> None:
    reviewed(visitor)
    visitor.page.locator(".mistake-row", has_text="blunder").first.click()
    stones = visitor.stones.count()
    visitor.button("Try again").click()
    expect(visitor.stones).to_have_count(stones - 1)
    visitor.point("a15").click()
    verdict = visitor.page.locator(".verdict")
    expect(verdict).to_have_text(re.compile("A15|a15"))
    expect(verdict).to_contain_text("Try another move")
    expect(visitor.page.locator(".mark.wrong")).to_have_count(1)
    visitor.shoot("review-try-again")
