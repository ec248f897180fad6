"""What can be set in a scenario, with values at which something begins or ends to happen.

An entry is what one edit of the document sets together: a setting whose value needs another one
brings that one along. A test compares the entries with the fields of each part of a scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from assignors.registry import ASSIGNORS
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.execution.policy import POLICIES

Settings = dict[str, Any]

OF_MEMBERS = [name for name in ASSIGNORS if not name.startswith("server")]


def entries(**values: Iterable[object]) -> Iterator[Settings]:
    """Yield an entry for each value of each field."""
    for field, listed in values.items():
        for value in listed:
            yield {field: value}


MEMBER: list[Settings] = [
    *entries(
        topics=(["t"], ["u"], ["t", "u"], ["later"], []),
        assignors=[[one] for one in OF_MEMBERS],
        instance_id=("i0", "i1"),
        rack_id=("r1", ""),
        session_timeout_ms=(3001, 6000, 10_001, 45_000),
        rebalance_timeout_ms=(0, 1, 1000, 6000, 2**31 - 1),
        revoke_ms=(0, 1, 3000, 60_000),
        assign_ms=(0, 1, 3000, 60_000),
        sync_delay_us=(1, 5000, 1_000_000),
        metadata_age_ms=(1, 100, 5000),
        request_timeout_ms=(0, 1, 100, 3000),
        leaves_if_poll_is_late=(False,),
        stops_without_answer=(True,),
        clock_ppm=(-100_000, 100, 100_000),
        protocol=("classic", "consumer"),
        pattern=("t.*", ".*", "zz"),
        remote_assignor=("uniform", "range", "simple"),
        starts_at_ms=(None, 1, 100, 1000, 1250, 5000, 20_000),
        restarts_after_ms=(0, 1, 1000),
        claims=("stale", "absent", "sentinel", "everything"),
        owned=({"t": [0]}, {"t": [0, 1], "u": [0]}),
        subscription_hex=("", "0003", "00010000000100017400000000"),
        requires_stable=(False,),
        commits_on_revoke=(False,),
        forgets_generation=(True,),
        keeps_pauses=(True,),
        client_model=("in_poll", "heartbeat_thread", "background_thread"),
    ),
    *({"assignors": [one, "java/roundrobin"]} for one in OF_MEMBERS),
    *(
        {"heartbeat_interval_ms": every_ms, "session_timeout_ms": session_ms}
        for every_ms, session_ms in ((100, 6000), (1000, 3001), (2999, 3000), (10_000, 45_000))
    ),
    *(
        {"poll_ms": poll_ms, "poll_spread_ms": spread_ms}
        for poll_ms, spread_ms in (
            (0, 0),
            (1, 1),
            (300, None),
            (100, 1),
            (1000, 0),
            (5000, 5000),
            (20_000, 0),
        )
    ),
    *({"poll_ms": poll_ms} for poll_ms in (3, 300)),
    *(
        {"runs_handlers": True, "poll_ms": poll_ms, "client_model": None}
        for poll_ms in (0, 100, 3000)
    ),
    *({"auto_commit_ms": every_ms, "sync_commit_ms": 0} for every_ms in (20, 1000)),
    *({"sync_commit_ms": every_ms, "auto_commit_ms": 0} for every_ms in (20, 1000)),
    *({"timing": {"between_polls_us": between_us}} for between_us in (0, 1, 50, 100_000)),
    *({"timing": {"heartbeat_late_us": late_us}} for late_us in (0, 1, 3000, 900_000)),
    *({"timing": {"heartbeats_go_on": True, "wake_ms": every}} for every in (0, 1, 500, 3000)),
    *(
        {"timing": {"heartbeats_go_on": True, "wake_ms": 500, "wake_late_us": late_us}}
        for late_us in (0, 1, 3000, 900_000)
    ),
    *(
        {"client": client, "assignors": [name]}
        for client, dialect in DIALECTS.items()
        for name, assignor in ASSIGNORS.items()
        if name in OF_MEMBERS and assignor.user_data in dialect.forms
    ),
    {"assign": {"t": [0]}, "topics": []},
]
"""Of a member, beside its name."""

BROKER: list[Settings] = [
    *entries(
        initial_delay_ms=(0, 1),
        max_size=(0, 1, 2, 5),
        service_us=(0, 1, 4000, 300_000),
        append_us=(0, 1, 300_000, 3_000_000),
        load_us=(0, 1000),
        assignor=("server/range", "server/simple", "optimal/sticky"),
        further_assignors=(["server/simple"],),
        migration_policy=("upgrade", "downgrade", "disabled"),
        pattern_refresh_ms=(1000,),
        pattern_lookup_ms=(0, 1000),
        consumer_session_timeout_ms=(5001, 10_000),
        consumer_heartbeat_interval_ms=(100, 500, 4999),
        assignment_interval_ms=(0, 1, 15_000),
        offsets_check_ms=(1000,),
    ),
    *({"offsets_retention_ms": ms, "offsets_check_ms": 1000} for ms in (0, 1, 1000)),
]
"""Of the broker, beside what has settings of its own."""

PLACEMENT: list[Settings] = [*entries(group=("", "é", "g"), brokers=(1, 2), partitions=(1,))]
PUSH: list[Settings] = [
    *entries(
        parks_heartbeats=(False,),
        fences_fetches=(False,),
        brokers=(1, 7),
        waits_for_commit=(False,),
        has_epochs=(False,),
        moves_per_second=(1, 1000),
        lease_ms=(50_000,),
        fetch_ms=(0, 5000),
    )
]
EXECUTION: list[Settings] = [
    *entries(
        model=POLICIES,
        workers=(1,),
        partitions=(1,),
        linger_ms=(0, 5),
        handoff_us=(10,),
        check_us=(100,),
        is_steady=(False,),
        timers_wait=(False,),
    )
]
OTHERS: list[Settings] = [
    *entries(
        groups=(1,),
        changes_share=(0.5, 1),
        checks_share=(0.5, 1),
        slow_group_check_us=(1000,),
        from_ms=(10_000,),
        until_ms=(20_000,),
    ),
    *({"per_second": per_second} for per_second in (1, 50)),
]
NETWORK: list[Settings] = [
    *entries(
        least_us=(1, 1000),
        mean_us=(0, 0, 1, 500, 20_000, 1_000_000),
        handling_us=(1, 300, 20_000),
    )
]
PROCESSING: list[Settings] = [
    *entries(
        records_per_second=(1, 10, 1000),
        topics=({"t": 5},),
        processed_per_second=(1, 5),
    )
]
RUN: list[Settings] = [
    *entries(
        until_ms=(1, 1000, 22_000, 40_000, 60_000, 90_000),
        count_from_ms=(1, 10_000, 20_000),
        has_rested=(True, False),
        compute_us_per_partition=(0, 1, 50_000),
        topics=(
            {"t": 0},
            {"t": 1},
            {"t": 3, "u": 1},
            {"t": 12, "u": 5},
            {"t": 2, "é\U00010000": 2},
        ),
        protocol=("classic", "consumer", "push"),
    )
]
"""Of the run, beside lists of what is in it and what happens."""
ARRIVALS: list[Settings] = [
    *entries(
        every_ms=(500, 5000, 20_000),
        lifetime_ms=(0, 1, 1000, 20_000),
        from_ms=(1, 10_000),
        until_ms=(30_000,),
        ends=("crash",),
    )
]
BREAK_RULES: list[Settings] = [
    {"assign": {"t": [0]}, "topics": []},
    *(each for each in MEMBER if each.get("client", "").startswith("kafkajs")),
    *entries(
        topics=([],),
        claims=("stale", "sentinel", "everything"),
        subscription_hex=("", "0003", "00010000000100017400000000"),
        request_timeout_ms=(0, 1),
        rebalance_timeout_ms=(0, 1),
        restarts_after_ms=(0, 1),
        assignor=("server/simple",),
        further_assignors=(["server/simple"],),
        remote_assignor=("simple",),
        fences_fetches=(False,),
        waits_for_commit=(False,),
        has_epochs=(False,),
    ),
]
"""Settings that violate monitors without any fault.

A member that assigns partitions to itself, claims those of others, sends bytes that nobody can
read, has no time for an answer or a rebalance, or restarts at once for ever; one that subscribes to
nothing, to which Kafka's assignors give partitions; kafkajs, whose leader gives its own topics to
everybody; the assignor of share groups; a push protocol without its safeguards.
"""
