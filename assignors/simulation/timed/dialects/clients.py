"""The clients: how each writes, leads and follows. A new one is a row in `DIALECTS`.

A client's reactions are those of its version on a broker of Kafka 4.4, one odd member or one odd
assignment at a time; bytes are compared with captured ones in the tests.

An assignor that fails ends the leader's work in the same place as a Subscription that it cannot
read, and so with the same reaction; librdkafka, which leaves such a member out, rejoins. An
exception that comes out of `poll()` is taken to end the application.

Source for librdkafka: `rd_kafka_cgrp_assignor_run` of `rdkafka_cgrp.c`.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.assignor import UserData
from assignors.simulation.timed.dialects import timing
from assignors.simulation.timed.dialects.dialect import (
    Dialect,
    Flaw,
    Form,
    Racks,
    Reaction,
    Reactions,
)
from assignors.simulation.timed.dialects.hand_over import HandOver
from assignors.simulation.timed.dialects.unanswered import (
    FOR_A_REQUEST,
    Beats,
    Timeout,
    Unanswered,
    Wait,
)
from assignors.simulation.timed.dialects.user_data import (
    echoed,
    empty,
    generation_alone,
    layout_or_empty,
    layout_or_no_topics,
    layout_or_null,
    layout_without_generation,
    prefixed_layout,
)
from wire import NoteCode

NONE, STICKY, COOPERATIVE = UserData.NONE, UserData.STICKY, UserData.COOPERATIVE
ENDS, SILENT, STUCK, OUT, DIES, KEEPS, NOTHING = (
    Reaction.ENDS,
    Reaction.SILENT,
    Reaction.STUCK,
    Reaction.LEAVES_OUT,
    Reaction.DIES,
    Reaction.KEEPS,
    Reaction.NOTHING,
)


def to(reaction: Reaction, *causes: NoteCode | Flaw) -> Reactions:
    """Return the same reaction to all of these."""
    return dict.fromkeys(causes, reaction)


CUT = (NoteCode.CUT, NoteCode.OWNED_CUT)
SHORT = (NoteCode.GENERATION_MISSING, NoteCode.RACK_MISSING)
"""A message that ends before a field that its version has."""
UNREADABLE_BY_ALL = (NoteCode.EMPTY_BLOB, *CUT)

JAVA_FOLLOWS = to(
    ENDS, NoteCode.EMPTY_BLOB, NoteCode.CUT, NoteCode.TOPICS_NULL, NoteCode.VERSION_NEGATIVE
)
JAVA_LEADS = to(
    ENDS,
    *UNREADABLE_BY_ALL,
    NoteCode.OWNED_MISSING,
    NoteCode.OWNED_NULL,
    NoteCode.VERSION_NEGATIVE,
)

JAVA_2_4 = Dialect(
    join_version=6,
    forms={
        NONE: Form(version=1, keeps_order=True),
        STICKY: Form(version=1, user_data=layout_or_null, keeps_order=True),
        COOPERATIVE: Form(version=1, keeps_order=True),
    },
    assignment_version=1,
    leads_any=JAVA_LEADS,
    follows=JAVA_FOLLOWS,
)
JAVA_2_8 = Dialect(
    join_version=7,
    forms={
        NONE: Form(version=1),
        STICKY: Form(version=1, user_data=layout_or_null),
        COOPERATIVE: Form(version=1, user_data=generation_alone),
    },
    assignment_version=1,
    leads_any=JAVA_LEADS,
    follows=JAVA_FOLLOWS,
    reads_user_data_first=True,
    checks_claims=True,
)
JAVA_4_4 = Dialect(
    join_version=9,
    forms={
        NONE: Form(version=3),
        STICKY: Form(version=3, user_data=layout_or_null),
        COOPERATIVE: Form(version=3, user_data=generation_alone),
    },
    assignment_version=3,
    leads_any={**JAVA_LEADS, **to(ENDS, *SHORT)},
    leads={COOPERATIVE: {Flaw.IMPOSSIBLE_CLAIM: ENDS}},
    follows=JAVA_FOLLOWS,
    checks_other_assignors=True,
)
LIBRDKAFKA = Dialect(
    timing=timing.LIBRDKAFKA,
    forms={
        NONE: Form(version=3, user_data=empty, has_generation=False, keeps_order=True),
        COOPERATIVE: Form(version=3, user_data=layout_or_empty, keeps_order=True),
    },
    racks=Racks.EMPTY_FOR_NONE,
    assignment_user_data=lambda known: known.received,
    appends_new=True,
    leads_any={
        **to(OUT, *CUT, *SHORT, NoteCode.OWNED_MISSING, NoteCode.OWNED_NULL),
        Flaw.NO_TOPICS: OUT,
        NoteCode.EMPTY_BLOB: DIES,
    },
    assignor_fails=STUCK,
    join_waits=(Wait(Timeout.REBALANCE, 3000),),
    sync_waits=(Wait(Timeout.SESSION, 3000),),
    beats=Beats.WHEN_DUE,
    leads={COOPERATIVE: {Flaw.VERSION_0: DIES, NoteCode.VERSION_NEGATIVE: DIES}},
    follows={
        NoteCode.EMPTY_BLOB: NOTHING,
        NoteCode.CUT: KEEPS,
        NoteCode.TOPICS_NULL: KEEPS,
    },
)
FRANZ_GO = Dialect(
    timing=timing.ON_TIME,
    join_version=9,
    forms={
        NONE: Form(version=3),
        STICKY: Form(version=3, user_data=layout_or_no_topics),
        COOPERATIVE: Form(version=3, user_data=layout_or_no_topics),
    },
    leads_any=to(STUCK, *UNREADABLE_BY_ALL, *SHORT),
    assignor_fails=STUCK,
    follows={
        NoteCode.EMPTY_BLOB: STUCK,
        NoteCode.CUT: STUCK,
        NoteCode.TOPICS_NULL: NOTHING,
        NoteCode.TOPIC_REPEATED: Reaction.LAST_ENTRY,
    },
    hand_over=HandOver.NEWEST_CLAIM,
    join_waits=(Wait(Timeout.REBALANCE, 10_000),),
    sync_waits=(Wait(Timeout.REBALANCE),),
    beats=Beats.ANEW,
    unanswered=Unanswered.LOSES,
    retry_ms=250,
)
SARAMA_2_8 = Dialect(
    timing=timing.ON_TIME,
    forms={
        NONE: Form(version=1, user_data=echoed, keeps_order=True),
        STICKY: Form(version=1, user_data=echoed, keeps_order=True),
        COOPERATIVE: Form(version=1, user_data=generation_alone, keeps_order=True),
    },
    leads_any={
        **to(SILENT, *UNREADABLE_BY_ALL, *SHORT, NoteCode.TRAILING_BYTES),
        Flaw.UNKNOWN_TOPIC: SILENT,
    },
    assignor_fails=SILENT,
    join_waits=FOR_A_REQUEST,
    beats=Beats.AT_ONCE,
    unanswered=Unanswered.REVOKES,
    leads={STICKY: {Flaw.USER_DATA_EMPTY: SILENT, Flaw.USER_DATA_ODD: SILENT}},
    follows={
        NoteCode.EMPTY_BLOB: NOTHING,
        NoteCode.CUT: STUCK,
        NoteCode.TOPICS_NULL: NOTHING,
        NoteCode.TRAILING_BYTES: STUCK,
        NoteCode.TOPIC_REPEATED: Reaction.LAST_ENTRY,
    },
)
KAFKA_PYTHON = Dialect(
    timing=timing.KAFKA_PYTHON,
    join_version=7,
    beats=Beats.WHEN_DUE,
    forms={
        NONE: Form(version=0, user_data=empty, keeps_order=True),
        STICKY: Form(version=0, user_data=prefixed_layout, keeps_order=True),
        COOPERATIVE: Form(version=1, user_data=empty, keeps_order=True),
    },
    claims_assigned=True,
    assignment_version=1,
    assignment_user_data=empty,
    leads_any=to(
        ENDS,
        *UNREADABLE_BY_ALL,
        *SHORT,
        NoteCode.OWNED_MISSING,
        NoteCode.VERSION_NEGATIVE,
    ),
    follows=to(
        KEEPS, NoteCode.EMPTY_BLOB, NoteCode.CUT, NoteCode.TOPICS_NULL, NoteCode.VERSION_NEGATIVE
    ),
)
AIOKAFKA = Dialect(
    timing=timing.ON_TIME,
    forms={
        NONE: Form(version=0, user_data=empty, keeps_order=True),
        STICKY: Form(version=0, user_data=layout_without_generation, keeps_order=True),
    },
    assignment_user_data=empty,
    leads_any=to(ENDS, *UNREADABLE_BY_ALL),
    join_waits=FOR_A_REQUEST,
    beats=Beats.ANEW,
    follows=to(ENDS, NoteCode.EMPTY_BLOB, NoteCode.CUT, NoteCode.TOPICS_NULL),
)
KAFKAJS = Dialect(
    timing=timing.ON_TIME,
    forms={NONE: Form(version=0, user_data=empty, keeps_order=True)},
    knows_own_topics_alone=True,
    assignment_user_data=empty,
    leads_any=to(ENDS, *UNREADABLE_BY_ALL),
    beats=Beats.WHEN_DUE,
    unanswered=Unanswered.NEW_AT_FIRST,
    retry_ms=300,
    follows={NoteCode.CUT: DIES, NoteCode.TOPIC_REPEATED: Reaction.LAST_ENTRY},
)

DIALECTS: dict[str, Dialect] = {
    "java-2.4.1": JAVA_2_4,
    "java-2.8.1": JAVA_2_8,
    "java-3.1.2": replace(JAVA_2_8, checks_claims=False, checks_other_assignors=True),
    "java-4.4.0": JAVA_4_4,
    "librdkafka-2.16.0": LIBRDKAFKA,
    "franz-go-1.21.3": replace(FRANZ_GO, hand_over=HandOver.OWN_CLAIM),
    "franz-go-1.21.4": FRANZ_GO,
    "franz-go-1.22.2": FRANZ_GO,
    "sarama-1.61.1": SARAMA_2_8,
    "sarama-1.61.1-v3.6": replace(
        SARAMA_2_8,
        forms={
            NONE: Form(version=2, user_data=echoed, has_generation=False, keeps_order=True),
            STICKY: Form(version=2, user_data=echoed, has_generation=False, keeps_order=True),
            COOPERATIVE: Form(version=2, user_data=generation_alone, keeps_order=True),
        },
    ),
    "kafka-python-3.0.12": KAFKA_PYTHON,
    "aiokafka-0.14.0": AIOKAFKA,
    "kafkajs-2.2.4": KAFKAJS,
    "kafkajs-2.2.4-custom": replace(
        KAFKAJS,
        forms={NONE: Form(version=1, user_data=empty, keeps_order=True, lacks_owned=True)},
        assignment_version=1,
    ),
}
"""Client and version -> its dialect. `kafkajs-2.2.4-custom` has an assigner of its own as kafkajs'
documentation shows it; `sarama-1.61.1-v3.6` is configured for brokers of that version."""
