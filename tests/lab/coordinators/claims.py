"""The claims of the debate as a table of RESULTS.md, each with its region."""

from __future__ import annotations

from itertools import pairwise

from tests.docs.source import table
from tests.lab.coordinators.debate import CLAIMS, Claim, Evidence


def claims() -> str:
    head = ("claim", "by", "field", "it holds for", "not for", "measured")
    return CLAIMED + "\n".join(table(head, [_claim(claim) for claim in CLAIMS])) + "\n"


def _claim(claim: Claim) -> tuple[str, ...]:
    """Return the row of a claim: its region, and what was measured on both sides of its border."""
    found = list(claim.measured())
    sides = {holds: [each for each in found if each.holds is holds] for holds in (True, False)}
    region, beyond = (", ".join(_value(claim, each) for each in sides[holds]) for holds in sides)
    # The border is where what holds and what does not meet; without one, the first value and last.
    shown = [each for before, each in pairwise(found) if before.holds != each.holds]
    border = [found[found.index(each) - 1] for each in shown[:1]] + shown[:1]
    text = "; ".join(
        f"{_value(claim, each)}: {each.text}" for each in border or [found[0], found[-1]]
    )
    return (claim.text, claim.by, FIELDS[claim.over], region, beyond or "-", text)


def _value(claim: Claim, evidence: Evidence) -> str:
    if claim.over.endswith("_us"):
        return f"{evidence.value / 1000:g} ms"
    return f"{evidence.value:,}" if isinstance(evidence.value, int) else f"{evidence.value:g}"


FIELDS = {
    "check_us": "check",
    "groups": "groups",
    "replication_us": "replication",
    "per_second": "requests a second",
    "changes_share": "share of requests that change their group",
    "slow_group_check_us": "check of the slow client's group",
    "linger_us": "linger",
}
"""Field of a load -> how the table calls it."""

CLAIMED = """## The claims of the debate

Each claim holds for some loads. One field of the load decides, and the claim is measured at several
of its values. The table has those for which it holds, those for which it does not, and what was
measured at the two values between which that changes: where it begins to hold, or ends. The test
suite measures them again.

"""
