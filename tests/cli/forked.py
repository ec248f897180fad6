"""The command as a process that begins with everything imported: a fork of one that waits.

    python -m tests.cli.forked SOCKET

An example of a document needs 0.1 s, and half a second of imports. Here a process imports once and
waits at a socket; `kafka-assignors` on the PATH of a shell is a small program that hands over its
arguments, environment, folder and three files, and ends as the fork ends. How the command starts
and ends by itself is for `tests/cli/test_start_up.py` and others that use `running.process`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner

ROOT = Path(__file__).parents[2]
COMMAND = "kafka-assignors"

CLIENT = """#!/bin/sh
exec "{python}" -ISc '
import json, os, socket, sys
asked = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
with socket.socket(socket.AF_UNIX) as line:
    line.connect("{address}")
    socket.send_fds(line, [len(asked).to_bytes(4)], [0, 1, 2])
    line.sendall(asked)
    ended = line.recv(1)
sys.exit(ended[0] if ended else 70)
' "$@"
"""

FIRST = (
    ("replay", "--sample"),
    ("simulate", "crash"),
    ("histories", "--members", "2", "--seeds", "1", "--events", "1", "-o", "table"),
    ("assign", "--assignor", "range", "--sample"),
    ("assign", "--compare", "range,sticky", "--sample"),
    ("check", "-o", "table", "--sample"),
    ("decode", "offsets-record", "README.md"),
    ("conform", "--help"),
    ("explain", "--help"),
)
"""What imports all that the examples import."""


def main() -> None:
    """Import, then wait: each connection gets a fork."""
    from assignors.cli.command import command  # noqa: PLC0415  # the parent does without

    for words in FIRST:
        CliRunner().invoke(command, words)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks here
    with socket.socket(socket.AF_UNIX) as waiting:
        waiting.bind(sys.argv[1])
        waiting.listen()
        print("ready", flush=True)
        while True:
            line, _ = waiting.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(line)
            line.close()


def answer(line: socket.socket) -> None:
    """Become the process that is asked for, and send its exit code."""
    from assignors.cli import main as run  # noqa: PLC0415  # as above

    size, files, _, _ = socket.recv_fds(line, 4, 3)
    asked = b""
    while len(asked) < int.from_bytes(size):
        asked += line.recv(1 << 16)
    arguments, environment, folder = json.loads(asked)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [COMMAND, *arguments]
    code = 70
    try:
        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        line.send(bytes([code]))
        os._exit(code)


@contextmanager
def forked_command(folder: Path) -> Iterator[str]:
    """Write `kafka-assignors` into a folder; give a PATH on which it and this Python are."""
    address = folder / "socket"
    for name, text in (
        (COMMAND, CLIENT.format(python=sys.executable, address=address)),
        # A link to a virtual environment's Python would not find the environment.
        ("python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'),
    ):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod((folder / name).stat().st_mode | stat.S_IXUSR)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.forked", str(address)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        try:
            yield f"{folder}{os.pathsep}{os.environ['PATH']}"
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
