"""The bytes written together are those written one by one."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.group_bytes import assignments
from assignors.group_bytes.assignments import (
    AssignedPartitions,
    Written,
    assignment_bytes,
    written_bytes,
)
from assignors.group_bytes.entries import writing
from assignors.model import Cluster, Group, Member
from assignors.problem import Int32, Problem, assignment_of, problem_of
from assignors.testing import clusters, members
from tests.group_bytes.blobs import NAMES
from wire import encode_assignment


@st.composite
def answers(draw: st.DrawFn) -> tuple[Problem, Int32]:
    """A group, and any owner for each partition."""
    cluster = draw(clusters())
    problem = problem_of(Group(cluster=cluster, members=draw(members(cluster))))
    owner = st.integers(-1, problem.member_count - 1)
    count = problem.partition_count
    drawn = draw(st.lists(owner, min_size=count, max_size=count))
    return problem, np.array(drawn, dtype=np.int32)


@given(answers())
def test_everybodys_bytes_are_those_that_the_encoder_writes(answer: tuple[Problem, Int32]) -> None:
    problem, owner = answer
    with patch.object(assignments, "PARTITIONS_MIN", 0):
        written = assignment_bytes(AssignedPartitions(problem, owner))
    assert written == {
        member_id: encode_assignment(partitions, version=1)
        for member_id, partitions in assignment_of(problem, owner).items()
    }


@st.composite
def successive_answers(draw: st.DrawFn) -> list[tuple[Problem, Int32]]:
    """Answers for a group, then for one with other members, or with another cluster."""
    problem, owner = draw(answers())
    listed = [*problem.members]
    others = draw(st.lists(st.sampled_from(listed), unique_by=id) if listed else st.just([]))
    others += [replace(member, member_id=member.member_id + "x") for member in listed[:1]]
    counts = dict(zip(problem.topics, np.diff(problem.first).tolist(), strict=True))
    if draw(st.booleans()):
        counts |= dict.fromkeys(problem.topics[:1], 9)
    then = problem_of(Group(cluster=Cluster.of(counts), members=tuple(others)))
    place = {member.member_id: number for number, member in enumerate(then.members)}
    kept = np.array([*(place.get(m.member_id, -1) for m in problem.members), -1], dtype=np.int32)
    after = np.full(then.partition_count, -1, dtype=np.int32)
    size = min(len(after), len(owner))
    after[:size] = kept[owner[:size]]
    for partition in draw(st.lists(st.integers(0, max(len(after) - 1, 0)), max_size=2)):
        after[partition : partition + 1] = draw(st.integers(-1, then.member_count - 1))
    return [(problem, owner), (then, after)]


@given(successive_answers(), st.sampled_from((0, 0, assignments.COMPARED_MIN)))
def test_what_has_not_changed_is_written_as_before(
    played: list[tuple[Problem, Int32]], compared_min: int
) -> None:
    written: Written | None = None
    with (
        patch.object(assignments, "PARTITIONS_MIN", 0),
        patch.object(assignments, "COMPARED_MIN", compared_min),
    ):
        for problem, owner in (*played, played[0]):
            assigned = AssignedPartitions(problem, owner)
            written = written_bytes(assigned, before=written)
            assert list(written.blobs.items()) == list(assignment_bytes(assigned).items())


def test_only_members_with_other_partitions_are_written() -> None:
    listed = tuple(Member(member_id=f"m{number}", topics=("t",)) for number in range(9))
    problem = problem_of(Group(cluster=Cluster.of({"t": 900}), members=listed))
    owner = np.arange(900, dtype=np.int32) % 9
    before = written_bytes(AssignedPartitions(problem, owner))
    then = owner.copy()
    then[[3, 7]] = [7, -1]
    after = written_bytes(AssignedPartitions(problem, then), before=before)
    same = [name for name, blob in after.blobs.items() if blob is before.blobs[name]]
    assert same == ["m0", "m1", "m2", "m4", "m5", "m6", "m8"]


@given(answers())
def test_an_answer_is_the_mapping_of_its_names(answer: tuple[Problem, Int32]) -> None:
    problem, owner = answer
    assigned, named = AssignedPartitions(problem, owner), assignment_of(problem, owner)
    assert assigned == named
    assert named == assigned
    assert repr(assigned) == repr(named)
    assert (list(assigned), len(assigned)) == (list(named), len(named))


@given(
    st.integers(1, 9),
    st.sampled_from((0, writing.FURTHER_MAX, 1 << 30)),
    st.sampled_from((0, writing.CUT_MAX)),
    st.data(),
)
def test_entries_of_one_size_are_written_as_the_encoder_writes_them(
    size: int, further_max: int, cut_max: int, data: st.DataObject
) -> None:
    """Numbered topics, of which members have a partition each: nearly all large groups."""
    topics = tuple(f"{topic:0{size}}" for topic in range(data.draw(st.integers(1, 9))))
    group = Group(
        cluster=Cluster.of(dict.fromkeys(topics, 3)),
        members=tuple(Member(member_id=f"m{number}", topics=topics) for number in range(4)),
    )
    problem = problem_of(group)
    owner = data.draw(st.permutations([-1, 0, 1, 2, 3]))
    owners = np.array([owner[topic % 2 : topic % 2 + 3] for topic in range(len(topics))], np.int32)
    for place in data.draw(st.lists(st.integers(0, owners.size - 1), max_size=4)):
        owners.ravel()[place] = owner[0]  # some have two partitions of a topic, or three
    assigned = AssignedPartitions(problem, owners.ravel())
    with (
        patch.object(assignments, "PARTITIONS_MIN", 0),
        patch.multiple(writing, FURTHER_MAX=further_max, CUT_MAX=cut_max),
    ):
        written = assignment_bytes(assigned)
    assert written == {
        member_id: encode_assignment(partitions, version=1)
        for member_id, partitions in assigned.items()
    }


def test_names_of_every_length_are_written() -> None:
    long = (*NAMES, *("x" * size for size in (*range(1, 40), 254, 255, 256)))
    for topics in (long[:-1], long):
        group = Group(
            cluster=Cluster.of(dict.fromkeys(topics, 7)),
            members=tuple(Member(member_id=f"m{number}", topics=topics) for number in range(3)),
        )
        problem = problem_of(group)
        owner = np.arange(problem.partition_count, dtype=np.int32) % 4 - 1
        assert assignment_bytes(AssignedPartitions(problem, owner)) == {
            member_id: encode_assignment(partitions, version=1)
            for member_id, partitions in assignment_of(problem, owner).items()
        }
