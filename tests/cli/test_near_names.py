"""A typing error in a name, wherever it stands, gets the nearest name that there is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command

CLOCK = ("simulate", "rolling-restart")


def run(*arguments: str, given: str = "") -> Any:
    return CliRunner().invoke(command, arguments, input=given)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("asign",), "assign"),
        (("decode", "subsciption"), "subscription"),
        (("replay", "--sample", "--table", "gruops"), "groups"),
        (("replay", "--sample", "--kind", "rebalance-strom"), "rebalance-storm"),
        (("replay", "--sample", "--what-if", "stiky"), "sticky"),
        (("histories", "--assignor", "cooperative_sticky"), "cooperative-sticky"),
        (("simulate", "roling-restart"), "rolling-restart"),
        ((*CLOCK, "--protocol", "clasic"), "classic"),
    ],
)
def test_a_typing_error_in_a_name_gets_the_nearest_one(
    arguments: tuple[str, ...], meant: str
) -> None:
    done = run(*arguments)
    assert f"did you mean '{meant}'?" in done.stderr
    assert done.exit_code == 2


def test_a_timed_scenario_names_the_nearest_key_value_member_topic_and_assignor() -> None:
    shown: dict[str, Any] = json.loads(run(*CLOCK, "--show").stdout)

    def refusal(**changed: Any) -> str:
        text = json.dumps({**shown, **changed})
        return str(run("simulate", "-", given=text).stderr)

    first, *rest = shown["members"]
    action, *others = shown["plan"]
    assert "did you mean 'until_ms'?" in refusal(untill_ms=1)
    assert "did you mean 'classic'?" in refusal(protocol="clasic")
    assert "did you mean 'stop'?" in refusal(plan=[{**action, "do": "stopp"}])
    assert "did you mean 'members'?" in refusal(plan=[{**action, "membrs": ["c0"]}])
    stop = {"at_ms": 1, "do": "stop"}
    assert "did you mean 'member'?" in refusal(plan=[{**stop, "membr": "c0"}])
    assert "did you mean 'c" in refusal(plan=[{**stop, "member": "cc0"}, *others])
    named = {**first, "assignors": ["optimal/stiky"]}
    assert "did you mean 'optimal/sticky'?" in refusal(members=[named, *rest])
    (topic,) = list(shown["topics"])[:1]
    odd = [{**first, "topics": [topic + "x"]}, *rest]
    assert f"which there never is; did you mean {topic!r}?" in refusal(members=odd)


def test_a_timed_scenario_takes_an_assignor_by_the_name_of_kafkas_class() -> None:
    shown: dict[str, Any] = json.loads(run(*CLOCK, "--show").stdout)
    name = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    rows = []
    for assignor in ("java/cooperative-sticky", name):
        members = [{**member, "assignors": [assignor]} for member in shown["members"]]
        text = json.dumps({**shown, "members": members})
        rows.append(json.loads(run("simulate", "-", "-o", "jsonl", given=text).stdout))
    assert rows[0] == rows[1]
    assert rows[0]["error"] is None
