"""Connections to a cluster that fail with one sentence: who did not answer, and why.

librdkafka connects in the background and reports what goes wrong as events. A broker that cannot
be reached is tried again, as another one may answer; a login or a certificate that was refused is
refused for good.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

T = TypeVar("T")

REACHED_S = 10.0
"""How long to try to reach the cluster."""

_STEP_S = 0.5
_RETRIED = frozenset(
    {KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE}  # noqa: SLF001 - the names that the package gives to codes of its own
)
_REFUSED = {
    KafkaError._AUTHENTICATION: "authentication failed",  # noqa: SLF001 - as above
    KafkaError._SSL: "TLS failed",  # noqa: SLF001 - as above
}
_PLACE = ("/bootstrap: ", ": ")


@dataclass(frozen=True, kw_only=True, slots=True)
class Events:
    """What a client has reported so far; it fills both lists while it runs."""

    errors: list[KafkaError] = field(default_factory=list)
    log: list[str] = field(default_factory=list)


def client_options(
    bootstrap: str | None, options: Mapping[str, str], events: Events
) -> dict[str, Any]:
    """Return the settings of a client that reports to `events`, and prints nothing."""
    logger = logging.Logger("librdkafka")
    logger.addHandler(_Collector(events.log))
    chosen = dict(options) if bootstrap is None else {**options, "bootstrap.servers": bootstrap}
    return {**chosen, "error_cb": events.errors.append, "logger": logger}


def reached(
    where: str, ask: Callable[[float], T], serve: Callable[[], object], events: Events
) -> T:
    """Return what `ask` returns, which gets the seconds that it may take.

    `serve` lets the client report its events. Raises `ConnectionError`: at once if the cluster
    refuses, after `REACHED_S` if no broker answers.
    """
    until = time.monotonic() + REACHED_S
    while True:
        try:
            return ask(_STEP_S)
        except KafkaException as error:
            failure = error.args[0]
            if failure.code() not in _RETRIED:
                raise ConnectionError(f"{where}: {sentence(failure)}") from error
        serve()
        raise_refusal(where, events)
        if time.monotonic() > until:
            text = f"no broker answers within {REACHED_S:g} seconds{_why(events)}"
            raise ConnectionError(f"{where}: {text}")


def raise_refusal(where: str, events: Events) -> None:
    """Raise `ConnectionError` if a broker has refused this client for good."""
    for error in events.errors:
        if error.code() in _REFUSED:
            raise ConnectionError(f"{where}: {_REFUSED[error.code()]}: {sentence(error)}")


def sentence(error: KafkaError) -> str:
    """Return what an error says, without the address and the times that librdkafka adds."""
    text = error.str().partition(" (after ")[0]
    _, _, reason = text.partition("/bootstrap: ")
    return (reason or text).removeprefix("Broker: ")


def last_reason(events: Events) -> str:
    """Return the last thing that explains why nothing comes; nothing is an empty text."""
    down = KafkaError._ALL_BROKERS_DOWN  # noqa: SLF001 - as above
    reasons = [sentence(error) for error in events.errors if error.code() != down]
    return reasons[-1] if reasons else next(reversed(events.log), "")


def _why(events: Events) -> str:
    reason = last_reason(events)
    return f": {reason}" if reason else ""


class _Collector(logging.Handler):
    """Keeps the text of warnings and errors."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one, without the name of the thread in front."""
        self.texts.append(record.getMessage().rpartition("]: ")[2])
