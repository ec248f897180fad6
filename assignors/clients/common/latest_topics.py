"""Find the topics of a Subscription that lists the same ones as the Subscription before.

A client decodes the Subscriptions of a group one by one and asks at once for the topics of each.
Most members list the same topics: bytes that begin with the list before are compared, not parsed.
Bytes that end too early behind such a list have its topics too, where a full decoder finds none:
the client then watches a few topics more. The leader decodes all bytes itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignors.clients.common.translation import valid_topics

PLAIN_VERSIONS = {bytes([0, version]): version for version in range(4)}
"""The first bytes of a Subscription -> its version. All have the topics next, then UserData."""


class LatestTopics:
    """The list of topics that was read last. What it returns depends on the bytes alone."""

    def __init__(self) -> None:
        """Start without a list."""
        self._latest: tuple[bytes, list[str]] = (b"", [])

    def keep(self, blob: bytes, topics: Sequence[str]) -> None:
        """Keep the list of a Subscription that was decoded. Cost: O(length of the list)."""
        # Names that are not the bytes they came from are longer, or give another list: not kept.
        names = [topic.encode("utf-8", "replace") for topic in topics]
        listed = b"".join(len(name).to_bytes(4, "big")[-2:] + name for name in names)
        section = len(names).to_bytes(4, "big") + listed
        if blob.startswith(section, 2):
            self._latest = section, valid_topics(topics)

    def head(self, blob: bytes) -> tuple[int, list[str], int] | None:
        """Return version, valid topics and where UserData begins, if the list is the one kept.

        `None` for any other list, and for versions that are not plain. Cost: one comparison.
        """
        section, topics = self._latest
        version = PLAIN_VERSIONS.get(blob[:2])
        if version is None or not section or not blob.startswith(section, 2):
            return None
        return version, list(topics), 2 + len(section)
