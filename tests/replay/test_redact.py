"""Names hidden everywhere, the same way, and nothing else changed."""

from __future__ import annotations

import json
import re

import pytest

from assignors.assignor import Assignor
from assignors.model import Group
from assignors.rebalance import Rebalance
from assignors.registry import assignor_named
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records
from assignors.replay.history.fold import histories
from assignors.replay.history.redact import Hidden, keyed, names_of, numbered
from assignors.replay.settings import Settings
from assignors.replay.tables.columns import as_dict
from assignors.replay.tables.rows import TABLES, Tables
from tests.replay.histories import Says, captured, classic, in_order

LABEL = re.compile(r"^(group|client|host|member|instance)-(\d+|[0-9a-f]{12})$")


@pytest.fixture(scope="module")
def entries() -> list[LoggedRecord]:
    return captured("real")


@pytest.fixture(scope="module")
def plain(entries: list[LoggedRecord]) -> Tables:
    return replay_records(entries)


@pytest.fixture(scope="module")
def hidden(entries: list[LoggedRecord]) -> Tables:
    return replay_records(entries, hide_names=True)


def names(tables: Tables) -> set[str]:
    """Every name that must not be seen, long enough not to be an ordinary word."""
    found: set[str | None] = set()
    for row in tables.members:
        found |= {row.group, row.member_id, row.client_id, row.host, row.instance_id}
    return {name for name in found if name is not None and len(name) > 3} - {"connect"}


def text(tables: Tables) -> str:
    """All tables as one text."""
    rows = [as_dict(row) for name in TABLES for row in getattr(tables, name)]
    return json.dumps(rows, ensure_ascii=False)


def test_no_name_is_left_in_any_table_or_evidence(plain: Tables, hidden: Tables) -> None:
    masked, open_ = text(hidden), text(plain)
    secret = names(plain)
    assert len(secret) > 300
    assert [name for name in secret if name in masked] == []
    assert [name for name in secret if name not in open_] == []


def test_nothing_but_names_and_metadata_changes(plain: Tables, hidden: Tables) -> None:
    """One label for one name: the tables are equal once labels are put in."""
    labels: dict[tuple[str, str], str] = {}
    columns = {
        "group": "group",
        "member_id": "member",
        "holder_id": "member",
        "leader_id": "member",
        "client_id": "client",
        "leader_client_id": "client",
        "host": "host",
        "leader_host": "host",
        "instance_id": "instance",
    }
    for name in TABLES:
        rows = zip(getattr(plain, name), getattr(hidden, name), strict=True)
        for before, after in rows:
            one, other = as_dict(before), as_dict(after)
            for column, what in columns.items():
                if one.get(column):
                    label = labels.setdefault((what, one[column]), other[column])
                    assert other[column] == label
                    assert LABEL.match(label)
                one.pop(column, None)
                other.pop(column, None)
            for named, label in zip(one.pop("members", ()), other.pop("members", ()), strict=True):
                assert labels.setdefault(("member", named), label) == label
            for free in ("evidence", "what_to_do", "metadata", "joined", "left"):
                one.pop(free, None)
                other.pop(free, None)
            assert one == other
    assert len(set(labels.values())) == len(labels)


def test_what_was_tried_is_the_same_under_hidden_names(entries: list[LoggedRecord]) -> None:
    settings = Settings(assignors=(assignor_named("java/sticky"),))
    open_rows = [as_dict(row) for row in replay_records(entries, settings).outcomes]
    hidden_rows = [
        as_dict(row) for row in replay_records(entries, settings, hide_names=True).outcomes
    ]
    for row in (*open_rows, *hidden_rows):
        del row["group"]
    assert open_rows == hidden_rows


def tells_all(group: Group) -> Rebalance:
    """An assignor that names its members as it fails."""
    raise RuntimeError(f"nothing for {group.members[0].member_id}")


def test_what_an_assignor_says_as_it_fails_is_hidden_too(entries: list[LoggedRecord]) -> None:
    own = Assignor(family="own", name="sticky", assign=tells_all)
    tables = replay_records(entries, Settings(assignors=(own,)), hide_names=True)
    errors = {row.error for row in tables.outcomes if row.generation is not None}
    assert errors == {"RuntimeError", None}  # not asked where nothing changed
    assert not [row for row in tables.outcomes if ":" in (row.error or "")]


def test_labels_by_key_are_the_same_in_every_group_and_other_under_another_key(
    entries: list[LoggedRecord],
) -> None:
    label = keyed(b"one key")
    assert label(Hidden.HOST, "/10.0.0.1") == label(Hidden.HOST, "/10.0.0.1")
    assert label(Hidden.HOST, "/10.0.0.1") != keyed(b"other")(Hidden.HOST, "/10.0.0.1")
    assert label(Hidden.HOST, "a") != label(Hidden.GROUP, "a")
    assert label(Hidden.HOST, "") == ""
    masked = text(replay_records(entries, Settings(label=label)))
    assert [name for name in names(replay_records(entries)) if name in masked] == []


def test_labels_count_in_the_order_of_the_records(entries: list[LoggedRecord]) -> None:
    found = list(histories(entries))
    label = numbered(name for history in found for name in names_of(history))
    assert [label(Hidden.GROUP, h.group) for h in found[:3]] == [
        "group-1",
        "group-2",
        "group-3",
    ]


def test_the_client_of_an_id_that_a_static_member_lost_is_hidden_too() -> None:
    before, after = (
        classic(at, 1, {f"secret-{at}": Says(gets={"t": (0,)}, instance_id="a", client_id=client)})
        for at, client in ((1, "first-client"), (5, "second-client"))
    )
    listed = in_order([before, after])
    assert [row.client_id for row in replay_records(listed).assignments] == [
        "first-client",
        "second-client",
    ]
    masked = replay_records(listed, hide_names=True)
    assert all(LABEL.match(row.client_id) for row in masked.assignments)
    assert "client-" in text(masked)
    assert "first-client" not in text(masked)
