"""An answer depends on what is described, not on the order or the process it is described in."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from assignors import Assignor, Cluster, Group, TopicPartitions
from assignors.testing import groups
from tests.laws.laws import EVERY_ASSIGNOR

ROOT = Path(__file__).resolve().parents[2]


def shuffled(group: Group, dice: random.Random) -> Group:
    """Return the same group, told in another order."""

    def owned(share: TopicPartitions) -> Mapping[str, tuple[int, ...]]:
        names = dice.sample(list(share), len(share))
        return {name: tuple(dice.sample(share[name], len(share[name]))) for name in names}

    topics = group.cluster.topics
    names = dice.sample(list(topics), len(topics))
    return replace(
        group,
        cluster=Cluster(topics={name: topics[name] for name in names}),
        members=tuple(
            replace(
                member,
                topics=tuple(dice.sample(member.topics, len(member.topics))),
                owned=owned(member.owned),
            )
            for member in dice.sample(group.members, len(group.members))
        ),
    )


@EVERY_ASSIGNOR
@given(group=groups(), dice=st.randoms(use_true_random=False))
def test_order_does_not_matter(assignor: Assignor, group: Group, dice: random.Random) -> None:
    one, other = assignor.assign(group), assignor.assign(shuffled(group, dice))
    assert one.assignment == other.assignment
    assert one.withheld == other.withheld
    assert one.follow_up == other.follow_up


ANSWERS = """
from random import Random
from assignors import ASSIGNORS, Cluster, Group, Member, OnFailure, Options
dice = Random(5)
for _ in range(30):
    topics = {f"t{n}": dice.randrange(8) for n in range(dice.randrange(1, 5))}
    def owned():
        return {t: tuple(dice.sample(range(c), dice.randint(0, c))) for t, c in topics.items()}
    members = tuple(
        Member(
            member_id=f"m{n}",
            topics=tuple(dice.sample(list(topics), dice.randint(0, len(topics)))),
            owned=owned(),
            generation=dice.randrange(-1, 3),
            instance_id=dice.choice([None, f"i{n}"]),
        )
        for n in range(dice.randrange(6)))
    group = Group(cluster=Cluster.of(topics), members=members)
    for assignor in ASSIGNORS.values():
        assignor = assignor.configured(Options(on_failure=OnFailure.REPAIR))
        answer = assignor.assign(group)
        print(list(answer.assignment.items()), list(answer.withheld.items()), answer.notes)
print(hash("whatever"))
"""


def printed(seed: str) -> tuple[str, str]:
    """Return (the answers, a string's hash) of a process with that hash seed."""
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    *answers, hashed = done.stdout.splitlines()
    assert len(answers) >= 120
    return hashlib.sha256("\n".join(answers).encode()).hexdigest(), hashed


def test_the_hash_seed_does_not_matter() -> None:
    (one, one_hash), (other, other_hash) = printed("0"), printed("1")
    assert one_hash != other_hash, "the seeds were not applied"
    assert one == other
