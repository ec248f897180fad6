"""The reference's own answers, in the form in which programs answer."""

from __future__ import annotations

import json
from typing import Any

from assignors.conformance.judges import Strictness
from assignors.conformance.values import reference_value
from assignors.conformance.vectors import Operation, Vector
from tests.conformance.published import KAFKA, vectors

Answer = dict[str, Any]

LAWFUL, EXACT = Strictness(), Strictness(exact=True)
IN_ORDER = Strictness(exact=True, in_order=True)


def right(vector: Vector) -> Answer:
    """The reference's answer, in the form of a program's."""
    if vector.operation is Operation.DECODE:
        read = vector.value or reference_value(vector.algorithm, vector.expected)
        return json.loads(json.dumps(read))  # type: ignore[no-any-return]
    return json.loads(json.dumps(vector.expected))  # type: ignore[no-any-return]


def answerable(operation: Operation) -> list[Vector]:
    return [
        vector
        for vector in vectors(KAFKA)
        if vector.operation is operation and not vector.is_reference_failing
    ]
