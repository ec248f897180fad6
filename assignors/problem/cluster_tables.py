"""What of a group's arrays depends on the cluster alone, kept there from one round to the next.

`Cluster.tables` has what was computed last; a cluster that has changed since gets it anew. No
answer depends on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, compress, count, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.entries import KnownNames, numbered_names
from assignors.group_bytes.fields import RackIds
from assignors.model import Cluster, Topic
from wire.text import utf16_sorted

NO_RACK = -1


class _AskedTopics(NamedTuple):
    """The topics that members ask for and the cluster has, as in `Problem`."""

    asked: tuple[str, ...]
    """As members name them."""
    names: tuple[str, ...]
    """In UTF-16 order."""
    topics: tuple[Topic, ...]
    first: Int64
    topic_of: Int32
    kept: dict[str, Any]


def asked_topics(cluster: Cluster, names: tuple[str, ...]) -> _AskedTopics:
    """Return those of `names` that exist, in UTF-16 order. Cost: O(P), O(T) if asked again."""
    known = cluster.topics
    last: _AskedTopics | None = cluster.tables.get("asked")
    # Fast where they are the same objects.
    if last and last.asked == names and tuple(map(known.get, last.names)) == last.topics:
        return last
    ordered = tuple(utf16_sorted(filter(known.__contains__, names)))
    topics = tuple(map(known.__getitem__, ordered))
    counts = np.array([0, *map(attrgetter("partition_count"), topics)], dtype=np.int64)
    topic_of = np.arange(len(topics), dtype=np.int32).repeat(counts[1:])
    asked = _AskedTopics(names, ordered, topics, counts.cumsum(), topic_of, {})
    if len(ordered) == len(names):  # else those that do not exist may exist the next time
        cluster.tables["asked"] = asked
    return asked


def known_names(cluster: Cluster) -> KnownNames | None:
    """Return the names of the topics that were asked for last, for reading the next Subscriptions.

    `None` before anything was asked for. Cost: O(T), O(1) if asked again.
    """
    last: _AskedTopics | None = cluster.tables.get("asked")
    if last is None:
        return None
    if "known" not in last.kept:
        last.kept["known"] = numbered_names(last.names)
    known: KnownNames | None = last.kept["known"]
    return known


def racks_of(
    rack_ids: RackIds, topics: Sequence[Topic], tables: dict[str, Any]
) -> tuple[Int32 | None, Int32 | None, Bool | None]:
    """Return rack of members, rack set of partitions, racks of the sets; `None`s without racks.

    `tables` are those of the cluster.
    """
    # Without racks, and with empty ones, a member is in none.
    is_used = np.zeros(len(rack_ids.names) + 1, dtype=np.bool_)  # the last one is for null
    is_used[rack_ids.number] = True
    names = utf16_sorted(filter(None, compress(rack_ids.names, is_used.tolist())))
    if not names or not any(topic.racks for topic in topics):
        return None, None, None
    index = {rack_id: number for number, rack_id in enumerate(names)}
    rank = [*(index.get(name, NO_RACK) for name in rack_ids.names), NO_RACK]
    rack = np.array(rank, dtype=np.int32)[rack_ids.number]
    known = tables.get("replicas")
    if known is None or known.topics != tuple(topics):  # fast where they are the same objects
        known = tables["replicas"] = _replicas(topics)
    # The same racks of members in any order are one set.
    row_of: dict[frozenset[int], int] = {}
    rows = []
    for racks in known.different:
        local = names if racks is None else filter(index.__contains__, racks)
        rows.append(row_of.setdefault(frozenset(map(index.__getitem__, local)), len(row_of)))
    replica_racks = np.zeros((len(row_of), len(names)), dtype=np.bool_)
    for local_racks, row in row_of.items():
        replica_racks[row, list(local_racks)] = True
    return rack, np.array(rows, dtype=np.int32)[known.number], replica_racks


class _Replicas(NamedTuple):
    """Which partitions of some topics have replicas in the same racks."""

    topics: tuple[Topic, ...]
    different: tuple[tuple[str, ...] | None, ...]
    """Racks of replicas; `None` where they are not known: such a partition counts as local
    everywhere, as no move could improve it."""
    number: Int32
    """int32[P]: position in `different`."""


def _replicas(topics: Sequence[Topic]) -> _Replicas:
    """Return where the replicas are. Cost: O(P), about 50 ns each."""
    numbers: defaultdict[tuple[str, ...] | None, int] = defaultdict(count().__next__)
    racks = (topic.racks or repeat(None, topic.partition_count) for topic in topics)
    number = np.fromiter(map(numbers.__getitem__, chain.from_iterable(racks)), dtype=np.int32)
    return _Replicas(tuple(topics), tuple(numbers), number)
