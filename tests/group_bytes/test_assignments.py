"""The bytes written together are those written one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.group_bytes import writing
from assignors.group_bytes.assignments import assigned
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
    assert assigned(problem, owner).written() == {
        member_id: encode_assignment(partitions, version=1)
        for member_id, partitions in assignment_of(problem, owner).items()
    }


@given(answers())
def test_an_foundis_the_mapping_of_its_names(answer: tuple[Problem, Int32]) -> None:
    problem, owner = answer
    found, named = assigned(problem, owner), assignment_of(problem, owner)
    assert found == named
    assert named == found
    assert repr(found) == repr(named)
    assert (list(found), len(found)) == (list(named), len(named))


@given(
    st.integers(1, 9),
    st.sampled_from((0, writing.CUT_MAX)),
    st.data(),
)
def test_entries_of_one_size_are_written_as_the_encoder_writes_them(
    size: int, cut_max: int, data: st.DataObject
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
    found = assigned(problem, owners.ravel())
    with patch.object(writing, "CUT_MAX", cut_max):
        written = found.written()
    assert written == {
        member_id: encode_assignment(partitions, version=1)
        for member_id, partitions in found.items()
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
        assert assigned(problem, owner).written() == {
            member_id: encode_assignment(partitions, version=1)
            for member_id, partitions in assignment_of(problem, owner).items()
        }
