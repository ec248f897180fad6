"""`python -m assignors` is `kafka-assignors`."""

import sys

from assignors.cli import main

if __name__ == "__main__":
    sys.exit(main())
