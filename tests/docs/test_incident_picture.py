"""The picture of the front page: drawn by the page of `replay`, from real records."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from tests.docs.incident_picture import PICTURE


def test_the_picture_is_small_and_loads_nothing() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert len(text) < 60_000
    assert "href" not in text
    assert "<script" not in text
    tags = [element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()]  # noqa: S314 - our own file
    assert tags.count("rect") > 100
