"""A program under test that misbehaves as the request says: `"do"` names how."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Request = dict[str, Any]


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(request: Request) -> None:
    say(json.dumps({"id": request["id"], "out": {"ud": "ffffffff"}}) + "\n")


def crash(_: Request) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def odd_signal(_: Request) -> None:
    os.kill(os.getpid(), signal.SIGRTMIN + 1)


def long_line(_: Request) -> None:
    say("x" * 1_000_000 + "\n")


def end(_: Request) -> None:
    sys.stderr.write("first\nlast words\n")
    sys.exit(3)


def hang(_: Request) -> None:
    time.sleep(600)


def hang_with_child(request: Request) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        if "file" in request:
            Path(request["file"]).write_text(str(child.pid))
        time.sleep(600)


def garbage(request: Request) -> None:
    say("Exception in thread main\n")
    answer(request)


def half_a_line(request: Request) -> None:
    say(json.dumps({"id": request["id"]})[:5])
    sys.exit(0)


def dribble(_: Request) -> None:
    say('{"id"')
    time.sleep(600)


def flood_stderr(request: Request) -> None:
    sys.stderr.write("x" * 5_000_000 + "\n")
    answer(request)


def flood_stdout(request: Request) -> None:
    answer(request)
    say("noise\n" * 1_000_000)
    if "file" in request:
        Path(request["file"]).touch()


def another_id(request: Request) -> None:
    answer({"id": request["id"] + "!"})


def deep(_: Request) -> None:
    say("[" * 100_000 + "]" * 100_000 + "\n")


def two_forms(request: Request) -> None:
    say(json.dumps({"id": request["id"], "out": {}, "skip": "?"}) + "\n")


def no_object(_: Request) -> None:
    say("[1, 2]\n")


def wrong_type(request: Request) -> None:
    say(json.dumps({"id": request["id"], "out": [1]}) + "\n")


def close_output(_: Request) -> None:
    os.close(1)
    time.sleep(600)


def binary(_: Request) -> None:
    os.write(1, b"\xff\xfe\x00\n")


def plain_error(request: Request) -> None:
    say(json.dumps({"id": request["id"], "error": "no such thing"}) + "\n")


WAYS: dict[str, Callable[[Request], None]] = {
    way.__name__: way
    for way in (
        *(answer, crash, end, hang, hang_with_child, garbage, half_a_line, dribble, flood_stderr),
        *(flood_stdout, another_id, deep, two_forms, no_object, wrong_type, close_output, binary),
        *(plain_error, odd_signal, long_line),
    )
}

if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        WAYS[asked.get("do", "answer")](asked)
