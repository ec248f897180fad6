"""The clients that the kit is run against, by version: how each is called, and what it gets wrong.

The versions are part of the claim. Whoever raises one reads in `known` what was repaired, and what
is new.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version as installed_version

from assignors.conformance.judges import Strictness
from assignors.conformance.outcomes import Outcome, outcomes
from assignors.conformance.program_under_test import ProgramUnderTest
from tests.conformance import known, known_java, known_librdkafka
from tests.conformance.known import Defect
from tests.conformance.peers import (
    GO_SOURCES,
    go_program,
    java_program,
    node_program,
    python_driver,
)
from tests.conformance.published import vectors
from tests.conftest import lacking
from tests.interop.install import NODE

TIMEOUT_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client in one version, behind a program that speaks the kit's protocol."""

    name: str
    version: str
    command: Callable[[], list[str]]
    """Starts the program; skips the test, or fails it where `CI` is set, without its toolchain."""
    source: str
    """The program, below `tests/foreign`."""
    through: str
    """Which functions of the client the program calls."""
    defects: tuple[Defect, ...]
    drawn_by_lot: frozenset[str] = frozenset()
    """Defects that depend on the order of maps, which differs from run to run."""

    @property
    def key(self) -> str:
        """Its name in results and tests."""
        return f"{self.name}-{self.version}"


def _java(version: str, defects: tuple[Defect, ...]) -> Client:
    return Client(
        name="kafka-clients",
        version=version,
        command=partial(java_program, version),
        source="drivers/JavaDriver.java",
        through="`ConsumerPartitionAssignor` (public) for groups and UserData; the internal"
        " `ConsumerProtocol`, which the consumer itself calls, for bytes; `memberData` (protected)"
        " for what a leader reads from UserData",
        defects=defects,
    )


def _python(package: str, version: str, driver: str) -> list[str]:
    modules = {"kafka-python": "kafka", "confluent-kafka": "confluent_kafka"}
    module = modules.get(package, package)
    if importlib.util.find_spec(module) is None:
        lacking(package)
    if (found := installed_version(package)) != version:
        lacking(f"{package} {version}, which the claims are about, not {found},")
    return python_driver(driver)


BY_MAP_ORDER = frozenset(
    {
        "sticky leaves loads uneven, depending on the order of its maps",
        "cooperative: of two claims of one generation one counts, of two unequal ones both",
    }
)

CLIENTS = (
    _java("4.4.0", known_java.JAVA_4_4),
    _java("3.1.2", known_java.JAVA_3_1),
    _java("2.4.1", known_java.JAVA_2_4),
    Client(
        name="librdkafka",
        version="2.16.0",
        command=partial(_python, "confluent-kafka", "2.16.1", "librdkafka_driver"),
        source="drivers/librdkafka_driver.py",
        through="a consumer of confluent-kafka 2.16.1 in a group of its own, as librdkafka has no"
        " function to call: a [broker of ours](../foreign/drivers/one_group_broker.py) tells"
        " it who its members are or what it is assigned, and what it hands out and gets is its"
        " answer",
        defects=known_librdkafka.LIBRDKAFKA,
    ),
    Client(
        name="franz-go",
        version="1.22.2",
        command=partial(go_program, "franz"),
        source="go/franz/main.go",
        through="`GroupBalancer` of package kgo for groups and UserData; package kmsg for bytes",
        defects=known.FRANZ_GO,
    ),
    Client(
        name="Sarama",
        version="1.61.1",
        command=partial(go_program, "sarama"),
        source="go/sarama/main.go",
        through="`BalanceStrategy` for groups and UserData; `ConsumerGroupMemberMetadata` and"
        " `ConsumerGroupMemberAssignment`, as the fields of its group messages return them, for"
        " bytes",
        defects=known.SARAMA,
        drawn_by_lot=BY_MAP_ORDER,
    ),
    Client(
        name="kafka-python",
        version="3.0.12",
        command=partial(_python, "kafka-python", "3.0.12", "kafka_python_driver"),
        source="drivers/kafka_python_driver.py",
        through="the assignors of `kafka.coordinator.assignors`; `kafka.protocol.consumer.metadata`"
        " for bytes",
        defects=known.KAFKA_PYTHON,
    ),
    Client(
        name="aiokafka",
        version="0.14.0",
        command=partial(_python, "aiokafka", "0.14.0", "aiokafka_driver"),
        source="drivers/aiokafka_driver.py",
        through="the assignors of `aiokafka.coordinator.assignors`; `aiokafka.coordinator.protocol`"
        " for bytes",
        defects=known.AIOKAFKA,
    ),
    Client(
        name="kafkajs",
        version="2.2.4",
        command=partial(node_program, "kafkajs_driver.js"),
        source="drivers/kafkajs_driver.js",
        through="`PartitionAssigners.roundRobin` for groups, called as its leader does (here the"
        " first member); `AssignerProtocol` for bytes",
        defects=known.KAFKAJS,
    ),
)
BY_KEY = {client.key: client for client in CLIENTS}


@cache
def results(key: str) -> tuple[Outcome, ...]:
    """What comes of all vectors; asks the client once."""
    with ProgramUnderTest(BY_KEY[key].command(), timeout_seconds=TIMEOUT_S) as program:
        return tuple(outcomes(vectors(), program, Strictness()))


def locked_versions() -> set[str]:
    """Name and version of what Go's and Node's lock files name."""
    go = (GO_SOURCES / "go.mod").read_text()
    node = next(path for path in NODE.made_from if path.name == "package-lock.json").read_text()
    modules = {"franz-go": "github.com/twmb/franz-go", "Sarama": "github.com/IBM/sarama"}
    found = {
        f"{name}-{match[1]}"
        for name, module in modules.items()
        if (match := re.search(rf"^\s*{re.escape(module)} v(\S+)", go, flags=re.MULTILINE))
    }
    kafkajs = re.search(r'"node_modules/kafkajs": \{\s*"version": "([^"]+)"', node)
    return found | ({f"kafkajs-{kafkajs[1]}"} if kafkajs else set())
