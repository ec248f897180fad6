"""Clients that write and read different bytes, in one group."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    COOPERATIVE,
    SECOND,
    SETTLED_MS,
    Story,
    planned,
)
from assignors.simulation.timed.scenario import (
    Action,
    Fault,
    FaultKind,
    MemberConfig,
    Scenario,
    Verb,
)

JAVA, LIBRDKAFKA, FRANZ_GO, SARAMA, KAFKA_PYTHON, KAFKAJS = (
    "java-4.4.0",
    "librdkafka-2.16.0",
    "franz-go-1.22.2",
    "sarama-1.61.1",
    "kafka-python-3.0.12",
    "kafkajs-2.2.4-custom",
)
TOPICS = {"ta": 6, "tb": 5, "tc": 3}


def mixed_clients() -> Scenario:
    """Restart three of a group of four clients at a time, so that each is left alone once.

    Who is left leads the others when they are back. Java, franz-go, Sarama and kafka-python write
    the same owned partitions in four ways, and each of them reads what the others write: no
    partition is ever given to two.
    """
    group = _group(JAVA, FRANZ_GO, SARAMA, KAFKA_PYTHON)
    names = [each.name for each in group.members]
    return planned(
        group,
        [
            Action(at_ms=SETTLED_MS + 30_000 * turn + after, do=verb, member=name)
            for turn, left in enumerate(names)
            for after, verb in ((0, Verb.STOP), (10_000, Verb.START))
            for name in names
            if name != left
        ],
    )


def topic_named_twice() -> Scenario:
    """Let a member leave a group that librdkafka leads and franz-go members follow.

    librdkafka appends what is new to a member's assignment, so a topic may stand in it twice;
    franz-go takes the last entry alone. It believes it lost the rest, gives it up and joins again,
    gets it back in the other order, and so for ever.
    """
    group = _group(LIBRDKAFKA, FRANZ_GO, FRANZ_GO)
    return planned(group, [Action(at_ms=SETTLED_MS, do=Verb.STOP, member="c2")])


def generation_from_user_data() -> Scenario:
    """Let a member leave a group that a Java client of 3.1 leads.

    That client takes the first four bytes of UserData for the generation. franz-go writes its
    assignment there, which begins with its number of topics, so its claims look old and are
    dropped: what it consumes goes to others in the same round, and both consume it until the slow
    member has its own assignment.
    """
    group = _group("java-3.1.2", FRANZ_GO, JAVA, JAVA)
    slow = tuple(replace(each, sync_delay_us=500_000) for each in group.members)
    stop = Action(at_ms=SETTLED_MS, do=Verb.STOP, member="c3")
    return planned(replace(group, members=slow), [stop])


def unreadable_member() -> Scenario:
    """Let a member join that leaves the owned partitions out, as kafkajs' documentation shows it.

    Java clients cannot read that. The leader's `poll()` throws and its application ends, and so
    does that of each Java member that leads after it, although all are started again: the group
    rests only when the newcomer leads itself.
    """
    group = _group(JAVA, JAVA, JAVA, assignors=("java/range",))
    restarted = tuple(replace(each, restarts_after_ms=10_000) for each in group.members)
    odd = MemberConfig(
        name="kafkajs",
        client=KAFKAJS,
        topics=tuple(TOPICS),
        assignors=("java/range",),
        starts_at_ms=None,
    )
    start = Action(at_ms=SETTLED_MS, do=Verb.START, member="kafkajs")
    return planned(replace(group, members=(*restarted, odd)), [start])


def claims_after_unsubscribing() -> Scenario:
    """Let a kafka-python member drop a topic from its subscription.

    It goes on claiming what it was last assigned. The leader withholds that until it is revoked;
    nobody has anything to revoke, so nobody joins again, and the partition has no consumer until
    something else starts a rebalance. No client reports an error.
    """
    group = replace(_group(KAFKA_PYTHON, JAVA), topics={"ta": 4, "tb": 1})
    two = tuple(replace(each, topics=("ta", "tb")) for each in group.members)
    drop = Action(at_ms=SETTLED_MS, do=Verb.SUBSCRIBE, member="c0", topics=("ta",))
    return planned(replace(group, members=two), [drop])


def stale_claims() -> Scenario:
    """Let a kafka-python member come back from a freeze just as two members leave and three come.

    It claims what it had before it was removed. Some of that goes to newcomers, which is lawful:
    nobody consumes it. A Java leader up to 2.8.1 takes any partition that one member claims and
    another one gets for a fault of its assignor, throws, and its application ends (KAFKA-13406);
    later ones do not look.
    """
    starts = {"c1": 0, "c2": 4000, "c3": 80_000, "c4": 80_500} | dict.fromkeys(
        ("c5", "c6", "c7"), 100_400
    )
    clients = {"c1": "java-2.8.1", "c2": KAFKA_PYTHON}
    members = tuple(
        MemberConfig(
            name=name,
            client=clients.get(name, JAVA),
            topics=("orders",),
            assignors=(COOPERATIVE,),
            starts_at_ms=at_ms,
            restarts_after_ms=5000,
        )
        for name, at_ms in starts.items()
    )
    scenario = Scenario(
        until_ms=0,
        count_from_ms=90_000,
        topics={"orders": 40},
        members=members,
        faults=(Fault(kind=FaultKind.FREEZE, from_ms=30_000, until_ms=100_000, member="c2"),),
    )
    stops = [Action(at_ms=100_400, do=Verb.STOP, member=name) for name in ("c3", "c4")]
    return planned(scenario, stops)


def stale_rejoin() -> Scenario:
    """Let a kafka-python member come back from a freeze to a group that franz-go 1.21.3 leads.

    It claims what it had before it was removed, and others consume now. That leader takes a
    member's claim of what it is to get for ownership, however old it is, so it gives some of it
    back at once: both members consume it until the slow one has its own assignment.
    """
    return _comes_back("franz-go-1.21.3")


def stale_rejoin_mended() -> Scenario:
    """Let a kafka-python member come back from a freeze to a group that franz-go 1.21.4 leads.

    That leader counts a claim unless somebody has one of a higher generation. What moves to the
    member that came back waits for a round, until its owners have revoked it: no partition has two
    consumers, as it has with 1.21.3 (`stale-rejoin`).
    """
    return _comes_back("franz-go-1.21.4")


def two_services_in_one_group() -> Scenario:
    """Start two services of kafkajs with one group id by mistake, each on its own topic.

    A kafkajs leader gives out the topics that it subscribes to itself, to all members, and the
    first ones get the few partitions that there are. Here `search` leads and `billing` comes first
    in the order of member ids, which ignores what it did not ask for. The group is stable, nobody
    owns anything, and no error is reported anywhere (fhir-server's issue 2539).
    """
    members = tuple(
        MemberConfig(
            name=f"{service}{number}",
            client="kafkajs-2.2.4",
            topics=(service,),
            assignors=("java/roundrobin",),
            starts_at_ms=starts_at_ms + 100 * number,
        )
        for service, starts_at_ms in (("search", 0), ("billing", 5000))
        for number in range(2)
    )
    return Scenario(
        until_ms=SETTLED_MS + 60_000,
        count_from_ms=SETTLED_MS,
        topics={"billing": 2, "search": 2},
        members=members,
    )


STORIES = {
    "mixed-clients": Story(
        scenario=mixed_clients,
        expected={CLASSIC: {"rounds": 12, "moves": 82, "gaps": 82}},
    ),
    "topic-named-twice": Story(
        scenario=topic_named_twice,
        expected={CLASSIC: {"is_settled": False, "rounds": (20, 200)}},
    ),
    "generation-from-user-data": Story(
        scenario=generation_from_user_data,
        expected={
            CLASSIC: {"double_partition_ms": (0, 30 * SECOND), "violations": (1, 100)},
        },
    ),
    "unreadable-member": Story(
        scenario=unreadable_member,
        expected={CLASSIC: {"rounds": (3, 8), "moves": (14, 60), "members_failed": (1, 3)}},
    ),
    "stale-claims": Story(
        scenario=stale_claims,
        expected={
            CLASSIC: {
                "rounds": 4,
                "moves": (35, 50),
                "double_partition_ms": (SECOND, 300 * SECOND),
                "members_failed": 1,
            }
        },
    ),
    "stale-rejoin": Story(
        scenario=stale_rejoin,
        expected={
            CLASSIC: {
                "moves": 15,
                "double_partition_ms": (SECOND, 60 * SECOND),
                "violations": (1, 20),
            }
        },
    ),
    "stale-rejoin-mended": Story(
        scenario=stale_rejoin_mended,
        expected={CLASSIC: {"moves": 15, "violations": 0}},
    ),
    "two-services-in-one-group": Story(
        scenario=two_services_in_one_group,
        expected={CLASSIC: {"is_settled": False, "unowned": 4, "rounds": 0}},
    ),
    "claims-after-unsubscribing": Story(
        scenario=claims_after_unsubscribing,
        expected={CLASSIC: {"is_settled": False, "unowned": 1, "rounds": 1}},
    ),
}


def _comes_back(leader: str) -> Scenario:
    """Return a group of this client, and a kafka-python member whose process stands still.

    The others are slow to send SyncGroup. Costs count from when it goes on.
    """
    goes_on_ms = SETTLED_MS + 100_000
    members = tuple(
        MemberConfig(
            name=f"c{number}",
            client=client,
            topics=("orders",),
            assignors=(COOPERATIVE,),
            starts_at_ms=2000 * number,
            sync_delay_us=0 if client == KAFKA_PYTHON else 500_000,
        )
        for number, client in enumerate((leader, leader, leader, KAFKA_PYTHON))
    )
    freeze = Fault(kind=FaultKind.FREEZE, from_ms=SETTLED_MS, until_ms=goes_on_ms, member="c3")
    return Scenario(
        until_ms=goes_on_ms + 60_000,
        count_from_ms=goes_on_ms + SECOND,
        topics={"orders": 60},
        members=members,
        faults=(freeze,),
    )


def _group(*clients: str, assignors: tuple[str, ...] = (COOPERATIVE,)) -> Scenario:
    """Return a member of each client on three topics; the first one leads."""
    return Scenario(
        until_ms=SETTLED_MS,
        count_from_ms=SETTLED_MS,
        topics=TOPICS,
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                client=client,
                topics=tuple(TOPICS),
                assignors=assignors,
                starts_at_ms=4000 * number,
            )
            for number, client in enumerate(clients)
        ),
    )
