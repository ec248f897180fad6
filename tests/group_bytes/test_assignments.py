"""The bytes written together are those written one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.group_bytes import assignments
from assignors.group_bytes.assignments import AssignedPartitions, assignment_bytes
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


@given(answers())
def test_an_answer_is_the_mapping_of_its_names(answer: tuple[Problem, Int32]) -> None:
    problem, owner = answer
    assigned, named = AssignedPartitions(problem, owner), assignment_of(problem, owner)
    assert assigned == named
    assert named == assigned
    assert repr(assigned) == repr(named)
    assert (list(assigned), len(assigned)) == (list(named), len(named))


def test_names_of_every_length_are_written() -> None:
    long = (*NAMES, *("x" * size for size in range(1, 40)), "y" * 300)
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
