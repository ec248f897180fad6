"""`python -m assignors.cli` is `kafka-assignors`."""

import sys

from assignors.cli import main

sys.exit(main())
