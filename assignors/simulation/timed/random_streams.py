"""A stream of random numbers for each entity and purpose.

The delays of one member do not depend on how often another one draws: an event more, a member more
or another protocol leaves everybody else's numbers as they are. So runs of one seed under two
protocols can be compared pair by pair.

What a message takes is drawn by the moment at which it is sent (`exponential_at`), not by how many
were sent before it: a heartbeat that nobody has to look at need not draw at all.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise

from assignors.simulation.dice import MASK, STEP, Dice

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
LN_2 = LOGARITHMS[256]
STEPS = tuple([(one, other - one) for one, other in pairwise(LOGARITHMS)])
"""Each logarithm, and how far it is to the next one."""


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


def uuid_text(bits: int) -> str:
    """Return the text of the random UUID with these 128 bits, as `uuid.UUID(version=4)` has it.

    >>> uuid_text((1 << 128) - 1), uuid_text(0)
    ('ffffffff-ffff-4fff-bfff-ffffffffffff', '00000000-0000-4000-8000-000000000000')
    """
    text = f"{bits:032x}"
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"
