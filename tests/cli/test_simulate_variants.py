"""`simulate --scenario --assignor`: which assignor is played under which protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import answers, process


def test_assignors_and_protocols_are_compared_side_by_side(tmp_path: Path) -> None:
    page = tmp_path / "restart.html"
    asked = (
        *("simulate", "--scenario", "rolling-restart", "--protocol", "classic,consumer"),
        *("--assignor", "range", "--assignor", "cooperative-sticky", "--report", str(page)),
    )
    rows, code = answers(*asked)
    assert code == 0
    names = [(row["protocol"], row["assignor"]) for row in rows]
    assert names == [
        ("classic", "java/range"),
        ("classic", "optimal/cooperative-sticky"),
        ("consumer", "server/uniform"),
    ]
    assert rows[0]["moves"] > rows[1]["moves"] == rows[2]["moves"]
    text = page.read_text()
    assert all(f">{protocol}, {assignor}</h3>" in text for protocol, assignor in names)
    eager, _ = answers("simulate", "--scenario", "rolling-restart-eager")
    assert rows[0]["moves"] == eager[0]["moves"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--protocol", "consumer", "--assignor", "range"), "range is for the protocol classic"),
        (("--assignor", "server/uniform"), "it is for the protocols consumer and push"),
        (("--assignor", "range", "--show"), "--assignor has no effect beside --show"),
    ],
)
def test_an_assignor_that_no_run_can_have_is_refused(asked: tuple[str, ...], words: str) -> None:
    done = process("simulate", "--scenario", "crash", *asked)
    assert done.returncode == 2
    assert words in done.stderr.decode()


def test_a_brokers_assignor_is_played_where_the_broker_assigns() -> None:
    rows, code = answers(
        *("simulate", "--scenario", "crash", "--protocol", "classic,consumer"),
        *("--assignor", "server/range", "--assignor", "server/uniform"),
    )
    assert code == 0
    assert [(row["protocol"], row["assignor"]) for row in rows] == [
        ("classic", "java/cooperative-sticky"),
        ("consumer", "server/range"),
        ("consumer", "server/uniform"),
    ]
