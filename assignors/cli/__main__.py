"""`python -m assignors.cli` is `kafka-assignors` too: it was the only such way before `python -m assignors`."""

import sys

from assignors.cli import main

if __name__ == "__main__":
    sys.exit(main())
