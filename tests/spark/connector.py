"""Spark's Kafka connector, fetched once under `build/foreign/members` as the brokers' jars are."""

from __future__ import annotations

from pathlib import Path

from tests.interop.install import jars

CONNECTOR = jars("members/spark-kafka", Path(__file__).parent / "connector_jars" / "pom.xml")
