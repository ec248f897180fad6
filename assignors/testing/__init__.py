"""Hypothesis strategies for groups and their histories, for the tests of any assignor.

Random groups in which all claims are true find few errors. So these draw every kind of claim that
a leader meets, report with `hypothesis.event` which occurred, and let a test count them
(`claim_kinds`, `event_kinds`). A test of your own assignor:

    from hypothesis import given
    from assignors.checks import check
    from assignors.testing import groups

    @given(groups())
    def test_my_assignor_breaks_no_law(group):
        assert check(group, my_assignor(group)).violations == ()
"""

from __future__ import annotations

from assignors.extras import imported_from

with imported_from("testing"):
    import hypothesis  # noqa: F401 - what all of this needs

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
