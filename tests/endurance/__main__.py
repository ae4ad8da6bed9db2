"""`python -m tests.endurance faults|mutations|clocks`: the long forms of tests.

    python -m tests.endurance faults                       # fail every operation with every kind of error
    python -m tests.endurance mutations --count 5000       # damage 5,000 files of each kind
    python -m tests.endurance mutations --only models --seed 7
    python -m tests.endurance clocks --games 1000 --time-ms 50   # play through the protocol and count losses on time
    python -m tests.endurance clocks --match-ms 5000 --increment-ms 50   # the same with a clock for the game

Mutations run in a child process for each kind of file. The command ends with an error if a case takes longer than
`--limit` seconds, if the process uses more than `--memory` megabytes, or if anything but one of our errors comes out.
"""

from __future__ import annotations

import argparse
import sys

from tengen.arena.match import TimeControl
from tests.endurance.long_forms import count_time_losses, fail_everything, mutate_everything
from tests.endurance.mutations import SUBJECTS


def main() -> int:
    """Run the command line."""
    names = [subject.name for subject in SUBJECTS]
    parser = argparse.ArgumentParser(
        prog="python -m tests.endurance", description="Long tests of damage, faults and clocks."
    )
    parser.add_argument("what", choices=("faults", "mutations", "clocks"))
    parser.add_argument("--count", type=int, default=5000, help="mutations of each kind of file (default: 5000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the mutations (default: 1)")
    parser.add_argument("--only", choices=names, help="only this kind of file")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each case (default: 60)")
    parser.add_argument("--memory", type=int, default=1000, help="megabytes of a process (default: 1000)")
    parser.add_argument("--games", type=int, default=200, help="games under each rule (default: 200)")
    parser.add_argument("--time-ms", type=int, default=50, help="milliseconds per move (default: 50)")
    parser.add_argument("--match-ms", type=int, help="milliseconds per player and game, instead of --time-ms")
    parser.add_argument("--increment-ms", type=int, default=0, help="added to the clock after each move (default: 0)")
    parser.add_argument("--tolerance-ms", type=int, default=50, help="tolerance for late moves (default: 50)")
    options = parser.parse_args()
    if options.what == "faults":
        return fail_everything()
    if options.what == "clocks":
        control = TimeControl(
            time_ms=options.time_ms if options.match_ms is None else None,
            match_ms=options.match_ms,
            increment_ms=options.increment_ms,
            tolerance_ms=options.tolerance_ms,
        )
        return count_time_losses(options.games, control)
    chosen = [options.only] if options.only else names
    return mutate_everything(chosen, options.seed, options.count, options.limit, options.memory)


if __name__ == "__main__":
    sys.exit(main())
