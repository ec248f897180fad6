"""Assignors of one's own on a clock lead as the registry's do, and fail as in a real group."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given

from assignors import ASSIGNORS
from assignors.leader import REPAIR
from assignors.own_assignors.answers import checked
from assignors.simulation import arrow, simulate_timed
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.dialect import Reaction
from assignors.simulation.timed.dialects.hand_over import eager_sibling
from assignors.simulation.timed.explore.random_scenarios import ASSIGNORS as ASSIGNORS_OF_GROUPS
from assignors.simulation.timed.explore.random_scenarios import LAWFUL
from assignors.simulation.timed.explore.shrinking import shrunk
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.effects import ASSIGNOR_FAILED
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from assignors.simulation.timed.scenario_document import brief_document, scenario_hash
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.rows import interval_rows, result_rows
from tests.conftest import cases
from tests.own_assignors import odd_ones
from tests.own_assignors.wrapped import HERE, ROUND_ROBIN, WRAPPED
from tests.simulation.timed.drawn import scenarios
from tests.simulation.timed.test_failed_members import results

ODD = "tests.own_assignors.odd_ones:"
RAISES = f"{HERE}RAISES"


def led_by(scenario: Scenario, *assignors: str) -> Scenario:
    """Return the scenario, with these assignors for all members."""
    members = tuple(replace(each, assignors=assignors) for each in scenario.members)
    return replace(scenario, members=members)


def group(assignor: str, members: int = 3, **config: Any) -> Scenario:
    """Return members that start together, and one more half a minute later."""
    listed = tuple(
        MemberConfig(
            name=f"c{n}",
            topics=("t",),
            assignors=(assignor,),
            starts_at_ms=0 if n < members else 30_000,
            **config,
        )
        for n in range(members + 1)
    )
    return Scenario(until_ms=60_000, topics={"t": 4}, members=listed)


def rows(*given: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return list(result_rows(given, **options))


def text(scenario: Scenario) -> str:
    return json.dumps(brief_document(scenario))


def same_history(scenario: Scenario) -> None:
    """Play a classic scenario with its assignors and with their wrappers; compare all there is."""
    (known,) = {name for each in scenario.members for name in each.assignors}
    own = led_by(scenario, WRAPPED[known])
    for keeps in (True, False):
        assert simulate(own, keeps_history=keeps) == simulate(scenario, keeps_history=keeps)


@cases(20)
@given(scenarios(replace(LAWFUL, assignors=ASSIGNORS_OF_GROUPS)))
def test_an_own_assignor_that_wraps_a_registered_one_gives_its_history(scenario: Scenario) -> None:
    assume(not scenario.arrivals)
    same_history(scenario)


@pytest.mark.parametrize("known", ["optimal/sticky", "optimal/cooperative-sticky"])
def test_so_it_does_where_members_start_and_go_through_rounds_together(known: str) -> None:
    scenario = group(known, 20)
    same_history(scenario)
    asked = {"scenario": text(scenario), "seed": 7}
    own = {**asked, "assignor": WRAPPED[known]}
    ours, theirs = rows(own, asked, own_assignors=WRAPPED.values())
    assert (ours.pop("assignor"), theirs.pop("assignor")) == (WRAPPED[known], known)
    assert ours.pop("scenario_hash") != theirs.pop("scenario_hash")
    assert ours == theirs


@pytest.mark.parametrize("members", [3, 20])
@pytest.mark.parametrize(
    ("own", "replaced_by"),
    [("RAISES", "optimal/cooperative-sticky"), ("EAGER_RAISES", "optimal/sticky")],
)
def test_one_that_raises_is_replaced_for_the_round_as_by_our_plug_ins(
    own: str, replaced_by: str, members: int
) -> None:
    played = results(group(f"{HERE}{own}", members))
    for result in played:
        assert (result.is_settled, result.fatal_errors) == (True, {})
        assert result.violations == result.rounds >= 2
        assert (result.first_violation or "").startswith("assignor-failed at event ")
        words = f" leads, and {HERE}{own} raised LookupError: nothing for {members}"
        assert (result.first_violation or "").endswith(words)
    same: dict[str, Any] = {
        "violations": 0,
        "first_violation": None,
        "events": 0,
        "events_hash": "",
    }
    replaced = simulate(group(replaced_by, members)).result
    assert replace(played[0], **same) == replace(replaced, **same)


REACTIONS = {
    **dict.fromkeys(("java-2.4.1", "java-4.4.0", "aiokafka-0.14.0", "kafkajs-2.2.4"), "ends"),
    **dict.fromkeys(("librdkafka-2.16.0", "franz-go-1.21.4"), "stuck"),
    "kafka-python-3.0.12": "ends",
    "sarama-1.61.1": "silent",
}


@pytest.mark.parametrize("client", REACTIONS)
def test_one_that_raises_stops_a_leader_as_it_stops_its_client(client: str) -> None:
    result, *others = results(group(f"{HERE}ROUND_ROBIN_RAISES", client=client))
    assert all(replace(each, events=result.events) == result for each in others[:1])
    assert result.violations > 0
    assert result.fatal_errors == ({ASSIGNOR_FAILED: 4} if REACTIONS[client] == "ends" else {})
    assert DIALECTS[client].assignor_fails is Reaction(REACTIONS[client])


def test_one_that_is_called_as_one_of_ours_is_not_taken_for_it() -> None:
    """franz-go hands over by a rule of its own under the assignors that it ships alone."""
    ours = ASSIGNORS["java/cooperative-sticky"]
    sibling = eager_sibling(ours.configured(REPAIR))
    assert sibling is ASSIGNORS["java/sticky"]
    assert eager_sibling(checked(replace(ours, assign=ROUND_ROBIN.assign))) is None


def test_where_a_client_fails_on_what_it_cannot_read_it_fails_so_on_its_assignor() -> None:
    """Both happen at the same place of its code; librdkafka alone leaves the member out."""
    for client, dialect in DIALECTS.items():
        unreadable = {*dialect.leads_any.values()} - {Reaction.LEAVES_OUT, Reaction.DIES}
        assert unreadable == (set() if "librdkafka" in client else {dialect.assignor_fails})


@pytest.mark.parametrize("name", odd_ones.WRONG)
def test_an_answer_that_is_none_is_found_as_where_one_raises(name: str) -> None:
    result = simulate(group(f"{ODD}{name}")).result
    assert result.is_settled
    assert f"leads, and {ODD}{name} " in (result.first_violation or "")


def test_partitions_given_twice_or_to_nobody_are_consumed_so() -> None:
    twice = simulate(group(f"{HERE}TWICE"))
    assert twice.violations[0].monitor == "assignor-failed"
    words = " leads, and the answer of own/twice breaks assigned-twice t:0 ("
    assert words in (twice.result.first_violation or "")
    assert "double-consumption" in {each.monitor for each in twice.violations}
    assert twice.result.double_partition_ms > 0
    alone = simulate(group(f"{HERE}FIRST_ALONE"), monitoring=Monitoring.FULL)
    assert (alone.result.unowned, alone.result.is_settled) == (3, False)
    monitors = {each.monitor for each in alone.violations}
    assert monitors == {"assignor-failed", "partition-without-owner"}
    assert simulate(group(f"{HERE}FIRST_ALONE", 20)).result.violations > 0


def ended(client: str, assignor: str) -> int:
    played = simulate(group(f"{HERE}{assignor}", client=client))
    assert set(played.result.fatal_errors) <= {ASSIGNOR_FAILED}
    return played.result.members_failed


def test_javas_clients_refuse_a_cooperative_plan_that_takes_claimed_partitions() -> None:
    """KAFKA-13406: only one that is called cooperative-sticky is not checked, from 2.8.2 on."""
    for client in ("java-3.1.2", "java-4.4.0"):
        assert ended(client, "HASTY") > 0
        assert ended(client, "ROUND_ROBIN") == ended(client, "HASTY_SO_CALLED") == 0
    assert ended("java-2.4.1", "HASTY") == ended("sarama-1.61.1", "HASTY") == 0


def test_data_imports_nothing_and_other_rows_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_on_a_clock.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    stranger = "mine_on_a_clock:OWN"
    first, good, second, third = rows(
        {"scenario": text(group(stranger))},
        {"scenario": text(group(RAISES))},
        {"scenario": "crash", "assignor": stranger},
        {"scenario": "crash", "assignor": RAISES, "protocol": "consumer"},
        own_assignors=[RAISES],
    )
    assert "mine_on_a_clock" not in sys.modules
    assert first["error"].startswith("'mine_on_a_clock:")
    assert first["error"].endswith(" at scenario.members[0].assignors[0]")
    assert second["error"].startswith("'mine_on_a_clock:OWN' is not imported")
    assert second["error"].endswith(" at assignor")
    assert "is not in the registry; members of classic" in third["error"]
    assert (good["error"], good["assignor"], good["violations"]) == (None, RAISES, 3)


def test_what_cannot_be_imported_in_a_worker_is_the_error_of_its_row() -> None:
    absent = "no_such_module_on_this_worker:OWN"
    asked = [{"scenario": text(group(name))} for name in (absent, WRAPPED["java/range"])]
    own = (absent, *WRAPPED.values())
    bad, good = rows(*asked, own_assignors=own)
    words = f"cannot import {absent!r}: No module named"
    assert bad["error"].startswith(words)
    assert good["error"] is None
    assert rows(*asked, own_assignors=own, processes=2, chunk=1) == [bad, good]
    batch = pa.RecordBatch.from_pylist(asked)
    for kind, play, plain in (
        (arrow.TIMED, arrow.timed_result(own), result_rows),
        (arrow.INTERVALS, arrow.timed_intervals(own), interval_rows),
    ):
        made = [row for each in kind.played([batch], play) for row in each.to_pylist()]
        expected = plain(asked, own_assignors=own)
        assert [row["error"] for row in made] == [row["error"] for row in expected]


def test_in_one_call_a_scenario_of_the_program_is_trusted_and_a_document_is_not() -> None:
    scenario = group(RAISES)
    (row,) = simulate_timed(scenario)
    (same,) = simulate_timed(brief_document(scenario), own_assignors=RAISES)
    assert row == same
    assert (row["violations"], row["scenario_hash"]) == (3, scenario_hash(scenario))
    with pytest.raises(ValueError, match=r"allow it with own_assignors \(--own-assignor tests"):
        simulate_timed(brief_document(scenario))
    both = simulate_timed("crash", protocols=["classic", "consumer"], assignors=[RAISES, "range"])
    assert [row["assignor"] for row in both] == [RAISES, "java/range", "server/uniform"]


def test_a_failing_assignor_is_shrunk_to_the_one_member_that_leads() -> None:
    small = shrunk(group(RAISES), runs_max=60)
    assert small is not None
    assert small.violation.monitor == "assignor-failed"
    assert len(small.scenario.members) == 1


def test_the_same_scenario_gives_the_same_run() -> None:
    def played() -> Played:
        return simulate(group(RAISES), keeps_history=True)

    assert played() == played()
