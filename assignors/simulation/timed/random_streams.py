"""A stream of random numbers for each entity and purpose.

The delays of one member do not depend on how often another one draws: an event more, a member more
or another protocol leaves everybody else's numbers as they are. So runs of one seed under two
protocols can be compared pair by pair.
"""

from __future__ import annotations

from hashlib import blake2b

from assignors.simulation.dice import Dice

BITS = 32


def stream(seed: int, entity: str, purpose: str) -> Dice:
    """Return the stream of an entity for a purpose. Cost: O(1).

    >>> stream(1, "m0", "network").below(100), stream(1, "m1", "network").below(100)
    (94, 93)
    """
    name = f"{seed}\0{entity}\0{purpose}".encode("utf-8", "surrogatepass")
    return Dice(int.from_bytes(blake2b(name, digest_size=8).digest(), "big"))


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
