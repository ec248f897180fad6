"""What Java's sticky assignors give the members of a plain group, on lists.

Plain is a group in which all members list the same topics, nobody has a rack that can matter, and
each claimed partition exists and stands once in a claim. A few hundred partitions take less
time this way than on arrays. The algorithm is that of `constrained`, which explains it; whatever
else occurs, failures too, is left to the assignors themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter

from assignors.assignor import UserData
from assignors.java.java_input import everybodys_data
from assignors.jvm.few_keys import order_of_names
from assignors.model import NO_GENERATION, Group, Member, State, in_id_order
from wire import TopicPartitions
from wire.constructors import unchecked_replace
from wire.text import utf16_sorted

Pair = tuple[str, int]
_other_state = unchecked_replace(State)

PARTITIONS_MAX = 500
"""Larger groups take arrays. Measured, lists against arrays: 3 members x 12 partitions 15 against
192 us, 20 x 200 134 against 273, 100 x 1,000 638 against 595."""
LISTED_MAX = 5_000
"""Members times topics of the largest group that takes lists."""


def plain_lists(group: Group, kind: UserData) -> tuple[dict[str, list[Pair]], State] | None:
    """Return each member's (topic, partition) pairs in Java's order, and the assignor's state.

    Those of `java/sticky` or, for `UserData.COOPERATIVE`, of `java/cooperative-sticky`; `None`
    where the group is not plain. Cost: O(P + C log C + M log M) for C claims.

    >>> from assignors.model import Cluster
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members)
    >>> plain_lists(group, UserData.STICKY)[0]
    {'a': [('t', 0), ('t', 1)], 'b': [('t', 2), ('t', 3)]}
    >>> plain_lists(group, UserData.COOPERATIVE)[0]
    {'a': [('t', 0), ('t', 1)], 'b': []}
    """
    sizes = plain_sizes(group)
    if not sizes:
        return None
    members = in_id_order(group.members)
    owned, generation = everybodys_data(members, kind, sizes)
    claims = _claims(owned, sizes)
    if claims is None:
        return None
    multiple = _settle(group, members, claims, generation)
    kept, under, exact = _quotas(group, members, claims, sum(sizes.values()))
    lists = []
    taken_from: dict[Pair, int] = {}
    held: set[Pair] = set()
    for member, (mine, count) in enumerate(zip(claims, kept, strict=True)):
        # By number, then by topic: the order in which topics stand here.
        by_number = sorted(mine, key=itemgetter(1)) if len(mine) > 1 else mine
        lists.append(by_number[:count])
        held.update(by_number[:count])
        taken_from.update(dict.fromkeys(by_number[count:], member))
    left: list[Pair] = []
    if len(held) < sum(sizes.values()):
        left = [(t, n) for t, size in sizes.items() for n in range(size) if (t, n) not in held]
    for pair, taker in zip(left, _takers(under, exact, len(left)), strict=True):
        is_moved = pair in multiple or taken_from.get(pair, taker) != taker
        if not (is_moved and kind is UserData.COOPERATIVE):
            lists[taker].append(pair)
    highest = max(group.state.max_generation, *generation)
    named = {member.member_id: listed for member, listed in zip(members, lists, strict=True)}
    return named, _other_state(group.state, max_generation=highest)


def plain_sizes(group: Group) -> dict[str, int]:
    """Return the partitions of each topic, in UTF-16 order, {} where the group is not plain.

    A topic without partitions is left out, and so is one that does not exist.
    """
    if not group.members:
        return {}
    first = group.members[0].topics
    if len(group.members) * len(first) > LISTED_MAX:
        return {}
    asked = frozenset(first)
    if len(asked) < len(first):
        return {}
    for member in group.members:
        topics = member.topics
        if topics is not first and not (len(topics) == len(asked) and asked.issuperset(topics)):
            return {}
    known = group.cluster.topics
    names = [topic for topic in utf16_sorted(asked) if topic in known]
    if any(known[topic].racks for topic in names):
        return {}
    sizes = {topic: known[topic].partition_count for topic in names if known[topic].partition_count}
    return sizes if sum(sizes.values()) <= PARTITIONS_MAX else {}


def _claims(owned: Sequence[TopicPartitions], sizes: dict[str, int]) -> list[list[Pair]] | None:
    """Return the pairs of each member, topics in the order of `sizes`; `None` if not plain."""
    claims = []
    for mine in owned:
        pairs = []
        for topic, size in sizes.items():
            numbers = mine.get(topic, ())
            if numbers and not 0 <= min(numbers) <= max(numbers) < size:
                return None
            pairs += [(topic, number) for number in numbers]
        if len(set(pairs)) < len(pairs):
            return None
        claims.append(pairs)
    return claims


def _settle(
    group: Group,
    members: Sequence[Member],
    claims: list[list[Pair]],
    generation: Sequence[int],
) -> set[Pair]:
    """Drop claims that others have outdone; return what was claimed twice in one generation.

    As `java_input` settles them, in map order.
    """
    if len(set().union(*claims)) == sum(map(len, claims)):
        return set()
    count = Counter(chain.from_iterable(claims))
    contested = {pair for pair, claimant_count in count.items() if claimant_count > 1}
    recorded: dict[Pair, int] = {}  # the last member whose claim counted
    standing: dict[Pair, int] = {}  # whose claim is kept
    multiple: set[Pair] = set()
    for member in _map_order(group, members):
        for pair in contested.intersection(claims[member]):
            holder = recorded.get(pair)
            on_record = (
                NO_GENERATION if holder is None else max(members[holder].generation, NO_GENERATION)
            )
            if holder is not None and generation[member] < on_record:
                continue
            recorded[pair] = member
            if holder is not None and generation[member] == on_record:
                multiple.add(pair)
                standing.pop(pair, None)
            else:
                standing[pair] = member
    for member, mine in enumerate(claims):
        mine[:] = [
            pair
            for pair in mine
            if pair not in contested or (standing.get(pair) == member and pair not in multiple)
        ]
    return multiple


def _map_order(group: Group, members: Sequence[Member]) -> list[int]:
    """Return the places in `members` in the order of Java's map: see `map_order`."""
    number = {member.member_id: place for place, member in enumerate(members)}
    ids = [member.member_id for member in group.members]
    return [number[ids[place]] for place in order_of_names(ids)]


def _quotas(
    group: Group, members: Sequence[Member], claims: Sequence[Sequence[Pair]], partition_count: int
) -> tuple[list[int], dict[int, int], list[int]]:
    """Return how many claims each member keeps, who lacks how many, and who may take one more."""
    low, want = divmod(partition_count, len(members))
    count = [len(mine) for mine in claims]
    rich = sum([held > low for held in count]) if want else 0
    order: Sequence[int] = range(len(members))
    if rich > want:  # else everybody who can keep the extra one does
        order = _map_order(group, members)
    kept = [min(held, low) for held in count]
    have = 0
    exact = []
    for member in order:
        if count[member] > low and have < want:
            kept[member] += 1
            have += 1
        elif count[member] >= low:
            exact.append(member)
    under = {member: low - held for member, held in enumerate(count) if held < low}
    return kept, under, sorted(exact)


def _takers(under: dict[int, int], exact: list[int], count: int) -> list[int]:
    """Return who takes each of `count` partitions in turn."""
    takers: list[int] = []
    full: list[int] = []
    left = list(under.items())
    while left:
        takers += [member for member, _ in left]
        full += [member for member, lacks in left if lacks == 1]
        left = [(member, lacks - 1) for member, lacks in left if lacks > 1]
    more = count - len(takers)
    assert 0 <= more <= len(exact) + len(full), "what is left is what members lack"
    return takers + (exact + full)[:more]
