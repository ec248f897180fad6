"""The uses that are right: one row, for which nothing has to be divided, against many rows."""

from __future__ import annotations

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
            "weight": np.where(row_of < 0, 0, random.choice([0, 1, 2, 50], count)),
            "row_of": row_of,
            "class_of": class_of,
            "capacity": random.choice([1, 2, 4], members) if seed % 3 else np.full(members, 2),
        }
        alone = aims(takes=takes[None], **group)
        several = aims(takes=np.stack([takes, takes]), **group)
        assert alone == several, seed
