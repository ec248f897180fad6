"""`dump` and `replay --bootstrap` before any broker is asked; `tests/interop` has one."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.cli.inputs.option_types import INSTANT
from assignors.replay.dump import write_whole
from assignors.replay.sources import Raw, SourceError
from tests.cli.running import ROOT, answers, called

SAMPLE = ROOT / "assignors" / "replay" / "sample" / "incident.jsonl.gz"
NOWHERE = ("--bootstrap", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("dump",), "name a broker with --bootstrap"),
        (("dump", *NOWHERE, "-o", "dump.txt"), "ends neither in .parquet nor in .jsonl or .jsonl"),
        (("dump", *NOWHERE, "-o", "no/such/folder/d.jsonl"), "no/such/folder: no such folder"),
        (("dump", "--bootstrap", ""), "--bootstrap names no broker"),
        (("dump", *NOWHERE, "--group", "("), "unterminated subpattern"),
        (("dump", *NOWHERE, "--since", "yesterday"), "not 2026-11-21T03:00 (UTC), 2026-"),
        (("dump", *NOWHERE, "--command-config", "none"), "none: No such file"),
        (("replay", str(SAMPLE), "--command-config", "none"), "none: No such file"),
        (("replay", "--sample", "--command-config", "x"), "--sample is a source"),
    ],
)
def test_what_cannot_be_is_said_before_a_broker_is_asked(
    arguments: tuple[str, ...], words: str
) -> None:
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 2
    assert isinstance(done.exception, SystemExit)
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize("name", ["dump", "replay"])
def test_the_package_that_is_missing_is_named_with_its_extra(name: str) -> None:
    program = (
        "import sys; sys.modules['confluent_kafka'] = None\n"
        "from assignors.cli.command import run\n"
        f"sys.exit(run([{name!r}, '--bootstrap', '127.0.0.1:1']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 2
    assert "needs confluent_kafka: pip install 'kafka-assignors[dump]'" in done.stderr


def test_lines_of_standard_input_are_replayed() -> None:
    lines = gzip.decompress(SAMPLE.read_bytes())
    table = ("--table", "generations")
    assert answers("replay", "-", *table, given=lines) == answers("replay", str(SAMPLE), *table)
    done = called("replay", "-", given=b"")
    assert done.returncode == 2
    assert b"standard input: no records" in done.stderr


def test_a_dump_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    def chunks() -> Iterator[list[Raw]]:
        yield [Raw(key=b"k", value=b"v")]
        raise SourceError("the broker went away")

    for name in ("dump.parquet", "dump.jsonl", "dump.jsonl.gz"):
        file = tmp_path / name
        file.write_bytes(b"yesterday's")
        with pytest.raises(SourceError):
            write_whole(file, chunks())
        assert file.read_bytes() == b"yesterday's"
    assert len(list(tmp_path.iterdir())) == 3


def instant(text: str) -> int:
    return INSTANT.convert(text, None, None)


def test_an_instant_has_four_forms() -> None:
    assert instant("2026-11-21T03:00") == instant("2026-11-21T04:00+01:00") == 1795230000000
    assert instant("1795230000000") == instant("2026-11-21 03:00:00.000") == 1795230000000
    assert instant("2026-11-21") == instant("2026-11-21T00:00Z")
    now_ms = datetime.now(tz=UTC).timestamp() * 1000
    for text, ago_ms in (("2h", 7_200_000), ("1d", 86_400_000), ("90 s", 90_000), ("5m", 300_000)):
        assert abs(now_ms - ago_ms - instant(text)) < 5_000
    for text in ("", "soon", "2 weeks", "12", "2026-13-01"):
        with pytest.raises(click.BadParameter):
            instant(text)


def test_a_file_of_settings_is_never_quoted(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("sasl.jaas.config=x.Y required password=tops3cret\n")
    done = called("dump", *NOWHERE, "--command-config", str(config))
    assert done.returncode == 2
    assert b"tops3cret" not in done.stderr + done.stdout
    assert f"{config}: line 1: sasl.jaas.config ".encode() in done.stderr
