"""Groups out of what `kafka-consumer-groups.sh --describe` printed, release by release.

The tool shows the same partitions in two views, by member and by partition: one is the oracle of
the other.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.described import Assumed, described_groups
from assignors.documents.groups import group_from_document
from tests.described.reading import NEWEST, output, owned, read


@pytest.mark.parametrize(
    ("members", "offsets"),
    [
        ("2.2.2-members-verbose", "2.2.2-offsets"),
        ("2.4.1-members-verbose", "2.4.1-offsets"),
        ("4.0.0-members-verbose", "3.9.0-offsets"),
        (NEWEST, "4.3.0-offsets"),
        (NEWEST, "4.3.0-offsets-verbose"),
    ],
)
def test_both_views_of_a_release_show_the_same_partitions(members: str, offsets: str) -> None:
    by_member, by_partition = read(output(members)), read(output(offsets))
    assert by_member.keys() == by_partition.keys()
    read_groups = [name for name, group in by_member.items() if group.error is None]
    assert set(read_groups) >= ({None} if None in by_member else {"gone", "night jobs", "shop"})
    for name in read_groups:
        assert owned(by_member[name]) == owned(by_partition[name])
        group_from_document(by_member[name].document)


def test_releases_read_alike() -> None:
    newest = read(output(NEWEST))
    assert list(newest) == ["billing", "gone", "moving", "night jobs", "shop"]
    assert [group.document for group in read(output("4.0.0-members-verbose")).values()] == [
        group.document for group in newest.values()
    ]
    assert owned(read(output("2.2.2-members-verbose"))[None]) == owned(newest["shop"])
    assert owned(read(output("2.4.1-members-verbose"))["night jobs"]) == owned(newest["night jobs"])


def test_a_group_has_all_that_the_text_says() -> None:
    found = read(output(NEWEST))["billing"]
    assert found.document == {
        "topics": {"audit.log": 2, "orders": 6},
        "generation": 3,
        "members": [
            {
                "id": "kTLla9K9R5qZ2O8dqthKHg",
                "topics": ["audit.log", "orders"],
                "owned": {"orders": [0, 1, 2, 3]},
                "generation": 3,
            },
            {
                "id": "7OIanOchTV22LoYEMjLH2A",
                "topics": ["audit.log", "orders"],
                "owned": {"audit.log": [0, 1], "orders": [4, 5]},
                "generation": 3,
                "instance": "bill-2",
            },
        ],
    }
    assert [note["code"] for note in found.notes] == [
        "subscriptions-assumed",
        "partition-counts-assumed",
        "racks-unknown",
    ]
    assigned = read(output(NEWEST), assumed=Assumed.ASSIGNED)["billing"].document
    assert [member["topics"] for member in assigned["members"]] == [  # type: ignore[attr-defined]
        ["orders"],
        ["audit.log", "orders"],
    ]
    grown = read(output(NEWEST), partition_counts={"orders": 24, "payments": 5})
    assert grown["billing"].document["topics"] == {"audit.log": 2, "orders": 24}
    assert "orders" not in str(grown["billing"].notes[1]["text"])
    for count in (2, 5):
        short = read(output(NEWEST), partition_counts={"orders": count})["shop"]
        assert f"{count} partitions given, and the text has partition 5" in str(short.error)
    assert read(output(NEWEST), partition_counts={"orders": 6})["shop"].error is None


@pytest.mark.parametrize("name", ["4.3.0-members", "4.3.0-state", "4.3.0-state-verbose"])
def test_a_view_without_assignments_says_what_to_add(name: str) -> None:
    found = read(output(name))
    words = "--verbose" if name.endswith("members") else "--members --verbose"
    for group in found.keys() - {"gone"}:
        assert re.search(rf"^line \d+: .*{words}", str(found[group].error))
    joined = read(output(name) + output("4.3.0-offsets"))
    assert {group: owned(one) for group, one in joined.items()} == {
        group: owned(one) for group, one in read(output("4.3.0-offsets")).items()
    }


def test_assignments_without_topics_are_refused_and_read_beside_offsets() -> None:
    """Kafka 3.9.0's tool prints `(0,1), (2)`: which topic has which is not to be guessed."""
    alone = read(output("3.9.0-members-verbose"))
    assert "without their topics" in str(alone["shop"].error)
    joined = read(output("3.9.0-members-verbose") + output("3.9.0-offsets"))
    assert owned(joined["shop"]) == owned(read(output(NEWEST))["shop"])
    ids = [member["id"] for member in joined["night jobs"].document["members"]]  # type: ignore[attr-defined]
    assert len(ids) == 4, "the member without partitions is only in the table of members"


def test_a_group_that_is_not_there_is_an_error_and_one_without_members_is_not() -> None:
    found = read(output("2.4.1-members-verbose"))
    assert str(found["billing"].error).startswith("line 2: the tool says")
    assert found["gone"].document["members"] == []
    assert read(output("4.3.0-offsets"))["gone"].document["topics"] == {"payments": 3}


def test_spaces_made_one_and_line_ends_of_windows_change_nothing() -> None:
    for name in ("2.2.2-members-verbose", "4.3.0-offsets"):
        text = output(name).replace("night jobs", "night-jobs")
        squeezed = re.sub(" +", " ", text)
        assert squeezed != text
        assert described_groups(squeezed) == described_groups(text)
        assert described_groups(text.replace("\n", "\r\n")) == described_groups(text)
        assert described_groups(re.sub(" {2,}", "\t", text)) == described_groups(text)


@given(
    width=st.integers(1, 12),
    members=st.lists(st.lists(st.integers(0, 30), unique=True), min_size=1, max_size=6),
    release=st.sampled_from([3, 4]),
    instances=st.lists(st.sampled_from(["", "i-1", "a long one"]), min_size=6, max_size=6),
)
def test_what_the_tools_own_format_writes_is_read_back(
    width: int, members: list[list[int]], release: int, instances: list[str]
) -> None:
    """The columns as the tool's `printf` pads them: each to the longest of its cells, or more."""
    is_new = release == 4
    owned = [
        {topic: sorted(n for n in numbers if n % 2 == rest) for rest, topic in enumerate("tu")}
        for numbers in members
    ]
    rows = []
    for number, given_out in enumerate(owned):
        form, joined = ("{}:{}", ";") if is_new else ("{}({})", ", ")
        cells = (
            form.format(topic, ",".join(map(str, numbers)))
            for topic, numbers in given_out.items()
            if numbers
        )
        assignment = joined.join(cells) or "-"
        count = sum(map(len, given_out.values()))
        whom = ["my group", f"m-{number}", instances[number], "/10.0.0.1", "client"]
        rest = ["-", assignment, "-", "-"] if is_new else [assignment]
        rows.append([*whom, str(count), *rest])
    header = ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    header += (
        ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        if is_new
        else ["ASSIGNMENT"]
    )
    widths = [max(width, *map(len, column)) for column in zip(header, *rows, strict=True)]
    text = "\n".join(
        " ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True))
        for row in [header, *rows]
    )
    (found,) = described_groups(text)
    assert found.error is None
    assert found.name == "my group"
    read_back: Any = found.document["members"]
    assert [member["owned"] for member in read_back] == [
        {topic: numbers for topic, numbers in one.items() if numbers} for one in owned
    ]
    assert [member.get("instance", "") for member in read_back] == instances[: len(rows)]


def test_a_group_that_reconciles_owns_what_it_has_and_is_to_have_its_target() -> None:
    """The first member, in epoch 3, is to get a partition that the second has in epoch 4."""
    text = output(NEWEST)
    first, second = (line for line in text.split("\n") if line.startswith("billing"))
    behind = re.sub(r"3( +)orders:0,1,2,3  $", r"4\1orders:0,1,2,3,4", f"{first.rstrip()}  ")
    found = read(text.replace(first, behind).replace(second, re.sub(r" 3 ", " 4 ", second)))
    billing = found["billing"]
    assert billing.error is None
    members: Any = billing.document["members"]
    assert {member["generation"] for member in members} == {4}
    assert owned(billing) == owned(read(text)["billing"])
    assert billing.assignment["kTLla9K9R5qZ2O8dqthKHg"] == {"orders": (0, 1, 2, 3, 4)}
    assert billing.notes[-1]["code"] == "reconciling"


@pytest.mark.parametrize("name", [NEWEST, "2.2.2-members-verbose"])
def test_a_group_in_a_rebalance_is_noted(name: str) -> None:
    """The tool says so on standard error, and in the column STATE."""
    text = output(name)
    group = "shop" if name == NEWEST else None
    warning = "\nWarning: Consumer group 'shop' is rebalancing.\n"
    state = output("4.3.0-state").replace("Stable              ", "PreparingRebalance  ")
    for more in (warning, *([state] if group else [])):
        found = read(more + text)
        assert found.keys() == read(text).keys()
        assert "rebalancing" in [note["code"] for note in found[group].notes]
        assert found[group].document == read(text)[group].document
    assert "rebalancing" not in str(read(text + output("4.3.0-state"))[group].notes)


def test_prompts_and_log_lines_around_the_output_are_passed_by() -> None:
    text = output(NEWEST)
    around = (
        f"$ bin/kafka-consumer-groups.sh --bootstrap-server b:9092 --describe\n"
        f"[2026-11-22 12:00:00,123] WARN something (org.apache.kafka.X)\n{text}"
        f"me@host:~$ bin/kafka-consumer-groups.sh --list\n"
    )
    found, whole = described_groups(around), described_groups(text)
    assert [group.document for group in found] == [group.document for group in whole]
    notes = {
        note["text"] for group in found for note in group.notes if note["code"] == "lines-skipped"
    }
    assert notes == {
        "2 lines before the first table are not read: '$ bin/kafka-consumer-groups.sh --boot...'"
    }
