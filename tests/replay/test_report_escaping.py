"""No text becomes markup: names from the records, in every place of the page.

The page is read by an independent parser; `test_report_browser` opens it, and
`test_report_templates` looks at the templates.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assignors.replay.report import page
from assignors.replay.report.formats import visible
from tests.conftest import cases
from tests.replay.html_outline import Outline
from tests.replay.report_tables import HOSTILE, all_renamed, joined, one_group

names = st.text(
    st.one_of(st.characters(), st.sampled_from("<>&\"'/!-=`{}\\\0\u202e\ud800")),
    min_size=1,
    max_size=18,
)
"""Short enough not to be cut: a name that is cut has one attribute more, its tooltip."""


@cases(50)
@given(names)
def test_no_name_changes_the_elements_of_the_page(name: str) -> None:
    assume(len(visible(name)) <= 18)
    plain = Outline(page(one_group(), title="t"))
    renamed = Outline(page(all_renamed(one_group(), name), title=name))
    assert not renamed.faults
    assert renamed.shape == plain.shape


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_nothing_else(name: str) -> None:
    text = page(all_renamed(one_group(), name), title=name)
    outline = Outline(text)
    assert not outline.faults
    assert len(outline.of("script")) == len(outline.of("style")) == 1
    assert not outline.of("img")
    assert not [
        attribute
        for _, attributes in outline.elements
        for attribute in attributes
        if attribute.startswith("on")
    ]
    for where in ("h1", "title", "bdi", "text", "td"):
        assert any(
            visible(name)[:12] in said for tag, said in outline.texts if tag in {where, "bdi"}
        )
    text.encode("utf-8")


@cases(50)
@given(names)
def test_every_name_can_be_read(name: str) -> None:
    said = Outline(page(all_renamed(one_group(), name), title=name)).text
    assert visible(name).strip() in said


def test_a_character_that_cannot_be_seen_is_printed_as_its_escape_sequence() -> None:
    said = Outline(page(one_group("a\x1b[2J\u202eb\u200b\ud800"), title="t")).text
    assert r"a\x1b[2J\u202eb\u200b\ud800" in said


def test_a_name_of_any_length_takes_little_room() -> None:
    short, long = (page(all_renamed(one_group(), "x" * n), title="t") for n in (1_000, 100_000))
    assert len(long) == len(short) < 300_000


def test_nothing_is_loaded_from_a_network() -> None:
    text = page(joined(one_group(), one_group("b")), title="t")
    for _, attributes in Outline(text).elements:
        for name in ("src", "href", "action", "xlink:href", "srcset"):
            value = attributes.get(name)
            assert value in {None, "data:,"} or re.fullmatch(r"#[a-z\d-]+", value), value
    assert not re.findall(r"https?:|@import|url\((?!#fill-\d+\))|fetch\(|XMLHttp|import\(", text)


def test_the_policy_allows_our_style_and_our_script_alone() -> None:
    outline = Outline(page(one_group(), title="t"))
    policy = next(
        attributes["content"]
        for attributes in outline.of("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for element in ("style", "script"):
        (code,) = [text for tag, text in outline.texts if tag == element]
        digest = b64encode(sha256(code.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    assert not [attributes for _, attributes in outline.elements if "style" in attributes]
