"""Solving puzzles in the browser, with right and wrong moves."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Route, expect

from tengen import Position, Ruleset
from tengen.search.threats import solve_threats
from tests.web.browser.visitor import Visitor


def opened(visitor: Visitor) -> tuple[dict[str, Any], list[str]]:
    """Open the first puzzle that is won by fours and return it with its solution."""
    ask = visitor.page.request.get
    listed = ask(f"{visitor.address}api/puzzles?theme=fours&limit=1").json()
    identifier = listed["puzzles"][0]["id"]
    visitor.open(f"#/puzzles/{identifier}")
    expect(visitor.stones).not_to_have_count(0)
    solution: list[str] = ask(f"{visitor.address}api/puzzles/{identifier}/solution").json()["pv"]
    return ask(f"{visitor.address}api/puzzles/{identifier}").json(), solution


def position_on(visitor: Visitor, puzzle: dict[str, Any]) -> Position:
    """Return the position on the board, read from the labels of its cells."""
    cells = visitor.page.locator(".board-grid [data-point]").evaluate_all(
        "cells => cells.map((cell) => [cell.dataset.point, cell.ariaLabel])"
    )
    stones = {colour: [point for point, label in cells if f"{colour} stone" in label] for colour in ("black", "white")}
    rules = Ruleset.parse(puzzle["rules"])
    return Position.from_stones(rules, **stones, to_move=puzzle["currentPlayer"])


def test_a_puzzle_is_solved_and_stays_solved(visitor: Visitor) -> None:
    puzzle, _ = opened(visitor)
    verdict = visitor.page.locator(".verdict")
    while verdict.inner_text() != "Solved!":
        # The defence chooses the longest resistance, so the winning move is searched again after each reply.
        line = solve_threats(position_on(visitor, puzzle), puzzle["kind"]).line  # up to the five
        visitor.put(str(line[0]))
        expect(verdict).to_have_text(re.compile("Correct|Solved"))
        expect(verdict).not_to_have_text("Thinking …")
    expect(visitor.page.locator(".winning-line")).to_have_count(1)
    expect(visitor.page.locator(".facts")).to_contain_text("1 (best 1)")
    visitor.shoot("puzzle-solved")
    expect(visitor.page.locator(".tile.solved")).to_have_count(1)
    visitor.page.reload()
    expect(visitor.page.locator(".tile.solved")).to_have_count(1)
    visitor.button("Next").click()
    expect(visitor.page.locator(".tile[aria-current]")).not_to_have_class("tile solved")


def test_a_wrong_move_is_refuted_and_may_be_tried_again(visitor: Visitor) -> None:
    puzzle, solution = opened(visitor)
    wrong = next(point for point in puzzle["legal"] if point not in solution)
    stones = visitor.stones.count()
    visitor.point(wrong).click()
    expect(visitor.page.locator(".verdict.wrong")).to_contain_text(re.compile("That (does not win|loses)"))
    expect(visitor.said.last).to_contain_text(re.compile("That (does not win|loses)"))
    expect(visitor.page.locator(".mark.wrong")).to_have_count(1)
    expect(visitor.page.locator(".tile.failed")).to_have_count(1)
    visitor.shoot("puzzle-failed")
    visitor.button("Restart").click()
    expect(visitor.stones).to_have_count(stones)
    visitor.button("Solution").click()
    expect(visitor.page.locator(".verdict")).to_have_text("This is the solution.")
    expect(visitor.stones).to_have_count(stones + len(solution))


def test_a_wrong_defence_is_refuted_on_the_board(visitor: Visitor) -> None:
    ask = visitor.page.request.get
    identifier = ask(f"{visitor.address}api/puzzles?theme=defence&limit=1").json()["puzzles"][0]["id"]
    page = visitor.open(f"#/puzzles/{identifier}")
    expect(page.get_by_role("heading", name="to defend")).to_be_visible()
    puzzle = ask(f"{visitor.address}api/puzzles/{identifier}").json()
    (only,) = ask(f"{visitor.address}api/puzzles/{identifier}/solution").json()["pv"]
    stones = len(puzzle["initialStones"])
    visitor.point(next(point for point in puzzle["legal"] if point != only)).click()
    expect(page.locator(".verdict.wrong")).to_contain_text("That loses")
    expect(visitor.stones).to_have_count(stones + 2)
    expect(page.locator(".facts")).to_contain_text("0 (best 0)")
    steps = page.locator(".line-move")
    steps.last.click()
    expect(visitor.stones).to_have_count(stones + 1 + steps.count())
    visitor.shoot("puzzle-refuted")
    visitor.button("Restart").click()
    expect(visitor.stones).to_have_count(stones)
    visitor.point(only).click()
    expect(page.locator(".verdict.solved")).to_be_visible()
    expect(page.locator(".tile.solved")).to_have_count(1)


def test_the_puzzle_of_the_day_counts_days(visitor: Visitor) -> None:
    page = visitor.open("#/puzzles")
    page.get_by_role("link", name="Puzzle of the day").click()
    identifier = page.url.rsplit("/", 1)[-1]
    expect(page.get_by_text(identifier)).to_be_visible()
    puzzle = page.request.get(f"{visitor.address}api/puzzles/{identifier}").json()
    verdict = page.locator(".verdict")
    while verdict.inner_text() != "Solved!":
        if puzzle["kind"] == "defence":
            (move,) = page.request.get(f"{visitor.address}api/puzzles/{identifier}/solution").json()["pv"]
        else:
            move = str(solve_threats(position_on(visitor, puzzle), puzzle["kind"]).line[0])
        visitor.put(move)
        expect(verdict).to_have_text(re.compile("Correct|Solved"))
        expect(verdict).not_to_have_text("Thinking …")
    expect(page.get_by_role("link", name="Puzzle of the day (solved)")).to_be_visible()
    expect(page.locator(".facts dd").last).to_have_text("1")


def test_an_answer_that_comes_too_late_is_left_alone(visitor: Visitor) -> None:
    puzzle, solution = opened(visitor)
    stones = visitor.stones.count()
    wrong = next(point for point in puzzle["legal"] if point not in solution)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    visitor.page.route("**/try", hold, times=1)
    verdict = visitor.page.locator(".verdict")
    with visitor.page.expect_request("**/try"):
        visitor.point(wrong).click()
    expect(verdict).to_have_text("Thinking …")
    visitor.page.keyboard.press("r")
    expect(visitor.stones).to_have_count(stones)
    expect(verdict).to_have_text("Your move.")
    with visitor.page.expect_response("**/try"):
        held[0].continue_()
    visitor.put(solution[0])
    expect(verdict).to_have_text(re.compile("Correct|Solved"))
    expect(visitor.point(wrong)).to_have_accessible_name(re.compile("empty"))
    expect(visitor.page.locator(".tile.failed")).to_have_count(0)


def test_only_rules_that_have_puzzles_are_offered(visitor: Visitor) -> None:
    page = visitor.open("#/puzzles")
    page.evaluate("""localStorage.setItem("tengen.puzzle-filter", '{"kind":"","grade":"","rule":"standard"}')""")
    page.reload()
    expect(visitor.stones).not_to_have_count(0)
    options = visitor.choice("Rule").locator("option")
    expect(options).to_have_text(["Any", "Freestyle", "Renju"])
    expect(visitor.choice("Rule")).to_have_value("")


def test_a_blunder_becomes_a_puzzle_that_leads_back_to_the_game(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    page.get_by_role("radio", name="Person").check(force=True)
    # Black wins by continuous fours from h4, but plays a1.
    visitor.put("k6", "j6", "h6", "i7", "h8", "h9", "j5", "i10", "h5", "f7", "a1")
    visitor.open("#/games")
    page.locator(".game-row").get_by_role("button", name="Review").click()
    expect(page.get_by_text("Accuracy by phase")).to_be_visible()
    page.get_by_role("link", name="Puzzles from your games").click()
    expect(page.locator(".tile")).not_to_have_count(0)  # the server searches the game in the background
    source = page.locator(".puzzle-source")
    expect(source).to_be_visible()
    expect(page.get_by_role("radio", name="From your games")).to_be_checked()
    page.locator('.tile[href^="#/puzzles/own-11-"]').click()
    expect(source).to_contain_text("In your game, you played a1 here (move 11).")
    visitor.shoot("puzzle-own")
    visitor.put("h4")
    expect(page.locator(".verdict")).to_have_text(re.compile("Correct|Solved"))
    source.get_by_role("link", name="Open in review").click()
    expect(page.locator(".moves [aria-current]")).to_contain_text("a1")
    expect(page.locator(".reason")).to_be_visible()
    page.go_back()
    expect(source).to_be_visible()


def test_without_reviewed_games_there_are_no_own_puzzles(visitor: Visitor) -> None:
    page = visitor.open("#/puzzles?source=own")
    expect(page.get_by_text("No puzzles yet. Review a game that you have played")).to_be_visible()
    page.locator(".shelf").locator("..").get_by_role("link", name="My games").click()
    expect(page.get_by_text("No games yet")).to_be_visible()
