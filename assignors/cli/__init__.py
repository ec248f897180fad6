"""The command `kafka-assignors`: each subcommand reads, calls the library, prints and exits.

Optional packages are imported when the command runs, so that without click and rich it can still
say what to install.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys

MISSING = (
    "kafka-assignors: the command needs click and rich; install them with\n"
    "    pip install 'kafka-assignors[cli]'\n"
)


BLAS_THREADS = "OPENBLAS_NUM_THREADS"
THREAD_COUNTS = {BLAS_THREADS, "GOTO_NUM_THREADS", "OMP_NUM_THREADS"}
"""Environment variables that OpenBLAS, which comes with numpy, reads when numpy is imported. It
starts a thread for every processor, which waits by computing: that cost more CPU than importing
numpy, and hardly anything here multiplies matrices. A value that is set already is kept."""

COLLECTED_EVERY = 200_000
"""New objects between two garbage collections. Documents have no cycles, but with Python's own
limit (700) a line of a million partitions spent more time in collections than on its answer."""


def main() -> int:
    """Run the command and return its exit code: 0 clean, 1 violations, 2 usage or bad input."""
    gc.set_threshold(COLLECTED_EVERY)
    # As Python ends it searches all modules for cycles, several times: 0.03 to 0.07 s of CPU.
    atexit.register(gc.freeze)
    try:
        import click  # noqa: F401, PLC0415  # optional: only the command needs it
        import rich  # noqa: F401, PLC0415  # as above
    except ModuleNotFoundError as error:
        if error.name not in {"click", "rich"}:
            raise
        sys.stderr.write(MISSING)
        return 2
    if not THREAD_COUNTS & os.environ.keys():
        os.environ[BLAS_THREADS] = "1"
    from assignors.cli.command import run  # noqa: PLC0415  # needs click

    return run()
