"""Properties of every page: keyboard, touch, themes, languages, screen readers, size."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Response, expect

from tests.conftest import ROOT
from tests.web.browser.visitor import Visitor

STATIC = ROOT / "src" / "tengen" / "web" / "static"
PAGES = ("play", "analyse", "review", "games", "puzzles", "laboratory")
MOST_BYTES = 400_000


def test_a_game_is_played_with_the_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    expect(visitor.button("Start game")).to_be_visible()
    page.get_by_role("radio", name="Computer").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Person")).to_be_checked()
    visitor.button("Start game").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Black to move")
    page.keyboard.press("b")
    expect(page.locator(".cursor")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(visitor.point("h8")).to_have_accessible_name("H8, black stone, last move")
    visitor.await_turn()
    for key in ("ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(visitor.point("i9")).to_have_accessible_name("I9, white stone, last move")
    expect(visitor.said).to_have_text(["Black H8", "White I9"])
    visitor.shoot("keyboard-cursor")
    grid = page.locator(".board-grid")
    expect(grid).to_have_css("outline-style", "none")
    page.keyboard.press("Escape")
    expect(grid).to_be_focused()
    expect(grid).to_have_css("outline-style", "solid")  # the focus ring is visible when the cursor is hidden
    page.keyboard.press("ArrowLeft")  # outside the board, arrow keys step through the game
    expect(visitor.stones).to_have_count(1)
    page.keyboard.press("End")
    visitor.await_turn()
    page.keyboard.press("/")
    page.keyboard.type("k10")
    page.keyboard.press("Enter")
    expect(visitor.point("k10")).to_have_accessible_name(re.compile("black stone"))
    page.keyboard.press("u")
    expect(visitor.stones).to_have_count(2)


@pytest.mark.thorough
def test_the_question_mark_lists_the_keys_of_each_page(visitor: Visitor) -> None:
    for name in PAGES:
        page = visitor.open(f"#/{name}")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        assert dialog.locator("kbd").count() > 10
        labels = dialog.locator("dd").all_inner_texts()
        assert not [label for label in labels if re.fullmatch(r"[a-z]+\.[a-z.-]+", label)], "texts are missing"
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def test_shortcuts_can_be_turned_off(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    root = page.locator("html")
    page.keyboard.press(",")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("checkbox", name="Keyboard shortcuts").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.reload()
    expect(page.locator("main")).to_have_attribute("data-page", "play")
    page.keyboard.press("d")
    page.keyboard.press("2")
    page.keyboard.press("?")
    expect(dialog).to_have_count(0)
    expect(root).to_have_attribute("data-theme", "light")
    expect(page.locator("main")).to_have_attribute("data-page", "play")
    visitor.button("Keyboard shortcuts").click()
    expect(dialog).to_contain_text("turned off")
    expect(dialog).not_to_contain_text("light and dark theme")
    page.keyboard.press("Escape")
    visitor.button("Settings").click()
    dialog.get_by_role("checkbox", name="Keyboard shortcuts").check()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("d")
    expect(root).to_have_attribute("data-theme", "dark")


def test_keys_can_be_changed_but_no_key_has_two_meanings(visitor: Visitor) -> None:
    page = visitor.open("#/play")
    theme = page.get_by_role("button", name=re.compile("^Change the key for .*light and dark"))
    dialog = page.get_by_role("dialog")
    page.keyboard.press("?")
    theme.click()
    expect(dialog.get_by_role("status")).to_contain_text("Press the new key")
    page.keyboard.press("h")
    expect(dialog.get_by_role("status")).to_have_text("h is already assigned to “Hint”.")
    theme.click()
    page.keyboard.press("F2")
    expect(dialog.get_by_role("status")).to_have_text("F2 is reserved by the browser; choose another key.")
    theme.click()
    page.keyboard.press("Escape")  # keeps the key, and the dialog stays open
    expect(theme).to_have_text("d")
    theme.click()
    page.keyboard.press("z")
    expect(theme).to_have_text("z")
    expect(theme).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    root = page.locator("html")
    page.keyboard.press("d")
    page.keyboard.press("Control+z")
    page.keyboard.press("z")
    expect(root).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("main")).to_have_attribute("data-page", "play")
    page.keyboard.press("z")
    expect(root).to_have_attribute("data-theme", "light")
    page.keyboard.press("?")
    visitor.button("Restore default keys").click()
    expect(theme).to_have_text("d")
    visitor.shoot("keys")


def test_keys_are_ignored_while_typing_and_space_presses_no_clicked_button(visitor: Visitor) -> None:
    page = visitor.open("#/analyse")
    root = page.locator("html")
    comment = page.get_by_role("textbox", name="Comment")
    comment.click()
    page.keyboard.type("d2 ")
    expect(comment).to_have_value("d2 ")
    expect(root).to_have_attribute("data-theme", "light")
    expect(page.locator("main")).to_have_attribute("data-page", "analyse")
    second = visitor.button("Second engine")
    second.click()
    expect(second).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Space")  # starts the engines instead of pressing the button again
    expect(visitor.button("Stop")).to_be_visible()
    expect(second).to_have_attribute("aria-pressed", "true")
    second.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")  # with the keyboard, Space presses the button and nothing else
    expect(second).to_have_attribute("aria-pressed", "false")
    expect(visitor.button("Stop")).to_be_visible()


@pytest.mark.parametrize("path", ["#/play/%", "#/%E0%A4%A", "#/analyse/%"])
def test_a_malformed_address_opens_the_play_page(visitor: Visitor, path: str) -> None:
    visitor.page.goto(visitor.address + path)
    expect(visitor.page.locator("main")).to_have_attribute("data-page", "play")
    expect(visitor.button("Start game")).to_be_visible()


def test_a_finger_confirms_each_stone(phone: Visitor) -> None:
    page = phone.open("#/play")
    page.get_by_role("radio", name="Person").check()
    phone.button("Start game").tap()
    phone.await_turn()
    phone.point("h8").tap()
    expect(phone.point("h8")).to_have_accessible_name("H8, empty, waiting for confirmation")
    phone.point("i9").tap()  # a tap on another point moves the pending stone there
    phone.shoot("phone-confirm")
    phone.button("Place stone").tap()
    expect(phone.point("i9")).to_have_accessible_name("I9, black stone, last move")
    expect(phone.stones).to_have_count(1)
    phone.await_turn()
    phone.point("g7").tap()
    phone.point("g7").tap()
    expect(phone.stones).to_have_count(2)


@pytest.mark.thorough
def test_nothing_is_wider_than_a_phone(phone: Visitor) -> None:
    for name in PAGES:
        page = phone.open(f"#/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    tabs = phone.page.locator(".tabs")
    expect(tabs).to_be_visible()  # the last page is the laboratory
    assert tabs.evaluate("tabs => tabs.scrollWidth <= tabs.clientWidth")


def test_dark_follows_the_system_and_the_button(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, color_scheme="dark")
    page = visitor.open("#/play")
    dark, light = "rgb(22, 20, 18)", "rgb(245, 240, 230)"
    paper = page.locator("body")
    expect(visitor.button("Start game")).to_be_visible()
    expect(paper).to_have_css("background-color", dark)
    visitor.shoot("play-dark")
    # The page follows a change of the system's theme until the user chooses one.
    page.emulate_media(color_scheme="light")
    expect(paper).to_have_css("background-color", light)
    page.emulate_media(color_scheme="dark")
    expect(paper).to_have_css("background-color", dark)
    visitor.button("Switch between light and dark theme").click()
    expect(paper).to_have_css("background-color", light)
    page.reload()
    expect(paper).to_have_css("background-color", light)
    visitor.leave()


@pytest.mark.thorough
def test_chinese_is_chinese(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, locale="zh-CN")
    page = visitor.open("#/play")
    expect(page.get_by_role("button", name="开始对局")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    visitor.shoot("play-chinese")
    page.keyboard.press("l")
    expect(page.get_by_role("button", name="Start game")).to_be_visible()
    visitor.leave()


def test_no_markup_is_made_from_text() -> None:
    for path in (STATIC / "js").rglob("*.js"):
        found = re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", path.read_text("utf-8")
        )
        assert not found, f"{path.name}: {found and found.group()}"


def test_all_pages_together_are_light(visitor: Visitor) -> None:
    sizes: dict[str, int] = {}

    def weigh(response: Response) -> None:
        if "/api/" not in response.url:
            sizes[response.url] = len(response.body())

    visitor.page.on("response", weigh)
    for name in PAGES:
        visitor.open(f"#/{name}")
    visitor.page.wait_for_load_state("networkidle")
    assert 50_000 < sum(sizes.values()) < MOST_BYTES


def test_state_functions_are_pure_data(visitor: Visitor) -> None:
    visitor.open("#/play")
    found = visitor.page.evaluate(
        """async () => {
            const state = await import("/static/js/board/state.js");
            const tree = await import("/static/js/tree.js");
            const board = { ...state.initialState(), toPlay: "black", confirm: true };
            const first = state.select(board, "h8");
            const second = state.select({ ...board, ...first.changes }, "h8");
            const root = tree.newRoot();
            const a = tree.play(tree.play(root, "h8", "black"), "i9", "white");
            const b = tree.play(a.parent, "g7", "white");
            const again = tree.play(a.parent, "i9", "white") === a;
            tree.promote(b);
            const { undo } = tree.remove(a);
            const without = a.parent.children.length;
            undo();
            return {
                first: first.play, pending: first.changes.pending, second: second.play, again, without,
                corner: state.moveCursor({ ...board, cursor: "a1" }, -1, -1),
                main: tree.lineThrough(root).map((node) => node.point),
                back: a.parent.children.map((node) => node.point),
                stones: [...tree.stonesAt(b).keys()],
            };
        }"""
    )
    assert found == {
        "first": None,
        "pending": "h8",
        "second": "h8",
        "again": True,
        "without": 1,
        "corner": "a1",
        "main": [None, "h8", "g7"],
        "back": ["g7", "i9"],
        "stones": ["h8", "g7"],
    }
