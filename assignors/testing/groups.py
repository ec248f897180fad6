"""Groups at the moment their leader is asked, with every kind of claim in them.

First the truth is drawn: who of the members was given which partition by the last round. Then
each member speaks: most say what is true, others remember an older generation, name one that
has not been, ask for less than they own, or do not say at all.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from hypothesis import event
from hypothesis import strategies as st

from assignors.assignor import UserData
from assignors.claims import Claim, read_claim
from assignors.leader import member_from_bytes
from assignors.model import NO_GENERATION, Cluster, Group, Member, Topic
from wire import Subscription, TopicPartitions, encode_sticky_user_data, encode_subscription


class ClaimKind(StrEnum):
    """What a member's claims are to a leader; one member may make several kinds."""

    NONE = "none"
    """It claims nothing."""
    LIVE = "live"
    """With the group's last generation, of topics it asks for."""
    CONTESTED = "contested"
    """With the last generation, while somebody else claims the same with it."""
    REMEMBERED = "remembered"
    """With an older generation, or with none."""
    UNKNOWN = "unknown"
    """Its bytes do not say what it owns."""
    UNSUBSCRIBED = "unsubscribed"
    """Of a topic it does not ask for."""
    FUTURE = "future"
    """With a generation that the group has not reached."""
    PHANTOM = "phantom"
    """Of a topic or a partition that does not exist."""


TOPICS = ("orders", "Z", "a.b", "\uff5e", "\U00010000", "orders-2")
"""Names whose order differs between UTF-16 code units and code points among them."""
MEMBER_IDS = ("m1", "m10", "m2", "M", "\uff5e", "\U00010000", "c-1", "c-2")
RACKS = ("r1", "r2", "r3")
GENERATION_MAX = 6


@st.composite
def clusters(
    draw: st.DrawFn, *, topic_max: int = 4, partition_max: int = 6, racks: bool = True
) -> Cluster:
    """Draw a cluster of up to `topic_max` topics; replicas have racks in some, if `racks`."""
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

    With `truthful` nobody claims with the last generation what another one was given; all
    other kinds of claim occur all the same.
    """
    ids = draw(st.lists(st.sampled_from(MEMBER_IDS), unique=True, max_size=member_max))
    given = _given_last(draw, cluster, len(ids))
    equal = draw(st.none() | _subscriptions())
    drawn: list[Member] = []
    for member_id, share in zip(ids, given, strict=True):
        kind = draw(st.sampled_from(TRUTHFUL if truthful else EVERY))
        owned, claimed_generation = _speech(draw, kind, cluster, share, generation)
        member = Member(
            member_id=member_id,
            topics=draw(_asked(share)) if equal is None else equal,
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
    """Draw a group; which kinds of claim are in it is told to Hypothesis as events."""
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
    """Return the kinds of one member."""
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
    """Draw any of the names, in any order; some may be of no topic, one may stand twice."""
    names = st.lists(st.sampled_from(TOPICS), unique=True, max_size=len(TOPICS)).map(tuple)
    return names | names.map(lambda chosen: (*chosen, *chosen[:1]))


def _given_last(draw: st.DrawFn, cluster: Cluster, count: int) -> list[dict[str, tuple[int, ...]]]:
    """Draw who was given what by the last round: each partition to one member or to nobody."""
    given: list[dict[str, list[int]]] = [{} for _ in range(count)]
    for name, topic in cluster.topics.items():
        size = topic.partition_count
        owners = draw(st.lists(st.integers(-1, count - 1), min_size=size, max_size=size))
        for number, owner in enumerate(owners):
            if owner >= 0:
                given[owner].setdefault(name, []).append(number)
    return [{name: tuple(numbers) for name, numbers in share.items()} for share in given]


def _asked(given: TopicPartitions) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw what it owns and more; sometimes anything: it may own what it does not ask for."""
    more = _subscriptions().map(lambda names: tuple(dict.fromkeys((*given, *names))))
    return st.one_of(more, more, more, _subscriptions())


def _anything(cluster: Cluster) -> st.SearchStrategy[dict[str, tuple[int, ...]]]:
    """Draw any partitions of any topics of the cluster."""
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
EVERY = (*TRUTHFUL, ClaimKind.CONTESTED)


def _speech(
    draw: st.DrawFn, kind: ClaimKind, cluster: Cluster, given: TopicPartitions, last: int
) -> tuple[TopicPartitions, int]:
    """Return (what is claimed, with which generation) by a member that was given `given`."""
    if kind is ClaimKind.LIVE:
        return given, last
    if kind is ClaimKind.CONTESTED:
        return draw(_anything(cluster)), last
    if kind is ClaimKind.REMEMBERED:
        return draw(_anything(cluster)), draw(st.integers(NO_GENERATION, last - 1))
    if kind is ClaimKind.FUTURE:
        return draw(_anything(cluster)), last + draw(st.integers(1, 3))
    if kind is ClaimKind.PHANTOM:
        odd = draw(st.sampled_from((-1, 99, 2**31 - 1)))
        more = {name: (*given.get(name, ()), odd) for name in list(cluster.topics)[:1]}
        return {**given, **more, "gone": (0,)}, last
    return {}, draw(st.sampled_from((NO_GENERATION, last)))


def _from_bytes(draw: st.DrawFn, member: Member) -> Member:
    """Return the member as it reads from what a client of some version would write."""
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
