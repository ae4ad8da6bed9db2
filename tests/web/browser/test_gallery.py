"""Screenshots of every page for people to look at: light and dark, desktop, phone and Chinese."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.web.browser.visitor import Visitor

GAME = "rules=15x15:5:freestyle&moves=h8,i9,i8,g8,j8,k8,j9,h7,j7,j10,j6,j5,k7"
SCREENS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1360, "height": 860}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "has_touch": True,
        "is_mobile": True,
        "device_scale_factor": 2,
    },
    "chinese": {"viewport": {"width": 1360, "height": 860}, "locale": "zh-CN"},
}
PAGES = {
    "play": "#/play",
    "analyse": f"#/analyse?{GAME}",
    "review": f"#/review?{GAME}&start=1",
    "games": "#/games",
    "puzzles": "#/puzzles",
    "laboratory": "#/laboratory",
    "laboratory-start": "#/laboratory/start",
    "laboratory-cup": "#/laboratory/start-tournament",
    "laboratory-models": "#/laboratory/models",
    "laboratory-papers": "#/laboratory/papers",
}


@pytest.mark.thorough
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("light", ["light", "dark"])
def test_every_page_is_drawn(browser: Browser, address: str, screen: str, light: str) -> None:
    for name, path in PAGES.items():
        visitor = Visitor(browser, address, color_scheme=light, **SCREENS[screen])
        page = visitor.open(path)
        if name == "analyse":
            page.keyboard.press("Space")
            expect(page.locator(".candidate-row")).not_to_have_count(0)
        elif name == "review":
            expect(page.locator("progress")).to_have_count(0)
            page.keyboard.press("j")
        elif name == "puzzles":
            expect(visitor.stones).not_to_have_count(0)
        elif name.startswith("laboratory-"):
            expect(page.locator(".lab .card")).not_to_have_count(0)
        visitor.shoot(f"{name}-{screen}-{light}")
        visitor.leave()
