"""`python -m tests.golden.regenerate` writes the playthroughs anew; look at the diff before you commit it."""

from __future__ import annotations

from tests.golden.playthrough import RULESETS, path_of, playthrough


def main() -> None:
    """Write every playthrough."""
    for ruleset in RULESETS:
        path_of(ruleset).write_text(playthrough(ruleset))


if __name__ == "__main__":
    main()
