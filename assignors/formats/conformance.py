"""What `conform` writes: a line for each vector that failed, then one for each category."""

from __future__ import annotations

from assignors.conformance.outcomes import Status
from assignors.conformance.vectors import Judge
from assignors.documents.schemas import COUNT, STRING, Key, Schema, array, mapping, nullable, one_of
from assignors.formats.lines import answer

OBJECT: Schema = {"type": ["object", "null"]}

CONFORMED: Schema = {
    "oneOf": [
        {
            "title": "failed",
            **answer(
                Key("id", STRING, "Of the vector."),
                Key("category", STRING, "Of the vector."),
                Key("judge", one_of(Judge), "Which comparison applies."),
                Key("wrong", array(STRING), "What is wrong, in sentences."),
                Key("expected", OBJECT, "What Kafka's classes answered."),
                Key(
                    "answer", OBJECT, "What the program answered; null: nothing that is an answer."
                ),
                Key("note", nullable(STRING), "What is special about the vector."),
            ),
        },
        {
            "title": "category",
            **answer(
                Key("category", STRING, "Of vectors."),
                *(Key(one.value, COUNT, f"Vectors that {one.value}.") for one in Status),
                Key("reasons", mapping(COUNT), "Why vectors were skipped -> how many."),
            ),
        },
    ]
}
