"""Settings for the whole suite: Hypothesis without clocks, tools that CI must have."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.foreign.jars import missing_tools
from tests.foreign.judge import Judge

# Benchmarks are programs: they import what they are compared with, which tests may lack.
collect_ignore_glob = ["benchmarks/*"]

DEEP = int(os.environ.get("DEEP", "1"))
"""How many times the usual number of cases: `make deep` asks for more."""

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=100 * DEEP
)
settings.register_profile("ci", parent=settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def need(tool: str) -> None:
    """Skip where `tool` is missing on a user's machine; fail where it is missing in CI."""
    if shutil.which(tool) is None:
        if os.environ.get("CI"):
            pytest.fail(f"{tool} is missing: CI must have it")
        pytest.skip(f"needs {tool}")


@pytest.fixture(scope="session")
def java() -> None:
    """A Java runtime, for Spark."""
    need("java")


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks of tests that need somebody else's programs."""
    config.addinivalue_line("markers", "foreign: judged by Kafka's own classes, needs Java and mvn")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what each part of the suite took: seconds of its tests, whichever worker ran them."""
    spent: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                spent["/".join(report.nodeid.split("::")[0].split("/")[:2])] += report.duration
    terminalreporter.section("seconds by part")
    for part, seconds in sorted(spent.items(), key=lambda entry: -entry[1]):
        terminalreporter.write_line(f"{seconds:8.1f}  {part}")


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """Kafka's own classes, to ask."""
    for tool in missing_tools():
        need(tool)
    with Judge() as started:
        yield started
