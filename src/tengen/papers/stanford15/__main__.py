"""Run the experiments: `python -m tengen.papers.stanford15`."""

import sys

from tengen.papers.stanford15.experiments import main

if __name__ == "__main__":
    sys.exit(main())
