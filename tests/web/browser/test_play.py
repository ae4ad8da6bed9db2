"""Playing in the browser: against engines, people and the clock, and watching."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.conftest import Serve
from tests.web.browser.visitor import Visitor

YOUR_MOVE = re.compile("Your move")


def start_against(visitor: Visitor, agent: str) -> None:
    """Start a game as black."""
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Advanced").check()
    visitor.page.get_by_role("radio", name="Agent").check()
    visitor.choice("Agent").select_option(agent)
    visitor.button("Start game").click()
    expect(visitor.page.get_by_role("status")).to_have_text(YOUR_MOVE)


def start_at_level(visitor: Visitor, level: int = 1) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("slider", name="Level").fill(str(level))
    visitor.button("Start game").click()
    expect(visitor.page.get_by_role("status")).to_have_text(YOUR_MOVE)


def start_of_two(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Person").check()
    visitor.button("Start game").click()
    expect(visitor.page.get_by_role("status")).to_have_text("Black to move")


def test_a_game_against_an_engine_is_played_to_the_end(visitor: Visitor) -> None:
    start_against(visitor, "random")
    status = visitor.page.get_by_role("status")
    rows = [[f"{column}{row}" for column in "fghij"] for row in (8, 6, 10, 4, 12, 2, 14)]
    while True:
        expect(visitor.page.locator(".board.is-playable, .winning-line").first).to_be_attached()
        if visitor.page.locator(".winning-line").count():
            break
        # Complete the first row that the random player has not blocked.
        taken = {
            cell for row in rows for cell in row if "white" in (visitor.point(cell).get_attribute("aria-label") or "")
        }
        row = next(row for row in rows if not taken & set(row))
        free = [cell for cell in row if "empty" in (visitor.point(cell).get_attribute("aria-label") or "")]
        visitor.point(free[0]).click()
        expect(visitor.point(free[0])).to_have_accessible_name(re.compile("black stone"))
    expect(status).to_have_text(re.compile(r"You won by an? [a-z -]+ in \d+ moves"))
    expect(visitor.page.locator(".winning-stone")).to_have_count(5)
    expect(visitor.said.last).to_contain_text("You won")
    visitor.shoot("play-won")
    visitor.button("Review").click()
    expect(visitor.page.get_by_text("Key moves")).to_be_visible()


def test_undo_takes_back_the_move_and_its_answer(visitor: Visitor) -> None:
    start_at_level(visitor)
    visitor.put("h8")
    expect(visitor.stones).to_have_count(2)
    visitor.button("Undo").click()
    expect(visitor.stones).to_have_count(0)
    visitor.put("i9")
    expect(visitor.stones).to_have_count(2)


def test_a_stone_is_drawn_in_the_click_itself(visitor: Visitor) -> None:
    start_at_level(visitor)
    drawn = visitor.point("h8").evaluate("cell => { cell.click(); return document.querySelectorAll('.stone').length; }")
    assert drawn == 1
    expect(visitor.stones).to_have_count(2)


@pytest.mark.thorough
def test_a_refused_stone_is_taken_back_with_the_reason(visitor: Visitor) -> None:
    # Somebody else plays i9 in the same game, and the page has not received it yet.
    visitor.hear_only(lambda message: "i9" not in message.get("game", {}).get("moves", ()))
    start_of_two(visitor)
    visitor.put("h8")
    game = urlsplit(visitor.page.url).fragment.split("/")[-1]
    visitor.page.request.post(f"{visitor.address}api/games/{game}/actions", data={"action": "play", "point": "i9"})
    visitor.await_turn()
    visitor.point("j10").click()
    expect(visitor.page.locator(".notice.error")).to_be_visible()
    expect(visitor.point("j10")).to_have_accessible_name("J10, empty")


@pytest.mark.thorough
def test_hint_resignation_and_rematch(visitor: Visitor) -> None:
    start_at_level(visitor)
    visitor.button("Hint").click()
    expect(visitor.page.locator(".hint")).to_be_visible()
    expect(visitor.page.get_by_role("note")).to_have_text(re.compile(r"Hint: [A-O]\d+\. .+\."))
    visitor.button("Resign").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(visitor.page.get_by_role("status")).to_have_text("You resigned after 0 moves")
    visitor.button("Rematch").click()
    # The seats are exchanged, so the engine moves first, and the person still sits at the bottom.
    expect(visitor.stones).to_have_count(1)
    expect(visitor.page.locator(".player-name")).to_have_text([re.compile("Beginner"), "You"])


def test_swap2_asks_for_stones_and_then_for_a_colour(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Person").check()
    visitor.page.get_by_text("Opening, clock, win length").click()
    visitor.choice("Opening").select_option("swap2")
    visitor.button("Start game").click()
    expect(visitor.page.get_by_role("status")).to_have_text("Place 3 more stones")
    visitor.put("h8", "i9", "g7")
    expect(visitor.page.get_by_role("status")).to_have_text("Choose an option")
    visitor.shoot("play-swap2")
    visitor.button("Place two more stones").click()
    visitor.put("j9", "f6")
    visitor.button("Play White").click()
    expect(visitor.page.get_by_role("status")).to_have_text("White to move")


@pytest.mark.thorough
def test_clocks_run_down(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Person").check()
    visitor.page.get_by_text("Opening, clock, win length").click()
    visitor.choice("Clock").select_option("60+1")
    visitor.button("Start game").click()
    visitor.put("h8", "i9")
    clocks = visitor.page.get_by_role("timer")
    expect(clocks).to_have_count(2)
    expect(clocks.last).not_to_have_text("1:00")


@pytest.mark.thorough
def test_two_engines_are_watched_step_by_step(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Advanced").check()
    visitor.page.get_by_role("radio", name="Watch").check()
    visitor.choice("Black").select_option("naive")
    visitor.choice("White").select_option("alphabeta")
    visitor.button("Watch").click()
    visitor.button("Pause").click()
    expect(visitor.page.get_by_role("status")).to_have_text("Paused")
    before = visitor.stones.count()
    visitor.button("Play one move").click()
    expect(visitor.stones).to_have_count(before + 1)
    visitor.button("Resume").click()
    expect(visitor.page.get_by_role("status")).to_have_text(re.compile("is thinking"))


def test_fouls_are_shown_and_refused(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Person").check()
    visitor.choice("Rule").select_option("renju")
    visitor.button("Start game").click()
    visitor.put("g8", "a1", "i8", "c1", "h7", "a3", "h9", "c3")  # h8 would be a double-three for black
    expect(visitor.page.locator(".foul")).to_have_count(1)
    expect(visitor.point("h8")).to_have_accessible_name(re.compile("forbidden"))
    visitor.point("h8").click()
    expect(visitor.page.locator(".notice")).to_have_text(re.compile("double-three"))
    visitor.shoot("play-foul")


@pytest.mark.thorough
def test_a_game_survives_a_restart_of_the_server(browser: Browser, tmp_path: Path, serve: Serve) -> None:
    process, address = serve(tmp_path)
    visitor = Visitor(browser, address)
    start_at_level(visitor)
    visitor.put("h8")
    expect(visitor.stones).to_have_count(2)
    process.kill()
    process.wait()
    expect(visitor.page.locator("#offline")).to_be_visible()
    process, _ = serve(tmp_path, port=urlsplit(address).port or 0)
    expect(visitor.page.locator("#offline")).to_be_hidden()
    visitor.put("j6")
    expect(visitor.stones).to_have_count(4)
    visitor.context.close()  # its page may log the lost connection as an error


def test_a_game_from_a_set_up_position_is_handed_on_whole(visitor: Visitor) -> None:
    position = {
        "rules": "15x15:5:freestyle",
        "initialStones": [["black", "h8"], ["white", "i9"], ["black", "g7"]],
        "initialPlayer": "white",
        "moves": ["j10"],
    }
    stones = {"h8": "black", "g7": "black", "i9": "white", "j10": "white", "f6": "black"}
    for button, shown in (("Analyse", stones), ("Review", stones), ("Rematch", {**stones, "f6": None})):
        visitor.open(f"#/play/new?position={quote(json.dumps(position))}")
        visitor.page.get_by_role("radio", name="Person").check()
        visitor.button("Start game").click()
        visitor.put("f6")
        visitor.await_turn()
        visitor.button("Resign").click()
        visitor.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
        visitor.button(button).click()
        for point, colour in shown.items():
            expect(visitor.point(point)).to_have_accessible_name(re.compile(f"{colour} stone" if colour else "empty"))
        expect(visitor.stones).to_have_count(sum(colour is not None for colour in shown.values()))
        # The address contains the whole position, so a reload shows the same.
        visitor.page.reload()
        for point, colour in shown.items():
            expect(visitor.point(point)).to_have_accessible_name(re.compile(f"{colour} stone" if colour else "empty"))


@pytest.mark.thorough
def test_earlier_moves_can_be_looked_at(visitor: Visitor) -> None:
    start_of_two(visitor)
    visitor.put("h8", "i9", "g7")
    for key, shown in (("ArrowLeft", 2), ("Home", 0), ("End", 3)):
        visitor.page.keyboard.press(key)
        expect(visitor.stones).to_have_count(shown)
    assert visitor.moves == ["h8", "i9", "g7"]


def test_the_first_click_on_the_empty_board_starts_a_game(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    page.get_by_role("slider", name="Level").fill("1")
    expect(page.locator("#rules-line")).to_have_text("Freestyle · 15 × 15 · 5 in a row")
    visitor.point("h8").click()
    expect(visitor.point("h8")).to_have_accessible_name(re.compile("black stone"))
    expect(visitor.stones).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text(YOUR_MOVE)
    expect(page.locator(".player-name")).to_have_text([re.compile("Beginner"), "You"])


def test_a_click_as_white_lets_the_opponent_begin(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    page.get_by_role("slider", name="Level").fill("1")
    page.get_by_role("radiogroup", name="Your colour").get_by_role("radio", name="White").check()
    visitor.point("h8").click()
    expect(page.get_by_role("status")).to_have_text(YOUR_MOVE)
    expect(visitor.stones).to_have_count(1)
    expect(page.locator(".player-name")).to_have_text([re.compile("Beginner"), "You"])


def test_the_size_sets_the_usual_win_length(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    for size, length in (("6", 4), ("15", 5), ("3", 3), ("19", 5)):
        visitor.choice("Board size").select_option(size)
        expect(page.locator("#rules-line")).to_have_text(f"Freestyle · {size} × {size} · {length} in a row")


def test_a_game_is_aborted_and_another_one_started_at_any_time(visitor: Visitor) -> None:
    start_at_level(visitor)
    visitor.put("h8")
    expect(visitor.stones).to_have_count(2)
    visitor.button("New game").click()
    expect(visitor.button("Start game")).to_be_visible()
    visitor.point("c3").click()
    expect(visitor.stones).to_have_count(2)
    visitor.button("Abort").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Abort").click()
    expect(visitor.button("Start game")).to_be_visible()
    visitor.open("#/games")
    expect(visitor.page.locator(".game-row")).to_have_count(1)


@pytest.mark.thorough
def test_an_agent_says_what_it_chose_in_the_opening(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.get_by_role("radio", name="Advanced").check()
    visitor.page.get_by_role("radio", name="Agent").check()
    visitor.page.get_by_text("Opening, clock, win length").click()
    visitor.choice("Opening").select_option("swap2")
    visitor.button("Start game").click()
    expect(visitor.page.get_by_role("status")).to_have_text("Place 3 more stones")
    visitor.put("h8", "i9", "g7")
    expect(visitor.page.get_by_role("note")).to_have_text(re.compile(r"alphabeta p.+%\."))


def test_a_rated_game_changes_the_rating_and_the_suggested_level(visitor: Visitor) -> None:
    start_at_level(visitor)
    page = visitor.page
    expect(page.get_by_text("This game counts for your rating.")).to_be_visible()
    visitor.put("h8")
    expect(visitor.stones).to_have_count(2)
    visitor.button("Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(page.get_by_role("status")).to_have_text("You resigned after 2 moves")
    expect(page.get_by_text(re.compile(r"Your rating: -?\d+ \(−\d+\)"))).to_be_visible()
    visitor.shoot("play-rated")
    visitor.button("New game").click()
    expect(page.locator(".rating-line")).to_contain_text("rated games: 1")
    page.get_by_role("slider", name="Level").fill("9")
    visitor.button("Choose this level").click()
    level = int(page.get_by_role("slider", name="Level").input_value())
    expect(page.locator(".rating-line")).to_contain_text(f"level {level},")
    assert level < 9


def test_help_ends_the_rating_of_a_game(visitor: Visitor) -> None:
    start_at_level(visitor)
    visitor.put("h8")
    expect(visitor.stones).to_have_count(2)
    visitor.button("Undo").click()
    expect(visitor.page.get_by_text("This game does not count for your rating.")).to_be_visible()


def test_an_adaptive_opponent_plays_the_suggested_level(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    page.get_by_role("slider", name="Level").fill("9")
    page.get_by_role("checkbox", name="Adjust the level to my rating").check()
    expect(page.get_by_role("slider", name="Level")).to_be_disabled()
    expect(page.locator(".level-about")).to_contain_text("Casual")
    visitor.shoot("play-adaptive")
    visitor.point("h8").click()
    expect(page.locator(".player-name")).to_have_text(["Casual, adjusted to your rating", "You"])


def test_space_pauses_no_game_against_the_computer(visitor: Visitor) -> None:
    start_at_level(visitor)
    visitor.page.keyboard.press("Space")
    visitor.put("h8")
    expect(visitor.stones).to_have_count(2)
    expect(visitor.page.get_by_role("status")).to_have_text(YOUR_MOVE)


def test_the_first_tap_on_a_phone_starts_a_game_and_places_the_stone(phone: Visitor) -> None:
    phone.open("#/play").get_by_role("slider", name="Level").fill("1")
    phone.point("h8").tap()
    expect(phone.point("h8")).to_have_accessible_name(re.compile("black stone"))
    expect(phone.stones).to_have_count(2)
    phone.await_turn()
    phone.point("a1").tap()  # later stones are confirmed; the computer has not played so far from the centre
    expect(phone.point("a1")).to_have_accessible_name("A1, empty, waiting for confirmation")


def test_a_phone_shows_the_start_button_on_the_first_screen(phone: Visitor) -> None:
    phone.open("#/play")
    start = phone.button("Start game")
    expect(start).to_be_in_viewport(ratio=1)
    phone.shoot("phone-start")
    start.tap()
    expect(phone.page.get_by_role("status")).to_have_text(YOUR_MOVE)
