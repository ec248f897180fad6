"""Tables as people paste them: run through kubectl, names replaced, columns dropped, or of rpk."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.documents.described import described_groups
from assignors.documents.terminal import recognised_text
from tests.described.reading import NEWEST, output, owned, read

PASTED = Path(__file__).parent / "pasted"
RPK = (PASTED / "rpk.txt").read_text("utf-8")
FIRST, SECOND = (
    "kgo-1f1c6bd2-3d1f-4b76-9d0a-aaaaaaaaaaaa",
    "kgo-77e0c0de-90e2-4c3b-8a3b-bbbbbbbbbbbb",
)


def codes(text: str) -> dict[str | None, list[object]]:
    """Return the codes of the notes on each group."""
    return {group.name: [note["code"] for note in group.notes] for group in described_groups(text)}


def test_a_line_of_kubectl_before_the_header_is_noted() -> None:
    """knative-extensions/eventing-kafka-broker#1984."""
    (found,) = described_groups((PASTED / "kubectl.txt").read_text("utf-8"))
    assert (found.name, found.error, found.document["topics"]) == (
        *("trigger-7f", None),
        {"broker-dev-default": 12},
    )
    assert owned(found)["consumer-trigger-7f-92-357f"] == {"broker-dev-default": [7, 8]}
    assert found.notes[0]["code"] == "lines-skipped"
    assert found.notes[0]["text"] == (
        '1 line before the first table is not read: "If you don\'t see a command prompt, tr..."'
    )


def test_rows_whose_cells_left_their_columns_are_read_where_the_number_of_values_fits() -> None:
    """redpanda-data/kminion#104: six values under six columns, `scan_3(1),scan_2(4)`, counted 1."""
    (found,) = described_groups((PASTED / "kminion.txt").read_text("utf-8"))
    assert (found.name, found.error) == ("parcels", None)
    members: Any = found.document["members"]
    assert [member["owned"] for member in members] == [
        *({"scan_1": [1, 2, 3]}, {}, {"scan_2": [1, 2, 3]}),
        *({"scan_3": [1], "scan_2": [4]}, {"scan_4": [1]}),
    ]
    texts = [str(note["text"]) for note in found.notes]
    assert any("#PARTITIONS says 1, the assignment has more" in text for text in texts)


KEPT = st.permutations(
    ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
).flatmap(lambda names: st.sets(st.sampled_from(names)).map(lambda kept: (names, kept)))
NEEDED = {"CONSUMER-ID", "ASSIGNMENT"}


@given(KEPT, st.sampled_from([0, 24]))
def test_columns_may_be_dropped_and_come_in_any_order(
    chosen: tuple[list[str], set[str]], width: int
) -> None:
    names = [name for name in chosen[0] if name in chosen[1] | NEEDED]
    rows = [
        ("g", "c-1", "/h", "c", "3", "orders(0,1), users(0)"),
        ("g", "c-2", "/h", "c", "1", "orders(2)"),
    ]
    first = ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"]
    table = [names, *([row[first.index(name)] for name in names] for row in rows)]
    text = "\n".join(" ".join(cell.ljust(width) for cell in row).rstrip() for row in table)
    (found,) = described_groups(text)
    assert found.error is None
    assert owned(found) == {"c-1": {"orders": [0, 1], "users": [0]}, "c-2": {"orders": [2]}}
    assert found.name == ("g" if "GROUP" in names else None)


def test_a_count_that_is_too_large_is_a_line_that_was_cut() -> None:
    text = "CONSUMER-ID HOST #PARTITIONS ASSIGNMENT\na /h 2 t(0)\n"
    (found,) = described_groups(text)
    assert "#PARTITIONS says 2, the assignment has 1; was the line cut?" in str(found.error)
    assert "count-differs" in codes(text.replace(" 2 ", " 0 "))[None]


def test_rows_before_the_first_header_are_an_error_and_not_skipped() -> None:
    """They may be the end of a table whose header was cut off."""
    text = output(NEWEST).split("\n", 2)[2]
    with pytest.raises(ValueError, match=r"line 1: expected the header of a table"):
        described_groups(text)
    with pytest.raises(ValueError, match=r"line 2: expected the header of a table"):
        described_groups("\nsome words\n")


def test_rpk_prints_who_has_what() -> None:
    (found,) = described_groups(RPK)
    assert (found.name, found.error) == ("billing", None)
    assert owned(found) == {FIRST: {"invoices": [0, 1]}, SECOND: {"invoices": [2]}}
    assert "members-without-partitions" in codes(RPK)["billing"]
    assert "lines-skipped" not in codes(RPK)["billing"]
    assert "lines-skipped" in codes(f"$ rpk group describe billing\n{RPK}")["billing"]


def test_rpk_prints_several_groups_states_and_partitions_without_a_member() -> None:
    rebalancing = RPK.replace("billing", "other").replace("Stable", "PreparingRebalance")
    empty = "GROUP        gone\nCOORDINATOR-NODE  0\nSTATE        Empty\nMEMBERS      0\n"
    static = (
        "GROUP             UPPER\nCOORDINATOR-NODE  0\n"
        "COORDINATOR-PARTITION  __consumer_offsets/3\nSTATE             Stable\n\n"
        "TOPIC  PARTITION  CURRENT-OFFSET  LOG-START-OFFSET  LOG-END-OFFSET  LAG  MEMBER-ID  "
        "INSTANCE-ID  CLIENT-ID  HOST      ERROR\n"
        "t      0          -               0                 0               -    m-1        "
        "i-1          c          10.0.0.1  \n"
        "t      1          5               0                 9               4               "
        "                                  NOT_LEADER\n"
    )
    text = f"{RPK}\n{rebalancing}\n{empty}\n{static}"
    found = read(text)
    assert list(found) == ["billing", "other", "gone", "UPPER"]
    assert all(group.error is None for group in found.values())
    assert owned(found["other"]) == owned(found["billing"])
    notes = codes(text)
    assert "rebalancing" in notes["other"]
    assert "rebalancing" not in notes["billing"]
    assert "no-members" in notes["gone"]
    assert owned(found["UPPER"]) == {"m-1": {"t": [0]}}
    (member,) = cast("Any", found["UPPER"].document["members"])
    assert member["instance"] == "i-1"
    assert found["UPPER"].document["topics"] == {"t": 2}


@given(st.integers(0, len(RPK)), st.integers(0, 9), st.sampled_from([*" -\t0a", "GROUP", "\n"]))
def test_rpk_text_that_is_changed_is_read_or_its_line_is_named(at: int, cut: int, new: str) -> None:
    try:
        found = described_groups(RPK[:at] + new + RPK[at + cut :])
    except ValueError as error:
        assert re.match(r"line \d+: |a header and no group", str(error))  # noqa: PT017  # either
        return
    assert all(re.match(r"line \d+: ", str(group.error)) for group in found if group.error)


@pytest.mark.parametrize("name", ["GROUP", "STATE", "kafka-orders", "kubectl"])
def test_groups_may_be_named_as_what_is_skipped_or_read_beside_tables(name: str) -> None:
    text = f"GROUP         CONSUMER-ID  HOST  ASSIGNMENT\n{name:14}a            /h    t(0)\n"
    text += f"{name:14}b            /h    t(1)\n"
    assert owned(read(text)[name]) == {"a": {"t": [0]}, "b": {"t": [1]}}
    if not name.startswith("kube"):
        (cut,) = [group for group in described_groups(text[:-9]) if group.error]
        assert "line 3: no row of the table" in str(cut.error)


def test_odd_text_costs_no_more_than_its_length() -> None:
    """Each of these took minutes where a pattern goes back over what it has read."""
    long = 200_000
    for text in (
        f"STATE a{' ' * long}b",
        f"GROUP a{' ' * long}b",
        f"GROUP CONSUMER-ID ASSIGNMENT\n a b {'t(0), ' * long}",
        f"GROUP CONSUMER-ID\n{'a' * long}# ",
        "\n" * long,
    ):
        recognised_text(text.encode())
        with suppress(ValueError):
            described_groups(text)
