"""Accessibility: axe finds nothing in any state of the pages: light, dark, on a phone, in Chinese."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import ROOT
from tests.web.browser.visitor import Visitor

AXE = ROOT / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
GAME = "rules=15x15:5:freestyle&moves=h8,i9,i8,g8,j8,k8,j9,h7,j7,j10,j6,j5,k7"
SCREENS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "chinese": {"locale": "zh-CN"},
}


def form(visitor: Visitor) -> None:
    visitor.open("#/play")
    expect(visitor.page.locator(".rating-line")).to_be_visible()


def advanced_form(visitor: Visitor) -> None:
    form(visitor)
    visitor.page.locator('input[value="advanced"]').check(force=True)
    visitor.page.locator("details summary").last.click()


def game(visitor: Visitor) -> None:
    form(visitor)
    visitor.page.locator('input[value="person"]').check(force=True)
    visitor.page.locator("button[type=submit]").click()
    put(visitor, "h8", "i9")


def put(visitor: Visitor, *points: str) -> None:
    """Place stones in any language; on a touch screen, the second click confirms."""
    for count, point in enumerate(points, start=1):
        visitor.await_turn()
        visitor.point(point).click()
        if visitor.page.locator(".pending").count():
            visitor.point(point).click()
        expect(visitor.stones).to_have_count(count)


def finished_game(visitor: Visitor) -> None:
    game(visitor)
    visitor.page.keyboard.press("r")
    visitor.page.get_by_role("dialog").get_by_role("button").last.click()
    expect(visitor.page.locator(".status.is-over")).to_be_visible()


def analysis(visitor: Visitor) -> None:
    visitor.open(f"#/analyse?{GAME}")
    visitor.page.keyboard.press("Space")
    expect(visitor.page.locator(".candidate-row")).not_to_have_count(0)
    expect(visitor.page.locator(".explorer p").last).to_be_visible()


def set_up_stones(visitor: Visitor) -> None:
    visitor.open(f"#/analyse?{GAME}")
    visitor.page.keyboard.press("m")
    expect(visitor.page.locator(".stone-editor")).to_be_visible()


def header_dialog(visitor: Visitor) -> None:
    visitor.open(f"#/analyse?{GAME}")
    visitor.page.keyboard.press("h")
    expect(visitor.page.get_by_role("dialog")).to_be_visible()


def import_dialog(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.page.keyboard.press("i")
    dialog = visitor.page.get_by_role("dialog")
    dialog.locator("textarea").fill("h8z99")
    dialog.locator("button.primary").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    visitor.faults.clear()  # the browser logs the failed request as an error


def export_dialog(visitor: Visitor) -> None:
    visitor.open(f"#/analyse?{GAME}")
    visitor.page.keyboard.press("e")
    expect(visitor.page.get_by_role("dialog").locator("textarea")).not_to_have_value("")


def review(visitor: Visitor) -> None:
    visitor.open(f"#/review?{GAME}&start=1")
    expect(visitor.page.locator(".phases")).to_be_visible()
    visitor.page.keyboard.press("j")
    expect(visitor.page.locator(".reason")).to_be_visible()


def lesson(visitor: Visitor) -> None:
    review(visitor)
    visitor.page.keyboard.press("e")
    expect(visitor.page.locator(".verdict")).to_be_visible()


def games(visitor: Visitor) -> None:
    finished_game(visitor)
    visitor.open("#/games")
    expect(visitor.page.locator(".game-row")).to_have_count(1)


def settings(visitor: Visitor) -> None:
    visitor.open("#/play")
    visitor.page.keyboard.press(",")
    expect(visitor.page.get_by_role("dialog")).to_be_visible()


def keys(visitor: Visitor) -> None:
    visitor.open("#/analyse")
    visitor.page.keyboard.press("?")
    expect(visitor.page.get_by_role("dialog")).to_be_visible()


STATES: tuple[Callable[[Visitor], None], ...] = (
    form,
    advanced_form,
    game,
    finished_game,
    analysis,
    set_up_stones,
    header_dialog,
    import_dialog,
    export_dialog,
    review,
    lesson,
    games,
    settings,
    keys,
)


def findings(visitor: Visitor) -> list[str]:
    """Return what axe finds on the page, with the elements."""
    visitor.page.evaluate(AXE.read_text("utf-8"))
    found = visitor.page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{one['id']}: {node['html'][:160]}" for one in found["violations"] for node in one["nodes"]]


@pytest.mark.thorough
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_axe_finds_nothing(browser: Browser, address: str, state: Callable[[Visitor], None], screen: str) -> None:
    visitor = Visitor(browser, address, **({"reduced_motion": "reduce"} | SCREENS[screen]))
    state(visitor)
    visitor.shoot(f"axe-{state.__name__}-{screen}")
    assert findings(visitor) == []
    visitor.leave()
