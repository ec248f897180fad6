"""Spark sessions of each kind, and the Connect server that one of them talks to.

Everything listens on loopback, on ports that were free, and writes into the folder it is given.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pyspark

from assignors.spark import local_session, package_zip

KINDS = ("classic", "cluster", "connect")

ROOT = Path(__file__).parents[2]
READY_S = 120.0
STOP_S = 20.0
STARTS_MAX = 3
"""Between finding a free port and listening on it somebody else may take it."""


def session_of(kind: str, folder: Path) -> Any:
    """The session of this kind; the one that is there, unless it was stopped."""
    if kind == "classic":
        return local_session("local[2]")
    if kind == "cluster":
        # Executors are processes of their own, and know the package only as this zip.
        settings = {
            "spark_executor_memory": "1g",
            "spark_executor_extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"],
            "spark_executorEnv_PYTHONSAFEPATH": "1",
        }
        session = local_session("local-cluster[2,1,1024]", **settings)
        session.addArtifacts(str(package_zip(folder / "kafka_assignors.zip")), pyfile=True)
        return session
    from pyspark.sql import SparkSession  # noqa: PLC0415 - it is classic or remote in a process

    return SparkSession.builder.remote(os.environ["SPARK_REMOTE"]).getOrCreate()


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Start a Connect server on a free port; give its URL; stop it."""
    for _ in range(STARTS_MAX):
        port = _free_port()
        process = _started(folder, port)
        try:
            if _listens(process, port):
                yield f"sc://localhost:{port}"
                return
        finally:
            _stop(process)
    log = (folder / "connect.log").read_text("utf-8", "replace")
    raise RuntimeError(f"no Connect server: {log[-3000:]}")


def _started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with (folder / "connect.log").open("ab") as log:
        return subprocess.Popen(
            [
                *(str(submit), "--master", "local[2]"),
                *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
                *(word for one in settings.items() for word in ("--conf", "=".join(one))),
                "spark-internal",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            # It keeps artifacts in its working directory.
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"},
        )


def _listens(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether the server itself listens in time: somebody else may, on the port it was to have."""
    until = time.monotonic() + READY_S
    server = psutil.Process(process.pid)
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            found = server.net_connections("tcp")
            if any(each.status == psutil.CONN_LISTEN and each.laddr.port == port for each in found):
                return True
        time.sleep(0.1)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port
