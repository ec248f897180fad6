"""Partitions that were dealt in turns to 64, 128, ... members: Java keeps such sets in trees."""

from __future__ import annotations

import random
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from assignors import assignor_named
from assignors.conformance.groups import group_of
from tests.foreign.judge import Judge
from tests.server.groups import NAMES, lists_of

pytestmark = pytest.mark.foreign


def strided(dice: random.Random, algorithm: str) -> dict[str, Any]:
    """A few members have what they were dealt among many; many others have nothing."""
    step, turns = dice.choice([16, 32, 64, 128, 256]), dice.choice([9, 12, 20, 40])
    topics = {
        urlsafe_b64encode(dice.randbytes(16)).decode().rstrip("="): step * turns
        for _ in range(dice.choice([1, 2]))
    }
    members = []
    for place in range(dice.randrange(1, 5)):
        owned = []
        for topic, size in topics.items():
            numbers = [n for n in range(place * 7 % step, size, step) if dice.random() < 0.95]
            if dice.random() < 0.7:
                dice.shuffle(numbers)
            owned += [[topic, number] for number in numbers]
        members.append({"id": f"m{place}", "topics": list(topics), "owned": owned})
    members += [
        {"id": f"x{n}", "topics": list(topics), "owned": []} for n in range(dice.choice([8, step]))
    ]
    return {"algo": algorithm, "topics": topics, "members": members}


@pytest.mark.parametrize("algorithm", ["srv-uniform", "srv-simple"])
def test_strided_targets_are_walked_through_as_java_does(algorithm: str, judge: Judge) -> None:
    requests = [strided(random.Random(seed), algorithm) for seed in range(60)]
    for request, out in zip(requests, judge.ask_all(requests), strict=True):
        answer = assignor_named(NAMES[algorithm]).assign(group_of(request))
        assert lists_of(answer) == {
            member: sorted(pairs) for member, pairs in out["assignment"].items()
        }
