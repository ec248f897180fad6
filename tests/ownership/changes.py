"""Random changes, and who owns what at a moment by playing them through."""

from __future__ import annotations

from hypothesis import strategies as st

from assignors.ownership.changes import Change, TopicPartition, pairs

LAST = 12
"""The last moment that tests look at."""

changes = st.lists(
    st.builds(
        Change,
        at=st.integers(0, 10),
        generation=st.just(1),
        member_id=st.sampled_from("abc"),
        owned=st.dictionaries(
            st.just("t"), st.lists(st.integers(0, 2), unique=True).map(tuple), max_size=1
        ),
    ),
    max_size=12,
).map(lambda listed: sorted(listed, key=lambda change: change.at))


def owners(listed: list[Change], at: int) -> dict[TopicPartition, set[str]]:
    """Who owns each partition at a moment, by playing all changes until then."""
    owned = {change.member_id: change.owned for change in listed if change.at <= at}
    found: dict[TopicPartition, set[str]] = {}
    for member_id, share in owned.items():
        for one in pairs(share):
            found.setdefault(one, set()).add(member_id)
    return found
