"""Run the measurements: `python -m tengen.papers.fudan`."""

import sys

from tengen.papers.fudan.experiments import main

if __name__ == "__main__":
    sys.exit(main())
