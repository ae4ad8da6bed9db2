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
    text = dialog.get_by_label("File contents")
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


def test_text_that_cannot_be_read_stays_and_the_place_is_selected(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.button("Open a game").click()
    dialog = visitor.page.get_by_role("dialog")
    text = dialog.get_by_label("Game text")
    text.fill("(;GM[4]SZ[15];B[hh]\n;W[zz])")
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("line 2, column 2")
    expect(text).to_have_value("(;GM[4]SZ[15];B[hh]\n;W[zz])")
    assert text.evaluate("field => field.selectionStart") == len("(;GM[4]SZ[15];B[hh]\n;")
    visitor.shoot("analyse-import-failed")
    text.fill("h8i9")
    dialog.get_by_role("button", name="Open", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(visitor.stones).to_have_count(2)
    visitor.faults.clear()  # the browser logs the failed request as an error


def test_pasted_text_that_cannot_be_read_opens_the_dialog_with_it(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.page.evaluate(
        """() => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text", "h8i9z33");
            document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }"""
    )
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog.get_by_role("alert")).to_contain_text("column 5")
    expect(dialog.get_by_label("Game text")).to_have_value("h8i9z33")
    visitor.faults.clear()


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


def analysis_of(message: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return message | {"moveInfos": [info | changes.get(info["move"], {}) for info in message["moveInfos"]]}


def test_board_table_and_bar_agree_on_blacks_chances(visitor: Visitor) -> None:
    engine = HeldEngine(visitor)
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8")  # white to move
    visitor.button("Analyse").click()
    rows = visitor.page.locator(".candidate-row")
    expect(rows).to_have_count(3)
    best = engine.report["moveInfos"][0]
    percent = f"{100 * best['blackWinrate']:.0f}"
    expect(visitor.page.locator(".candidate.is-best .candidate-value")).to_have_text(percent)
    expect(rows.first.locator(".strong")).to_have_text(f"{100 * best['blackWinrate']:.1f}%")
    expect(visitor.page.locator(".chance-text")).to_have_text(f"{100 * engine.report['rootInfo']['blackWinrate']:.0f}%")
    # The engine counts no visits for a move and has no policy, so these columns are not shown.
    expect(visitor.page.get_by_role("columnheader", name="N", exact=True)).to_have_count(0)
    expect(visitor.page.get_by_role("columnheader", name="P", exact=True)).to_have_count(0)


def test_colours_show_the_loss_and_few_visits_look_unsure(visitor: Visitor) -> None:
    engine = HeldEngine(visitor)
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Analyse").click()
    expect(visitor.page.locator(".candidate-row")).to_have_count(3)
    first, second, third = (move["move"] for move in engine.report["moveInfos"])
    values = {
        first: {"winrate": 0.3, "visits": 1000, "proof": None},
        second: {"winrate": 0.29, "visits": 900, "proof": None},
        third: {"winrate": 0.01, "visits": 3, "proof": None},
    }
    visitor.tell(analysis_of(engine.report, **values))
    expect(visitor.page.locator(".candidate.is-unsure")).to_have_count(1)
    discs = visitor.page.locator(".candidate circle")
    hues = [int(re.findall(r"\d+", discs.nth(i).get_attribute("fill") or "")[0]) for i in range(3)]
    assert hues[0] > 140  # green, although black stands badly: it is the best move
    assert hues[0] > hues[1] > 100 > hues[2]
    expect(visitor.page.get_by_role("columnheader", name="N", exact=True)).to_be_visible()


def test_a_finished_game_is_shown_as_won(visitor: Visitor) -> None:
    visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,a1,i8,c1,j8,e1,k8,g1,l8")
    expect(visitor.page.locator(".stage").get_by_role("status").first).to_have_text("Black has won")
    expect(visitor.page.locator(".chance-text")).to_have_text("won")
    expect(visitor.page.get_by_role("meter")).to_have_attribute("aria-valuenow", "100")


def test_stones_are_set_up_and_the_replaced_game_comes_back(visitor: Visitor) -> None:
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Set up stones").click()
    visitor.point("a1").click()
    visitor.point("h8").click()  # the same stone again: removed
    editor = page.locator(".stone-editor")
    editor.get_by_role("radiogroup", name="Click to place").get_by_role("radio", name="White").check()
    visitor.point("b2").click()
    expect(visitor.stones).to_have_count(3)
    visitor.shoot("analyse-set-up")
    editor.get_by_role("radiogroup", name="Side to move").get_by_role("radio", name="White").check()
    visitor.button("Use this position").click()
    expect(editor).to_have_count(0)
    expect(page.locator(".stage").get_by_role("status").first).to_have_text("White to move")
    visitor.put("c3")
    expect(visitor.point("c3")).to_have_accessible_name(re.compile("white stone"))
    page.reload()
    expect(visitor.stones).to_have_count(4)
    visitor.button("New board").click()
    expect(visitor.stones).to_have_count(0)
    visitor.button("Restore").click()
    expect(visitor.stones).to_have_count(4)
    expect(visitor.button("Restore")).to_have_count(0)


def test_names_and_rules_are_edited_and_saved_with_the_game(visitor: Visitor) -> None:
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Names and rules").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Black").fill("Ann")
    dialog.get_by_label("White").fill("Bo")
    dialog.get_by_label("Width").fill("4")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_be_visible()  # the stones are outside
    visitor.faults.clear()
    dialog.get_by_label("Width").fill("15")
    dialog.get_by_role("combobox", name="Rule").select_option("renju")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(page.locator(".game-header")).to_contain_text("Ann")
    expect(page.locator("#rules-line")).to_have_text("Renju · 15 × 15 · 5 in a row")
    visitor.button("Save or copy").click()
    expect(page.get_by_role("dialog").get_by_label("File contents")).to_have_value(re.compile(r"PB\[Ann\]"))


def test_a_line_is_stepped_through_with_keys(visitor: Visitor) -> None:
    engine = HeldEngine(visitor)
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("Analyse").click()
    expect(page.locator(".candidate-row")).to_have_count(3)
    line = [move["move"] for move in engine.report["moveInfos"]]
    visitor.tell(analysis_of(engine.report, **{line[0]: {"pv": line}}))
    expect(page.locator(".candidate-row .pv").first).to_have_text(" ".join(line[1:]))
    preview = page.locator(".preview")
    for shown in (1, 2):
        page.keyboard.press(">")
        expect(preview).to_have_count(shown)
    expect(page.locator(".line-player [aria-current]")).to_have_text(f"2. {line[1]}")
    page.keyboard.press("<")
    expect(preview).to_have_count(1)
    page.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    expect(page.locator(".candidate")).to_have_count(3)


def test_space_never_presses_a_clicked_button_again(visitor: Visitor) -> None:
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    visitor.button("New board").click()
    expect(visitor.stones).to_have_count(0)
    visitor.button("Restore").click()
    expect(visitor.stones).to_have_count(2)
    visitor.button("Find VCF").click()
    page.keyboard.press("Space")
    expect(visitor.button("Stop")).to_be_visible()
    # A button that was reached with the keyboard is pressed by Space.
    visitor.button("Stop").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(visitor.button("Analyse")).to_be_visible()


def test_a_finger_shows_a_line_first_and_plays_it_with_the_second_tap(phone: Visitor) -> None:
    engine = HeldEngine(phone)
    phone.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    phone.button("Analyse").tap()
    rows = phone.page.locator(".candidate-row")
    expect(rows).to_have_count(3)
    move = engine.report["moveInfos"][1]["move"]
    phone.point(move).tap()
    expect(phone.page.locator(".preview")).to_have_count(len(engine.line(move)))
    phone.shoot("phone-line")
    expect(phone.stones).to_have_count(2)
    phone.point(move).tap()
    expect(phone.stones).to_have_count(3)


def test_a_finger_on_the_table_shows_the_line_first(phone: Visitor) -> None:
    engine = HeldEngine(phone)
    phone.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    phone.button("Analyse").tap()
    row = phone.page.locator(".candidate-row").first
    row.tap()
    expect(phone.page.locator(".preview")).to_have_count(len(engine.line(engine.report["moveInfos"][0]["move"])))
    expect(phone.stones).to_have_count(2)
    row.tap()
    expect(phone.stones).to_have_count(3)


def test_the_explorer_shows_what_was_played_and_plays_it(visitor: Visitor) -> None:
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,h9")
    explorer = page.locator(".explorer")
    expect(explorer.locator("tbody tr")).to_have_count(13)
    expect(explorer).to_contain_text("156 engine games")
    explorer.get_by_role("button").first.click()
    expect(visitor.stones).to_have_count(3)
    expect(explorer.locator("tbody tr")).not_to_have_count(13)
    visitor.shoot("analyse-explorer")


def test_coordinates_are_letters_or_numbers(visitor: Visitor) -> None:
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    labels = page.locator(".coordinate")
    expect(labels.first).to_have_text("A")
    page.keyboard.press("o")
    expect(labels.first).to_have_text("1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".moves")).to_contain_text("8-8")
    page.keyboard.press("o")
    expect(labels).to_have_count(0)
    page.reload()
    expect(page.locator("main")).to_have_attribute("data-page", "analyse")
    expect(labels).to_have_count(0)


def test_the_graph_begins_with_the_first_position(visitor: Visitor) -> None:
    page = visitor.open("#/analyse?rules=15x15:5:freestyle&moves=h8,i9")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.locator(".graph-points")).to_have_attribute("d", re.compile(r"^M0\.0 \d"))
