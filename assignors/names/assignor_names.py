"""What Kafka's classes, clients and configuration files call an assignor, and which of ours it is.

A name may come as it stands in a file or a log:

    org.apache.kafka.clients.consumer.CooperativeStickyAssignor
    partition.assignment.strategy=cooperative-sticky,range
    [class org.apache.kafka.clients.consumer.RangeAssignor]
    group.remote.assignor=uniform

A class of Kafka stands for the copy of that class. A name of the protocol (`cooperative-sticky`, as
librdkafka has it) stands for the recommended assignor of that name.
"""

from __future__ import annotations

import re

BEST: dict[str, str] = {
    "range": "java/range",
    "roundrobin": "java/roundrobin",
    "sticky": "optimal/sticky",
    "cooperative-sticky": "optimal/cooperative-sticky",
}
"""Names of protocols -> the assignors that are recommended for them."""

WITH_TRAFFIC = (*BEST.values(), "weighted/cooperative-weighted")
"""Assignors that are compared in groups with traffic where none is chosen."""

CLIENT_PACKAGE = "org.apache.kafka.clients.consumer."
BROKER_PACKAGE = "org.apache.kafka.coordinator.group.assignor."

CLASSES: dict[str, str] = {
    CLIENT_PACKAGE + "RangeAssignor": "java/range",
    CLIENT_PACKAGE + "RoundRobinAssignor": "java/roundrobin",
    CLIENT_PACKAGE + "StickyAssignor": "java/sticky",
    CLIENT_PACKAGE + "CooperativeStickyAssignor": "java/cooperative-sticky",
    BROKER_PACKAGE + "UniformAssignor": "server/uniform",
    BROKER_PACKAGE + "RangeAssignor": "server/range",
    BROKER_PACKAGE + "SimpleAssignor": "server/simple",
}
"""Kafka's classes -> the assignors that copy them. `RangeAssignor` alone is the client's."""

BROKER_NAMES = {name: f"server/{name}" for name in ("uniform", "range", "simple")}
"""Names of the broker's own assignors, in its configuration and in `group.remote.assignor`."""

CLIENT_KEY = "partition.assignment.strategy"
BROKER_KEYS = ("group.remote.assignor", "group.consumer.assignors", "group.share.assignors")

SETTING = re.compile(
    rf"\s*(?P<key>{'|'.join(map(re.escape, (CLIENT_KEY, *BROKER_KEYS)))})\s*[=:](?P<names>.*)",
    re.DOTALL,
)

ALIASES: dict[str, str] = {
    **CLASSES,
    **{path.rpartition(".")[2]: name for path, name in reversed(CLASSES.items())},
    "uniform": "server/uniform",
    "simple": "server/simple",
    "weighted": "weighted/weighted",
    "cooperative-weighted": "weighted/cooperative-weighted",
}
"""Other names -> names of the registry."""


def names_in(text: str) -> list[str]:
    """Return the names of assignors in a text: of a setting, of a list, or of one name.

    Those of a broker's setting get the family `server`, all others stay as they are written.

    >>> names_in("partition.assignment.strategy = [class a.RangeAssignor, class a.StickyAssignor]")
    ['a.RangeAssignor', 'a.StickyAssignor']
    >>> names_in("group.remote.assignor=range"), names_in("sticky")
    (['server/range'], ['sticky'])
    """
    setting = SETTING.fullmatch(text)
    listed = text if setting is None else setting["names"]
    words = [_bare(word) for word in _bare(listed).split(",")]
    if setting is not None and setting["key"] in BROKER_KEYS:
        words = [BROKER_NAMES.get(word, word) for word in words]
    return words


def _bare(word: str) -> str:
    """Return a name without quotes, brackets, spaces and the word `class` around it."""
    return word.strip("[]\"' \t\r\n").removeprefix("class ").strip("\"' ")
