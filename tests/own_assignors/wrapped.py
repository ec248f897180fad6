"""Assignors of one's own that answer as those of the registry, and some that break rules."""

from __future__ import annotations

from dataclasses import replace

from assignors import ASSIGNORS, Assignor, Group, Rebalance, UserData
from assignors.leader import REPAIR

HERE = "tests.own_assignors.wrapped:"


def wrapped(full_name: str) -> Assignor:
    """Return an assignor of one's own that calls one of the registry, and tells nothing else.

    A cooperative one does not say where members claim.
    """
    inner = ASSIGNORS[full_name].configured(REPAIR)
    return Assignor(
        family="own",
        name=inner.name,
        assign=inner.assign,
        protocols=inner.protocols,
        user_data=UserData.NONE if inner.is_cooperative else inner.user_data,
    )


WRAPPED = {
    full_name: f"{HERE}{full_name.replace('/', '_').replace('-', '_')}" for full_name in ASSIGNORS
}
"""Full name -> the path of its wrapper in this module."""
globals().update({path.removeprefix(HERE): wrapped(name) for name, path in WRAPPED.items()})


def _raise(group: Group) -> Rebalance:
    raise LookupError(f"nothing for {len(group.members)}")


EAGER_RAISES = replace(wrapped("optimal/sticky"), name="raises", assign=_raise)
RAISES = replace(wrapped("optimal/cooperative-sticky"), name="raises", assign=_raise)


def _spread(group: Group, step: int) -> Rebalance:
    """Deal partitions out by turns; give each to `step` members, or with 0 only the first one."""
    found: dict[str, dict[str, tuple[int, ...]]] = {m.member_id: {} for m in group.members}
    names = sorted(found)
    for topic, known in group.cluster.topics.items():
        for number in range(known.partition_count if step else 1):
            for place in range(max(step, 1)):
                share = found[names[(number + place) % len(names)]]
                share[topic] = (*share.get(topic, ()), number)
    return Rebalance(assignment=found)


ROUND_ROBIN = Assignor(family="own", name="spread", assign=lambda group: _spread(group, 1))
ROUND_ROBIN_RAISES = replace(ROUND_ROBIN, assign=_raise)
"""One that every client has a form for."""
TWICE = Assignor(family="own", name="twice", assign=lambda group: _spread(group, 2))
FIRST_ALONE = Assignor(family="own", name="first-alone", assign=lambda group: _spread(group, 0))
HASTY = replace(wrapped("optimal/cooperative-sticky"), name="hasty", assign=ROUND_ROBIN.assign)
"""It is cooperative and withholds nothing."""
HASTY_SO_CALLED = replace(HASTY, name="cooperative-sticky")
