"""`python -m tests.endurance faults|mutations`: the long forms of the tests in this folder.

    python -m tests.endurance faults                       # fail every operation with every kind of error
    python -m tests.endurance mutations --count 5000       # damage 5,000 files of each kind
    python -m tests.endurance mutations --only models --seed 7

Mutations run in a child process for each kind of file. The command ends with an error if a case takes longer than
`--limit` seconds, if the process uses more than `--memory` megabytes, or if anything but one of our errors comes out.
"""

from __future__ import annotations

import argparse
import sys

from tests.endurance.long_forms import fail_everything, mutate_everything
from tests.endurance.mutations import SUBJECTS


def main() -> int:
    """Run the command line."""
    names = [subject.name for subject in SUBJECTS]
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description="Long tests of damage and faults.")
    parser.add_argument("what", choices=("faults", "mutations"))
    parser.add_argument("--count", type=int, default=5000, help="mutations of each kind of file (default: 5000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the mutations (default: 1)")
    parser.add_argument("--only", choices=names, help="only this kind of file")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each case (default: 60)")
    parser.add_argument("--memory", type=int, default=1000, help="megabytes of a process (default: 1000)")
    options = parser.parse_args()
    if options.what == "faults":
        return fail_everything()
    chosen = [options.only] if options.only else names
    return mutate_everything(chosen, options.seed, options.count, options.limit, options.memory)


if __name__ == "__main__":
    sys.exit(main())
