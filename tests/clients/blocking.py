"""What a strategy does while it computes an assignment: every call that could wait is written down.

That is any use of a socket, a look for events of one, a sleep, a wait for another thread, and
kafka-python's own ways to wait for an answer. Only the thread that assigns is watched.
"""

from __future__ import annotations

import functools
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from kafka.net.selector import NetworkSelector

WAITING: tuple[tuple[Any, str], ...] = (
    *((socket.socket, name) for name in ("connect", "send", "sendall", "recv", "recv_into")),
    (socket, "create_connection"),
    (socket, "getaddrinfo"),
    (selectors.DefaultSelector, "select"),
    (time, "sleep"),
    (threading.Event, "wait"),
    (threading.Condition, "wait"),
    (threading.Thread, "join"),
    (NetworkSelector, "run"),
    (NetworkSelector, "poll"),
)


@contextmanager
def watched(assigning: tuple[Any, str]) -> Iterator[list[str]]:
    """Yield the list of calls that wait made within this method, as `class.name`."""
    seen: list[str] = []
    inside = threading.local()
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in WAITING:
            patch.setattr(owner, name, _noted(getattr(owner, name), owner, name, inside, seen))
        owner, name = assigning
        patch.setattr(owner, name, _marked(getattr(owner, name), inside))
        yield seen


def _noted(
    found: Callable[..., Any], owner: Any, name: str, inside: threading.local, seen: list[str]
) -> Callable[..., Any]:
    @functools.wraps(found)
    def call(*arguments: Any, **named: Any) -> Any:
        if getattr(inside, "depth", 0):
            seen.append(f"{owner.__name__}.{name}")
        return found(*arguments, **named)

    return call


def _marked(found: Callable[..., Any], inside: threading.local) -> Callable[..., Any]:
    @functools.wraps(found)
    def call(*arguments: Any, **named: Any) -> Any:
        inside.depth = getattr(inside, "depth", 0) + 1
        try:
            return found(*arguments, **named)
        finally:
            inside.depth -= 1

    return call
