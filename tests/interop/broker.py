"""A Kafka 4.4.0 broker of our own: KRaft, one node, loopback, a folder that goes with it.

Settings make groups quick: no wait before the first rebalance, short session timeouts allowed,
four partitions of group metadata. Log cleaning is off, so that the whole history of every group
stays readable in `__consumer_offsets`. A crashed broker may be back after four seconds: until then
the controller holds its name taken.

    with Broker() as broker:
        broker.bootstrap      # "127.0.0.1:40123"
        broker.restart()      # in the middle of whatever happens
"""

from __future__ import annotations

import base64
import re
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v4.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v4.response import FindCoordinatorResponse
from kio.static.primitive import i8

from tests.interop.connection import Connection
from tests.interop.install import BROKER, Step, class_path

READY_S = 60.0
STOP_S = 20.0

JVM = (
    *("java", "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    # says who leads, which no request tells
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.coordinator.group=info",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSX",
)

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners}
listener.security.protocol.map={protocols},CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
num.network.threads=2
num.io.threads=4
broker.session.timeout.ms=4000
broker.heartbeat.interval.ms=500
auto.create.topics.enable=false
log.cleaner.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=2
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=6000
group.consumer.min.heartbeat.interval.ms=100
group.consumer.heartbeat.interval.ms=500
group.consumer.migration.policy=bidirectional
"""

BESIDE = """\
process.roles=broker
node.id=2
listeners={listeners}
"""
"""Settings of a second broker, in place of those above: it leaves control to the first."""

LEADER = re.compile(
    r"Assignment received from leader (?P<leader>\S+) for group (?P<group>\S+) "
    r"for generation (?P<generation>\d+)"
)


class Broker:
    """A broker that lives as long as its `with` block; `settings` replace those above.

    `listeners` are more than the one without security: name -> protocol, as `SASL_PLAINTEXT`. With
    `beside` it is the second broker of that one's cluster.
    """

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        listeners: Mapping[str, str] | None = None,
        beside: Broker | None = None,
    ) -> None:
        self._settings = settings or {}
        self._is_second = beside is not None
        self._protocols = {"PLAINTEXT": "PLAINTEXT", **(listeners or {})}
        self.folder = Path(tempfile.mkdtemp(prefix="broker-"))
        self._controller, *ports = _free_ports(1 + len(self._protocols))
        # A name that begins with "-" would be taken for an option.
        self._cluster = base64.urlsafe_b64encode(b"k" + uuid.uuid4().bytes[1:]).decode().rstrip("=")
        if beside is not None:
            self._controller, self._cluster = beside._controller, beside._cluster
        self._ports = dict(zip(self._protocols, ports, strict=True))
        self._process: subprocess.Popen[bytes] | None = None
        self.started_in_s = 0.0
        """How long the last start took, formatting included."""

    @property
    def bootstrap(self) -> str:
        """Where clients start from; the same after a restart."""
        return self.address("PLAINTEXT")

    def address(self, listener: str) -> str:
        """Where clients of a listener start from; the same after a restart."""
        return f"127.0.0.1:{self._ports[listener]}"

    @property
    def process_id(self) -> int:
        """The id of the process that runs now."""
        assert self._process is not None, "it runs"
        return self._process.pid

    @property
    def log(self) -> Path:
        """What the broker wrote, over all restarts."""
        return self.folder / "broker.log"

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._remove()

    def start(self) -> None:
        """Start, and wait until groups can be formed."""
        assert self._process is None, "one broker at a time"
        began = time.monotonic()
        settings = self.folder / "server.properties"
        if not settings.exists():
            self._format(settings)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*JVM, "-cp", class_path(BROKER.made()), "kafka.Kafka", str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                # Ctrl-C is for the tests, which then stop the broker in order.
                start_new_session=True,
            )
        self._wait(began + READY_S)
        self.started_in_s = time.monotonic() - began

    def stop(self) -> None:
        """Shut down in order; killed where that takes too long."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """End at once, as a crash does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    def restart(self) -> None:
        """Stop in order and start again, on the same port and with the same data."""
        self.stop()
        self.start()

    def leaders(self, group: str) -> dict[int, str]:
        """Which member led each generation of a classic group, by the broker's log."""
        text = self.log.read_text("utf-8", "replace")
        return {
            int(found["generation"]): found["leader"]
            for found in LEADER.finditer(text)
            if found["group"] == group
        }

    def _format(self, settings: Path) -> None:
        """Write the settings, and the folder of the log as Kafka's tool formats it."""
        lines = (SETTINGS + BESIDE * self._is_second).format(
            listeners=",".join(f"{name}://{self.address(name)}" for name in self._ports),
            protocols=",".join(f"{name}:{kind}" for name, kind in self._protocols.items()),
            controller=self._controller,
            folder=self.folder,
        )
        # Of two lines with one name Java takes the later one.
        lines += "".join(f"{name}={value}\n" for name, value in self._settings.items())
        settings.write_text(lines, "utf-8")
        if self._is_second:
            _formatted(settings, self._cluster)
            return
        # The tool is a JVM of its own: what it writes differs by the name of the cluster alone.
        data = self.folder / "data"
        shutil.copytree(FORMATTED.made() / "data", data)
        properties = data / "meta.properties"
        properties.write_text(properties.read_text("utf-8").replace(TEMPLATE, self._cluster))

    def _wait(self, until: float) -> None:
        assert self._process is not None
        while time.monotonic() < until:
            if self._process.poll() is not None:
                self._process = None
                raise RuntimeError(f"the broker ended: {self._end_of_log()}")
            if self._coordinates():
                return
            time.sleep(0.1)
        self.kill()
        raise TimeoutError(f"no broker after {READY_S:g} s: {self._end_of_log()}")

    def _coordinates(self) -> bool:
        """Whether it names a coordinator; the first question makes it create the offsets topic."""
        question = FindCoordinatorRequest(key_type=i8(0), coordinator_keys=("any",))
        try:
            with Connection(self.bootstrap, client_id="ready", timeout_s=5.0) as connection:
                answer = connection.ask(question, FindCoordinatorResponse)
        except OSError:
            return False
        return answer.coordinators[0].error_code is ErrorCode.none

    def _end_of_log(self) -> str:
        return self.log.read_text("utf-8", "replace")[-3000:]

    def _remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def _formatted(settings: Path, cluster: str) -> None:
    """Format the folder of the log that these settings name, for a cluster of that name."""
    done = subprocess.run(
        [
            *(*JVM, "-cp", class_path(BROKER.made()), "kafka.tools.StorageTool"),
            *("format", "-t", cluster, "-c", str(settings)),
        ],
        capture_output=True,
        text=True,
        timeout=READY_S,
        cwd=settings.parent,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the broker's folder: {done.stdout[-1000:]}{done.stderr[-2000:]}")


TEMPLATE = "kTemplateTemplateTempA"
"""The name of a cluster that never is: a copy has its own."""


def _make_formatted(target: Path) -> None:
    settings = target / "server.properties"
    settings.write_text(
        SETTINGS.format(
            listeners="PLAINTEXT://127.0.0.1:1",
            protocols="PLAINTEXT:PLAINTEXT",
            controller=2,
            folder=target,
        )
    )
    _formatted(settings, TEMPLATE)


FORMATTED = Step(
    name="members/formatted",
    tools=("java", *BROKER.tools),
    made_from=(*BROKER.made_from, Path(__file__)),
    make=_make_formatted,
)
"""The folder of a log, formatted once for all brokers."""


def _free_ports(count: int) -> list[int]:
    """Ports nobody listens on; all held until the last is found, so that they differ."""
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()
