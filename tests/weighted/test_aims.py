"""The uses that are right: one row, for which nothing has to be divided, against many rows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from assignors.weighted.search.aims import aims


def test_one_row_is_no_other_case_than_several_of_which_one_has_weight() -> None:
    for seed in range(300):
        random = np.random.default_rng(seed)
        count, members, classes = (int(random.integers(1, most)) for most in (14, 7, 4))
        takes = np.ones(classes, dtype=np.bool_)
        takes[random.integers(0, classes)] = classes == 1 or bool(random.random() < 0.5)
        class_of = random.integers(0, classes, members).astype(np.int32)
        class_of[0] = int(np.argmax(takes))
        row_of = np.where(random.random(count) < 0.2, -1, 0).astype(np.int32)
        group = {
            "weight": random.choice([0, 1, 2, 50], count),
            "row_of": row_of,
            "class_of": class_of,
            "capacity": random.choice([1, 2, 4], members) if seed % 3 else np.full(members, 2),
        }
        alone = aims(takes=takes[None], **group)
        several = aims(takes=np.stack([takes, takes]), **group)
        assert alone == several, seed


def test_what_sits_alone_does_not_count_for_what_is_fair() -> None:
    """The heaviest with the fastest member, while it has more than the mean of what remains."""
    alone = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        members = int(random.integers(1, 7))
        weight = random.choice([1, 2, 10, 50, 90], int(random.integers(1, 14)))
        capacity = random.choice([1, 2, 4], members)
        found = aims(
            weight=weight,
            row_of=np.zeros(len(weight), dtype=np.int32),
            takes=np.array([[True]]),
            class_of=np.zeros(members, dtype=np.int32),
            capacity=capacity,
        )
        left, rooms = sorted(weight.tolist()), sorted(capacity.tolist())
        while len(rooms) > 1 and left and left[-1] * sum(rooms[:-1]) > sum(left[:-1]) * rooms[-1]:
            left, rooms = left[:-1], rooms[:-1]
            alone += 1
        assert found.fair == [Fraction(sum(left), sum(rooms))], seed
    assert alone > 100
