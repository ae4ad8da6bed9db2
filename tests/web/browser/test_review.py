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
    mistakes.filter(has_text="blunder").last.click()
    expect(visitor.page.locator(".move-detail .quality")).to_have_text("blunder")
    expect(visitor.page.locator(".reason")).to_have_text("Ignores the four h8-i8-j8-k8: Black makes five at l8.")
    visitor.shoot("review")


def test_the_refutation_and_the_better_line_are_played_on_the_board(visitor: Visitor) -> None:
    reviewed(visitor)
    visitor.page.locator(".mistake-row", has_text="blunder").last.click()
    expect(visitor.stones).to_have_count(8)
    visitor.button("Refutation").click()
    expect(visitor.stones).to_have_count(9)
    expect(visitor.point("l8")).to_have_accessible_name(re.compile("black stone"))
    visitor.page.keyboard.press("ArrowLeft")
    expect(visitor.stones).to_have_count(8)
    # The better move replaces the bad stone.
    visitor.button("Better move").click()
    expect(visitor.stones).to_have_count(8)
    expect(visitor.point("a1")).to_have_accessible_name(re.compile("empty"))
    expect(visitor.point("l8")).to_have_accessible_name(re.compile("white stone"))
    visitor.shoot("review-better")


def test_a_review_is_there_again_after_a_reload_and_on_the_way_back(visitor: Visitor) -> None:
    moves = "h8,g8,i8,h7,j8,i9,k8,a1,l8"
    page = visitor.open(f"#/review?rules=15x15:5:freestyle&moves={moves}&start=1")
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    reasons = page.locator(".mistake-reason")
    before = reasons.all_inner_texts()
    assert before
    visitor.hear_only(lambda message: not message.get("isDuringSearch"))  # a new review could not be shown
    page.reload()
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    assert reasons.all_inner_texts() == before
    visitor.open("#/puzzles")
    page.go_back()
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    assert reasons.all_inner_texts() == before


def test_a_lesson_goes_through_the_mistakes(visitor: Visitor) -> None:
    reviewed(visitor)
    page = visitor.page
    page.get_by_role("radiogroup", name="Mistakes by").get_by_role("radio", name="White").check()
    visitor.button("Learn from the mistakes").click()
    count = int(page.locator(".move-detail .row-between .soft").inner_text().split()[-1])
    verdict = page.locator(".verdict")
    for place in range(1, count + 1):
        expect(page.get_by_text(f"Mistake {place} of {count}")).to_be_visible()
        expect(verdict).to_contain_text("Find a better move")
        if place < count:
            visitor.button("Skip").click()
    # The last mistake: white does not stop the four.
    visitor.point("o15").click()
    expect(verdict).to_contain_text("Ignores the four h8-i8-j8-k8")
    visitor.button("Try again").click()
    visitor.point("l8").click()
    expect(verdict).to_contain_text("Stops the four")
    visitor.shoot("review-lesson")
    visitor.button("Next mistake").click()
    expect(page.locator(".notice")).to_contain_text(f"1 of {count} solved")


def test_a_review_is_saved_as_a_file_with_its_sentences(visitor: Visitor) -> None:
    reviewed(visitor)
    with visitor.page.expect_download() as download:
        visitor.button("Save the review (SGF)").click()
    assert download.value.suggested_filename == "review.sgf"
    assert "Ignores the four h8-i8-j8-k8" in download.value.path().read_text(encoding="utf-8")


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
    expect(verdict).to_contain_text("percentage points")
    expect(visitor.page.locator(".mark.wrong")).to_have_count(1)
    visitor.shoot("review-try-again")
