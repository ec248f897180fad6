"""How many requests a second an execution model can answer at most, by formula.

A request needs a worker and its key, each for as long as its model holds it. Of workers there are
some, of keys as many as offsets partitions or groups; whichever is used up first is the limit.
"""

from __future__ import annotations

from assignors.simulation.timed.execution.load import MICRO, Load
from assignors.simulation.timed.execution.policy import Holds, Key, Policy, Settings


def limit_per_second(policy: Policy, load: Load, settings: Settings) -> float:
    """Return the throughput limit: the load is Poisson, and groups are asked equally often.

    >>> from assignors.simulation.timed.execution.policy import POLICIES
    >>> load = Load(service_us=50, check_us=1950)
    >>> limit_per_second(POLICIES["blocking"], load, Settings(workers=4, partitions=4))
    2000.0
    """
    worker_us, key_us = held_us(policy, load)
    keys = settings.partitions if policy.key is Key.PARTITION else load.groups
    limits = [settings.workers / max(worker_us, 1e-9)]
    if key_us:
        limits.append(keys / (key_us * turns(policy, load)))
    if load.append_us and not policy.has_batches:
        limits.append(settings.partitions / load.append_us)
    return MICRO * min(limits)


def held_us(policy: Policy, load: Load) -> tuple[float, float]:
    """Return how long a request holds its worker and its key, in the mean."""
    # Where the throughput is at its limit, keys are busy and nothing is handled inline.
    worked = float(load.service_us + load.handoff_us)
    if not load.is_offloaded:
        worked += load.background_share * load.background_us
    waits = (
        (policy.in_check, mean_check_us(load)),
        (policy.in_replication, load.replication_us),
    )
    worker = key = worked
    if not policy.has_batches:
        worker, key = worker + load.append_us, key + load.append_us
    for held, took in waits:
        worker += took if held is Holds.WORKER else 0
        key += took if held is not Holds.NOTHING else 0
    return worker, key


def mean_check_us(load: Load) -> float:
    """Return how long the check of a request takes, in the mean over all requests."""
    slow = load.check_us if load.slow_group_check_us is None else load.slow_group_check_us
    each = load.check_us + (slow - load.check_us) / load.groups
    return load.checks_share * each


def turns(policy: Policy, load: Load) -> float:
    """Return for how many requests, of each that comes, a key is held after all before them.

    Commits that share their key begin together, so a run of them counts once: of requests that
    change their group with probability w, a share w + (1 - w) w begins a turn.
    """
    if not policy.shares_commits:
        return 1.0
    share = load.changes_share
    return max(share * (2 - share), 1e-9)
