"""Write what `kafka-consumer-groups.sh --describe` prints of real groups: `outputs/*.txt`.

    python -m tests.described.capture          # about two minutes; fetches the tool's jars once

The groups live on a Kafka 4.4.0 broker. The tool is that of each release in `TOOLS`: its columns
changed with 2.4 and 4.0, and that of 3.9.0 leaves topics out of assignments. Standard error is
part of a file, as where both go to a terminal.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.interop.events import Event
from tests.interop.feed import Feed
from tests.interop.install import BUILD
from tests.interop.members import Flags, Member
from tests.locks import locked

OUTPUTS = Path(__file__).parent / "outputs"
SETTLES_S = 40.0

TOOLS = {
    "2.2.2": ("kafka_2.12", "kafka.admin.ConsumerGroupCommand"),
    "2.4.1": ("kafka_2.13", "kafka.admin.ConsumerGroupCommand"),
    "3.9.0": ("kafka-tools", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
    "4.0.0": ("kafka-tools", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
    "4.3.0": ("kafka-tools", "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"),
}
"""Release -> the artifact that has the tool, and its class. kafka-tools 4.4.0 has no jar."""

MEMBERS, OFFSETS, STATE = ("--members",), ("--offsets",), ("--state",)
VIEWS = {
    # release -> views, as the words of the command; files are named after both
    "2.2.2": ((*MEMBERS, "--verbose"), MEMBERS, OFFSETS, STATE),
    "2.4.1": ((*MEMBERS, "--verbose"), OFFSETS, STATE),
    "3.9.0": ((*MEMBERS, "--verbose"), OFFSETS, STATE),
    "4.0.0": ((*MEMBERS, "--verbose"),),
    "4.3.0": (
        *((*MEMBERS, "--verbose"), MEMBERS),
        *((*OFFSETS, "--verbose"), OFFSETS),
        *((*STATE, "--verbose"), STATE),
    ),
}

TOPICS = {"orders": 6, "payments": 3, "audit.log": 2}

GROUPS = {
    # group -> kind of member, topics, assignor, instance id
    "shop": (
        ("java44", ("orders", "payments"), "cooperative-sticky", ""),
        ("java44", ("orders", "payments"), "cooperative-sticky", "till-2"),
        ("java44", ("orders", "payments"), "cooperative-sticky", ""),
    ),
    "billing": (
        ("java848", ("orders",), "", ""),
        ("java848", ("orders", "audit.log"), "", "bill-2"),
    ),
    "moving": (
        ("java44", ("orders", "payments"), "range", ""),
        ("java848", ("orders", "payments"), "", ""),
    ),
    "night jobs": (
        ("franz", ("payments",), "range", ""),
        ("franz", ("payments",), "range", ""),
        ("franz", ("payments",), "range", ""),
        ("kp", ("payments",), "range", ""),
    ),
    "gone": (("java44", ("payments",), "range", ""),),
}


def _pom(artifact: str, version: str) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>kafka-assignors</groupId><artifactId>tool</artifactId><version>1</version>"
        "<dependencies><dependency><groupId>org.apache.kafka</groupId>"
        f"<artifactId>{artifact}</artifactId><version>{version}</version>"
        "</dependency></dependencies></project>"
    )


def jars(version: str) -> Path:
    """Return the folder with the jars of a release's tool, fetched where it is missing."""
    folder = BUILD / "members" / f"tool-{version}"
    with locked(folder.with_name(f"{folder.name}.lock")):
        if not folder.exists():
            _fetch_jars(version, folder)
    return folder


def _fetch_jars(version: str, folder: Path) -> None:
    artifact, _ = TOOLS[version]
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    (part / "pom.xml").write_text(_pom(artifact, version), "utf-8")
    fetch = ("mvn", "--quiet", "--batch-mode", "--file", str(part / "pom.xml"))
    copy = ("dependency:copy-dependencies", "-DincludeScope=runtime")
    subprocess.run([*fetch, *copy, f"-DoutputDirectory={part}"], check=True, timeout=600)
    part.rename(folder)


def printed(version: str, bootstrap: str, *words: str) -> str:
    """Return what the tool of a release prints, on both of its outputs."""
    _, main_class = TOOLS[version]
    done = subprocess.run(
        [
            *("java", "-Xmx128m", "-cp", f"{jars(version)}{os.sep}*", main_class),
            *("--bootstrap-server", bootstrap, "--describe", *words),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=True,
    )
    noise = ("SLF4J", "log4j", "WARNING: sun.", "Picked up")
    return "".join(
        line for line in done.stdout.splitlines(keepends=True) if not line.startswith(noise)
    )


def main() -> None:
    """Form the groups, and write a file for each release and view."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(Broker())
        admin = Admin(broker.bootstrap)
        admin.create_topics(TOPICS)
        feed = stack.enter_context(Feed(broker.bootstrap, TOPICS))
        feed.start()
        events: list[Event] = []
        started: dict[str, list[Member]] = {}
        for group, members in GROUPS.items():
            for number, (kind, topics, assignor, instance) in enumerate(members, 1):
                flags = Flags(
                    bootstrap=broker.bootstrap,
                    group=group,
                    topics=topics,
                    assignors=(assignor,) if assignor else ("range",),
                    instance=instance,
                )
                name = f"{group.split()[0]}-{number}"
                member = Member(kind, name, flags, events=events, folder=folder)
                member.start()
                stack.callback(member.kill)
                started.setdefault(group, []).append(member)
                _wait(admin, group, number)
        time.sleep(5)
        started["gone"][0].close()
        feed.stop()
        time.sleep(2)
        OUTPUTS.mkdir(exist_ok=True)
        for version, views in VIEWS.items():
            for words in views:
                _write(version, broker.bootstrap, words)


def _write(version: str, bootstrap: str, words: tuple[str, ...]) -> None:
    # Before 2.4 the tool described one group at a time.
    whom = ("--group", "shop") if version == "2.2.2" else ("--all-groups",)
    text = printed(version, bootstrap, *whom, *words)
    # as long as the port it stands for, so that columns stay where they are
    text = text.replace(bootstrap.rpartition(":")[2], "19092")
    name = "-".join(word.removeprefix("--") for word in words)
    (OUTPUTS / f"{version}-{name}.txt").write_text(text, "utf-8")
    sys.stdout.write(f"{version} {name}: {len(text)} characters\n")


def _wait(admin: Admin, group: str, count: int) -> None:
    until = time.monotonic() + SETTLES_S
    while time.monotonic() < until:
        described = admin.describe(group)
        if described.state == "Stable" and len(described.members) == count:
            return
        time.sleep(0.2)
    raise TimeoutError(f"{group}: {described.state} with {len(described.members)} members")


if __name__ == "__main__":
    main()
