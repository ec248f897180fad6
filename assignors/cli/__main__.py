"""`python -m assignors.cli` is `kafka-assignors` too: scripts from before may have it."""

import sys

from assignors.cli import main

if __name__ == "__main__":
    sys.exit(main())
