"""Alerts reach an Alertmanager that is slow, down or picky, each in its last state."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assignors.watch import sinks
from assignors.watch.events import Alert, Event
from assignors.watch.sinks import AlertFile, Alertmanager, as_alertmanager, endpoint

OPENED = Alert(
    event=Event.OPENED,
    id="5df36e8dd51f287c",
    group="billing",
    life=1,
    kind="unassigned",
    severity="high",
    opened_ms=1_795_376_715_250,
    at_ms=1_795_376_715_250,
    evidence="nobody has orders-3",
    what_to_do="start a member",
)
RESOLVED = replace(OPENED, event=Event.RESOLVED, at_ms=OPENED.at_ms + 90_000)


@dataclass
class Receiver:
    """What an HTTP server was sent, and what it answers next."""

    url: str
    answers: list[int] = field(default_factory=list)
    """Codes of the next answers; 200 when it is empty."""
    requests: list[tuple[str, list[dict[str, Any]]]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    login: str = ""

    @property
    def posted(self) -> list[dict[str, Any]]:
        """Every alert of every request that was accepted."""
        return [alert for _, listed in self.requests for alert in listed]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.gate.wait()
            code = found.answers.pop(0) if found.answers else 200
            if code == 200:
                found.requests.append((self.path, sent))
            found.login = self.headers.get("Authorization", "")
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Receiver(f"http://127.0.0.1:{server.server_port}")
        found.gate.set()
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield found
        finally:
            found.gate.set()
            server.shutdown()


def until(is_true: Callable[[], Any], timeout_s: float = 20.0) -> None:
    end = time.monotonic() + timeout_s
    while not is_true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_an_alert_opens_and_ends_in_the_form_of_alertmanager(receiver: Receiver) -> None:
    sink = Alertmanager(receiver.url, labels={"cluster": "blue"})
    sink.take([OPENED])
    until(lambda: len(receiver.requests) == 1)
    sink.take([RESOLVED])
    sink.close()
    (path, (opened,)), (_, (ended,)) = receiver.requests
    assert path == "/api/v2/alerts"
    assert opened["labels"] == ended["labels"]
    assert opened["labels"] == {
        "alertname": "unassigned",
        "cluster": "blue",
        "group": "billing",
        "severity": "high",
        "id": OPENED.id,
    }
    assert opened["annotations"] == {"summary": OPENED.evidence, "description": "start a member"}
    assert opened["startsAt"] == ended["startsAt"] == "2026-11-22T19:45:15.250Z"
    assert ended["endsAt"] == "2026-11-22T19:46:45.250Z"
    assert opened["endsAt"] > opened["startsAt"], "a time to come, by the clock of this machine"


def test_a_receiver_that_is_down_gets_the_last_state_of_each_alert_once_it_is_back(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "RETRY_S", 0.01)
    receiver.answers[:] = [503, 500, 429]
    said: list[str] = []
    sink = Alertmanager(receiver.url, say=said.append)
    other = replace(OPENED, id="other")
    sink.take([OPENED])
    until(lambda: said)
    sink.take([other, RESOLVED])
    until(lambda: len(said) == 2)
    sink.close()
    ends = {alert["labels"]["id"]: alert["endsAt"] for alert in receiver.posted}
    assert ends.keys() == {OPENED.id, "other"}
    assert ends[OPENED.id] == "2026-11-22T19:46:45.250Z"
    assert "HTTP 503" in said[0], "one sentence, not one a try"
    assert "again" in said[1]


def test_a_receiver_that_hangs_holds_up_nobody(receiver: Receiver) -> None:
    receiver.gate.clear()
    sink = Alertmanager(receiver.url)
    began = time.monotonic()
    for number in range(1000):
        sink.take([replace(OPENED, id=str(number))])
    assert time.monotonic() - began < 5, "a thousand alerts, none of them answered"
    receiver.gate.set()
    sink.close()
    assert {alert["labels"]["id"] for alert in receiver.posted} == set(map(str, range(1000)))


def test_too_many_alerts_that_wait_are_left_out_and_counted(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "WAITING_MAX", 3)
    receiver.gate.clear()
    sink = Alertmanager(receiver.url)
    sink.take([replace(OPENED, id=str(number)) for number in range(10)])
    assert sink.left_out == 7
    receiver.gate.set()
    sink.close()


def test_refused_alerts_are_not_sent_for_ever(receiver: Receiver) -> None:
    receiver.answers[:] = [400]
    said: list[str] = []
    sink = Alertmanager(receiver.url, say=said.append)
    sink.take([OPENED])
    until(lambda: said)
    assert "HTTP 400" in said[0]
    sink.close()
    assert sink.left_out == 1
    assert receiver.posted == []


def test_open_alerts_are_sent_again_and_resolved_ones_are_not(receiver: Receiver) -> None:
    sink = Alertmanager(receiver.url, resend_s=0.02)
    sink.take([OPENED, replace(OPENED, id="other")])
    until(lambda: len(receiver.requests) >= 3)
    sink.take([RESOLVED])
    until(lambda: any(one["endsAt"] == "2026-11-22T19:46:45.250Z" for one in receiver.posted))
    seen = len(receiver.requests)
    until(lambda: len(receiver.requests) >= seen + 4)
    sink.close()
    later = [listed for _, listed in receiver.requests[-2:]]
    assert {alert["labels"]["id"] for listed in later for alert in listed} == {"other"}


def test_a_password_is_sent_and_never_said(receiver: Receiver) -> None:
    receiver.answers[:] = [400]
    said: list[str] = []
    sink = Alertmanager(receiver.url.replace("//", "//me:p%40ss@"), say=said.append)
    sink.take([OPENED])
    until(lambda: said)
    sink.close()
    assert receiver.login == f"Basic {b64encode(b'me:p@ss').decode()}"
    assert "p%40ss" not in said[0]


def test_nobody_at_the_address_is_one_sentence() -> None:
    said: list[str] = []
    sink = Alertmanager("http://127.0.0.1:9", say=said.append)
    sink.take([OPENED])
    sink.close()
    assert "refused" in said[0]
    assert said[-1].endswith("1 alerts were not sent")


@pytest.mark.parametrize("url", ["", "alerts.jsonl", "ftp://host/x", "http://", "http:///x"])
def test_an_address_that_is_not_http_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="not http"):
        endpoint(url)


def test_the_watch_itself_has_no_group() -> None:
    alert = as_alertmanager(replace(OPENED, group="", leader="app-1"), now_ms=0)
    assert "group" not in alert["labels"]
    assert alert["annotations"]["leader"] == "app-1"


def test_a_file_goes_on_where_it_was(tmp_path: Path) -> None:
    for alert in (OPENED, RESOLVED):
        sink = AlertFile(tmp_path / "alerts.jsonl")
        sink.take([alert])
        sink.close()
    lines = [json.loads(line) for line in (tmp_path / "alerts.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["opened", "resolved"]
    assert {line["id"] for line in lines} == {OPENED.id}
