"""The tutorial about bots shows the example file as it is."""

from __future__ import annotations

from tests.conftest import ROOT


def test_the_page_shows_the_example() -> None:
    example = (ROOT / "examples" / "mybot.py").read_text(encoding="utf-8")
    assert f"```python\n{example}```" in (ROOT / "docs" / "tutorials" / "bot.md").read_text(encoding="utf-8")
