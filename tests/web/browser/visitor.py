"""A page object for the board: opens pages, clicks, and reads what they show."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, WebSocketRoute, expect

from tests.conftest import ROOT

SCREENSHOTS = ROOT / "build" / "screenshots"
PATIENCE_MS = 240_000
"""Timeout of every wait. It is generous, because the machine may be busy and no test measures time."""
expect.set_options(timeout=PATIENCE_MS)


class Visitor:
    """A browser context. It records console errors and requests to other hosts, which fail the test."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        options = {"viewport": {"width": 1280, "height": 860}, "locale": "en-GB", "color_scheme": "light"} | context
        self.address = address
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(PATIENCE_MS)
        self.faults: list[str] = []
        self.page: Page = self.context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", self._watch)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _watch(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != urlsplit(self.address).netloc:
            self.faults.append(f"asked {request.url}")

    def hear_only(self, passes: Callable[[dict[str, Any]], bool]) -> None:
        """From the next page on, let only messages through for which `passes` is true; `tell` sends others."""

        def relay(route: WebSocketRoute) -> None:
            def hear(text: str | bytes) -> None:
                if passes(json.loads(text)):
                    route.send(text)

            self._socket = route
            route.connect_to_server().on_message(hear)

        self.page.route_web_socket(re.compile("/api/socket$"), relay)

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to the page as if it came from the server."""
        self._socket.send(json.dumps(message))

    def leave(self) -> None:
        self.context.close()
        assert not self.faults, self.faults

    # -- going and doing ---------------------------------------------------------------------------------------------

    def open(self, path: str) -> Page:
        """Open a page by its hash, such as `#/play`, and wait until it is ready."""
        self.page.goto(self.address + path)
        name = re.split("[/?]", path.removeprefix("#/"))[0]
        expect(self.page.locator("main")).to_have_attribute("data-page", name)
        return self.page

    def point(self, name: str) -> Locator:
        """Return the cell of a point."""
        return self.page.locator(f'.board-grid [data-point="{name}"]')

    def button(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("button", name=name, exact=isinstance(name, str))

    def choice(self, name: str) -> Locator:
        """Return a drop-down list by its label."""
        return self.page.get_by_role("combobox", name=name, exact=True)

    def await_turn(self) -> None:
        """Wait until the board accepts a stone, after the server has handled the previous one."""
        expect(self.page.locator(".board.is-playable")).to_be_attached()

    def put(self, *names: str) -> None:
        """Click points one after the other, each as soon as the board accepts a stone."""
        for name in names:
            self.await_turn()
            self.point(name).click()
            expect(self.point(name)).to_have_accessible_name(re.compile("stone"))

    def import_text(self, text: str) -> None:
        """Open a game through the import dialog of the analysis or review page, which must still be empty."""
        self.button("Open a game").click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label("Game text").fill(text)
        dialog.get_by_role("button", name="Open", exact=True).click()
        expect(dialog).to_have_count(0)
        expect(self.page.locator(".moves .move:not(.start)")).not_to_have_count(0)

    def shoot(self, name: str) -> None:
        """Save a screenshot."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")

    # -- looking -----------------------------------------------------------------------------------------------------

    @property
    def stones(self) -> Locator:
        return self.page.locator(".board .stone")

    @property
    def moves(self) -> list[str]:
        """Return the listed moves without their numbers."""
        texts = self.page.locator(".moves .move:not(.start)").all_inner_texts()
        return [re.sub(r"^\s*\d+\s*", "", text) for text in texts]

    @property
    def said(self) -> Locator:
        """Return the announcements to screen readers."""
        return self.page.locator("#announcer p")
