"""`--weights FILE`: weights beside groups that have none of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from tests.cli.running import answer, answers
from tests.cli.test_given_groups import MEMBERS, only
from tests.weighted.test_command import GROUP

KEYS = ("weights", "move_costs", "budget", "tolerance", "trigger")


def plain(group: dict[str, Any]) -> dict[str, Any]:
    """The group without anything of weights."""
    members = [{k: v for k, v in one.items() if k != "capacity"} for one in group["members"]]
    return {**{k: v for k, v in group.items() if k not in KEYS}, "members": members}


def written(folder: Path, content: object) -> str:
    path = folder / "weights.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


WHOLE_FILE = {
    "weights": {"t": [900, 20]},
    "move_costs": {"t": [1, 2]},
    "capacities": {"a": 4},
    "budget": {"cost": 5},
    "tolerance": 0.05,
    "trigger": 0.2,
}
"""Every key of a file."""

FILE = {"weights": GROUP["weights"], "capacities": {"a": 2, "who": 9}, "tolerance": 0.1}


@pytest.mark.parametrize(
    "arguments",
    [
        ("assign", "--assignor", "cooperative-weighted"),
        ("assign", "--compare", "weighted,java/sticky,range"),
        ("check",),
        ("explain", "--partition", "orders:1", "--assignor", "weighted"),
    ],
)
def test_a_file_says_what_the_keys_of_a_group_say(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    assignment = {"a": {"orders": [0, 1, 2], "audit": [0]}, "b": {"orders": [3, 4, 5]}, "c": {}}
    group = {**GROUP, "tolerance": 0.1, "assignment": assignment}
    beside = answer(
        *arguments, "--weights", written(tmp_path, FILE), given=json.dumps(plain(group))
    )
    assert beside == answer(*arguments, given=json.dumps(group))
    assert beside != answer(*arguments, given=json.dumps(plain(group)))


def test_a_file_takes_the_place_of_what_a_group_has(tmp_path: Path) -> None:
    path = written(tmp_path, {"weights": {"orders": [1] * 6}, "budget": {"moves": 0}})
    asked = ("assign", "--assignor", "weighted", "--weights", path)
    document = answer(*asked, given=json.dumps(GROUP))
    assert document["stats"]["moved"] == 0
    assert document["stats"]["weight_moved"] == 0
    shown = answer(*asked, "--with-group", given=json.dumps(GROUP))
    assert (shown["weights"], shown["budget"]) == ({"orders": [1] * 6}, {"moves": 0})


def test_one_file_serves_all_groups_that_the_tool_describes(tmp_path: Path) -> None:
    """Each takes the topics that it has, and a name that is nearly right is noted."""
    path = written(tmp_path, {"weights": {"orders": [90, 5, 5, 5, 5, 5], "order": [1]}})
    found, code = answers("assign", "--assignor", "weighted", "--weights", path, MEMBERS)
    assert code == 0
    assert "use_max" in only(found, "billing")["stats"]
    noted = [one["text"] for one in only(found, "shop")["notes"] if one["code"] == "key-unused"]
    words = "weights['order'] of --weights has no effect: the group has no such name"
    assert noted == [f"{words}; did you mean 'orders'?"]
    assert "id" in only(found, "gone")


def test_a_topic_has_a_weight_for_each_of_its_partitions(tmp_path: Path) -> None:
    path = written(tmp_path, {"weights": {"orders": [1, 2, 3]}})
    lines = "\n".join(json.dumps(one) for one in (plain(GROUP), {**plain(GROUP), "id": 2}))
    found, code = answers("assign", "--assignor", "weighted", "--weights", path, given=lines)
    assert code == 2
    assert [one["error_at"]["path"] for one in found] == ["weights.orders"] * 2
    assert [one["error_at"]["line"] for one in found] == [1, 2]
    assert "3 numbers for 6 partitions" in found[0]["error"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Expecting value at byte 0"),
        ("[]", "expected an object, found a list of 0 at $"),
        ({"orders": [1]}, "'orders' is no key here"),
        ({"weight": {}}, "did you mean 'weights'?"),
        ({"weights": [1]}, "expected an object, found a list of 1 at weights"),
        ({"weights": {"t": 1}}, "expected a list, found 1 at weights.t"),
        ({"weights": {"t": [1, -1]}}, "-1 is not from 0 to 2**53 - 1 at weights.t[1]"),
        ('{"weights": {"t": [NaN]}}', "NaN is no JSON number at byte 19"),
        ({"weights": {"t": [1 << 53]}}, "is not from 0 to 2**53 - 1 at weights.t[0]"),
        ({"weights": {"t": [(1 << 53) - 1] * 2}}, "is not below 2**53 at weights"),
        ({"capacities": dict.fromkeys("ab", 1 << 52)}, "is not below 2**53 at capacities"),
        ({"weights": {"t": [1]}, "move_costs": {"t": [1, 2]}}, "at move_costs.t"),
        ({"capacities": {"a": 0}}, "0 is not from 1 to 2**53 - 1 at capacities.a"),
        ({"capacities": [4]}, "expected an object, found a list of 1 at capacities"),
        ({"budget": {"moves": -1}}, "-1 is not from 0 to 2**53 - 1 at budget.moves"),
        ({"tolerance": 0.3, "trigger": 0.2}, "0.2 is below the tolerance, 0.3 at trigger"),
    ],
)
def test_what_cannot_be_is_a_usage_error_with_its_place(
    content: object, words: str, tmp_path: Path
) -> None:
    path = written(tmp_path, content)
    done = CliRunner().invoke(command, ["assign", "--assignor", "weighted", "--weights", path])
    assert done.exit_code == 2
    assert f"--weights': {path}: " in done.stderr
    assert words in done.stderr


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(command, ["check", "--weights", str(tmp_path / "none.json")])
    assert done.exit_code == 2
    assert "No such file" in done.stderr


def test_lines_that_are_no_groups_stay_errors_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, FILE)
    odd = ["[]", "{}", '{"topics": [], "members": {}}', '{"topics": {}, "members": [1]}', "7"]
    lines = "\n".join([*odd, json.dumps(plain(GROUP))])
    found, _ = answers("assign", "--assignor", "weighted", "--weights", path, given=lines)
    assert [one["error"] is None for one in found] == [False] * len(odd) + [True]
