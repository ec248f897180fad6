"""A stream of random numbers for each entity and purpose.

The delays of one member do not depend on how often another one draws: an event more, a member more
or another protocol leaves everybody else's numbers as they are. So runs of one seed under two
protocols can be compared pair by pair.

What a message takes is drawn by the moment at which it is sent (`exponential_at`), not by how many
were sent before it: a heartbeat that nobody has to look at need not draw at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.dice import MASK, STEP, Dice, mixed_array

BITS = 32
MEANS_MAX = 23
"""No delay of `exponential_at` is longer than so many means."""


def stream_seed(seed: int, entity: str, purpose: str) -> int:
    """Return what seeds the stream of an entity for a purpose, 64 bits. Cost: O(1)."""
    name = f"{seed}\0{entity}\0{purpose}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")


def stream(seed: int, entity: str, purpose: str) -> Dice:
    """Return the stream of an entity for a purpose. Cost: O(1).

    >>> stream(1, "m0", "network").below(100), stream(1, "m1", "network").below(100)
    (94, 93)
    """
    return Dice(stream_seed(seed, entity, purpose))


def exponential(dice: Dice, mean: int) -> int:
    """Return a delay from the exponential distribution with this mean, 0 for a mean of 0.

    By comparisons of uniform numbers alone, so it is the same on every machine: a logarithm need
    not be. Source: J. von Neumann, "Various techniques used in connection with random digits"
    (1951). Cost: about six random numbers.
    """
    if mean == 0:
        return 0
    whole = 0
    while True:
        first = last = dice.below(1 << BITS)
        count = 1
        while (following := dice.below(1 << BITS)) < last:
            last = following
            count += 1
        if count % 2:
            return whole * mean + (first * mean >> BITS)
        whole += 1


def _logarithms() -> tuple[int, ...]:
    """Return -ln(1 - n / 512) for n in 0..256, in units of 2**-32, by its series in integers."""
    table = []
    for n in range(257):
        power, total = 1 << 64, 0
        for k in range(1, 65):
            power = power * n // 512
            total += power // k
        table.append(total >> 32)
    return tuple(table)


LOGARITHMS = _logarithms()
LOGARITHM_ARRAY = np.array(LOGARITHMS, dtype=np.int64)
LN_2 = LOGARITHMS[256]
STEPS = tuple([(one, other - one) for one, other in pairwise(LOGARITHMS)])
"""Each logarithm, and how far it is to the next one."""
STEP_ARRAY = np.diff(LOGARITHM_ARRAY)
FROM_EXPONENTS = LOGARITHM_ARRAY - 1023 * LN_2
"""The same, less the halvings by which the exponent of a float64 is larger than it stands for."""
HALF = np.uint64(32)
IN_ARRAYS = tuple(np.array(each) for each in (0xFF_FFFF, 24, 32, 52, LN_2, 1 << 32))
"""Numbers as arrays, which cost less to use together with another array."""


def exponential_at(seed: int, moment: int, mean: int) -> int:
    """Return number `moment` of a stream of delays with this mean; none is over `MEANS_MAX` means.

    A delay is a number of halvings, each as likely as its end, and a part of one from a table that
    integers make: so it is the same on every machine. Its error is below 3 in a million means.
    Cost: one random number.

    >>> [exponential_at(7, moment, 1000) for moment in range(4)]
    [216, 1394, 1291, 344]
    """
    if mean == 0:
        return 0
    # `dice.mixed`, written out: every message comes through here.
    bits = (seed + (moment + 1) * STEP) & MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    bits ^= bits >> 31
    low = bits & 0xFFFF_FFFF | 1 << 32
    here, step = STEPS[bits >> 56]
    within = here + (step * (bits >> 32 & 0xFF_FFFF) >> 24)
    return (((low & -low).bit_length() - 1) * LN_2 + within) * mean >> 32


def exponentials_at(
    seeds: NDArray[np.uint64], moments: NDArray[np.int64], mean: int
) -> NDArray[np.int64]:
    """Return `exponential_at` of each seed with its moment, for a mean below 2**26.

    Cost: O(n), about 40 ns each.
    """
    part, bits_24, bits_32, bits_52, halving, last = IN_ARRAYS
    bits = mixed_array(seeds, moments)
    low = bits.view(np.int64) | last
    low &= -low
    halvings = low.astype(np.float64).view(np.int64)
    halvings >>= bits_52  # the exponent of a power of two
    halvings *= halving
    delays: NDArray[np.int64] = (bits >> HALF).view(np.int64)
    place = delays >> bits_24
    delays &= part
    delays *= STEP_ARRAY[place]
    delays >>= bits_24
    delays += FROM_EXPONENTS[place]
    delays += halvings
    delays *= mean
    delays >>= bits_32
    return delays


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """The delays of the messages of N members, where nothing is wrong; times are microseconds."""

    seeds: NDArray[np.uint64]
    """uint64[N, 2]: of those to the coordinator, and of those back."""
    least_us: int
    mean_us: int

    @classmethod
    def of(cls, seeds: Sequence[tuple[int, int]], least_us: int, mean_us: int) -> Delays:
        """Return the delays of members with these seeds. Cost: O(members)."""
        array = np.array(seeds, dtype=np.uint64).reshape(-1, 2)
        return cls(seeds=array, least_us=least_us, mean_us=mean_us)

    def one(self, seed: int, at: int) -> int:
        """Return how long a message takes that leaves at `at`, by the seed of its way."""
        return self.least_us + exponential_at(seed, at, self.mean_us)

    def arrive(self, members: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when the request of each member arrives that is sent at its moment. Cost: O(n)."""
        delays = exponentials_at(self.seeds[members, 0], at, self.mean_us)
        found: NDArray[np.int64] = at + self.least_us + delays
        return found

    def come_back(self, members: NDArray[np.int64], at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when the answer to each member comes that leaves at its moment. Cost: O(n)."""
        delays = exponentials_at(self.seeds[members, 1], at, self.mean_us)
        found: NDArray[np.int64] = at + self.least_us + delays
        return found


def uuid_text(bits: int) -> str:
    """Return the text of the random UUID with these 128 bits, as `uuid.UUID(version=4)` has it.

    >>> uuid_text((1 << 128) - 1), uuid_text(0)
    ('ffffffff-ffff-4fff-bfff-ffffffffffff', '00000000-0000-4000-8000-000000000000')
    """
    text = f"{bits:032x}"
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"
