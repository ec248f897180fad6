"""A process with one Spark session, which runs one job after another.

Sessions of different kinds do not live in one process, and each takes seconds to start, so the
tests start this once for each kind: `python -m tests.spark.process classic|cluster|connect FOLDER`.
Every line of its input is a job as JSON, `{"job": "records_job", "folder": ...}`; the job leaves
`answers.json` in that folder. Every line of its output is empty where that went well, else the
traceback as JSON.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import sys
import traceback
from contextlib import ExitStack
from pathlib import Path

from tests.spark.jobs import WHERE
from tests.spark.sessions import connect_server, session_of


def main(kind: str, folder: Path) -> None:
    """Run jobs until the input ends."""
    faulthandler.register(WHERE)
    # What Spark and its children print must not stand between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with ExitStack() as stack, answers:
        if kind == "connect":
            os.environ["SPARK_REMOTE"] = stack.enter_context(connect_server(folder))
        for line in sys.stdin:
            asked = json.loads(line)
            failure = run(kind, folder, asked["job"], Path(asked["folder"]))
            answers.write(json.dumps(failure) + "\n")
            answers.flush()
        session_of(kind, folder).stop()


def run(kind: str, folder: Path, job: str, job_folder: Path) -> str:
    """Run a job; its traceback where it fails."""
    try:
        found = importlib.import_module(f"tests.spark.{job}")
        session = session_of(kind, folder)
        found.main(session, job_folder)
        session.catalog.clearCache()
    except Exception:  # noqa: BLE001 - whatever it is, the test that asked shows it
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
