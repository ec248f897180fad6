"""What `assign`, `check` and `explain` answer."""

from __future__ import annotations

from dataclasses import replace

from assignors.checks.verdicts import Clause, Verdict
from assignors.checks.violation import Rule
from assignors.documents.described.groups import AssumptionCode
from assignors.documents.schemas import (
    BOOLEAN,
    COUNT,
    INTEGER,
    NUMBER,
    PARTITIONS_BY_TOPIC,
    STRING,
    Key,
    Schema,
    array,
    mapping,
    nullable,
    one_of,
    pair,
    record,
)
from assignors.formats.groups import GROUP_ID, GROUP_KEYS
from assignors.formats.lines import answer_or_error
from assignors.model import MemberNoteCode
from assignors.weighted.solve import Hold
from assignors.weighting import MustHold
from wire import NoteCode

BY_WEIGHT = (
    Key("use_max", NUMBER, "Weights: the largest weight for a capacity.", is_optional=True),
    Key("use_min", NUMBER, "Weights: the least weight for a capacity.", is_optional=True),
    Key(
        "use_bound",
        NUMBER,
        "Weights: no assignment of the group has a smaller `use_max`.",
        is_optional=True,
    ),
    Key(
        "use_bound_budget",
        NUMBER,
        "Weights: no assignment whose moves the budget pays for has a smaller `use_max`.",
        is_optional=True,
    ),
    Key("weight_moved", COUNT, "Weights: that of the partitions that move.", is_optional=True),
    Key(
        "moves_least",
        COUNT,
        "Weights: no assignment with such a `use_max` moves fewer partitions.",
        is_optional=True,
    ),
)
"""Figures of any assignment of a group that has weights."""

FIGURES = mapping({"type": ["number", "boolean", "string", "null"]})
STATS: Schema = {
    **record(
        Key("follow_up", BOOLEAN, "The leader must start another round itself."),
        Key("member_count", COUNT, "Members.", is_optional=True),
        Key("partition_count", COUNT, "Partitions of subscribed topics.", is_optional=True),
        Key("load_max", COUNT, "Partitions of the member with the most.", is_optional=True),
        Key("load_min", COUNT, "Partitions of the member with the fewest.", is_optional=True),
        Key(
            "load_square_sum",
            COUNT,
            "Sum of squared loads: smaller is more even.",
            is_optional=True,
        ),
        Key(
            "moved",
            COUNT,
            "Partitions that a member owns by a valid claim and that go to another member, in "
            "this round or after waiting for it.",
            is_optional=True,
        ),
        Key("kept", COUNT, "Partitions that stay with their owner.", is_optional=True),
        Key("withheld", COUNT, "Partitions that wait for the next round.", is_optional=True),
        Key("unassigned", COUNT, "Partitions that nobody gets now.", is_optional=True),
        Key(
            "topic_spread",
            COUNT,
            "Sum over topics and members of how many of a topic's partitions the member has, "
            "squared: the least where every topic is even.",
            is_optional=True,
        ),
        Key(
            "topic_spread_max",
            COUNT,
            "The widest gap between two subscribers of one topic.",
            is_optional=True,
        ),
        Key(
            "rack_mismatches",
            COUNT,
            "Partitions without a replica in their member's rack.",
            is_optional=True,
        ),
        *BY_WEIGHT,
        Key(
            "deferred",
            COUNT,
            "`weighted/*`: partitions that a later round moves if the budget allows.",
            is_optional=True,
        ),
        Key(
            "batches_left",
            COUNT,
            "`weighted/*`: rounds of this budget, at least, until nothing is put off.",
            is_optional=True,
        ),
        Key(
            "hold",
            one_of([*Hold, *MustHold]),
            "`weighted/*`: why nothing moves; absent where something does.",
            is_optional=True,
        ),
        Key("limit_reached", BOOLEAN, "Whether `--limit` ended the search.", is_optional=True),
        Key(
            "balance_gap_max",
            NUMBER,
            "The most that the sum of squared loads can be above the best.",
            is_optional=True,
        ),
        Key(
            "moves_gap_max",
            COUNT,
            "No best answer keeps more partitions than this one and so many more.",
            is_optional=True,
        ),
        Key(
            "racks_gap_max",
            COUNT,
            "No best answer has fewer rack mismatches than this one less so many.",
            is_optional=True,
        ),
        Key(
            "spread_gap_max",
            COUNT,
            "The most that `topic_spread` can be above that of a best answer.",
            is_optional=True,
        ),
    ),
    "additionalProperties": {"type": ["number", "boolean", "string", "null"]},
}
SPREAD = (
    Key(
        "topic_spread",
        nullable(COUNT),
        "Sum over topics and members of squared counts; null while partitions wait.",
    ),
    Key(
        "topic_spread_minimum",
        COUNT,
        "The least of the assignments that are best in balance, racks and moves.",
    ),
)
GAPS = record(
    Key(
        "balance_gap",
        nullable(COUNT),
        "Sum of squared loads above the best possible; null while partitions wait.",
    ),
    Key("load_max", COUNT, "Partitions of the member with the most."),
    Key("load_max_optimum", COUNT, "The same under the best possible balance."),
    Key("load_min", COUNT, "Partitions of the member with the fewest."),
    Key(
        "moved",
        COUNT,
        "Partitions that a member owns by a valid claim and that go to another member, in this "
        "round or after waiting for it.",
    ),
    Key("moved_minimum", COUNT, "The fewest that a perfectly balanced assignment moves."),
    Key("unassigned", COUNT, "Partitions that somebody could get, and nobody does."),
    *SPREAD,
    Key("topic_spread_max", COUNT, "The widest gap between two subscribers of one topic."),
    Key("rack_mismatches", COUNT, "Partitions without a replica in their member's rack."),
    Key("follow_up", BOOLEAN, "The leader must start another round itself.", is_optional=True),
    *BY_WEIGHT,
)

MEMBER_NOTE = record(
    Key("member", nullable(STRING), "Of which member; null: of the group."),
    Key("code", one_of([*NoteCode, *MemberNoteCode, *AssumptionCode]), "What is odd, as a code."),
    Key("text", STRING, "The same, for people."),
    Key("offset", COUNT, "The byte where it is, of a note on bytes.", is_optional=True),
)

VIOLATIONS = array(
    record(
        Key("rule", one_of(Rule), "Which rule, as a code."),
        Key("topic", nullable(STRING), "Of the partition; null: it is about a member."),
        Key("partition", nullable(INTEGER), "Its number."),
        Key("members", array(STRING), "The members that show it."),
    )
)
OWN_VIOLATIONS = Key(
    "violations",
    VIOLATIONS,
    "Own assignors: every rule that the answer breaks, if it breaks any.",
    is_optional=True,
)

NOTES = Key("notes", array(MEMBER_NOTE), "What was odd in the group, or was assumed.")
ASSUMPTIONS = replace(
    NOTES, text="What was assumed about a described group, or has no effect.", is_optional=True
)
BESIDE = (GROUP_ID, ASSUMPTIONS)
"""Keys of the answer about a group that a tool described or that has an `id`, in any command."""

ASSIGNOR = (
    Key("assignor", STRING, "Full name of the assignor."),
    Key("protocol", one_of(("eager", "cooperative")), "Which rules of the hand-over it follows."),
)
WITH_GROUP = tuple(
    replace(key, text=f"`--with-group`: {key.text[0].lower()}{key.text[1:]}", is_optional=True)
    for key in GROUP_KEYS
    if key.name != "state"
)

ASSIGNED = answer_or_error(
    ("assignment", "withheld", "stats"),
    *ASSIGNOR,
    Key("assignment", mapping(PARTITIONS_BY_TOPIC), "Member id -> topic -> partition numbers."),
    Key("withheld", PARTITIONS_BY_TOPIC, "Partitions that wait for the next round."),
    NOTES,
    Key(
        "deferred",
        PARTITIONS_BY_TOPIC,
        "`weighted/*`: partitions that a later round moves if the budget allows.",
        is_optional=True,
    ),
    Key("stats", STATS, "Figures of the assignment; own assignors may add more."),
    Key(
        "lists",
        mapping(array(pair(STRING, INTEGER))),
        "`java/*`, `server/*`: each member's partitions in Java's order.",
        is_optional=True,
    ),
    Key(
        "order",
        array(STRING),
        "`java/*`, `server/*`: the members in the order of Java's map.",
        is_optional=True,
    ),
    Key(
        "state",
        record(Key("max_generation", INTEGER, "The highest generation it saw.")),
        "`java/sticky`, `java/cooperative-sticky`: give it back with the next group.",
        is_optional=True,
    ),
    OWN_VIOLATIONS,
    GROUP_ID,
    *WITH_GROUP,
    beside=(*ASSIGNOR, NOTES, GROUP_ID),
    blank_optional=("lists", "order"),
)

COMPARED = answer_or_error(
    ("owned", "compared", "violations", "different", "partitions"),
    Key("owned", mapping(PARTITIONS_BY_TOPIC), "Member id -> what it says it owns."),
    Key(
        "compared",
        array(
            record(
                Key("name", STRING, "Full name of the assignor."),
                Key(
                    "assignment",
                    nullable(mapping(PARTITIONS_BY_TOPIC)),
                    "Member id -> topic -> partition numbers.",
                ),
                Key("withheld", nullable(PARTITIONS_BY_TOPIC), "Partitions that wait."),
                Key("stats", nullable(FIGURES), "Its figures, as in `assign`."),
                Key("gaps", nullable(FIGURES), "How far it is from the best, as in `check`."),
                Key("violations", nullable(COUNT), "Rules that its answer breaks."),
                Key("first_violation", nullable(STRING), "The first of them, in words."),
                Key("failure", nullable(STRING), "Why it has no answer; else null."),
            )
        ),
        "An entry for each assignor.",
    ),
    Key("violations", COUNT, "Rules that own assignors break; one that fails counts one."),
    Key("different", COUNT, "Partitions that the assignors place differently."),
    Key(
        "partitions",
        array(
            record(
                Key("topic", STRING, "Of the partition."),
                Key("partition", INTEGER, "Its number."),
                Key(
                    "answers",
                    mapping(
                        record(
                            Key("member", nullable(STRING), "Who gets it; null: nobody."),
                            Key("verdict", one_of(Verdict), "What happens to it."),
                            Key("why", STRING, "Why, for people."),
                        )
                    ),
                    "Full name of an assignor -> what it does with the partition.",
                ),
            )
        ),
        "Some of them, each with the reasons.",
    ),
    *BESIDE,
    beside=BESIDE,
)

CHECKED = answer_or_error(
    ("violations", "gaps"),
    Key("violations", VIOLATIONS, "Every rule that the assignment breaks, with its place."),
    Key("gaps", GAPS, "How far the assignment is from the best."),
    *BESIDE,
    beside=BESIDE,
)

EXPLAIN_KEYS = (
    Key("topic", STRING, "Of the partition."),
    Key("partition", INTEGER, "Its number."),
    Key("verdict", one_of(Verdict), "What happens to it, as a code."),
    Key("clause", one_of(Clause), "Which part of the hand-over rule decided, as a code."),
    Key("text", STRING, "The same in a sentence."),
    Key("favoured", nullable(STRING), "The member that stickiness favours."),
    Key("target", nullable(STRING), "Who gets it now, or in the next round."),
    Key("given", nullable(STRING), "Who gets it in this round."),
    Key("last_generation", INTEGER, "The last generation that the group completed; -1: none."),
    Key(
        "claims",
        array(
            record(
                Key("member", STRING, "Who claims the partition."),
                Key("generation", INTEGER, "With which generation; -1: none."),
                Key("believed", BOOLEAN, "Whether the claim counts."),
                Key("reason", STRING, "Why."),
            )
        ),
        "Every claim to the partition.",
    ),
    *SPREAD,
)
EXPLAINED = answer_or_error(
    [key.name for key in EXPLAIN_KEYS],
    *EXPLAIN_KEYS,
    Key(
        "by_weight",
        record(
            Key("weight", COUNT, "Of the partition."),
            Key(
                "fill",
                mapping(NUMBER),
                "Member id -> its use before any move, in parts of its fair use; of the favoured "
                "member and the target.",
            ),
            Key("before", nullable(COUNT), "Put off: so many move before it; else null."),
            Key(
                "hold",
                nullable(one_of([*Hold, *MustHold])),
                "Why nothing moves; null where something does.",
            ),
        ),
        "`weighted/*`, where the group has weights: what they have to do with it.",
        is_optional=True,
    ),
    OWN_VIOLATIONS,
    *BESIDE,
    beside=BESIDE,
)

ASSIGNOR_KEYS = (
    Key("name", STRING, "Full name, FAMILY/NAME."),
    Key("short", nullable(STRING), "Name without a family; null where it has none."),
    Key("protocols", array(one_of(("eager", "cooperative"))), "Rebalance protocols it supports."),
    Key("user_data", STRING, "What it reads claims from: none, sticky, cooperative."),
)
