"""Python's search for cyclic garbage, which goes through everything that a run keeps.

A run of a large group keeps millions of objects and makes as many short-lived ones, hardly any of
them in cycles. With the usual thresholds a fifth of its time went into the search.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 200_000
"""So many more objects are made than freed between two searches; Python's own number is 700."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search for cyclic garbage less often; afterwards as before."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
