"""Groups out of what `kafka-consumer-groups.sh --describe` printed, release by release.

The tool shows the same partitions in two views, by member and by partition: one is the oracle of
the other.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.described import Assumed, DescribedGroup, described_groups
from assignors.documents.groups import group_from_document
from assignors.documents.values import DocumentError

OUTPUTS = Path(__file__).parent / "outputs"
NEWEST = "4.3.0-members-verbose"


def output(name: str) -> str:
    """Return the text of a file."""
    return (OUTPUTS / f"{name}.txt").read_text("utf-8")


def read(text: str, **options: Any) -> dict[str | None, DescribedGroup]:
    """Return the groups of a text by name."""
    return {group.name: group for group in described_groups(text, **options)}


def owned(group: DescribedGroup) -> dict[str, Any]:
    """Return what each member has, members without partitions left out."""
    members: Any = group.document["members"]
    return {member["id"]: member["owned"] for member in members if member["owned"]}


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


def test_a_line_cut_anywhere_is_an_error_of_its_group_alone() -> None:
    text = output(NEWEST)
    whole = read(text)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        group = line[:15].strip()
        if group not in whole:
            continue
        for length in range(len(group), len(line.rstrip())):
            cut = read("\n".join([*lines[:number], line[:length], *lines[number + 1 :]]))
            found = cut[group]
            if found.error is not None:
                assert str(found.error).startswith(f"line {number + 1}: ")
            elif found != whole[group]:
                # of the last column nothing else says how long it should be
                assert "reconciling" in [note["code"] for note in found.notes]
            assert all(cut[other] == whole[other] for other in whole if other != group)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_lines_that_a_terminal_wrapped_are_errors_with_their_number(width: int) -> None:
    text = output("2.4.1-members-verbose")
    cut = {line[:15].strip() for line in text.split("\n") if len(line) > width} - {"GROUP"}
    assert cut
    wrapped = "\n".join(
        line[start : start + width]
        for line in text.split("\n")
        for start in range(0, max(len(line), 1), width)
    )
    try:
        found = described_groups(wrapped)
    except DocumentError as error:
        assert re.match(r"line \d+: ", str(error))  # noqa: PT017  # one of two lawful ends
    else:
        assert all(
            re.match(r"line \d+: ", str(group.error))
            for group in found
            if group.error or group.name in cut
        )


def test_spaces_made_one_and_line_ends_of_windows_change_nothing() -> None:
    for name in ("2.2.2-members-verbose", "4.3.0-offsets"):
        text = output(name).replace("night jobs", "night-jobs")
        squeezed = re.sub(" +", " ", text)
        assert squeezed != text
        assert described_groups(squeezed) == described_groups(text)
        assert described_groups(text.replace("\n", "\r\n")) == described_groups(text)
        assert described_groups(re.sub(" {2,}", "\t", text)) == described_groups(text)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("orders:3,4;payments:2", "orders:3,4;payments:x"), "expected an assignment"),
        (("orders:3,4;payments:2", "orders:3,4;orders:2  "), "expected an assignment"),
        (("orders:3,4;payments:2", "orders:3,4           "), "#PARTITIONS says 3"),
        (("shop-1-", "shop-3-"), "no member"),
    ],
)
def test_what_cannot_be_is_named_with_its_line(change: tuple[str, str], words: str) -> None:
    found = read(output(NEWEST).replace(*change))
    if words == "no member":
        text = output(NEWEST)
        line = next(line for line in text.split("\n") if line.startswith("shop"))
        found, words = read(f"{text}{line}\n"), "occurs twice"
    assert re.match(rf"line \d+: .*{re.escape(words)}", str(found["shop"].error))
    assert found["billing"].error is None


TIMES = [*"-:;,()/ 09ag'", "orders", "GROUP", "\t", "\x00", "\u00e9", "99999999999"]


@given(
    name=st.sampled_from(sorted(path.stem for path in OUTPUTS.glob("*.txt"))),
    changes=st.lists(
        st.tuples(st.integers(0, 6000), st.integers(0, 3), st.sampled_from(TIMES)), max_size=4
    ),
)
def test_whatever_is_changed_a_group_is_read_or_its_line_is_named(
    name: str, changes: list[tuple[int, int, str]]
) -> None:
    text = output(name)
    for place, length, piece in changes:
        text = text[:place] + piece + text[place + length :]
    try:
        found = described_groups(text)
    except DocumentError as error:
        assert re.match(r"line \d+: |a header and no group", str(error))  # noqa: PT017  # either
        return
    assert found
    for group in found:
        if group.error is not None:
            assert re.match(r"line \d+: ", str(group.error))
        else:
            with suppress(DocumentError):  # more partitions than there can be
                group_from_document(group.document)


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


def test_the_first_line_that_is_wrong_is_named() -> None:
    lines = output(NEWEST).split("\n")
    shop = [number for number, line in enumerate(lines) if line.startswith("shop")]
    for number in shop:
        lines[number] = lines[number][:60]
    (error,) = [group.error for group in described_groups("\n".join(lines)) if group.error]
    assert str(error).startswith(f"line {shop[0] + 1}: ")


def test_a_row_whose_cells_begin_elsewhere_is_refused() -> None:
    text = output(NEWEST)
    shifted = text.replace("shop-1-a3e655fc", "  shop-1-a3e655fc")
    assert shifted != text
    assert "no row of the table" in str(read(shifted)["shop"].error)
    row = next(line for line in text.split("\n") if line.startswith("shop"))
    blank = text.replace(row, row.replace("/127.0.0.1", "          "))
    assert "no row of the table" in str(read(blank)["shop"].error)


def test_a_partition_that_is_listed_twice_is_refused() -> None:
    text = output("4.3.0-offsets")
    line = next(line for line in text.split("\n") if line.startswith("shop "))
    number = len(text.split("\n"))
    assert str(read(f"{text}{line}\n")["shop"].error).startswith(f"line {number}: orders 3 occurs")


def test_text_that_is_no_output_of_the_tool_is_refused() -> None:
    with pytest.raises(DocumentError, match="line 2: expected the header of a table"):
        described_groups("\nGRUPPE MITGLIED\n")
    with pytest.raises(DocumentError, match="no group"):
        described_groups("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\n")


def test_prompts_and_log_lines_around_the_output_are_passed_by() -> None:
    text = output(NEWEST)
    around = (
        f"$ bin/kafka-consumer-groups.sh --bootstrap-server b:9092 --describe\n"
        f"[2026-11-22 12:00:00,123] WARN something (org.apache.kafka.X)\n{text}"
        f"me@host:~$ bin/kafka-consumer-groups.sh --list\n"
    )
    assert described_groups(around) == described_groups(text)
