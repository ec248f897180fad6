"""UserData of many members, with names in common: what Java reads of each alone."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from assignors.assignor import UserData
from assignors.java.java_input import everybodys_data, member_data
from assignors.model import Member
from tests.conftest import cases
from tests.group_bytes.blobs import NAMES, mutated, sticky_user_data
from wire import encode_sticky_user_data
from wire.protocol.capacity import MARK

OWNED = st.dictionaries(
    st.sampled_from(NAMES),
    st.lists(st.integers(0, 5), min_size=1, max_size=3).map(tuple),
    max_size=3,
)
PLAIN = st.builds(encode_sticky_user_data, OWNED, st.sampled_from((4, 5, -1, -7)))
DATA = st.one_of(
    PLAIN,
    PLAIN,
    PLAIN.map(lambda data: data[:-4]),
    sticky_user_data(),
    mutated(PLAIN),
    st.none(),
    st.just(b""),
)
WITH_CAPACITY = encode_sticky_user_data({"a": (1,)}, 4) + MARK + b"\0\0\0\1"


@cases(250)
@given(
    st.lists(DATA, min_size=1, max_size=6),
    st.lists(st.sampled_from(NAMES), unique=True),
    st.sampled_from((UserData.STICKY, UserData.STICKY, UserData.COOPERATIVE)),
)
@example([WITH_CAPACITY, b"\0\0\0\1"], ["a"], UserData.STICKY)
def test_claims_of_all_are_the_claims_of_each(
    data: list[bytes | None], topics: list[str], kind: UserData
) -> None:
    members = [
        Member(member_id=f"m{number}", user_data=each, version=3 if number else None)
        for number, each in enumerate(data)
    ]
    owned, generation = everybodys_data(members, kind, topics)
    expected = [member_data(member, kind) for member in members]
    assert list(zip(owned, generation, strict=True)) == expected
    for mine, (alone, _) in zip(owned, expected, strict=True):
        assert list(mine.items()) == list(alone.items())
