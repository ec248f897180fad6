"""Who subscribes to what as a table, kept with the cluster from one round to the next.

Most members of a group have the topic lists that they had in the round before, the same objects:
then nothing of them is read again. No answer depends on it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count, repeat
from operator import is_, itemgetter
from typing import Any, NamedTuple

import numpy as np

from assignors.arrays import Bool, Int64
from assignors.model import Member


class _Subscriptions(NamedTuple):
    """S different lists of N topics, some of which may be of members that have left."""

    known: dict[int, tuple[str, ...]]
    """`id` of a list -> that list, of which there may be several that are equal."""
    number: dict[int, int]
    """`id` of a list -> its row."""
    names: tuple[str, ...]
    table: Bool
    """bool[S, N]."""


def subscriptions_of(
    members: Sequence[Member], tables: dict[str, Any]
) -> tuple[tuple[str, ...], Bool, Int64]:
    """Return N names of topics, the different lists, bool[S, N], and everybody's list, int64[M].

    Each topic is in the list of some member. Most members of a group share one tuple
    (`model.with_shared_topics`): those are recognised by identity, without hashing a long tuple for
    each of them. `tables` are those of the cluster. Cost: O(M + total length of different lists),
    O(M + S N / 100) if asked again.
    """
    lists = [member.topics for member in members]
    if all(map(is_, lists, repeat(lists[0]) if lists else lists)):
        names = tuple(dict.fromkeys(chain.from_iterable(lists[:1])))
        table = np.ones((len(lists[:1]), len(names)), dtype=np.bool_)
        return names, table, np.zeros(len(lists), dtype=np.int64)
    identities = list(map(id, lists))
    known = dict(zip(identities, lists, strict=True))
    last: _Subscriptions | None = tables.get("subscriptions")
    if last is not None and all(map(is_, map(last.known.get, known), known.values())):
        list_of = np.fromiter(map(last.number.__getitem__, identities), np.int64, len(lists))
        is_used = np.zeros(len(last.table), dtype=np.bool_)
        is_used[list_of] = True
        if last.table[is_used].any(axis=0).all():
            return last.names, last.table, list_of
    by_value: dict[tuple[str, ...], int] = {}
    number = {each: by_value.setdefault(topics, len(by_value)) for each, topics in known.items()}
    names, table = _table(list(by_value))
    tables["subscriptions"] = _Subscriptions(known, number, names, table)
    return names, table, np.fromiter(map(number.__getitem__, identities), np.int64, len(lists))


def _table(lists: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], Bool]:
    """Return N names of topics and which each list has, bool[S, N]."""
    length = list(map(len, lists))
    index: defaultdict[str, int] = defaultdict(count().__next__)  # a new name gets the next number
    numbered = [
        itemgetter(*names)(index) if len(names) > 1 else map(index.__getitem__, names)
        for names in lists
    ]
    column = np.fromiter(chain.from_iterable(numbered), np.int64, sum(length))
    row = np.repeat(np.arange(len(lists)), length)
    table = np.zeros((len(lists), len(index)), dtype=np.bool_)
    table[row, column] = True
    return tuple(index), table
