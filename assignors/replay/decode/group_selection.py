"""Records of some groups, chosen by the name in front of each key, before anything is decoded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa

from assignors.replay.decode.key_columns import KEY, key_columns
from assignors.replay.sources.raw import Raw


def of_groups(raws: Sequence[Raw], wanted: re.Pattern[str], seen: set[str]) -> Iterator[Raw]:
    """Yield the records of groups whose name matches, anywhere in it, and rows with an error.

    `seen` gets the names of the groups that do not match. Cost: linear in the bytes of the keys.

    >>> raws = [Raw(key=bytes.fromhex("00020001") + name) for name in (b"a", b"b")]
    >>> others = set()
    >>> [raw.key[-1:] for raw in of_groups(raws, re.compile("b"), others)], others
    ([b'b'], {'a'})
    """
    keys = key_columns(pa.array([raw.key for raw in raws], pa.binary()))
    groups = keys.field(KEY.get_field_index("group")).dictionary_encode()
    names: list[str] = groups.dictionary.to_pylist()
    is_wanted = [bool(wanted.search(name)) for name in names]
    seen.update(name for name, matches in zip(names, is_wanted, strict=True) if not matches)
    for raw, place in zip(raws, groups.indices.to_pylist(), strict=True):
        if raw.error is not None or (place is not None and is_wanted[place]):
            yield raw
