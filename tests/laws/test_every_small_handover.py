"""Every small round there is: two or three members, up to three partitions, all claims.

For each partition the truth is that one member, or nobody, really consumes it, and that one
says so with the last generation, or else does not say what it owns. Everybody else may say
anything that is not of the last generation. Then no plan starts a partition on one member while
another one consumes it, and at most two rounds end it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from assignors import Assignment, Assignor, Cluster, Group, Member
from tests.laws.laws import BY_ARRAYS, COOPERATIVE

LAST, OLDER, FUTURE, NO_GENERATION = 5, 4, 9, -1
TOPIC = "t"
SMALL = ((2, 1), (3, 1), (2, 2), (3, 2))
ON_ARRAYS = BY_ARRAYS[1]
Truth = tuple[int | None, ...]
"""Who consumes each partition."""
Claimed = tuple[int, tuple[int, ...], bool]
"""Generation, partitions, whether known."""


def sayings(share: tuple[int, ...], partitions: int) -> Iterator[Claimed]:
    """Yield all that a member may say that truly consumes `share`."""
    yield NO_GENERATION, (), False
    yield LAST, share, True
    if share:
        return
    subsets = [
        tuple(n for n in range(partitions) if chosen >> n & 1) for chosen in range(1 << partitions)
    ]
    for generation, subset in product((OLDER, FUTURE, NO_GENERATION), subsets):
        if subset:
            yield generation, subset, True


def rounds_of(members: int, partitions: int) -> Iterator[tuple[Truth, tuple[Claimed, ...]]]:
    """Yield (truth, what each member says) for every case."""
    for truth in product((None, *range(members)), repeat=partitions):
        shares = [
            tuple(n for n in range(partitions) if truth[n] == member) for member in range(members)
        ]
        for said in product(*(list(sayings(share, partitions)) for share in shares)):
            yield truth, said


def group_of(said: tuple[Claimed, ...], partitions: int, generation: int) -> Group:
    return Group(
        cluster=Cluster.of({TOPIC: partitions}),
        members=tuple(
            Member(
                member_id=f"m{number}",
                topics=(TOPIC,),
                owned={TOPIC: owned} if owned else {},
                generation=claimed,
                owned_known=known,
            )
            for number, (claimed, owned, known) in enumerate(said)
        ),
        generation=generation,
    )


def consumers(assignment: Assignment, partitions: int) -> Truth:
    """Return who consumes each partition after the plan; raise if two do."""
    holders: list[int | None] = [None] * partitions
    for member_id, share in assignment.items():
        for number in share.get(TOPIC, ()):
            assert holders[number] is None
            holders[number] = int(member_id[1:])
    return tuple(holders)


@pytest.mark.parametrize(
    ("members", "partitions", "assignor"),
    [
        *((*size, assignor) for size in SMALL for assignor in (COOPERATIVE, ON_ARRAYS)),
        pytest.param(3, 3, COOPERATIVE, marks=pytest.mark.slow),
        pytest.param(3, 3, ON_ARRAYS, marks=pytest.mark.deep),
    ],
    ids=lambda each: {id(COOPERATIVE): "by size", id(ON_ARRAYS): "on arrays"}.get(id(each)),
)
def test_no_plan_starts_what_another_consumes_and_two_rounds_end_it(
    members: int, partitions: int, assignor: Assignor
) -> None:
    count = waited = 0
    for truth, said in rounds_of(members, partitions):
        answer = assignor.assign(group_of(said, partitions, LAST))
        now = consumers(answer.assignment, partitions)
        for before, after in zip(truth, now, strict=True):
            assert after in (None, before) or before is None, (truth, said, now)
        count += 1
        if not answer.withheld:
            continue
        waited += 1
        # Somebody goes on: who lost something rejoins, or the leader does.
        lost = any(before not in (None, after) for before, after in zip(truth, now, strict=True))
        assert lost or answer.follow_up, (truth, said)
        told = tuple(
            (LAST + 1, tuple(n for n in range(partitions) if now[n] == member), True)
            for member in range(members)
        )
        second = assignor.assign(group_of(told, partitions, LAST + 1))
        after_second = consumers(second.assignment, partitions)
        assert not second.withheld
        assert None not in after_second
        for before, after in zip(now, after_second, strict=True):
            assert before in (None, after), (truth, said)
    assert count > 20
    assert 0 < waited < count
