"""The worked examples say what they say, on a real broker."""

from __future__ import annotations

import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.interop.install import EXAMPLES

pytestmark = pytest.mark.interop

RUN_S = 120
PARTITIONS = {"lag_aware": 4}
"""Where an example has not six."""

SAID = {
    "kafka_python_example": """\
alone:
  a has 0 1 2 3 4 5
b came, and a kept what it could:
  a has 0 1 2
  b has 3 4 5
b left:
  a has 0 1 2 3 4 5
60 of 60 records read
""",
    "aiokafka_example": """\
alone:
  a has 0 1 2 3 4 5
b came, and a got back what it could:
  a has 0 1 2
  b has 3 4 5
b left:
  a has 0 1 2 3 4 5
60 of 60 records read
""",
    "confluent_example": """\
60 of 60 records read
chosen: cooperative-sticky
  a wrote version 3, odd: rack-empty
  b wrote version 3, odd: rack-empty
rules broken: 0
short of the best balance by: 0
""",
    "lag_aware": """\
a has 0 with 90 records
b has 1 2 3 with 90 records
180 of 180 records read
""",
}


@pytest.mark.parametrize("name", SAID)
def test_an_example_says_what_it_says_whether_or_not_its_topic_exists(
    name: str, broker: Broker
) -> None:
    new, old = (f"orders-{uuid.uuid4().hex[:8]}" for _ in range(2))
    Admin(broker.bootstrap).create_topics({old: PARTITIONS.get(name, 6)})
    with ThreadPoolExecutor() as threads:
        for done in threads.map(lambda topic: ran(name, broker, topic), (new, old)):
            assert done.returncode == 0, done.stderr
            assert done.stdout == SAID[name]


def ran(name: str, broker: Broker, topic: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), broker.bootstrap, topic],
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
