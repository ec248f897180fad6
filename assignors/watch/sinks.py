"""Where alerts go besides the screen: a file of JSON lines, and an Alertmanager.

An alert has the same id whenever it is sent, so sending it twice does no harm. A receiver that is
down never holds up the watch: alerts wait in a thread of their own, the last event of each alone,
and what is open is sent again every minute, as Alertmanager forgets what it no longer hears of.
"""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from assignors.watch.events import Alert, Event, as_document

RESEND_S = 60.0
"""How often open alerts are sent again."""
HOLD_S = 4 * RESEND_S
"""How long after it was last sent an open alert is over for Alertmanager, as Prometheus has it."""
TIMEOUT_S = 10.0
RETRY_S, RETRY_MAX_S = 1.0, 30.0
"""The wait after the first failure; it doubles up to the second number."""
WAITING_MAX = 10_000
"""Alerts that wait for a receiver that is down; the oldest are left out beyond it."""
POSTED_MAX = 500
"""Alerts of one request."""
PATH = "/api/v2/alerts"
REFUSED = range(400, 500)
"""Answers after which the same request would be refused again; 429 asks for patience."""
TOO_MANY = 429


class Sink(Protocol):
    """What takes the alerts of a watch."""

    def take(self, alerts: Sequence[Alert]) -> None:
        """Take the next events, in their order. Returns at once."""

    def close(self) -> None:
        """Send what is waiting, for a bounded time, and end."""


class AlertFile:
    """Appends each event to a file, a JSON line each."""

    def __init__(self, path: str | Path) -> None:
        """Open the file; `OSError` where it cannot be written."""
        self._stream = Path(path).open("ab")  # noqa: SIM115 - closed by `close`

    def take(self, alerts: Sequence[Alert]) -> None:
        """Write a line for each event, and flush."""
        self._stream.writelines(json.dumps(as_document(one)).encode() + b"\n" for one in alerts)
        self._stream.flush()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class Alertmanager:
    """Sends alerts to an Alertmanager, or to whatever takes `POST /api/v2/alerts`."""

    def __init__(
        self,
        url: str,
        *,
        labels: Mapping[str, str] = MappingProxyType({}),
        say: Callable[[str], None] = lambda _: None,
        resend_s: float = RESEND_S,
    ) -> None:
        """Start the thread that sends.

        `url` without a path gets `PATH`. `labels` are added to each alert's. `say` gets a sentence
        when the receiver stops to answer, and when it answers again. Raises `ValueError` for an
        address that is not HTTP.
        """
        self.url = endpoint(url)
        self._headers = {"Content-Type": "application/json", **_login(url)}
        self._labels = labels
        self._say = say
        self._resend_s = resend_s
        self._open: dict[str, Alert] = {}
        self._waiting: dict[str, Alert] = {}
        self._changed = threading.Condition()
        self._is_closed = False
        self.left_out = 0
        """Alerts that were never sent, as too many waited or the receiver refused them."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def take(self, alerts: Sequence[Alert]) -> None:
        """Leave the alerts to the thread that sends; of one alert the last event counts."""
        with self._changed:
            for alert in alerts:
                if alert.event is Event.RESOLVED:
                    self._open.pop(alert.id, None)
                else:
                    self._open[alert.id] = alert
                self._waiting[alert.id] = alert
            while len(self._waiting) > WAITING_MAX:
                del self._waiting[next(iter(self._waiting))]
                self.left_out += 1
            self._changed.notify()

    def close(self, timeout_s: float = TIMEOUT_S) -> None:
        """Send what waits, once, and end. What is open ends by itself after `HOLD_S`."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(timeout_s)
        if self._waiting:
            self._say(f"{self.url}: {len(self._waiting)} alerts were not sent")

    def _run(self) -> None:
        resend_at = time.monotonic() + self._resend_s
        retry_s = 0.0
        while True:
            with self._changed:
                if retry_s:
                    self._changed.wait_for(lambda: self._is_closed, retry_s)
                else:
                    self._changed.wait_for(
                        lambda: self._waiting or self._is_closed,
                        max(resend_at - time.monotonic(), 0),
                    )
                is_last = self._is_closed
                if time.monotonic() >= resend_at:
                    resend_at = time.monotonic() + self._resend_s
                    self._waiting = {**self._open, **self._waiting}
                batch = dict(list(self._waiting.items())[:POSTED_MAX])
            failure = self._post(batch.values()) if batch else None
            if failure is None:
                self._sent(batch)
            if failure and not retry_s:
                self._say(f"{self.url}: {failure}; alerts wait and are sent again")
            elif retry_s and not failure:
                self._say(f"{self.url}: answers again")
            retry_s = min(max(2 * retry_s, RETRY_S), RETRY_MAX_S) if failure else 0.0
            if is_last and (failure or not self._waiting):
                return

    def _sent(self, batch: Mapping[str, Alert]) -> None:
        """Forget what has been sent, unless a later event of the same alert waits."""
        with self._changed:
            for key, alert in batch.items():
                if self._waiting.get(key) is alert:
                    del self._waiting[key]

    def _post(self, alerts: Iterable[Alert]) -> str | None:
        """Send one request; return why it has to be sent again."""
        now_ms = time.time_ns() // 1_000_000
        listed = [as_alertmanager(one, now_ms=now_ms, labels=self._labels) for one in alerts]
        request = Request(  # noqa: S310 - `endpoint` has checked it
            self.url,
            data=json.dumps(listed).encode(),
            headers=self._headers,
            method="POST",
        )
        try:
            with urlopen(request, timeout=TIMEOUT_S):  # noqa: S310 - as above
                return None
        except HTTPError as error:
            with error:
                if error.code not in REFUSED or error.code == TOO_MANY:
                    return f"HTTP {error.code}"
                self.left_out += len(listed)
                text = error.read(200).decode("utf-8", "replace").strip()
            self._say(f"{self.url}: {len(listed)} alerts refused: HTTP {error.code} {text}")
            return None
        except (OSError, HTTPException) as error:
            return str(getattr(error, "reason", None) or error or type(error).__name__)


def endpoint(url: str) -> str:
    """Return the address that alerts are posted to, without a password.

    >>> endpoint("http://alertmanager:9093"), endpoint("https://me:secret@host/hook?x=1")
    ('http://alertmanager:9093/api/v2/alerts', 'https://host/hook?x=1')
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r}: not http://HOST or https://HOST")
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
    return bare._replace(path=PATH).geturl() if parts.path in {"", "/"} else bare.geturl()


def _login(url: str) -> dict[str, str]:
    """Return the header with the name and the password of an address, if it has some."""
    parts = urlsplit(url)
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def as_alertmanager(
    alert: Alert, *, now_ms: int, labels: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return an alert as Alertmanager's API has it: labels, annotations, startsAt, endsAt.

    Labels tell alerts apart, so the id is one of them. An open alert ends `HOLD_S` after `now_ms`,
    epoch milliseconds, unless it is sent again.
    """
    is_over = alert.event is Event.RESOLVED
    told = {
        "summary": alert.evidence,
        "description": alert.what_to_do,
        "leader": alert.leader or "",
        "members": ", ".join(alert.members),
        "withdrawn": "true" if alert.withdrawn else "",
    }
    named = {"alertname": alert.kind, "group": alert.group, "severity": alert.severity}
    return {
        "labels": {**labels, **{k: v for k, v in named.items() if v}, "id": alert.id},
        "annotations": {name: text for name, text in told.items() if text},
        "startsAt": instant(alert.opened_ms),
        "endsAt": instant(alert.at_ms if is_over else now_ms + int(HOLD_S * 1000)),
    }


def instant(at_ms: int) -> str:
    """Return epoch milliseconds as RFC 3339 has times.

    >>> instant(1795376715250)
    '2026-11-22T19:45:15.250Z'
    """
    text = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
