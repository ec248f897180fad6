"""Hold dumps against the laws; print what does not hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from assignors.replay.decode.logged_records import logged_records
from assignors.replay.sources import open_source
from tests.replay.laws import broken, tables_of


def main(paths: Sequence[str]) -> int:
    """Return 1 if anything does not hold."""
    said = [
        f"{path}: {one}"
        for path in paths
        for one in broken(tables_of(logged_records(open_source(path))))
    ]
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
