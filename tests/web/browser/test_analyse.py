"""Analysing in the browser: engines, threats, the tree of variations, files and pictures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.browser.visitor import Visitor

OPEN_THREE = "#/analyse?rules=15x15:5:freestyle&moves=h8,h1,g8,g1,i8"
STUDY = "(;GM[4]SZ[15];B[hh]C[The centre.];W[ig](;B[if];W[gh])(;B[gi]C[The other way.];W[jf]))"


class HeldEngine:
    """A scripted engine: passes on the first report with three moves, then `say` decides what the page receives."""

    def __init__(self, visitor: Visitor) -> None:
        self.report: dict[str, Any] = {}
        self._visitor = visitor
        visitor.hear_only(self._passes)

    def say(self, *moves: str) -> None:
        """Send a report with these moves of the first report, best first."""
        known = {move["move"]: move for move in self.report["moveInfos"]}
        infos = [known[move] | {"order": order} for order, move in enumerate(moves)]
        self._visitor.tell(self.report | {"moveInfos": infos})

    def line(self, move: str) -> list[str]:
        """Return the expected line that starts with a move."""
        return next(info["pv"] for info in self.report["moveInfos"] if info["move"] == move)

    def _passes(self, message: dict[str, Any]) -> bool:
        if message["type"] != "analysis":
            return True
        if self.report or len(message["moveInfos"]) < 3:
            return False
        self.report = message
        return True


def test_candidates_appear_and_pointing_at_one_shows_its_line(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Analyse").click()
    rows = visitor.page.locator(".candidate-row")
    expect(rows).to_have_count(3)
    expect(visitor.page.locator(".candidate.is-best")).to_have_count(1)
    expect(visitor.page.get_by_role("meter")).to_have_attribute("aria-valuetext", re.compile("Black"))
    rows.first.hover()
    expect(visitor.page.locator(".preview").first).to_be_visible()
    visitor.shoot("analyse-hover")
    visitor.page.mouse.move(5, 5)
    expect(visitor.page.locator(".preview")).to_have_count(0)
    visitor.page.keyboard.press("Space")
    expect(visitor.button("Analyse")).to_be_visible()
    expect(rows).to_have_count(0)


def test_the_hovered_point_keeps_showing_its_line_while_the_engine_searches(visitor: Visitor) -> None:
    engine = HeldEngine(visitor)
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Analyse").click()
    rows = visitor.page.locator(".candidate-row")
    expect(rows).to_have_count(3)
    first, second, third = (move["move"] for move in engine.report["moveInfos"])
    line = visitor.page.locator(".preview")
    visitor.point(first).hover()
    expect(line.first).to_be_visible()
    expect(visitor.page.locator(".candidate")).to_have_count(0)
    # The engine prefers other moves; the hovered line stays.
    engine.say(second, third)
    expect(rows).to_have_count(2)
    expect(line).not_to_have_count(0)
    # A point that becomes a candidate under the pointer shows its line.
    visitor.page.mouse.move(5, 5)
    expect(visitor.page.locator(".candidate")).to_have_count(2)
    visitor.point(first).hover()
    expect(line).to_have_count(0)
    engine.say(second, first)
    expect(line.first).to_be_visible()
    # The hovered row now has another move, and the board shows its line.
    rows.first.hover()
    expect(line).to_have_count(len(engine.line(second)))
    engine.say(third)
    expect(line).to_have_count(len(engine.line(third)))


@pytest.mark.thorough
def test_a_proved_win_is_shown_as_a_distance(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,h1,g8,g1,i8,o15")
    visitor.page.keyboard.press("Space")
    expect(visitor.page.locator(".candidate-value").first).to_have_text(re.compile(r"^\+M\d"))
    expect(visitor.page.locator(".chance-text")).to_have_text(re.compile(r"^\+M\d"))


@pytest.mark.thorough
def test_two_engines_think_side_by_side(visitor: Visitor) -> None:
    visitor.open(OPEN_THREE)
    visitor.page.keyboard.press("g")
    visitor.page.keyboard.press("Space")
    expect(visitor.page.locator(".engine")).to_have_count(2)
    for engine in (0, 1):
        expect(visitor.page.locator(".engine").nth(engine).locator(".candidate-row").first).to_be_visible()


def test_threats_and_forced_wins_are_drawn(visitor: Visitor) -> None:
    visitor.open(OPEN_THREE)
    visitor.page.get_by_label("Threats").check()
    expect(visitor.page.locator(".threat.three")).to_have_count(1)
    expect(visitor.page.locator(".threat-list")).to_contain_text("Black: open three g8 h8 i8")
    visitor.put("o15")
    visitor.button("Find VCF").click()
    expect(visitor.page.locator(".threat-list")).to_contain_text("VCF: wins")
    expect(visitor.page.locator(".preview").first).to_be_visible()
    visitor.shoot("analyse-threats")
    visitor.button("Insert line").click()
    expect(visitor.stones).to_have_count(7)


def test_variations_are_made_promoted_and_deleted(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9,j10")
    visitor.page.keyboard.press("ArrowLeft")
    expect(visitor.stones).to_have_count(2)
    visitor.put("g7")
    expect(visitor.page.locator(".variation")).to_have_count(1)
    visitor.button("Make this the main line").click()
    assert visitor.moves == ["h8", "i9", "g7", "j10"]
    visitor.page.keyboard.press("ArrowDown")
    expect(visitor.point("j10")).to_have_accessible_name(re.compile("black stone"))
    visitor.page.keyboard.press("Delete")
    expect(visitor.page.locator(".variation")).to_have_count(0)
    visitor.button("Restore").click()
    expect(visitor.page.locator(".variation")).to_have_count(1)


def test_a_file_comes_back_as_it_went_in(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.import_text(STUDY)
    expect(visitor.page.locator(".variation")).to_have_count(1)
    before = visitor.page.locator(".moves").inner_text()
    assert "The other way." in before
    visitor.page.get_by_label("Comment", exact=True).fill("Written here.")
    visitor.button("Save or copy").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Format").select_option("sgf")
    text = dialog.get_by_label("Text of the file")
    expect(text).to_have_value(re.compile(r"^\(;[\s\S]*Written here\."))
    expect(dialog.get_by_role("status")).to_have_text("This format stores everything.")
    written = text.input_value()
    visitor.shoot("analyse-export")
    dialog.get_by_role("button", name="Close").click()
    visitor.button("New board").click()
    expect(visitor.stones).to_have_count(0)
    visitor.import_text(written)
    expect(visitor.page.locator(".moves")).to_contain_text("Written here.")
    assert visitor.page.locator(".moves").inner_text().replace("Written here.", "").split() == before.split()


@pytest.mark.thorough
def test_formats_say_what_they_lose(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.import_text(STUDY)
    visitor.button("Save or copy").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Format").select_option("psq")
    expect(dialog.get_by_role("status")).to_contain_text("This format cannot store")


@pytest.mark.thorough
def test_what_is_pasted_is_opened(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    expect(visitor.stones).to_have_count(0)
    visitor.page.evaluate(
        """() => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", "h8i9j10");
            document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }"""
    )
    expect(visitor.stones).to_have_count(3)


@pytest.mark.thorough
def test_the_address_holds_the_position(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=15x15:5:renju&moves=h8")
    visitor.put("i9")
    address = visitor.page.url
    assert "moves=h8,i9" in address
    visitor.page.goto("about:blank")
    visitor.page.goto(address)
    expect(visitor.stones).to_have_count(2)
    expect(visitor.point("i9")).to_have_accessible_name("I9, white stone, last move")


@pytest.mark.thorough
def test_pictures_of_the_board_are_whole(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open(OPEN_THREE)
    expect(visitor.stones).to_have_count(5)
    visitor.button("Save or copy").click()
    for name, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with visitor.page.expect_download() as download:
            visitor.page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()
        path = tmp_path / name
        download.value.save_as(path)
        assert path.read_bytes().startswith(begins)


def test_text_of_a_file_stays_text(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    visitor.import_text(f"(;GM[4]SZ[15]PB[{evil}];B[hh]C[{evil}])")
    expect(visitor.page.locator(".remark")).to_have_text(evil)
    assert visitor.page.locator(".moves img, .moves script").count() == 0


@pytest.mark.thorough
def test_nonsense_is_refused_with_a_reason(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.button("Open a game").click()
    visitor.page.get_by_label("Text of the game").fill("this is no game at all")
    visitor.page.get_by_role("dialog").get_by_role("button", name="Open", exact=True).click()
    expect(visitor.page.locator(".notice.error")).to_be_visible()
    visitor.faults.clear()  # the browser logs the failed request as an error


@pytest.mark.thorough
def test_a_game_goes_on_from_an_analysed_position(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Play from here").click()
    visitor.page.get_by_role("radio", name="Person").check()
    visitor.button("Start game").click()
    expect(visitor.page.get_by_role("status")).to_have_text("Black to move")
    visitor.put("g7")
    assert visitor.moves == ["h8", "i9", "g7"]


@pytest.mark.thorough
def test_the_policy_of_a_network_is_a_heat_map(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=9x9:5:freestyle&moves=e5,f6")
    visitor.page.locator(".engine summary").first.click()
    visitor.choice("Engine").select_option("alphazero")
    visitor.page.locator(".engine").get_by_text("Parameters").click()
    visitor.choice("model").select_option("uniform")
    visitor.page.get_by_role("checkbox", name="Policy").check()
    visitor.button("Analyse").click()
    expect(visitor.page.locator(".heat")).not_to_have_count(0)
    # The table shows N, Q and P of the search.
    row = visitor.page.locator(".candidate-row").first
    expect(row.locator("td").nth(1)).to_have_text(re.compile(r"\d"))
    expect(row.locator("td").nth(3)).to_have_text(re.compile(r"\d+\.\d%"))
