"""The promise of docs/speed.md on codecs, measured beside kafka-python in one run."""

from __future__ import annotations

import statistics
import warnings
from importlib import import_module

import pytest


@pytest.mark.parametrize("what", ["decode", "decode, strict", "encode"])
def test_at_least_three_times_as_fast_as_kafka_python(what: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kafka-python's import has some
        bench = import_module("tests.benchmarks.bench_wire")
    ours, theirs = next(pair[1:] for pair in bench.PAIRS if pair[0] == what)
    ratios = [bench.microseconds(theirs, 3, 10) / bench.microseconds(ours, 3, 10) for _ in range(5)]
    assert statistics.median(ratios) >= 3, ratios
