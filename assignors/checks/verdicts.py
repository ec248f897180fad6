"""What can happen to a partition in a round, and which part of the hand-over rule decides."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What happens to the partition in this round."""

    STAYS = "stays"
    """It goes to the member that owned it."""
    MOVES = "moves"
    """It goes from one member to another in this round."""
    STARTS = "starts"
    """It goes to a member, and nobody's claim to it counted."""
    WAITS = "waits"
    """It is withheld until the member that may still consume it has revoked it."""
    UNASSIGNED = "unassigned"
    """Nobody gets it."""


class Clause(StrEnum):
    """The part of the hand-over rule that decided; its sentence is in `SENTENCES`."""

    EAGER = "eager"
    NOBODY_ELSE_CLAIMS = "nobody-else-claims"
    ALONE_IN_LAST_GENERATION = "alone-in-last-generation"
    OTHERS_CLAIM = "others-claim"
    CLAIMS_NOT_KNOWN = "claims-not-known"
    NOBODY_SUBSCRIBES = "nobody-subscribes"
    LEFT_OUT = "left-out"
    AS_REFERENCE = "as-reference"


SENTENCES = {
    Clause.EAGER: "members let go of everything before the round, so nothing has to wait",
    Clause.NOBODY_ELSE_CLAIMS: "nobody else claims it, so it is handed out at once",
    Clause.ALONE_IN_LAST_GENERATION: (
        "it alone claims the partition with the group's last completed generation, "
        "so older claims do not hold it up"
    ),
    Clause.OTHERS_CLAIM: "somebody else may still consume it and must let go first",
    Clause.CLAIMS_NOT_KNOWN: (
        "the bytes of some member do not say what it owns: it may still consume anything"
    ),
    Clause.NOBODY_SUBSCRIBES: "no member subscribes to the topic",
    Clause.LEFT_OUT: "the assignor leaves it out, though somebody subscribes to the topic",
    Clause.AS_REFERENCE: "the copied reference decides, by rules of its own",
}
