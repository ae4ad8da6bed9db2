"""Run the experiments: `python -m tengen.papers.comparison`."""

import sys

from tengen.papers.comparison.experiments import main

if __name__ == "__main__":
    sys.exit(main())
