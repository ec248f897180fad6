"""What a broker keeps for a group, against the records themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.costs.on_request import TOKEN_BYTES
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import GroupProtocol, ProcessingConfig, Scenario
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import simulate_with_all_figures
from wire.records import decode_record

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER


def measured(scenario: Scenario) -> TimedResult:
    return simulate_with_all_figures(scenario).result


def crash(protocol: GroupProtocol, *, commits: bool = False) -> Scenario:
    scenario = named("crash", protocol=protocol)
    processing = ProcessingConfig(records_per_second=commits)
    members = tuple(replace(each, auto_commit_ms=5000) for each in scenario.members)
    return replace(scenario, members=members, processing=processing)


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_the_bytes_are_those_of_the_last_record_of_each_key(protocol: GroupProtocol) -> None:
    scenario = crash(protocol, commits=True)
    played = simulate(scenario, keeps_history=True)
    kept: dict[bytes, bytes | None] = {}
    sizes: list[int] = []
    written = 0
    for batch in log_entries(played.records, group=""):
        for entry in batch:
            assert entry.key
            kept[entry.key] = entry.value
            written += len(entry.key + (entry.value or b""))
        if batch[0].timestamp_ms < scenario.count_from_ms:
            sizes.clear()  # but for what is there when costs begin to be counted
        sizes.append(sum(len(key) + len(value) for key, value in kept.items() if value))
    found = measured(scenario)
    assert (found.state_bytes, found.state_bytes_max) == (sizes[-1], max(sizes))
    assert found.written_bytes == written
    offsets = [
        len(key) + len(value)
        for key, value in kept.items()
        if value and decode_record(key, value).name == "OFFSET_COMMIT"
    ]
    assert found.offsets_bytes == sum(offsets) > 0
    assert len(offsets) == sum(scenario.topics.values())


def test_offsets_take_the_same_in_each_protocol_and_nothing_without_commits() -> None:
    found = {protocol: measured(crash(protocol, commits=True)) for protocol in (CLASSIC, CONSUMER)}
    assert found[CLASSIC].offsets_bytes == found[CONSUMER].offsets_bytes
    for protocol, with_commits in found.items():
        without = measured(crash(protocol))
        assert without.offsets_bytes == 0
        assert without.state_bytes is not None
        assert with_commits.offsets_bytes is not None
        assert with_commits.state_bytes == without.state_bytes + with_commits.offsets_bytes


def test_a_group_of_the_push_protocol_takes_a_token_for_each_partition() -> None:
    found = measured(crash(GroupProtocol.PUSH))
    assert found.state_bytes == found.state_bytes_max == 100 * TOKEN_BYTES
    assert found.written_bytes == 0


def test_a_larger_plan_takes_more_bytes() -> None:
    scenario = crash(CONSUMER)
    larger = replace(scenario, topics={"orders": 200})
    few, many = measured(scenario).state_bytes, measured(larger).state_bytes
    assert few is not None
    assert many is not None
    # A partition is a number of four bytes in the target and in the current assignment; the
    # coordinator of Kafka also writes the epoch at which it was assigned.
    assert many - few >= 100 * 8
