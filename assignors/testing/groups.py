"""Hypothesis strategies for groups as their leader sees them, with every kind of claim in them.

First the last round's assignment is drawn: which member was given which partition. Then what each
member claims: most claim what they were given; others claim with an older generation or one that
has not been, claim partitions that do not exist, or do not report what they own.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from hypothesis import event
from hypothesis import strategies as st

from assignors.assignor import UserData
from assignors.claims import Claim, read_claim
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.model import NO_GENERATION, Cluster, Group, Member, Topic
from wire import Subscription, TopicPartitions, encode_sticky_user_data, encode_subscription


class ClaimKind(StrEnum):
    """What a leader has to make of a claim; one member may make claims of several kinds."""

    NONE = "none"
    """No claims: it owns nothing."""
    LIVE = "live"
    """Claims with the group's last generation."""
    CONTESTED = "contested"
    """Claims with the last generation that another member makes too, with the same generation."""
    REMEMBERED = "remembered"
    """Claims with an older generation, or with none."""
    UNKNOWN = "unknown"
    """Its bytes do not say what it owns."""
    UNSUBSCRIBED = "unsubscribed"
    """A claim of a topic it does not subscribe to."""
    FUTURE = "future"
    """Claims with a generation that the group has not reached."""
    PHANTOM = "phantom"
    """A claim of a topic or a partition that does not exist."""


TOPICS = ("orders", "Z", "a.b", "\uff5e", "\U00010000", "orders-2")
"""Topic names; some are ordered differently by UTF-16 code unit and by code point."""
MEMBER_IDS = ("m1", "m10", "m2", "M", "\uff5e", "\U00010000", "c-1", "c-2")
"""Member ids, some ordered as the topic names are."""
RACKS = ("r1", "r2", "r3")
GENERATION_MAX = 6
"""The highest last generation of a drawn group."""


@st.composite
def clusters(
    draw: st.DrawFn, *, topic_max: int = 4, partition_max: int = 6, racks: bool = True
) -> Cluster:
    """Draw a cluster of up to `topic_max` topics with 0 to `partition_max` partitions each.

    With `racks` some clusters know the racks of the replicas.
    """
    names = draw(st.lists(st.sampled_from(TOPICS), unique=True, max_size=topic_max))
    has_racks = racks and draw(st.booleans())
    replicas = st.lists(st.sampled_from(RACKS), unique=True, max_size=2).map(tuple)
    topics: dict[str, Topic] = {}
    for name in names:
        count = draw(st.integers(0, partition_max))
        lists = st.lists(replicas, min_size=count, max_size=count).map(tuple)
        topics[name] = Topic(
            partition_count=count, racks=draw(lists) if has_racks and draw(st.booleans()) else ()
        )
    return Cluster(topics=topics)


@st.composite
def members(
    draw: st.DrawFn,
    cluster: Cluster,
    *,
    generation: int = 3,
    member_max: int = 6,
    truthful: bool = False,
    racks: bool = True,
) -> tuple[Member, ...]:
    """Draw up to `member_max` members of a group whose last generation was `generation`.

    With `truthful` no member claims with the last generation what another one was given; all
    other kinds of claim still occur. With `racks` some members have a rack. A third of the members
    are encoded and decoded again, in versions 0 to 3 of the Subscription.
    """
    ids = draw(st.lists(st.sampled_from(MEMBER_IDS), unique=True, max_size=member_max))
    given = _last_assignment(draw, cluster, len(ids))
    equal = draw(st.none() | _subscriptions())
    drawn: list[Member] = []
    for member_id, share in zip(ids, given, strict=True):
        kind = draw(st.sampled_from(TRUTHFUL if truthful else ALL_KINDS))
        owned, claimed_generation = _claims(draw, kind, cluster, share, generation)
        member = Member(
            member_id=member_id,
            topics=draw(_subscription_over(share)) if equal is None else equal,
            owned=owned,
            generation=claimed_generation,
            rack_id=draw(st.sampled_from((None, *RACKS))) if racks else None,
            instance_id=draw(st.sampled_from((None, None, f"i-{member_id}"))),
            owned_known=kind is not ClaimKind.UNKNOWN,
        )
        drawn.append(_from_bytes(draw, member) if draw(st.integers(0, 2)) == 0 else member)
    return tuple(drawn)


@st.composite
def groups(
    draw: st.DrawFn,
    *,
    topic_max: int = 4,
    partition_max: int = 6,
    member_max: int = 6,
    truthful: bool = False,
    racks: bool = True,
) -> Group:
    """Draw a group: a `clusters` cluster and `members` of it; the options are theirs.

    Its last generation is known, or `None` in half of those that are not `truthful`. Which kinds of
    claim occur is reported to Hypothesis as events (`pytest --hypothesis-show-statistics`).
    """
    cluster = draw(clusters(topic_max=topic_max, partition_max=partition_max, racks=racks))
    generation = draw(st.integers(1, GENERATION_MAX))
    drawn = draw(
        members(
            cluster, generation=generation, member_max=member_max, truthful=truthful, racks=racks
        )
    )
    known = truthful or draw(st.booleans())
    group = Group(cluster=cluster, members=drawn, generation=generation if known else None)
    for kind in claim_kinds(group):
        event(f"claim: {kind}")
    return group


def claim_kinds(group: Group) -> Counter[ClaimKind]:
    """Return how many members make each kind of claim, as a cooperative leader reads them.

    A member may count under several kinds. Cost: O(claims).

    >>> group = Group(cluster=Cluster.of({"t": 1}), members=(Member(member_id="a"),))
    >>> claim_kinds(group)
    Counter({<ClaimKind.NONE: 'none'>: 1})
    """
    claims = [read_claim(member, UserData.COOPERATIVE) for member in group.members]
    last = group.generation
    if last is None:
        last = max((claim.generation for claim in claims), default=NO_GENERATION)
    live = Counter(
        place
        for claim in claims
        if 0 <= claim.generation == last
        for place in set(_places(claim))
        if _exists(group.cluster, *place)
    )
    counted: Counter[ClaimKind] = Counter()
    for member, claim in zip(group.members, claims, strict=True):
        counted.update(_kinds(member, claim, group.cluster, last, live))
    return counted


def _places(claim: Claim) -> list[tuple[str, int]]:
    return [(topic, number) for topic, numbers in claim.owned.items() for number in numbers]


def _kinds(
    member: Member, claim: Claim, cluster: Cluster, last: int, live: Counter[tuple[str, int]]
) -> set[ClaimKind]:
    """Return the kinds of claim that one member makes."""
    claimed = _places(claim)
    if not claim.is_known:
        return {ClaimKind.UNKNOWN}
    if not claimed:
        return {ClaimKind.NONE}
    kinds: set[ClaimKind] = set()
    if any(topic not in member.topics for topic, _ in claimed):
        kinds.add(ClaimKind.UNSUBSCRIBED)
    if any(not _exists(cluster, topic, number) for topic, number in claimed):
        kinds.add(ClaimKind.PHANTOM)
    if claim.generation > last:
        kinds.add(ClaimKind.FUTURE)
    elif claim.generation < last or last < 0:
        kinds.add(ClaimKind.REMEMBERED)
    elif any(live[place] > 1 for place in claimed):
        kinds.add(ClaimKind.CONTESTED)
    else:
        kinds.add(ClaimKind.LIVE)
    return kinds


def _exists(cluster: Cluster, topic: str, number: int) -> bool:
    known = cluster.topics.get(topic)
    return known is not None and 0 <= number < known.partition_count


def _subscriptions() -> st.SearchStrategy[tuple[str, ...]]:
    """Draw topic names in any order; some may not exist, one may occur twice."""
    names = st.lists(st.sampled_from(TOPICS), unique=True, max_size=len(TOPICS)).map(tuple)
    return names | names.map(lambda chosen: (*chosen, *chosen[:1]))


def _last_assignment(
    draw: st.DrawFn, cluster: Cluster, count: int
) -> list[dict[str, tuple[int, ...]]]:
    """Draw the last round's assignment, a member each: no partition has two members."""
    given: list[dict[str, list[int]]] = [{} for _ in range(count)]
    for name, topic in cluster.topics.items():
        size = topic.partition_count
        owners = draw(st.lists(st.integers(-1, count - 1), min_size=size, max_size=size))
        for number, owner in enumerate(owners):
            if owner >= 0:
                given[owner].setdefault(name, []).append(number)
    return [{name: tuple(numbers) for name, numbers in share.items()} for share in given]


def _subscription_over(given: TopicPartitions) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw a subscription to what it was given and more; sometimes to any topics."""
    more = _subscriptions().map(lambda names: tuple(dict.fromkeys((*given, *names))))
    return st.one_of(more, more, more, _subscriptions())


def _any_partitions(cluster: Cluster) -> st.SearchStrategy[dict[str, tuple[int, ...]]]:
    """Draw any partitions of the cluster, sometimes all."""
    choices = {
        name: st.lists(st.integers(0, topic.partition_count - 1), unique=True, min_size=1).map(
            tuple
        )
        for name, topic in cluster.topics.items()
        if topic.partition_count
    }
    everything = {name: tuple(range(cluster.topics[name].partition_count)) for name in choices}
    return st.just(everything) | st.fixed_dictionaries({}, optional=choices)


TRUTHFUL = (
    *(ClaimKind.LIVE, ClaimKind.LIVE, ClaimKind.LIVE, ClaimKind.NONE),
    *(ClaimKind.REMEMBERED, ClaimKind.UNKNOWN, ClaimKind.FUTURE, ClaimKind.PHANTOM),
)
ALL_KINDS = (*TRUTHFUL, ClaimKind.CONTESTED)


def _claims(
    draw: st.DrawFn, kind: ClaimKind, cluster: Cluster, given: TopicPartitions, last: int
) -> tuple[TopicPartitions, int]:
    """Draw what a member that was given `given` claims, and with which generation."""
    if kind is ClaimKind.LIVE:
        return given, last
    if kind is ClaimKind.CONTESTED:
        return draw(_any_partitions(cluster)), last
    if kind is ClaimKind.REMEMBERED:
        return draw(_any_partitions(cluster)), draw(st.integers(NO_GENERATION, last - 1))
    if kind is ClaimKind.FUTURE:
        return draw(_any_partitions(cluster)), last + draw(st.integers(1, 3))
    if kind is ClaimKind.PHANTOM:
        odd = draw(st.sampled_from((-1, 99, 2**31 - 1)))
        more = {name: (*given.get(name, ()), odd) for name in list(cluster.topics)[:1]}
        return {**given, **more, "gone": (0,)}, last
    return {}, draw(st.sampled_from((NO_GENERATION, last)))


def _from_bytes(draw: st.DrawFn, member: Member) -> Member:
    """Return the member encoded by a client of a drawn version, and decoded again."""
    version = draw(st.integers(1, 3)) if member.owned_known else 0
    blob = encode_subscription(
        Subscription(
            version=version,
            topics=member.topics,
            user_data=encode_sticky_user_data(member.owned, member.generation),
            owned=member.owned,
            generation=member.generation,
            rack_id=member.rack_id,
        )
    )
    return member_from_bytes(member.member_id, blob, instance_id=member.instance_id)
