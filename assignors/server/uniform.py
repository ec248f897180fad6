"""Uniform, the broker's default: balanced and sticky.

Equal subscriptions take one builder and others another, which are different algorithms with
different answers and different faults.
"""

from __future__ import annotations

from functools import partial

from assignors.assignor import Assignor
from assignors.model import Group, MemberNote
from assignors.options import JavaFailure, OnFailure, Options
from assignors.rebalance import Rebalance
from assignors.server import heterogeneous, homogeneous
from assignors.server.answer import answer, without_faults
from assignors.server.spec import Spec, read


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `UniformAssignor` returns; `JavaFailure` where it throws.

    `Member.owned` is the previous target. Cost: that of the builder's `place`.
    Source: KIP-848, KAFKA-17710, KAFKA-18688.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> dict(assign(Group(cluster=Cluster.of({"t": 4}), members=members)).lists)
    {'a': (('t', 0), ('t', 1)), 'b': (('t', 2), ('t', 3))}
    """
    spec = read(group)
    if options.on_failure is OnFailure.RAISE:
        return _built(spec, options)
    try:
        return _built(spec, options)
    except JavaFailure as failure:
        text = f"Java fails: {failure}; what does not exist or somebody else had was left out"
    repaired = MemberNote(code="repaired", text=text)
    return _built(without_faults(spec, doubles=spec.is_homogeneous), options, repaired)


def _built(spec: Spec, options: Options, *notes: MemberNote) -> Rebalance:
    if spec.is_homogeneous and spec.member_count:
        return answer(spec, homogeneous.place(spec, options.jdk), notes=notes)
    owner, also = heterogeneous.place(spec)
    return answer(spec, owner, also=also, notes=notes)


UNIFORM = Assignor(
    family="server",
    name="uniform",
    assign=assign,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
