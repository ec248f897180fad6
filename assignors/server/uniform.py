"""Uniform, the broker's default: balanced and sticky.

Equal subscriptions are assigned by one builder of Kafka's and others by another: two algorithms
with different answers and different faults.
"""

from __future__ import annotations

from functools import partial

from assignors.assignor import Assignor
from assignors.model import Group
from assignors.options import Jdk, Options
from assignors.rebalance import Rebalance
from assignors.server import heterogeneous, homogeneous
from assignors.server.repair import built_or_repaired
from assignors.server.results import rebalance_of
from assignors.server.spec import Spec, spec_of


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `UniformAssignor` returns; `JavaFailure` where it throws.

    `Member.owned` is the previous target: in large groups what the last answer's `assignment` has
    for the member, which stays in arrays, costs a half to a third of dictionaries made elsewhere.
    Cost: that of the builder's `place`.
    Source: KIP-848, KAFKA-17710, KAFKA-18688.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> dict(assign(Group(cluster=Cluster.of({"t": 4}), members=members)).lists)
    {'a': (('t', 0), ('t', 1)), 'b': (('t', 2), ('t', 3))}
    """
    spec = spec_of(group)
    # Two holders of one partition are no failure where subscriptions differ: both keep it.
    build = partial(_built, jdk=options.jdk)
    return built_or_repaired(spec, build, options, doubles=not spec.is_homogeneous)


def _built(spec: Spec, *, jdk: Jdk) -> Rebalance:
    if spec.is_homogeneous and spec.member_count:
        placed = homogeneous.place(spec, jdk)
        return rebalance_of(spec, placed.owner, load=placed.load)
    owner, also = heterogeneous.place(spec)
    return rebalance_of(spec, owner, also=also)


UNIFORM = Assignor(
    family="server",
    name="uniform",
    assign=assign,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
