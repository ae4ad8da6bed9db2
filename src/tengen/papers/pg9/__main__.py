"""Run the experiments: `python -m tengen.papers.pg9`."""

import sys

from tengen.papers.pg9.experiments import main

if __name__ == "__main__":
    sys.exit(main())
