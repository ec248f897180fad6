"""The iteration order of a Java hash table with buckets that have become trees.

A bucket that gets its ninth key in a table of 64 buckets or more becomes a red-black tree. Well
distributed hash codes never do that, but an `Integer` is its own hash code: the partitions 0,
64, 128, ... of a topic dealt round robin to 64 members all fall into one bucket. The keys of a
tree are also linked in a list, which an iteration follows, and that list changes with the
tree: a new key is inserted behind its parent in the tree, and whenever the tree gets another root
that one moves to the front. So the tree has to be built to know the order.

Strings chosen to collide do that as well: those of equal hash are ordered by their text.

Source: `java.util.HashMap` of JDK 17 and 25, checked by running it. Other keys of equal hash
are not modelled: Java orders those by class and by address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import is_

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.jvm.hash_order import (
    DEFAULT_CAPACITY,
    PUT_CROWD,
    TREE_CAPACITY,
    put_order,
    string_hashes,
    table_length,
)
from assignors.model import Group
from assignors.problem import Problem
from wire.text import utf16_key

UNTREEIFY = 6
"""Up to so many keys a tree becomes a plain list again when the table doubles."""
LEFT, RIGHT = 0, 1


@dataclass(slots=True)
class _Tree:
    """A red-black tree of keys, which are numbers; sorted by `rank`."""

    rank: list[int]
    root: int
    parent: dict[int, int | None] = field(default_factory=dict)
    child: dict[int, list[int | None]] = field(default_factory=dict)
    red: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.parent[self.root] = None
        self.child[self.root] = [None, None]

    def insert(self, key: int) -> int:
        """Add a key; return its parent before any rotation."""
        found: int | None = self.root
        parent, side = self.root, LEFT
        while found is not None:
            parent = found
            side = RIGHT if self.rank[parent] < self.rank[key] else LEFT
            found = self.child[parent][side]
        self.child[parent][side] = key
        self.parent[key] = parent
        self.child[key] = [None, None]
        self._balance(key)
        return parent

    def _balance(self, key: int) -> None:
        """Restore the invariants of a red-black tree above a new red key."""
        self.red.add(key)
        parent = self.parent[key]
        while parent is not None and parent in self.red:
            above = self.parent[parent]
            assert above is not None, "a root is black"
            side = RIGHT if parent == self.child[above][RIGHT] else LEFT
            uncle = self.child[above][1 - side]
            if uncle is not None and uncle in self.red:
                self.red -= {uncle, parent}
                self.red.add(above)
                key = above
            else:
                if key == self.child[parent][1 - side]:
                    self._rotate(parent, side)
                    key, parent = parent, key
                self.red.discard(parent)
                self.red.add(above)
                self._rotate(above, 1 - side)
            parent = self.parent[key]
        self.red.discard(self.root)

    def _rotate(self, key: int, side: int) -> None:
        """Rotate `key` down to this side; its child on the other side takes its place."""
        riser = self.child[key][1 - side]
        assert riser is not None
        inner = self.child[riser][side]
        self.child[key][1 - side] = inner
        if inner is not None:
            self.parent[inner] = key
        above = self.parent[key]
        self.parent[riser] = above
        if above is None:
            self.root = riser
        else:
            self.child[above][RIGHT if self.child[above][RIGHT] == key else LEFT] = riser
        self.child[riser][side] = key
        self.parent[key] = riser


@dataclass(slots=True)
class _Bucket:
    """Keys in the order of an iteration, and the tree that they form, if they do."""

    linked: list[int] = field(default_factory=list)
    tree: _Tree | None = None

    def grow_tree(self, rank: list[int]) -> None:
        """Turn the bucket into a tree: keys are inserted in the order of the list."""
        self.tree = _Tree(rank, self.linked[0])
        for key in self.linked[1:]:
            self.tree.insert(key)
        self._root_to_front()

    def add(self, key: int) -> None:
        """Add a new key."""
        if self.tree is None:
            self.linked.append(key)
        else:
            parent = self.tree.insert(key)
            self.linked.insert(self.linked.index(parent) + 1, key)
            self._root_to_front()

    def split(self, hash_of: list[int], rank: list[int], bit: int) -> tuple[_Bucket, _Bucket]:
        """Return the two buckets that this one becomes when the table doubles."""
        halves = _Bucket(), _Bucket()
        for key in self.linked:
            halves[(hash_of[key] & bit) != 0].linked.append(key)
        if self.tree is not None:
            for half, other in (halves, halves[::-1]):
                if not other.linked:
                    half.tree = self.tree
                elif len(half.linked) > UNTREEIFY:
                    half.grow_tree(rank)
        return halves

    def _root_to_front(self) -> None:
        assert self.tree is not None
        if self.linked[0] != self.tree.root:
            self.linked.remove(self.tree.root)
            self.linked.insert(0, self.tree.root)


def name_order(names: Sequence[str]) -> Int64:
    """Return the iteration order of different strings that were put, as positions in `names`.

    Cost: O(N log N); O(N^2) at worst, for names made to collide.

    >>> name_order(["c0", "c1", "c10", "a"]).tolist()
    [3, 2, 0, 1]
    """
    hashes = string_hashes(names)
    if not _has_tree(hashes):
        return put_order(hashes)
    return tree_order(hashes, capacity=DEFAULT_CAPACITY, texts=names)


def map_order(group: Group, problem: Problem) -> Int64:
    """Return member numbers (of `problem`) in the order of Java's map from member id, int64[M].

    The map is filled in the order of `group.members`. Cost: O(M log M).

    >>> from assignors.model import Cluster, Member
    >>> from assignors.problem import problem_of
    >>> members = tuple(Member(member_id=name) for name in ("c0", "c1", "c10", "a"))
    >>> group = Group(cluster=Cluster.of({}), members=members)
    >>> problem = problem_of(group)
    >>> [problem.members[number].member_id for number in map_order(group, problem).tolist()]
    ['a', 'c10', 'c0', 'c1']
    """
    ids = [member.member_id for member in group.members]
    if all(map(is_, group.members, problem.members)):
        return name_order(ids)
    number_of = {member.member_id: number for number, member in enumerate(problem.members)}
    given = np.array([number_of[member_id] for member_id in ids], dtype=np.int64)
    return given[name_order(ids)]


def _has_tree(hashes: Int32) -> bool:
    """Return whether some bucket becomes a tree, or might: a few keys may not double their table.

    Checked for all lengths that the table has had, with the keys it had by then. Keys of one
    bucket double a table up to the least length of a table with trees. Cost: O(N).
    """
    unsigned = hashes.view(np.uint32)
    spread = unsigned ^ (unsigned >> np.uint32(16))
    length, last = TREE_CAPACITY, max(TREE_CAPACITY, table_length(len(hashes)))
    while length <= last:
        present = spread[: int(0.75 * length) + 1]
        if int(np.bincount(present & np.uint32(length - 1)).max(initial=0)) >= PUT_CROWD:
            return True
        length *= 2
    return False


def tree_order(hashes: Int32, *, capacity: int, texts: Sequence[str] | None = None) -> Int64:
    """Return the iteration order of different keys that were put, as positions in `hashes`.

    The same as `hash_order.put_order`, key by key, with trees. `texts` are the keys where they
    are strings, to order equal hashes. Cost: O(N log N) for well distributed hashes, O(N^2) at
    worst.

    >>> tree_order(np.arange(0, 768, 64, dtype=np.int32), capacity=64).tolist()
    [3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]
    """
    unsigned = hashes.view(np.uint32)
    hash_of = (unsigned ^ (unsigned >> np.uint32(16))).view(np.int32).tolist()
    rank = hash_of
    if texts is not None:
        by_text = sorted(range(len(texts)), key=lambda key: (hash_of[key], utf16_key(texts[key])))
        rank = np.argsort(by_text).tolist()
    length = 1 << max(capacity - 1, 0).bit_length()
    buckets: dict[int, _Bucket] = {}
    for key, key_hash in enumerate(hash_of):
        bucket = buckets.setdefault(key_hash & (length - 1), _Bucket())
        bucket.add(key)
        if len(bucket.linked) >= PUT_CROWD and bucket.tree is None:
            if length < TREE_CAPACITY:
                length = _double(buckets, hash_of, rank, length)
            else:
                bucket.grow_tree(rank)
        if key + 1 > 0.75 * length:
            length = _double(buckets, hash_of, rank, length)
    order = [key for place in sorted(buckets) for key in buckets[place].linked]
    return np.array(order, dtype=np.int64)


def _double(buckets: dict[int, _Bucket], hash_of: list[int], rank: list[int], length: int) -> int:
    """Double the table in place; return its new length."""
    for place, bucket in list(buckets.items()):
        buckets[place], buckets[place + length] = bucket.split(hash_of, rank, length)
    return 2 * length
