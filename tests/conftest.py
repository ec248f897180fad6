"""Settings for the whole suite: its seed, the order of its tests, its tools, its summary."""

from __future__ import annotations

import gc
import os
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from itertools import compress

import psutil
import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

import assignors  # noqa: F401 - pytest, given a module of it by path, would execute that twice
from tests.foreign.jars import missing_tools
from tests.foreign.judge import SHORT, Judge
from tests.interop.broker import Broker
from tests.interop.install import BROKER

# Benchmarks are programs: they import what they are compared with, which tests may lack.
collect_ignore_glob = [
    "benchmarks/bench_*",
]

DEEP = int(os.environ.get("DEEP", "1"))
"""How many times the usual number of cases: `make deep` asks for more."""

TOGETHER = (
    "tests/spark/",
    "tests/replay/test_report_",
    "tests/lab/calibrate/test_calibrate.py",
    "tests/foreign/exhausted/",
    "tests/interop/test_offsets_topic.py",
    "tests/interop/test_offsets_sources.py",
    "tests/interop/test_dump.py",
    "tests/interop/test_failover.py",
    "tests/interop/test_replay_command.py",
    "tests/conformance/test_programs_of_others.py",
    "tests/formats/test_formats.py",
    "tests/release/test_bare_environment.py",
    "tests/release/test_distributions.py",
    "tests/test_readme.py",
)
"""Beginnings of paths whose tests share what is dear to start or make: one worker runs them all.

In this order, longest first.
"""

SPARK_NOTEBOOKS = ("example_spark_sql.ipynb",)
"""Notebooks that start Spark: a notebook has no place for a mark."""

os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
"""Jobs of seconds do not earn back what the compiler for long runs costs: half of the CPU time."""

SEED = int(os.environ.setdefault("SUITE_SEED", f"{datetime.now(tz=UTC):%Y%m%d}"))
"""Of everything random: the day, so that no two days try the same. Workers inherit it."""

settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # half of them a day
    max_examples=50 if DEEP == 1 else 100 * DEEP,
    print_blob=True,
)
settings.register_profile(
    "ci", parent=settings.get_profile("default"), derandomize=False, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def cases(count: int) -> settings:
    """Return the settings of a property with so many cases, `DEEP` times as many in `make deep`."""
    return settings(max_examples=count * DEEP)


def need(tool: str) -> None:
    """Skip where `tool` is missing on a user's machine; fail where it is missing in CI."""
    if shutil.which(tool) is None:
        lacking(tool)


def lacking(what: str) -> None:
    """Skip on a user's machine for want of something; fail in CI, which must have it."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing: CI must have it")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def java() -> None:
    """A Java runtime, for Spark."""
    need("java")


@pytest.fixture(scope="session")
def shared_broker() -> Iterator[Broker]:
    """The broker of this worker, for everybody who brings names of their own."""
    for tool in (*BROKER.missing_tools(), "java"):
        need(tool)
    with Broker() as started:
        print(f"broker started in {started.started_in_s:.1f} s")
        yield started


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Name the marks of the suite's own; give Hypothesis the seed of the day."""
    config.addinivalue_line("markers", "foreign: judged by Kafka's own classes, needs Java and mvn")
    config.addinivalue_line("markers", "deep: a repetition of what the suite shows once: DEEP > 1")
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(SEED)
    psutil.cpu_percent()  # from here on


class InGroups(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """One queue of tests for all workers, in which those of a path of `TOGETHER` are one piece."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        # The order is that of `pytest_collection_modifyitems`.
        config.option.loadscopereorder = False

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Forget a piece that is done: all that a worker has had is gone through at each test."""
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]

    def _split_scope(self, nodeid: str) -> str:
        return next((path for path in TOGETHER if nodeid.startswith(path)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> InGroups:
    """Hand out tests from one queue, whatever `--dist` says."""
    return InGroups(config, log)


def pytest_report_header() -> str:
    """Say what plays the random part of this run again."""
    return f"seed of the day: {SEED}; to have it again: SUITE_SEED={SEED} CI=1"


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the notebooks that start Spark, so that `-m` can choose; skip them without Java."""
    if item.path.name in SPARK_NOTEBOOKS:
        item.add_marker(pytest.mark.spark)
        item.add_marker(pytest.mark.slow)
        if shutil.which("java") is None and not os.environ.get("CI"):
            item.add_marker(pytest.mark.skip(reason="needs java"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make what a file shares anew for a test that runs again: it may be what was wrong."""
    if getattr(item, "execution_count", 1) == 1:
        return
    assert isinstance(item, pytest.Function)
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        for definition in definitions:
            if definition.scope == "module":
                definition.finish(item._request)  # type: ignore[arg-type] # what it asks for, both have


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no cycles in what is collected: it stays to the end, and is a million objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave repetitions to `make deep`; order the others so that workers are busy to the end.

    First what one worker runs together, then long tests. Real groups mostly wait, so they are
    spread among the others: in a row on all workers they leave processors idle.
    """
    if DEEP == 1:
        is_deep = [item.get_closest_marker("deep") is not None for item in items]
        config.hook.pytest_deselected(items=list(compress(items, is_deep)))
        items[:] = [item for item, left in zip(items, is_deep, strict=True) if not left]
    items.sort(key=_rank)
    together = [item for item in items if item.nodeid.startswith(TOGETHER)]
    others = items[len(together) :]
    waiting = [item for item in others if item.get_closest_marker("interop") is not None]
    busy = [item for item in others if item.get_closest_marker("interop") is None]
    items[:] = [*together, *_spread(waiting, busy)]


def _rank(item: pytest.Item) -> tuple[int, bool]:
    """Those of a path of `TOGETHER` keep their order, which is that of what they share."""
    for place, path in enumerate(TOGETHER):
        if item.nodeid.startswith(path):
            return place, False
    is_slow = item.get_closest_marker("slow") is not None or item.path.suffix == ".ipynb"
    return len(TOGETHER), not is_slow


def _spread(few: list[pytest.Item], many: list[pytest.Item]) -> list[pytest.Item]:
    """Return all, `few` at equal distances; the last tenth is of `many` alone, which are short."""
    distance = 0.9 * len(many) / max(len(few), 1)
    places = [*((at * distance, item) for at, item in enumerate(few)), *enumerate(many)]
    return [item for _, item in sorted(places, key=lambda place: place[0])]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show why anything was played twice, and the seconds of each part, whichever worker ran it."""
    reruns = terminalreporter.stats.get("rerun", [])
    terminalreporter.section(f"reruns: {len(reruns)}")
    for report in reruns:
        terminalreporter.write_line(f"failed at first: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
        for name, text in report.sections:
            terminalreporter.write_line(f"--- {name}\n{text[-4000:]}")
    spent: defaultdict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                spent["/".join(report.nodeid.split("::")[0].split("/")[:2])] += report.duration
    terminalreporter.section(f"seconds by part; processors busy: {psutil.cpu_percent():.0f} %")
    for part, seconds in sorted(spent.items(), key=lambda entry: -entry[1]):
        terminalreporter.write_line(f"{seconds:8.1f}  {part}")


@pytest.fixture(scope="session")
def judge_tools() -> None:
    """What starting a judge takes."""
    for tool in missing_tools():
        need(tool)


@pytest.fixture(scope="session")
def judge(judge_tools: None) -> Iterator[Judge]:
    """Kafka's own classes, to ask."""
    with Judge(options=SHORT if DEEP == 1 else ()) as started:
        yield started
