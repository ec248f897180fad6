"""Our strict decoders and our encoders against Kafka's: random bytes, read and refused alike."""

from __future__ import annotations

from collections import Counter
from random import Random
from struct import pack
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.foreign.blobs import random_request
from tests.foreign.codecs import agree, our_answer
from tests.foreign.judge import Judge
from tests.foreign.trial import as_line, profile, seed

pytestmark = pytest.mark.foreign

WAVE = 2_000

blobs = st.builds(
    lambda version, rest: pack(">h", version) + b"".join(rest),
    st.integers(-2, 4),
    st.lists(
        st.binary(max_size=3)
        | st.sampled_from((b"\0\0\0\0", b"\0\0\0\1", b"\xff\xff\xff\xff", b"\0\1t", b"\0\0")),
        max_size=12,
    ),
)
"""Bytes in pieces that lengths and counts are made of."""


def vector(judge: Judge, request: dict[str, Any]) -> str:
    return as_line(request, judge.ask(request))


def differs(judge: Judge, request: dict[str, Any]) -> bool:
    return not agree(request, judge.ask(request), our_answer(request))


def test_random_bytes_are_read_refused_and_written_as_kafka_does(judge: Judge) -> None:
    dice = Random(seed())
    outcomes: Counter[tuple[str, bool]] = Counter()
    while outcomes.total() < profile().blobs:
        requests = [random_request(dice) for _ in range(WAVE)]
        for request, answer in zip(requests, judge.ask_all(requests), strict=True):
            outcomes[request["algo"], "err" in answer] += 1
            if not agree(request, answer, our_answer(request)):
                pytest.fail(vector(judge, request))
    for algorithm in ("codec-sub", "codec-asg"):
        assert outcomes[algorithm, True] > outcomes.total() / 100, "too few are refused"
        assert outcomes[algorithm, False] > outcomes.total() / 100, "too few are read"


@pytest.mark.parametrize("algorithm", ["codec-sub", "codec-asg"])
def test_any_bytes_are_read_and_refused_as_kafka_does(algorithm: str, judge: Judge) -> None:
    @settings(max_examples=profile().blobs // 40)
    @given(st.binary(max_size=40) | blobs)
    def law(blob: bytes) -> None:
        request = {"algo": algorithm, "hex": blob.hex()}
        if differs(judge, request):
            pytest.fail(vector(judge, request))

    law()
