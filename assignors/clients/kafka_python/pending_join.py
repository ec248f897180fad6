"""The answer to a join, kept until the application polls again.

kafka-python sends a join in one `poll()` and looks for its answer in the next. It checks whether
the join is done before it looks at the answer: an answer that arrives between two polls is
discarded, and the member joins again. An application that works between short polls may lose
one answer after the other that way, and where it leads, every loss is a round for the whole
group (kafka-python 3.0.12).

So kafka-python gets its own future in a wrapper that counts as unfinished until it is awaited. An
answer keeps for half a session timeout: until then nobody else can have been given what it
assigns, and the first heartbeat is still in time. A failure, an older answer, and one for a
membership that is lost by now count as kafka-python counts them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any


class PendingJoin:
    """A future of kafka-python's that is not done before it has been awaited."""

    __slots__ = ("_clock", "_finished", "_future", "_generation", "_keep_s")

    def __init__(
        self,
        future: Any,  # noqa: ANN401 - kafka-python's type
        *,
        generation: Callable[[], object],
        keep_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep the answer for `keep_s` seconds, while `generation()` returns the same object."""
        self._future = future
        self._generation = generation
        self._keep_s = keep_s
        self._clock = clock
        self._finished: tuple[float, object] | None = None
        future.add_callback(self._finish)

    @property
    def is_done(self) -> bool:
        """Whether the join failed, or its answer is too old or for a lost membership."""
        if self._future.exception is not None:
            return True
        if self._finished is None:
            return False
        at_s, generation = self._finished
        return self._generation() is not generation or self._clock() - at_s > self._keep_s

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait as for the future itself."""
        return self._future.__await__()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        return getattr(self._future, name)

    def _finish(self, _answer: object) -> None:
        self._finished = self._clock(), self._generation()
