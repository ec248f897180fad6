"""Members whose client stops with an error: a group that settles without them has to say so.

The story: of ten members one was left with an eager assignor. The other nine were refused with
INCONSISTENT_GROUP_PROTOCOL and ended, the one had everything, and the result read: settled, no
violation, no partition without a consumer.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner, Result
from hypothesis import given

from assignors.cli.command import command
from assignors.simulation.timed.engine import handle
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.effects import MILLISECOND, Command, Effect, MemberEvent
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.run import Run
from assignors.simulation.timed.scenario import Action, GroupProtocol, MemberConfig, Scenario, Verb
from assignors.simulation.timed.simulation import prepared, simulate
from assignors.simulation.timed.tables.rows import result_row
from tests.conftest import cases
from tests.simulation.timed.drawn import scenarios

EAGER, COOPERATIVE = "java/range", "java/cooperative-sticky"
REFUSED = "INCONSISTENT_GROUP_PROTOCOL"


def mixed(*assignors: str) -> Scenario:
    """Return a group whose members name one assignor each, and start in this order."""
    members = tuple(
        MemberConfig(name=f"c{n}", topics=("t",), assignors=(name,), starts_at_ms=n * 10)
        for n, name in enumerate(assignors)
    )
    return Scenario(until_ms=60_000, topics={"t": 10}, members=members, count_from_ms=30_000)


def results(scenario: Scenario) -> list[TimedResult]:
    """Return the result of every way to play a scenario."""
    return [
        simulate(scenario).result,
        simulate(scenario, queues_heartbeats=True).result,
        simulate(scenario, keeps_history=True, monitoring=Monitoring.FULL).result,
    ]


@pytest.mark.parametrize(("first", "others"), [(EAGER, COOPERATIVE), (COOPERATIVE, EAGER)])
def test_members_without_an_assignor_in_common_with_the_group_are_counted(
    first: str, others: str
) -> None:
    for result in results(mixed(first, *[others] * 9)):
        assert (result.is_settled, result.violations, result.unavailable_partition_ms) == (1, 0, 0)
        assert (result.members_failed, result.fatal_errors) == (9, {REFUSED: 9})


def test_a_member_that_is_started_again_is_counted_again() -> None:
    alone = mixed(EAGER, COOPERATIVE)
    again = (alone.members[0], replace(alone.members[1], restarts_after_ms=10_000))
    assert simulate(replace(alone, members=again)).result.fatal_errors == {REFUSED: 6}


def test_members_that_the_plan_stops_or_crashes_have_not_failed() -> None:
    plan = tuple(
        Action(at_ms=40_000 + number, do=verb, member=f"c{number}")
        for number, verb in enumerate((Verb.STOP, Verb.CRASH))
    )
    for result in results(replace(mixed(*[EAGER] * 3), plan=plan)):
        assert (result.members_failed, result.fatal_errors) == (0, {})


@cases(30)
@given(scenarios())
def test_every_process_that_ends_unasked_is_counted_once(scenario: Scenario) -> None:
    result = simulate(scenario).result
    assert result.members_failed == sum(result.fatal_errors.values()) == ends(scenario)


def ends(scenario: Scenario) -> int:
    """Return how many processes end that nobody stops or crashes, every event played."""
    run = prepared(scenario, Monitoring.OFF, None, keeps_history=False)
    sides, found, step = run.sides, 0, Run.step_member
    stopping: set[int] = set()

    def step_member(run: Run, number: int, event: MemberEvent) -> list[Effect]:
        nonlocal found
        member = sides.members[number]
        was_up = member.is_up
        if event is Command.STOP or event is Command.CRASH:
            stopping.add(number)
        effects = step(run, number, event)
        if not member.is_up:
            found += was_up and number not in stopping
            stopping.discard(number)
        return effects

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "step_member", step_member)
        while (event := run.queue.take(scenario.until_ms * MILLISECOND)) is not None:
            handle(run, event)
    return found


def test_tables_of_arrow_have_the_errors_as_a_map() -> None:
    arrow = pytest.importorskip("assignors.simulation.arrow")
    row = result_row(mixed(EAGER, COOPERATIVE))
    (made,) = arrow.TIMED.table([row]).to_pylist()
    assert (made["members_failed"], made["fatal_errors"]) == (1, [(REFUSED, 1)])


def test_members_of_the_push_protocol_that_find_the_group_full_are_counted() -> None:
    full = replace(named("too-many-members"), protocol=GroupProtocol.PUSH)
    assert simulate(full).result.fatal_errors == {"GROUP_MAX_SIZE_REACHED": 5}


def test_the_command_notes_them_once_and_shows_a_row_only_where_there_are_some() -> None:
    done = played("too-many-members", "-o", "table")
    assert done.stderr == "note: 5 members stopped with GROUP_MAX_SIZE_REACHED\n"
    assert "members stopped by an error" in done.stdout
    done = played(
        "static-crash-and-return", "--protocol", "classic", "--protocol", "consumer", "--seeds", "2"
    )
    words = "note: 2 members stopped with UNRELEASED_INSTANCE_ID in 2 of 4 runs\n"
    assert done.stderr == words
    done = played("crash", "-o", "table")
    assert (done.stderr, "by an error" in done.stdout) == ("", False)


def played(*arguments: str) -> Result:
    """Return what the command prints, in this process."""
    return CliRunner().invoke(command, ["simulate", *arguments])
