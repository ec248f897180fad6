"""Hash tables with trees: sets that Java walked through, and agreement where there are none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.jvm.hash_order import put_order
from assignors.jvm.hash_trees import name_order, tree_order

# Numbers put into `new HashSet<Integer>()` and how an iteration found them, under JDK 17 and 25.
WALKED = {
    "every 64th: early doubling, then one tree": (
        [64 * n for n in range(12)],
        "192 0 64 128 256 320 384 448 512 576 640 704",
    ),
    "its root changes as it grows": (
        [64 * n + 3 for n in range(20)],
        "451 195 3 67 131 259 323 387 515 579 643 707 771 835 899 963 1027 1091 1155 1219",
    ),
    "every 16th: trees split into chains when the table doubles": (
        [16 * n for n in range(30)],
        (
            "0 64 128 192 256 320 384 448 16 80 144 208 272 336 400 "
            "464 32 96 160 224 288 352 416 48 112 176 240 304 368 432"
        ),
    ),
    "every 32nd: trees split into trees": (
        [32 * n + 7 for n in range(50)],
        (
            "391 7 135 263 519 647 775 903 1031 1159 1287 1415 1543 "
            "423 39 167 295 551 679 807 935 1063 1191 1319 1447 1575 "
            "455 199 71 327 583 711 839 967 1095 1223 1351 1479 "
            "487 231 103 359 615 743 871 999 1127 1255 1383 1511"
        ),
    ),
    "mixed up: turns to both sides": (
        [129, 193, 257, 833, 577, 65, 385, 449, 1, 961, 641, 897, 769, 321, 705, 513],
        "577 193 129 257 321 833 65 385 449 513 1 961 897 641 769 705",
    ),
}

STRIDED = st.builds(
    lambda steps, step: [step * n for n in steps],
    st.lists(st.integers(0, 300), unique=True, max_size=80),
    st.sampled_from([1, 3, 16, 64, 100, 256]),
)


@pytest.mark.parametrize(("put", "found"), WALKED.values(), ids=list(WALKED))
def test_java_walks_so(put: list[int], found: str) -> None:
    order = tree_order(np.array(put, dtype=np.int32), capacity=16)
    assert [str(put[place]) for place in order.tolist()] == found.split()


@pytest.mark.parametrize(("count", "first"), [(10, [0, 1, 2, 3]), (11, [3, 0, 1, 2])])
def test_names_of_one_hash_code_become_a_tree_once_they_have_doubled_their_table(
    count: int, first: list[int]
) -> None:
    """As Java walked: the ninth and the tenth double it, the eleventh makes a tree."""
    names = list(map("".join, product(("Aa", "BB"), repeat=4)))[:count]
    assert name_order(names).tolist() == [*first, *range(4, count)]


@given(numbers=st.lists(st.integers(-(2**31), 2**31 - 1), unique=True, max_size=300))
def test_hashes_that_spread_need_no_trees(numbers: list[int]) -> None:
    hashes = np.array(numbers, dtype=np.int64).astype(np.int32)
    lowest = np.bincount((hashes ^ (hashes >> 16)) & 15, minlength=16)
    if lowest.max() < 9:
        assert tree_order(hashes, capacity=16).tolist() == put_order(hashes).tolist()


@given(numbers=STRIDED)
def test_every_key_is_found_once_and_buckets_stand_in_order(numbers: list[int]) -> None:
    found = [numbers[place] for place in tree_order(np.array(numbers, dtype=np.int32), capacity=16)]
    assert sorted(found) == sorted(numbers)
    lowest = [number & 15 for number in found]
    assert lowest == sorted(lowest) or len(numbers) > 12
