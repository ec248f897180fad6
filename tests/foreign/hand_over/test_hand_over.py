"""The hand-over rules of franz-go, before and after 1.21.4, judged by its own code.

`main.go` is built with each version of the module (`franz-*.mod`).
"""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.hand_over import Claim, given_now
from tests.conftest import SEED, need
from tests.interop.install import go

FOLDER = Path(__file__).resolve().parent
TOPIC = "orders"
MODULES = {"1.21.3": "franz-1.21.3", "1.21.4": "franz-1.21.4", "1.22.2": "go"}
CASES = 400

pytestmark = [pytest.mark.foreign, pytest.mark.parametrize("version", MODULES)]

Case = dict[str, Any]
Given = dict[str, list[int]]


@cache
def program(version: str) -> Path:
    """Return the program with this version of franz-go; skips where Go is missing."""
    step = go(f"members/hand-over-{version}", FOLDER, ".", module=MODULES[version])
    for tool in step.missing_tools():
        need(tool)
    return step.made() / "handover"


def asked(version: str, cases: list[Case]) -> list[Given]:
    """Return what franz-go gives out in each case."""
    done = subprocess.run(
        [program(version)],
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def drawn(dice: Random) -> Case:
    """Draw a group: claims of several generations, and a plan that need not follow them."""
    partitions, count = dice.randrange(1, 8), dice.randrange(1, 5)
    target = [dice.randrange(count) for _ in range(partitions)]
    return {
        "partitions": partitions,
        "has_target": True,
        "members": [
            {
                "id": f"m{number}",
                "owned": [p for p in range(partitions) if dice.random() < 0.4],
                "generation": dice.randrange(-1, 3),
                "target": [p for p in range(partitions) if target[p] == number],
            }
            for number in range(count)
        ],
    }


def test_what_is_given_out_of_any_plan_is_what_franz_go_gives_out(version: str) -> None:
    dice = Random(SEED)
    cases = [drawn(dice) for _ in range(CASES)]
    for case, found in zip(cases, asked(version, cases), strict=True):
        members = {one["id"]: one for one in case["members"]}
        ours = given_now(
            DIALECTS[f"franz-go-{version}"].hand_over,
            {name: {TOPIC: tuple(one["target"])} for name, one in members.items()},
            {
                name: Claim({TOPIC: tuple(one["owned"])}, one["generation"])
                for name, one in members.items()
            },
        )
        expected = {name: sorted(ours[name].get(TOPIC, ())) for name in members}
        assert {name: sorted(numbers) for name, numbers in found.items()} == expected, case


def test_only_1_21_3_gives_a_stale_claimant_what_another_member_consumes(version: str) -> None:
    # franz-go plans here too: the stale member's partitions go back to it, as it has nothing.
    owned = {"a": [0, 1, 2, 9], "b": [3, 4, 5, 10], "c": [6, 7, 8, 11]}
    members = [{"id": name, "owned": has, "generation": 5} for name, has in owned.items()]
    stale = {"id": "z", "owned": [9, 10, 11], "generation": 2}
    (found,) = asked(version, [{"partitions": 12, "members": [*members, stale]}])
    assert found["z"] == ([9, 10, 11] if version == "1.21.3" else [])
    assert [sorted(found[name]) for name in owned] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
