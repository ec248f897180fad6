"""`assign --compare`: who gets what under each assignor, side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assignors import Group
from assignors.cli.outputs.shown_names import short_ids
from assignors.documents.groups import group_from_document
from assignors.names.assignor_names import BEST
from assignors.registry import ASSIGNORS
from tests.cli.running import GROUP, answer, answers
from tests.cli.test_given_groups import MEMBERS
from tests.cli.test_tables import table

FOUR = ",".join(BEST)


def group(member_count: int, partition_count: int) -> dict[str, Any]:
    """Return a group in which the first member has everything."""
    owned = {"t": [*range(partition_count)]}
    return {
        "topics": {"t": partition_count},
        "members": [
            {"id": f"m{n:03}", "topics": ["t"], **({} if n else {"owned": owned, "generation": 1})}
            for n in range(member_count)
        ],
    }


def test_each_column_is_what_that_assignor_answers_alone() -> None:
    line = json.dumps(GROUP)
    document = answer("assign", "--compare", ",".join(ASSIGNORS), given=line)
    assert document["owned"] == {"a": {"t": [0, 1, 2, 3]}, "b": {}}
    assert [column["name"] for column in document["compared"]] == list(ASSIGNORS)
    for column in document["compared"]:
        alone = answer("assign", "--assignor", column["name"], given=line)
        assert column["assignment"] == alone["assignment"]
        assert column["withheld"] == alone["withheld"]


def test_members_are_rows_and_differences_are_marked() -> None:
    shown = table("assign", "--compare", "range,cooperative-sticky", "--group", "shop", MEMBERS)
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.split()}
    assert rows["CONSUMER-ID"] == ["CONSUMER-ID", "OWNED", "range", "cooperative-sticky"]
    assert rows["till-2"] == ["till-2", "orders(3-4)", "orders(0-1)", "*", "orders(3-4)"]
    assert rows["moved"] == ["moved", "8", "0"]
    assert "* other partitions than under range" in shown
    assert "8 partitions differ; --reasons says why" in shown
    assert "stays with" not in shown
    alike = table("assign", "--compare", "sticky,cooperative-sticky", "--group", "shop", MEMBERS)
    assert "*" not in alike
    assert "0 partitions differ\n" in alike


def test_figures_by_weight_are_shown_of_a_group_that_has_weights() -> None:
    counted = group(2, 4)
    weighed = {**counted, "weights": {"t": [90_000, 1000, 1000, 1500]}}
    shown, plain = (
        table("assign", "--compare", "range,sticky", given=json.dumps(each))
        for each in (weighed, counted)
    )
    assert "use_bound" not in plain
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.split()}
    assert rows["use_max"] == ["91000", "91000"]
    assert rows["use_bound"] == ["90000", "90000"]


def test_what_waits_has_a_row_of_its_own() -> None:
    shown = table("assign", "--compare", "sticky,cooperative-sticky", given=json.dumps(GROUP))
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.split()}
    assert rows["b"] == ["-", "t(2-3)", "*", "-"]
    assert rows["(withheld)"] == ["-", "*", "t(2-3)"]


def test_reasons_are_told_on_demand() -> None:
    arguments = ("assign", "--compare", "range,sticky", "--group", "shop", "--reasons", MEMBERS)
    shown = table(*arguments)
    (document,), _ = answers(*arguments)
    told = [reason["why"] for one in document["partitions"] for reason in one["answers"].values()]
    assert len(told) == 2 * document["different"] == 16
    assert all(why in shown for why in told)


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("names", ["range,sticky", FOUR, ",".join(ASSIGNORS)])
def test_it_fits_the_terminal_and_says_everything(columns: int, names: str) -> None:
    arguments = ("assign", "--compare", names, "--group", "night jobs", MEMBERS)
    shown = table(*arguments, columns=columns)
    assert max(map(len, shown.splitlines())) <= columns
    top = shown.partition("load_max")[0]
    for member in ("night-1", "night-2", "night-3", "night-4"):
        assert member in top
    assert "payments(0)" in top


def test_of_many_members_those_that_differ_are_shown() -> None:
    shown = table("assign", "--compare", "range,sticky", given=json.dumps(group(200, 250)))
    rows = [line for line in shown.splitlines() if line.startswith("m")]
    named = [line for line in rows if line.split()[0].startswith("m0") or "m1" in line]
    assert 40 <= len(named) <= 42
    assert "160 more members" in shown


def test_members_that_are_treated_alike_are_left_out_of_many() -> None:
    alike = [{"id": f"m{n}", "topics": [f"u{n}"]} for n in range(60)]
    differing = [
        {"id": "x", "topics": ["t"], "owned": {"t": [1, 2]}, "generation": 1},
        {"id": "y", "topics": ["t"], "owned": {"t": [0]}, "generation": 1},
    ]
    whole = {
        "topics": {"t": 3, **{f"u{n}": 1 for n in range(60)}},
        "members": [*alike, *differing],
    }
    shown = table("assign", "--compare", "range,sticky", given=json.dumps(whole))
    named = [line.split()[0] for line in shown.splitlines() if "(" in line and "t(" in line]
    assert named == ["x", "y"]
    assert "60 more members" in shown


def test_an_assignor_that_fails_is_named_and_the_others_are_shown() -> None:
    empty = json.dumps({"topics": {"t": 2}, "members": []})
    shown = table("assign", "--compare", "java/sticky,sticky", given=empty)
    assert "java/sticky fails: " in shown
    documents, code = answers("assign", "--compare", "java/sticky,sticky", given=empty)
    assert (code, documents[0]["compared"][0]["assignment"]) == (0, None)
    assert documents[0]["compared"][1]["assignment"] == {}


def test_shown_ids_are_different_whatever_they_are() -> None:
    rest = "-84b5-4dd7-b587-a690519a93bf"
    ids = [f"a-fef9b693{rest}", "a", f"b-fef9b693{rest}", f"b-fef9b693{rest[:-1]}0", "b-fef9b693"]
    short = short_ids(ids)
    assert len(set(short.values())) == len(ids)
    assert list(short) == ids
    assert all(member_id.startswith(shown) for member_id, shown in short.items())


def test_the_column_owned_is_left_out_where_nobody_owns_anything() -> None:
    fresh = {"topics": {"t": 2}, "members": [{"id": "a", "topics": ["t"]}]}
    assert isinstance(group_from_document(fresh), Group)
    shown = table("assign", "--compare", "range,sticky", given=json.dumps(fresh))
    assert "OWNED" not in shown
