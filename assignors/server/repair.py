"""Where Kafka's assignor throws: raise its exception, or answer without what caused it.

The broker's assignors throw for invalid previous targets: a partition number that the topic does
not have (any more), or a partition that two members have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from assignors.arrays import bounds_of
from assignors.jvm.failure import JavaFailure
from assignors.model import MemberNote, MemberNoteCode
from assignors.options import OnFailure, Options
from assignors.problem import NOBODY
from assignors.rebalance import Rebalance
from assignors.server.results import previous_entries
from assignors.server.spec import Spec


def built_or_repaired(
    spec: Spec, build: Callable[[Spec], Rebalance], options: Options, *, doubles: bool
) -> Rebalance:
    """Return what `build` makes of the group.

    Where it fails and `options` ask for a repair, what it makes of the group without the
    partitions that do not exist and, if it cannot stand those either, without `doubles`: those
    that several members had.
    """
    try:
        return build(spec)
    except JavaFailure as failure:
        if options.on_failure is OnFailure.RAISE:
            raise
        text = f"Java fails: {failure}; what does not exist or somebody else had was left out"
    answer = build(_without_faults(spec, doubles=doubles))
    return replace(
        answer, notes=(*answer.notes, MemberNote(code=MemberNoteCode.REPAIRED.value, text=text))
    )


def _without_faults(spec: Spec, *, doubles: bool) -> Spec:
    """Return the group whose previous target has no number that its topic does not have.

    Without `doubles` a partition that several members had stays with the first in map order.
    """
    target = spec.target
    _, partition = previous_entries(spec)
    is_ours = target.by_number(target.run_topic) < spec.topic_count
    keeps = ~(is_ours & (partition == NOBODY))
    if not doubles:
        once = np.zeros(len(partition), dtype=np.bool_)
        once[np.unique(partition, return_index=True)[1]] = True
        keeps &= once | ~is_ours
    length = np.diff(bounds_of(keeps)[target.start])
    return replace(
        spec,
        target=replace(target, number=target.number[keeps], length=length, is_single=False),
    )
