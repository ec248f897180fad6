"""Names in a client's module that stand for objects of ours while at least one strategy lives.

Clients decode what members and leaders write before an assignor is asked, and raise for bytes they
cannot read. There is no setting for it: the name by which a client finds its decoder has to
stand for a tolerant one. That is one replacement for the whole process, so it is counted.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping

from assignors.clients.common.latest_topics import LatestTopics


class ReplacedNames:
    """Attributes of `owner` that are replaced while something uses them."""

    def __init__(self, owner: object, replacements: Mapping[str, object]) -> None:
        """Replace nothing yet; the originals are those at this moment."""
        self._owner = owner
        self._replacements = dict(replacements)
        self._originals = {name: getattr(owner, name) for name in replacements}
        # Reentrant: a garbage collection inside `use` may end the life of another user.
        self._lock = threading.RLock()
        self._count = 0
        self.users: weakref.WeakSet[object] = weakref.WeakSet()
        self.latest_topics = LatestTopics()
        """Shared by the replaced decoders; no assignment depends on it."""

    def use(self, user: object) -> None:
        """Replace the names for as long as `user` lives."""
        with self._lock:
            self._count += 1
            self._set(self._replacements)
            self.users.add(user)
        weakref.finalize(user, self._release).atexit = False

    def _release(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._set(self._originals)
                self.latest_topics = LatestTopics()

    def _set(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            setattr(self._owner, name, value)
