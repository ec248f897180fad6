"""Connections to a cluster that fail with one sentence: who did not answer, and why.

librdkafka connects in the background and reports what goes wrong as events. A broker that cannot
be reached is tried again, as another one may answer; a login or a certificate that was refused is
refused for good.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

T = TypeVar("T")

REACHED_S = 10.0
"""How long to try to reach the cluster."""

KEPT = 100
"""How many events are kept, the last ones."""

_STEP_S = 0.5
TRANSPORT, TIMED_OUT, RESOLVE = KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._RESOLVE  # noqa: SLF001 - the package's names for codes of its own
BROKERS_DOWN = KafkaError._ALL_BROKERS_DOWN  # noqa: SLF001 - as above
AUTHENTICATION, TLS = KafkaError._AUTHENTICATION, KafkaError._SSL  # noqa: SLF001 - as above
PARTITION_EOF, UNKNOWN_TOPIC = KafkaError._PARTITION_EOF, KafkaError._UNKNOWN_TOPIC  # noqa: SLF001 - as above

_RETRIED = frozenset({TRANSPORT, TIMED_OUT, RESOLVE, BROKERS_DOWN})
_REFUSED = {AUTHENTICATION: "authentication failed", TLS: "TLS failed"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Events:
    """What a client has reported so far; it fills both while it runs."""

    errors: deque[KafkaError] = field(default_factory=lambda: deque(maxlen=KEPT))
    log: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT))


def client_options(options: Mapping[str, str], events: Events) -> dict[str, Any]:
    """Return the settings of a client that reports to `events`, and prints nothing."""
    logger = logging.Logger("librdkafka")  # noqa: LOG001 - one a client, known to nobody else
    logger.addHandler(_Collector(events.log))
    return {**options, "error_cb": events.errors.append, "logger": logger}


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
            text = f"no broker answers within {REACHED_S:g} seconds{last_reason(events)}"
            raise ConnectionError(f"{where}: {text}")


def raise_refusal(where: str, events: Events) -> None:
    """Raise `ConnectionError` if a broker has refused this client for good."""
    for error in events.errors:
        if error.code() in _REFUSED:
            raise ConnectionError(f"{where}: {_REFUSED[error.code()]}: {sentence(error)}")


def is_waited_for(error: KafkaError) -> bool:
    """Return whether the client tries again by itself: a broker that is away may come back."""
    return error.code() in _RETRIED


def sentence(error: KafkaError) -> str:
    """Return what an error says, without the address and the times that librdkafka adds."""
    return _plain(error.str()).removeprefix("Broker: ")


def explained(error: KafkaError, events: Events) -> str:
    """Return what an error says; of a broker that cannot be reached also why.

    The brokers to start from may answer, and name others that do not.
    """
    if error.code() in _RETRIED:
        return f"a broker of the cluster does not answer{last_reason(events)}"
    return sentence(error)


def last_reason(events: Events) -> str:
    """Return, behind a colon, what explains best why nothing comes; nothing is an empty text."""
    reasons = [sentence(error) for error in events.errors if error.code() != BROKERS_DOWN]
    texts = reasons or [_plain(text) for text in events.log]
    if not texts:
        return ""
    # librdkafka guesses, with a question mark, what is wrong with the settings.
    text = next((text for text in texts if text.endswith("?")), texts[-1])
    is_cut = any(words in text for words in ("closed by peer", "Broken pipe", "reset by peer"))
    if is_cut and not text.endswith("?"):
        text += "; is security.protocol the one of this port?"
    return f": {text}"


def _plain(text: str) -> str:
    text = text.partition(" (after ")[0]
    _, _, reason = text.partition("/bootstrap: ")
    return reason or text


class _Collector(logging.Handler):
    """Keeps the text of warnings and errors."""

    def __init__(self, texts: deque[str]) -> None:
        super().__init__(logging.WARNING)
        self.texts = texts

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one, without the name of the thread in front."""
        self.texts.append(record.getMessage().rpartition("]: ")[2])
