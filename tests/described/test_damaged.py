"""Output of the tool that was cut, wrapped or changed: an error with its line, and nothing lost."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.documents.described import described_groups
from assignors.documents.groups import group_from_document
from assignors.documents.values import DocumentError
from tests.described.reading import NEWEST, OUTPUTS, output, read

TIMES = [*"-:;,()/ 09ag'", "orders", "GROUP", "\t", "\x00", "\u00e9", "99999999999"]


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


@given(
    name=st.sampled_from(sorted(path.stem for path in OUTPUTS.glob("*.txt"))),
    changes=st.lists(
        st.tuples(st.integers(0, 6000), st.integers(0, 3), st.sampled_from(TIMES)), max_size=4
    ),
)
@example(name="2.2.2-offsets", changes=[(0, 1, "GROUP")])  # a header with PARTITION, without TOPIC
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


def test_the_first_line_that_is_wrong_is_named() -> None:
    lines = output(NEWEST).split("\n")
    shop = [number for number, line in enumerate(lines) if line.startswith("shop")]
    for number in shop:
        lines[number] = lines[number][:60]
    (error,) = [group.error for group in described_groups("\n".join(lines)) if group.error]
    assert str(error).startswith(f"line {shop[0] + 1}: ")


def test_a_row_whose_cells_begin_elsewhere_is_read_if_it_has_a_value_for_each_column() -> None:
    """People replace names before they paste; in the name of a group may be spaces."""
    text = output(NEWEST)
    shifted = text.replace("shop-1-a3e655fc", "  shop-1-a3e655fc")
    assert shifted != text
    assert read(shifted) == read(text)
    found = read(text.replace("night jobs  ", "night jobs "))
    assert "line 15: no row of the table" in str(found[None].error)
    row = next(line for line in text.split("\n") if line.startswith("shop"))
    blank = text.replace(row, row.replace("/127.0.0.1", "          "))
    assert "no row of the table" in str(read(blank)["shop"].error)


def test_a_partition_that_is_listed_twice_is_refused() -> None:
    text = output("4.3.0-offsets")
    line = next(line for line in text.split("\n") if line.startswith("shop "))
    number = len(text.split("\n"))
    assert str(read(f"{text}{line}\n")["shop"].error).startswith(f"line {number}: orders 3 occurs")


@pytest.mark.parametrize(
    ("header", "row", "tool"),
    [
        (
            "GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS MEMBER-EPOCH ASSIGNMENT",
            "s a /h c 1 2 t:0",
            "share",
        ),
        ("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT", "s a /h c 1 t:0", "share"),
        ("GROUP TOPIC PARTITION START-OFFSET LAG", "s t 0 5 1", "share"),
        ("GROUP MEMBER PROCESS CLIENT-ID ASSIGNMENTS", "s m p c ACTIVE:0:[0]", "streams"),
        (
            "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET OFFSET-LAG",
            "s t 0 5 1 4",
            "streams",
        ),
    ],
)
def test_what_the_tools_of_other_groups_print_is_refused_by_name(
    header: str, row: str, tool: str
) -> None:
    """Columns as Kafka 4.3.0's classes name them; members of a share group share partitions."""
    (found,) = described_groups(f"{header}\n{row}\n")
    assert f"output of kafka-{tool}-groups.sh" in str(found.error)
    assert re.match(r"line [12]: ", str(found.error))


def test_text_that_is_no_output_of_the_tool_is_refused() -> None:
    with pytest.raises(DocumentError, match="line 2: expected the header of a table"):
        described_groups("\nGRUPPE MITGLIED\n")
    with pytest.raises(DocumentError, match="no group"):
        described_groups("GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS\n")
