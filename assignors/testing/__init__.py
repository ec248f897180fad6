"""Hypothesis strategies for groups and their histories, for the tests of any assignor.

Random groups in which everybody tells the truth would pass anything. So these draw every kind
of claim a leader meets, say with `hypothesis.event` how often each occurred, and let a test
count them (`claim_kinds`). A test of an assignor of one's own reads:

    from hypothesis import given
    from assignors.checks import check
    from assignors.testing import groups

    @given(groups())
    def test_my_assignor_breaks_no_law(group):
        assert check(group, my_assignor(group)).violations == ()
"""

from __future__ import annotations

from assignors.testing.groups import ClaimKind, claim_kinds, clusters, groups, members
from assignors.testing.histories import event_kinds, scenarios

__all__ = [
    "ClaimKind",
    "claim_kinds",
    "clusters",
    "event_kinds",
    "groups",
    "members",
    "scenarios",
]
