"""Real lines of every format: what the command writes about the data of the tests, and reads."""

from __future__ import annotations

import gzip
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner

from assignors.cli.command import command
from assignors.documents.groups import group_from_document
from assignors.documents.values import DocumentError
from assignors.registry import ASSIGNORS
from assignors.replay.sample import skewed_log_ends
from tests.cli.running import GROUP, ROOT, answers
from tests.formats.traffic_lines import simulated_traffic, traffic
from tests.weighted.test_weights_file import WHOLE_FILE
from tests.wire.test_frames import ALL, frame_bytes

Line = dict[str, Any]

VECTORS = ROOT / "tests" / "vectors"
EXAMPLES = ROOT / "notebooks" / "examples"
REAL_TOPIC = ROOT / "tests" / "replay" / "data" / "real.jsonl.gz"
SCENARIO = "rolling-restart"
RAISES = "tests.own_assignors.odd_ones:RAISES"
FAILING = json.dumps({"id": "bad", "topics": ["t"]})

ODD_LINES = ("", "{", "[]", "null", '{"members": [], "topics": {}}', FAILING)
"""Lines that are no group; each gets an answer with an error, but the last but one."""


@cache
def vectors(name: str) -> list[Line]:
    """The vectors of a file, without its header."""
    path = VECTORS / name
    with gzip.open(path) as lines:
        return [one for one in map(json.loads, lines) if "in" in one or "hex" in one]


def written(*arguments: str, given: str = "") -> list[Line]:
    """What the command writes in this process."""
    lines, _ = answers(*arguments, "-o", "jsonl", given=given)
    return lines


def groups() -> list[Line]:
    """Groups as lines: of the examples, of vectors, and some by hand."""
    lines = [json.loads(line) for line in (EXAMPLES / "groups.jsonl").read_text().splitlines()]
    for one in vectors("kafka-4.4.0.jsonl.gz")[::60]:
        group = one["in"]
        if one["category"] not in {"coop", "sticky", "range", "roundrobin"}:
            continue
        members = [
            {
                "id": member["id"],
                "topics": member["topics"],
                "owned": member.get("owned") or [],
                "rack_id": member.get("rack"),
            }
            for member in group["members"]
        ]
        topics = {
            name: {"partitions": len(racks), "racks": racks}
            for name, racks in group["topics"].items()
        }
        lines.append({"topics": topics, "members": members})
    whole: Line = {
        **GROUP,
        "state": {"max_generation": 3},
        "members": [*GROUP["members"], {"id": "c", "instance": "i", "subscription": "0000"}],
    }
    return [GROUP, whole, *lines]


def is_group(line: Line) -> bool:
    """Whether a line is a group, and not an example of what is refused."""
    try:
        group_from_document(line)
    except DocumentError:
        return False
    return True


def check_requests() -> list[Line]:
    """Groups with an assignment."""
    lines = [json.loads(line) for line in (EXAMPLES / "assigned.jsonl").read_text().splitlines()]
    wrong = {"a": {"t": [0, 9]}, "b": [["t", [0]]], "z": {"u": [1]}}
    return [*lines, {**GROUP, "assignment": wrong, "withheld": {"t": [1]}, "protocol": "eager"}]


def text_of(lines: list[Line]) -> str:
    """Documents as lines."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def with_odd_ones(lines: list[Line]) -> str:
    """Documents as lines, and others that are none."""
    return text_of(lines) + "".join(f"{line}\n" for line in ODD_LINES)


def described() -> list[str]:
    """Files that `kafka-consumer-groups.sh` printed."""
    found = sorted((ROOT / "tests" / "described" / "outputs").glob("*.txt"))
    return [str(path) for path in found[::3]]


def decoded(kind: str) -> list[Line]:
    """Answers of `decode` about bytes that clients sent, and about broken ones."""
    captured = [one["hex"] for one in vectors("clients-captured.jsonl.gz")]
    made = [one["in"].get("hex") or "" for one in vectors("kafka-4.4.0.jsonl.gz")]
    frames = [frame_bytes(name, version).hex(" ") for name, version in ALL]
    lines = [*captured[::5], *made[::40], *frames[::3], "", "zz", "null"]
    return written("decode", kind, given="".join(f"{line}\n" for line in lines))


def records(*options: str) -> list[Line]:
    """Answers of `decode offsets-record` about records of every type, made and broken."""
    whole = vectors("records-4.4.0.jsonl.gz")
    by_name: dict[str, list[str]] = {}
    for one in whole:
        if one["category"] == "rec-enc":
            by_name.setdefault(one["in"]["type"], []).append(
                f"{one['out'].get('key')} {one['out'].get('value') or '-'}"
            )
    made = [line for lines in by_name.values() for line in (*lines[:2], lines[-1])]
    broken = [
        f"{one['in']['key']} {one['in'].get('value') or '-'}"
        for one in whole
        if one["category"] != "rec-enc"
    ][::60]
    given = "\n".join([*made, *broken, "-", "7fff -", "00"]) + "\n"
    return written("decode", "offsets-record", *options, given=given)


def assigned() -> list[Line]:
    """Answers of every assignor."""
    given = with_odd_ones(groups()[:12])
    lines = [
        line for name in ASSIGNORS for line in written("assign", "--assignor", name, given=given)
    ]
    lines += written(
        "assign", "--assignor", "optimal/sticky", "--limit", "0", given=text_of([GROUP])
    )
    lines += written("assign", "--assignor", "java/sticky", "--with-group", given=given)
    for path in described():
        lines += written("assign", "--assignor", "range", path)
    return lines


def compared() -> list[Line]:
    """Comparisons of assignors."""
    given = with_odd_ones(groups()[:8])
    lines = written(
        "assign", "--compare", "sticky,java/cooperative-sticky,server/uniform", given=given
    )
    return [*lines, *written("assign", "--compare", "range,sticky", described()[0])]


def checked() -> list[Line]:
    """Reports of `check`."""
    lines = written("check", given=with_odd_ones(check_requests()))
    return [*lines, *(line for path in described() for line in written("check", path))]


def explained() -> list[Line]:
    """Reasons of `explain`, of every verdict that one group has."""
    lines = written("explain", "--partition", "t:1", given=with_odd_ones([GROUP]))
    for partition in range(4):
        for name in ("cooperative-sticky", "java/range"):
            where = ("explain", "--partition", f"t:{partition}", "--assignor", name)
            lines += written(*where, given=text_of([GROUP]))
    weighted = {**GROUP, "weights": {"t": [9, 9, 1, 1]}, "budget": {"moves": 0}}
    for name in ("weighted", "cooperative-weighted"):
        lines += written(*where[:3], "--assignor", name, given=text_of([weighted]))
    return lines


def histories() -> list[Line]:
    """Histories to draw."""
    sizes = {"members": 2, "topics": 1, "partitions": 5, "events": 1}
    whole = {**sizes, "subscription": "half", "faults": False, "wire": True, "id": "mine"}
    return [{"seed": 7, **sizes}, {"seed": 8, **whole}, {"seed": 1, "members": None}]


def played() -> list[Line]:
    """Outcomes of histories that are drawn, given, and impossible."""
    lines = [*histories()[:2], GROUP, {"seed": 1, "members": -1}]
    both = ("--assignor", "range", "--assignor", "sticky")
    drawn = written("histories", "-", *both, given=with_odd_ones(lines))
    drawn += written("what-if", "-", *both, given=with_odd_ones(groups_with_events()))
    asked = (written("what-if", path, "join:2", *both) for path in described())
    return [*drawn, *(line for one in asked for line in one)]


def groups_with_events() -> list[Line]:
    """Groups and what is asked to happen to them, some of it impossible."""
    return [
        {**GROUP, "events": ["join:2", "leave:a", "resize:t:9"], "id": "mine"},
        {**GROUP, "events": []},
        {**GROUP, "events": ["leave:nobody"], "id": 7},
    ]


def timed(*options: str) -> list[Line]:
    """Runs on a clock."""
    run = ("simulate", SCENARIO, *options)
    return written(*run, "--protocol", "classic", "--protocol", "consumer")


def fuzzed() -> list[Line]:
    """Random scenarios without a violation, and with one."""
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "small.json")
        wrong = written("fuzz", "3", "--assignor", RAISES, "--shrink", file)
    return [*written("fuzz", "3", "--seed", "1"), *wrong]


def shown_scenarios() -> list[Line]:
    """Named scenarios in full, and one of one's own."""
    own = {
        "version": 1,
        "until_ms": 10,
        "topics": {"t": 1},
        "members": [{"name": "c", "topics": ["t"]}],
    }
    names = [line["scenario"] for line in written("simulate", "--list")]
    shown = [
        CliRunner().invoke(command, ["simulate", name, "--show"]).stdout for name in names[::4]
    ]
    return [own, *map(json.loads, shown)]


def sweeps() -> list[Line]:
    """Sweeps, small and with every key."""
    base = {"requests": 60, "slow_group_check_us": 900, "is_steady": False, "linger_us": None}
    over = {"check_us": [0, 500], "linger_us": [None, 1000], "changes_share": [0, 0.5]}
    whole = {"version": 1, "models": ["blocking"], "base": base, "over": over, "seeds": 2}
    return [whole, {"version": 1, "base": {"requests": 60}}, {"version": 1, "models": None}]


def swept() -> list[Line]:
    """What was measured of the points of sweeps."""
    return [line for one in sweeps()[:2] for line in written("sweep", "-", given=json.dumps(one))]


def replayed() -> list[Line]:
    """Rows of every table, of real groups."""
    tables = ("groups", "offsets", "generations", "members", "assignments", "findings", "outcomes")
    options = [word for table in tables for word in ("--table", table)]
    lines = written("replay", "--sample", *options, "--what-if", "sticky")
    lines += written("replay", str(REAL_TOPIC), *options, "--what-if", "range")
    chosen: dict[str, list[Line]] = {}
    for line in lines:
        chosen.setdefault(line["table"], []).append(line)
    return [line for rows in chosen.values() for line in rows[:: max(1, len(rows) // 60)]]


def dumped() -> list[Line]:
    """Records of a real topic, and of a run that `--log` wrote."""
    with gzip.open(REAL_TOPIC) as lines:
        real = [json.loads(line) for line in islice(lines, 0, None, 400)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        written("simulate", "crash", "--log", str(path))
        simulated = [json.loads(line) for line in path.read_text().splitlines()]
    return [*real, *simulated[::40], {"key": None, "value": ""}]


def conformed() -> list[Line]:
    """Results of a program that answers nothing, and of our own."""
    vectors_of_all = (
        "conform",
        "--vectors",
        str(VECTORS / "kafka-4.4.0.jsonl.gz"),
        "--only",
        "coop-000",
    )
    own = shlex.join([sys.executable, "-m", "assignors.conformance"])
    silent = shlex.join([sys.executable, "-c", SILENT])
    return [
        line for program in (own, silent) for line in written(*vectors_of_all, "--command", program)
    ]


SILENT = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    odd = len(request["id"]) and request["id"][-1] in "13579"
    answer = {"skip": "not done"} if odd else {"out": {"assignment": []}}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
"""

REAL: dict[str, Callable[[], list[Line]]] = {
    "group": lambda: [*filter(is_group, groups())],
    "check-request": check_requests,
    "weights": lambda: [WHOLE_FILE, {"weights": {"t": [1]}}, dict.fromkeys(WHOLE_FILE), {}],
    "history": histories,
    "group-with-events": groups_with_events,
    "scenario": shown_scenarios,
    "record": dumped,
    "log-ends": lambda: [*skewed_log_ends()[:2], {"at_ms": 0, "log_ends": {}, "_by": "me"}],
    "partition-counts": lambda: [{"orders": 6}, {}],
    **{
        kind: lambda kind=kind: decoded(kind)  # type: ignore[misc]
        for kind in ("subscription", "assignment", "sticky-userdata", "cooperative-userdata")
    },
    "offsets-record": lambda: [*records(), *records("--members")],
    "assign": assigned,
    "compare": compared,
    "check": checked,
    "explain": explained,
    "assignors": lambda: written("assignors"),
    "simulate": played,
    "timed": timed,
    "fuzz": fuzzed,
    "intervals": lambda: timed("--intervals"),
    "scenarios": lambda: written("simulate", "--list"),
    "sweep": sweeps,
    "sweep-point": swept,
    "traffic": traffic,
    "traffic-run": simulated_traffic,
    "replay": replayed,
    "watch": lambda: [*written("watch", "--sample"), *written("watch", str(REAL_TOPIC))],
    "conform": conformed,
}
"""Format -> real lines of it."""


@cache
def real_lines(name: str) -> list[Line]:
    """Real lines of a format."""
    return REAL[name]()


def places(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a document, itself apart; of a list the first entry and the last."""
    inner: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inner = [*value.items()]
    elif isinstance(value, list):
        inner = [*enumerate(value)]
        inner = inner if len(inner) < 2 else [inner[0], inner[-1]]
    for step, part in inner:
        yield (*place, step)
        yield from places(part, (*place, step))
