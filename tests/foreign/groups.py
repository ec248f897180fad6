"""Random groups for Java's client assignors, weighted towards what goes wrong.

A group is made in steps, and each step has its nasty choices: topics (none, without partitions,
with racks), subscriptions (equal, nearly equal, disjoint, chained), what members owned before
(nothing, a balanced share, everything twice), what they say of it (stale, absent or absurd
generations, claims that cannot be), and how their bytes say it. The same dice give the same
group on every machine. Groups are the `in` objects of vectors.

Two things are left out. Owned partitions whose topics alternate (t-0, u-0, t-1), as bytes could
have them: a group holds them topic by topic. And a claimed number more than 2**31 from another:
with 32 claims or more the sort of Java's general path depends on how it is cut into runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.foreign.brokers import SERVER, broker_group, grouped
from tests.foreign.names import member_ids, topic_names
from tests.foreign.user_data import cooperative_user_data, sticky_user_data

Request = dict[str, Any]
Pair = list[Any]
"""[topic, partition number]"""

CLIENT = ("range", "roundrobin", "sticky", "coop")
ALGORITHMS = (*CLIENT, *SERVER)
SIZING = (12, 24, 48)
"""Counts at which tables of different JDKs, or of different ways to fill them, differ."""
MEMBERS_LARGE = 200
RACKS = ("r0", "r1", "r2")
MEMBER_RACKS = ((None,), RACKS, (*RACKS, None), RACKS[:1], (*RACKS, "zz", "", None))
INT32_MAX = 2**31 - 1


def random_group(dice: Random, algorithm: str | None = None) -> Request:
    """A group for one of `ALGORITHMS`."""
    chosen = algorithm or dice.choice(ALGORITHMS)
    if chosen in ("sticky", "coop") and dice.random() < 0.15:
        return contested_group(dice, chosen)
    return usual_group(dice, chosen)


def usual_group(dice: Random, chosen: str) -> Request:
    """A group as the published vectors have them: what is drawn here must not change.

    The seed of the vectors draws from here, and a file of vectors is made again byte for byte.
    """
    if chosen in SERVER:
        return broker_group(dice, chosen)
    topics = random_topics(dice)
    ids = member_ids(dice, member_count(dice))
    members = [{"id": member_id, "topics": []} for member_id in ids]
    subscribe(dice, members, list(topics))
    add_racks_and_instances(dice, topics, members)
    request: Request = {"algo": chosen, "topics": topics, "members": members}
    if chosen in ("sticky", "coop"):
        generation = dice.choice((0, 1, 5, 5, 5, 5, 1000, INT32_MAX))
        claim(dice, topics, members, generation)
        write_claims(dice, request, generation)
        if dice.random() < 0.15:
            request["maxGen"] = max(-1, min(INT32_MAX, generation + dice.choice((-9, -1, 0, 1))))
    dice.shuffle(members)
    return request


def contested_group(dice: Random, algorithm: str) -> Request:
    """Few topics for each member, and for most partitions several claims, each of its own age.

    One group in sixty-four makes the passes of the general sticky algorithm look again at what
    they have passed, or stop because a member is full.
    """
    names = topic_names(dice, dice.randint(3, 8))
    topics: dict[str, list[list[str | None]]] = {
        name: [[] for _ in range(dice.randint(1, 8))] for name in names
    }
    members: list[Request] = [
        {
            "id": member_id,
            "topics": dice.sample(names, dice.randint(1, 3)),
            "rack": None,
            "instance": None,
            "owned": [],
            "sgen": dice.choice((5, 4, 3, 2, -1)),
        }
        for member_id in member_ids(dice, dice.randint(3, 8))
    ]
    for topic, partitions in topics.items():
        for number in range(len(partitions)):
            for member in dice.sample(members, dice.choice((1, 2, 2, 3))):
                member["owned"].append([topic, number])
    request: Request = {"algo": algorithm, "topics": topics, "members": members}
    write_claims(dice, request, 5)
    return request


def member_count(dice: Random) -> int:
    """Mostly few members: what goes wrong goes wrong with three."""
    luck = dice.random()
    if luck < 0.01:
        return 0
    if luck < 0.70:
        return dice.randint(1, 7)
    if luck < 0.93:
        return dice.randint(8, 40)
    return dice.choice(SIZING) if luck < 0.995 else MEMBERS_LARGE


def random_topics(dice: Random) -> dict[str, list[list[str | None]]]:
    """Topics and for each partition the racks of its replicas: none yet."""
    names = topic_names(dice, dice.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12)))
    even = dice.choice((None, None, 1, 3, 6))
    sizes = [even or dice.choice((0, 1, 1, 2, 3, 4, 5, 8, 12)) for _ in names]
    if names and dice.random() < 0.03:
        sizes[0] = dice.choice((64, 100, 200))
    return {name: [[] for _ in range(size)] for name, size in zip(names, sizes, strict=True)}


def subscribe(dice: Random, members: Sequence[Request], topics: list[str]) -> None:
    """Set what members ask for: one pattern for the group, then a few oddities."""
    pattern = dice.choice(PATTERNS)
    for number, member in enumerate(members):
        member["topics"] = dice.sample(chosen := pattern(dice, topics, number), len(chosen))
    oddities = 0.0 if dice.random() < 0.6 else dice.choice((0.1, 0.3))
    for member in members:
        if dice.random() < oddities:
            odd = dice.choice(("empty", "ghost", "twice", "other"))
            if odd == "empty":
                member["topics"] = []
            elif odd == "ghost":
                member["topics"].append(dice.choice(("ghost", "phantom")))
            elif odd == "twice" and member["topics"]:
                member["topics"].append(dice.choice(member["topics"]))
            elif odd == "other":
                member["topics"] = dice.sample(topics, dice.randint(0, len(topics)))


def _buckets(dice: Random, topics: list[str], number: int) -> list[str]:
    count = max(1, len(topics) // 2)
    return [topic for position, topic in enumerate(topics) if position % count == number % count]


def _chain(dice: Random, topics: list[str], number: int) -> list[str]:
    if not topics:
        return []
    return list(dict.fromkeys(topics[(number + step) % len(topics)] for step in (0, 1)))


def _half(dice: Random, topics: list[str], number: int) -> list[str]:
    return dice.sample(topics, (len(topics) + 1) // 2)


def _one_differs(dice: Random, topics: list[str], number: int) -> list[str]:
    return topics[:1] if number == 0 else topics


def _any(dice: Random, topics: list[str], number: int) -> list[str]:
    return [topic for topic in topics if dice.random() < 0.7]


def _all(dice: Random, topics: list[str], number: int) -> list[str]:
    return topics


PATTERNS: tuple[Callable[[Random, list[str], int], list[str]], ...] = (
    *(_all, _all, _all, _all),
    *(_half, _one_differs, _any, _buckets, _chain),
)


def add_racks_and_instances(
    dice: Random, topics: dict[str, list[list[str | None]]], members: Sequence[Request]
) -> None:
    """Half of all groups know racks; some of those have replicas or members in none of them."""
    if dice.random() < 0.5:
        replica_count = dice.randint(1, 3)
        unknown = dice.choice((0.0, 0.0, 0.2))
        for partitions in topics.values():
            if dice.random() < 0.9:
                for replicas in partitions:
                    for rack in dice.sample(RACKS, replica_count):
                        replicas.append(None if dice.random() < unknown else rack)
    racks: tuple[str | None, ...] = dice.choice(MEMBER_RACKS)
    is_static = dice.choice((0.0, 0.0, 0.3, 1.0))
    for number, member in enumerate(members):
        member["rack"] = dice.choice(racks)
        static = dice.random() < is_static
        member["instance"] = f"i{(number * 7) % 1000}" if static else None


def claim(
    dice: Random,
    topics: dict[str, list[list[str | None]]],
    members: Sequence[Request],
    generation: int,
) -> None:
    """Set `owned` and `sgen`, as if by an earlier round, then spoil some of it."""
    for member in members:
        member["owned"], member["sgen"] = [], generation
    prior = dice.choice(("none", "balanced", "balanced", "balanced", "random", "one", "several"))
    if members and prior != "none":
        for topic, partitions in topics.items():
            subscribed = [member for member in members if topic in member["topics"]] or members
            for number in range(len(partitions)):
                for member in _claimants(dice, subscribed, members, prior):
                    member["owned"].append([topic, number])
    noise = dice.choice((0.0, 0.0, 0.1, 0.3))
    for member in members:
        if dice.random() < noise:
            _spoil_claims(dice, member, members, list(topics))
        if dice.random() < noise + 0.05:
            member["sgen"] = max(-5, generation - dice.choice((1, 1, 2, 3, generation + 1)))
        member["owned"] = grouped(member["owned"])


def _claimants(
    dice: Random, subscribed: Sequence[Request], members: Sequence[Request], prior: str
) -> list[Request]:
    """Who says it owns the partition that is next."""
    if prior == "balanced":
        return [min(subscribed, key=lambda member: len(member["owned"]))]
    if prior == "one":
        return [subscribed[0]]
    if prior == "random":
        return [dice.choice(members)] if dice.random() < 0.8 else []
    return dice.sample(list(members), min(len(members), dice.choice((0, 1, 1, 2, 3))))


def _spoil_claims(
    dice: Random, member: Request, members: Sequence[Request], topics: list[str]
) -> None:
    """Claims that are not true, or cannot be."""
    owned: list[Pair] = member["owned"]
    luck = dice.random()
    if luck < 0.25:
        owned += dice.choice(members)["owned"]
    elif luck < 0.40 and owned:
        owned.append(dice.choice(owned))
    elif luck < 0.55:
        owned.clear()
    elif luck < 0.65 and topics:
        owned.append([dice.choice(topics), dice.choice((-1, 5, 12, 99, INT32_MAX, -(2**30)))])
    elif luck < 0.80:
        owned.append([dice.choice(("ghost", "gone")), dice.randint(0, 3)])
    else:
        dice.shuffle(owned)


def write_claims(dice: Random, request: Request, generation: int) -> None:
    """Put claims where each assignor reads them, as well-behaved and other clients do."""
    is_old = dice.random() < 0.2
    for member in request["members"]:
        if request["algo"] == "sticky":
            member["ud"] = sticky_user_data(dice, member["owned"], member["sgen"])
            if dice.random() < 0.3:
                member["owned"] = []
            if dice.random() < 0.2:
                member["sgen"] = dice.choice((-1, generation, max(0, generation - 1)))
        else:
            member["ud"] = cooperative_user_data(dice, member["sgen"])
            if is_old or dice.random() < 0.05:
                member["sgen"] = -1
        if is_old and request["algo"] == "sticky":
            member["sgen"] = -1


def next_round(dice: Random, request: Request, answer: Request) -> Request:
    """The round after: the answer becomes what members own, and members come and go."""
    if request["algo"] in SERVER:
        members = [
            {**member, "owned": grouped(answer["assignment"].get(member["id"], []))}
            for member in request["members"]
        ]
        return {**request, "members": _others_join(dice, _some_leave(dice, members))}
    generation = min(INT32_MAX, max(answer.get("maxGen", 0), 0) + 1)
    members = []
    for member in request["members"]:
        owned = [list(pair) for pair in answer["assignment"][member["id"]]]
        if request["algo"] == "coop":
            owned.sort(key=lambda pair: (pair[0].encode("utf-16-be"), pair[1]))
        members.append({**member, "owned": grouped(owned), "sgen": generation})
    if dice.random() < 0.3:
        for member in members:
            if dice.random() < 0.3:
                member["sgen"] = generation - dice.choice((0, 1))
    followed = {**request, "members": _others_join(dice, _some_leave(dice, members))}
    if request["algo"] in ("sticky", "coop"):
        if members and dice.random() < 0.2:
            spoilt = dice.choice(followed["members"])
            _spoil_claims(dice, spoilt, followed["members"], list(request["topics"]))
        for member in followed["members"]:
            member["owned"] = grouped(member["owned"])
        write_claims(dice, followed, generation)
        followed["maxGen"] = answer["maxGen"]
    return followed


def _some_leave(dice: Random, members: list[Request]) -> list[Request]:
    leave = dice.choice((0, 0, 1, 1, 2, len(members) // 2))
    return dice.sample(members, max(1, len(members) - leave)) if members else members


def _others_join(dice: Random, members: list[Request]) -> list[Request]:
    joined = [
        {**dice.choice(members), "id": f"new-{dice.getrandbits(32):08x}", "owned": []}
        for _ in range(dice.choice((0, 0, 1, 1, 2)) if members else 0)
    ]
    for member in joined:
        member["instance"] = None
        if "sgen" in member:
            member["sgen"] = -1
    return members + joined
