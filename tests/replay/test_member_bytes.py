"""Bytes of members read together, or read before, are what each is when read alone."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from assignors.group_bytes import entries as together
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history import member_bytes
from assignors.replay.history.member_bytes import MemberBytes
from tests.group_bytes.blobs import groups_of_bytes
from tests.replay.histories import Says, classic, in_order
from wire import decode_assignment, encode_assignment

GIVEN = encode_assignment({"b": (1, 0), "a": (7,)}, version=1, keep_order=True)

assignments = st.one_of(
    st.binary(max_size=30),
    st.just(GIVEN),
    st.integers(0, len(GIVEN)).map(lambda end: GIVEN[:end]),
    st.tuples(st.integers(0, len(GIVEN) - 1), st.integers(0, 255)).map(
        lambda change: GIVEN[: change[0]] + bytes([change[1]]) + GIVEN[change[0] + 1 :]
    ),
)


@st.composite
def generations(draw: st.DrawFn) -> list[dict[str, Says]]:
    """Members of some generations, and the bytes that each has in the record."""
    found = []
    for blobs in draw(st.lists(groups_of_bytes(), min_size=1, max_size=3)):
        given = draw(st.lists(assignments, min_size=len(blobs), max_size=len(blobs)))
        found.append(
            {
                member_id: Says(subscription=said, assignment=plan)
                for (member_id, said), plan in zip(blobs.items(), given, strict=True)
            }
        )
    return found


@given(
    generations(), st.sampled_from((0, 1000)), st.sampled_from((1, 4000)), st.sampled_from((-1, 9))
)
@example([{"a": Says(subscription=b"", assignment=GIVEN)}] * 2, 0, 1, -1)
def test_blobs_read_together_are_those_read_alone(
    listed: list[dict[str, Says]], together_min: int, ahead: int, kept_max: int
) -> None:
    records = in_order([classic(n, n, members) for n, members in enumerate(listed, start=1)])
    with (
        patch.object(together, "MESSAGES_MIN", together_min),
        patch.object(together, "TOGETHER_MIN", 1),
        patch.object(member_bytes, "AHEAD", ahead),
        patch.object(member_bytes, "KEPT_MAX", kept_max),
    ):
        check(records)


def check(records: Sequence[LoggedRecord]) -> None:
    read = MemberBytes()
    seen = []
    for entry in read.ahead(records):
        seen.append(entry)
        assert entry.record.value is not None
        for fields in entry.record.value["members"]:
            blob = fields["subscription"]
            member = read.subscription(blob, "range").member
            alone = member_from_bytes(member.member_id, blob)
            assert member == alone
            assert list(member.owned.items()) == list(alone.owned.items())
            given, expected = (
                read.assignment(fields["assignment"]),
                decode_assignment(fields["assignment"]),
            )
            assert (given.value, given.notes) == (expected.value, expected.notes)
            if given.value is not None and expected.value is not None:
                order = list(expected.value.partitions.items())
                assert list(given.value.partitions.items()) == order
    assert seen == list(records)


def test_equal_shares_and_names_are_one_object() -> None:
    keeping = {f"m{n}": Says(gets={"t": (n,)}, owns={"t": (n,)}) for n in range(40)}
    read = MemberBytes()
    (entry,) = read.ahead([classic(1, 1, keeping)])
    assert entry.record.value is not None
    fields = entry.record.value["members"][7]
    owned = read.subscription(fields["subscription"], "range").claimed
    value = read.assignment(fields["assignment"]).value
    assert value is not None
    assert value.partitions is owned
    assert read.name(fields["memberId"]) is read.name("m7")
