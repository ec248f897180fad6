"""Many Assignments read together: what each member was given, as arrays.

Plain bytes are version 0 to 3, with nothing repeated and nothing behind the end. What is not plain
is marked, and wants `wire.decode_assignment`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assignors.arrays import Bool, Int64, OwnedArrays, bounds_of
from assignors.group_bytes.entries import PAD, KnownNames, owned_arrays, read_entries
from assignors.group_bytes.fields import UserDataPlaces, read_user_data

VERSIONS = {bytes([0, version]): version for version in range(4)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentArrays:
    """R Assignments; only rows with `is_plain` are read."""

    is_plain: Bool
    """bool[R]."""
    version: Int64
    """int64[R]."""
    user_data: UserDataPlaces
    """In the message's bytes."""
    partitions: OwnedArrays


def read_assignments(blobs: Sequence[bytes]) -> AssignmentArrays:
    """Return what is plain of these Assignments. Never raises. Cost: linear in the bytes."""
    bounds = bounds_of(np.fromiter(map(len, blobs), np.int64, len(blobs)))
    buffer = b"".join([*blobs, bytes(PAD)])
    version = np.array([VERSIONS.get(blob[:2], -1) for blob in blobs], dtype=np.int64)
    place, end = bounds[:-1] + 2, bounds[1:]
    is_plain = version >= 0
    entries = read_entries(buffer, place, end, is_plain)
    user_data = read_user_data(buffer, place, end, is_plain)
    is_plain &= place == end
    partitions = owned_arrays(entries, KnownNames({}), is_plain)
    return AssignmentArrays(
        is_plain=is_plain,
        version=version,
        user_data=replace(user_data, start=user_data.start - bounds[:-1]),
        partitions=partitions,
    )
