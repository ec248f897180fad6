"""`dump` against a real broker: what its segment files hold is what comes out, and who may not."""

from __future__ import annotations

import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient

from assignors.cli.command import command
from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay import replay
from assignors.replay.sources import Isolation, Raw, SourceError, open_source, read_segments
from assignors.replay.sources.topic_by_consumer import open_topic
from assignors.replay.tables.columns import as_dict
from tests.cli.running import COMMAND, ROOT, answers, process
from tests.conftest import need
from tests.interop.broker import Broker
from tests.interop.secured import OFFSETS, PASSWORD, login_file, secured_broker, tls_file
from tests.interop.test_offsets_sources import make_topic, transactions
from wire.records import decode_record

pytestmark = pytest.mark.interop

BASH = "bash"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def broker(built: None, folder: Path) -> Iterator[Broker]:
    """A broker whose groups have ended: nothing writes into its offsets topic any more."""
    need("openssl")
    with secured_broker(folder) as started:
        topic = make_topic(started, "orders")
        transactions(started, topic, "paid")
        play_group(started, topic, "classic", {"partition.assignment.strategy": "range"})
        play_group(started, topic, "newer", {"group.protocol": "consumer"})
        yield started


def play_group(broker: Broker, topic: str, group: str, settings: dict[str, str]) -> None:
    """A member joins, commits and leaves."""
    basic = {"bootstrap.servers": broker.bootstrap, "group.id": group, "client.id": f"{group}-1"}
    member = Consumer({**basic, "auto.offset.reset": "earliest", **settings})
    member.subscribe([topic])
    until = time.monotonic() + 30
    while member.poll(0.2) is None:
        assert time.monotonic() < until, "the group did not form"
    member.commit(asynchronous=False)
    member.close()


def in_files(broker: Broker, isolation: Isolation = Isolation.READ_COMMITTED) -> list[Raw]:
    """What the broker's files hold; how a transaction ended, a consumer does not know."""
    raws = read_segments(broker.folder / "data", isolation=isolation)
    return [replace(raw, transaction=None) for raw in raws]


def dumped(broker: Broker, file: Path, *options: str) -> list[Raw]:
    done = run("dump", "--bootstrap", broker.bootstrap, "-o", str(file), *options)
    assert done.exit_code == 0, done.stderr
    raws = list(open_source(file))
    assert done.stderr == f"wrote {len(raws):,} records to {file}\n"
    return raws


def run(*arguments: str) -> Result:
    """The command in this process: a quarter of the time."""
    return CliRunner().invoke(command, arguments)


def replayed(*arguments: str) -> list[dict[str, Any]]:
    """The rows that `replay` prints, whatever it finds in them."""
    rows, code = answers("replay", *arguments)
    assert code in {0, 1}
    return rows


def groups(broker: Broker) -> set[str]:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    return {group.group_id for group in admin.list_consumer_groups().result(30).valid}


def test_a_dump_is_what_the_brokers_files_hold(broker: Broker, tmp_path: Path) -> None:
    held = in_files(broker)
    before = groups(broker)
    for name in ("dump.parquet", "dump.jsonl", "dump.jsonl.gz"):
        assert dumped(broker, tmp_path / name) == held
    assert len({raw.partition for raw in held}) > 1
    assert groups(broker) == before, "a dump makes no group"
    assert in_files(broker) == held, "a dump writes nothing"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("dump.jsonl", "dump.jsonl.gz", "dump.parquet")
    ]


def test_uncommitted_records_come_where_they_are_asked_for(broker: Broker, tmp_path: Path) -> None:
    every = in_files(broker, Isolation.READ_UNCOMMITTED)
    assert len(every) > len(in_files(broker)), "some transactions were aborted"
    assert dumped(broker, tmp_path / "all.jsonl", "--read-uncommitted") == every


def test_a_dump_of_some_groups_has_their_records_alone(broker: Broker, tmp_path: Path) -> None:
    chosen = dumped(broker, tmp_path / "some.parquet", "--group", "(classic|ewer)$")
    named = [(raw, decode_record(raw.key, raw.value).key or {}) for raw in in_files(broker)]
    names = [(raw, key.get("group", key.get("groupId"))) for raw, key in named]
    assert chosen == [raw for raw, name in names if name in {"classic", "newer"}]
    assert {name for _, name in names} == {"classic", "newer", "paid"}


def test_since_leaves_out_what_is_older(broker: Broker, tmp_path: Path) -> None:
    held = in_files(broker)
    times = sorted({raw.timestamp_ms for raw in held if raw.timestamp_ms is not None})
    since_ms = times[len(times) // 2]
    chosen = dumped(broker, tmp_path / "late.jsonl", "--since", str(since_ms))
    assert chosen == [raw for raw in held if (raw.timestamp_ms or 0) >= since_ms]
    assert 0 < len(chosen) < len(held)


def test_replay_of_a_cluster_a_dump_and_its_files_is_the_same(
    broker: Broker, tmp_path: Path
) -> None:
    file = tmp_path / "dump.parquet"
    dumped(broker, file)
    bootstrap = ("--bootstrap", broker.bootstrap)
    tables = ("--table", "groups", "--table", "generations", "--table", "offsets")
    of_files = replayed(str(broker.folder / "data"), *bootstrap, *tables)
    for row in of_files:
        if "is_aborted" in row["row"]:
            # Files say that a transaction was committed; a consumer only gets no other records.
            row["row"]["is_aborted"] = None
    assert replayed(str(file), *bootstrap, *tables) == of_files
    assert replayed(*bootstrap, *tables) == of_files
    in_python = replay(bootstrap=broker.bootstrap)
    assert [
        {"schema": 2, "table": name, "row": as_dict(row), "error": None, "error_kind": None}
        for name in ("groups", "generations", "offsets")
        for row in getattr(in_python, name)
    ] == of_files
    one = replayed(*bootstrap, "--group", "classic", *tables)
    assert len(replay(bootstrap=broker.bootstrap, group="classic").groups) == 1
    assert one == [row for row in of_files if row["row"]["group"] == "classic"]
    assert one


def test_a_dump_can_be_piped(broker: Broker) -> None:
    lines, _ = answers("dump", "--bootstrap", broker.bootstrap)
    assert [line["offset"] for line in lines] == [raw.offset for raw in in_files(broker)]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_whoever_may_read_the_topic_needs_no_other_permission(
    broker: Broker, tmp_path: Path, mechanism: str
) -> None:
    config = login_file(tmp_path, "reader", mechanism=mechanism)
    options = ("--bootstrap", broker.address("LOGIN"), "--command-config", str(config))
    file = tmp_path / "dump.parquet"
    done = run("dump", *options, "-o", str(file))
    assert done.exit_code == 0, done.stderr
    assert list(open_source(file)) == in_files(broker)
    assert len(replayed(*options, "--group", "newer")) > 0


def test_a_certificate_is_checked(broker: Broker, folder: Path, tmp_path: Path) -> None:
    address = broker.address("TLS")
    config = tls_file(tmp_path, folder / "certificate.pem")
    done = run("dump", "--bootstrap", address, "--command-config", str(config))
    assert done.exit_code == 0, done.stderr
    config.write_text("security.protocol=SSL\n")
    assert_refused(address, config, "TLS failed: ", "certificate verify failed")


def assert_refused(address: str, config: Path, *words: str) -> None:
    """Exit code 2, one sentence with these words, no secret in it, and no file left."""
    file = config.parent / "never.parquet"
    # A process of its own, as three of these run at once.
    done = process(
        *("dump", "--bootstrap", address, "--command-config", str(config), "-o", str(file))
    )
    said = done.stderr.decode()
    assert done.returncode == 2, said
    assert len(said.splitlines()) == 1, said
    for word in (address, *words):
        assert word in said
    assert PASSWORD not in said
    assert "pass=word" not in said
    assert list(config.parent.glob("*never*")) == []


def test_every_refusal_is_one_sentence(broker: Broker, tmp_path: Path) -> None:
    address = broker.address("LOGIN")
    wrong = login_file(tmp_path, "reader", password="pass=word, but wrong")  # noqa: S106 - no one's
    assert_refused(address, wrong, "authentication failed: ", "Invalid username or password")
    unknown = login_file(tmp_path, "reader", mechanism="SCRAM-SHA-512")
    assert_refused(address, unknown, "authentication failed: ", "Unsupported SASL mechanism")
    for user in ("stranger", "guest"):
        config = login_file(tmp_path, user)
        assert_refused(address, config, f"no permission on topic {OFFSETS}")


def test_reading_ends_where_the_topic_ended_when_it_began(broker: Broker) -> None:
    """And times that go back are compared one by one: a broker gives only the first place."""
    topic = make_topic(broker, "written-meanwhile")
    producer = Producer({"bootstrap.servers": broker.bootstrap})

    def write(*times_ms: int) -> None:
        for time_ms in times_ms:
            producer.produce(topic, key=b"k", value=b"%d" % time_ms, timestamp=time_ms)
            assert producer.flush(30) == 0

    write(100, 300, 200, 400)
    settings = ClientSettings().at(broker.bootstrap)
    asked: tuple[tuple[int | None, int, list[int]], ...] = (
        (None, 4, [100, 300, 200, 400]),
        (250, 4, [300, 400]),
        (401, 2, []),
    )
    for since_ms, offset_count, expected in asked:
        with open_topic(settings, topic=topic, since_ms=since_ms) as opened:
            assert opened.offset_count == offset_count, "what is older is not even fetched"
            write(500)
            found = [raw for chunk in opened.chunks for raw in chunk.raws]
        assert [raw.timestamp_ms for raw in found if raw.timestamp_ms != 500] == expected
        written_before = 0 if since_ms is None else 1 if since_ms == 250 else 2
        assert len(found) - len(expected) == written_before


def test_a_topic_that_is_not_there_is_one_sentence(broker: Broker) -> None:
    settings = ClientSettings().at(broker.bootstrap)
    with pytest.raises(SourceError) as caught, open_topic(settings, topic="no-such-topic"):
        pass
    assert str(caught.value) == f"{broker.bootstrap}: no topic no-such-topic"


def test_a_cluster_that_does_not_answer_is_one_sentence(broker: Broker, tmp_path: Path) -> None:
    """Three at once, as each waits for ten seconds: nobody there, no password, no TLS."""
    asked = (
        ("none", "", "127.0.0.1:1", "Connection refused"),
        ("plain", "", broker.address("LOGIN"), "is security.protocol the one of this port?"),
        ("tls", "security.protocol=SSL\n", broker.bootstrap, "connecting to a PLAINTEXT broker"),
    )
    with ThreadPoolExecutor(len(asked)) as pool:
        done = []
        for name, lines, address, words in asked:
            folder = tmp_path / name
            folder.mkdir()
            config = folder / "client.properties"
            config.write_text(lines)
            waits = "no broker answers within 10 seconds: "
            done.append(pool.submit(assert_refused, address, config, waits, words))
        for each in done:
            each.result()


def test_the_commands_of_the_page_do_what_it_says(broker: Broker, tmp_path: Path) -> None:
    """Those of ours: the page has one of Kafka's too, which `secured.py` plays."""
    text = (ROOT / "docs" / "dump.md").read_text(encoding="utf-8")
    commands = re.findall(r"(?:^|`)(kafka-assignors (?:dump|replay) [^`\n]+)", text, re.MULTILINE)
    assert len(commands) == 4
    ours = shlex.join(COMMAND)
    for words in commands:
        line = words.replace("broker:9092", broker.bootstrap).replace("kafka-assignors", ours)
        line = line.replace("dump.parquet", str(tmp_path / "dump.parquet"))
        done = subprocess.run(
            [BASH, "-o", "pipefail", "-c", line], capture_output=True, check=False, cwd=ROOT
        )
        assert done.returncode in {0, 1}, done.stderr.decode()
        assert done.stdout or (tmp_path / "dump.parquet").exists()
