"""The command `kafka-assignors`: each subcommand reads, calls the library, prints and exits.

Optional packages are imported when the command runs, so that without click and rich it can still
say what to install.
"""

from __future__ import annotations

import gc
import sys

MISSING = (
    "kafka-assignors: the command needs click and rich; install them with\n"
    "    pip install 'kafka-assignors[cli]'\n"
)


COLLECTED_EVERY = 200_000
"""New objects between two garbage collections. Documents have no cycles, but with Python's own
limit (700) a line of a million partitions spent more time in collections than on its answer."""


def main() -> int:
    """Run the command and return its exit code: 0 clean, 1 violations, 2 usage or bad input."""
    try:
        import click  # noqa: F401, PLC0415  # optional: only the command needs it
        import rich  # noqa: F401, PLC0415  # as above
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich"}:
            raise
        sys.stderr.write(MISSING)
        return 2
    gc.set_threshold(COLLECTED_EVERY)
    from assignors.cli.command import run  # noqa: PLC0415  # needs click

    return run()
