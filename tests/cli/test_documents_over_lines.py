"""Documents as people have them: over many lines, in an array, cut off; and where an error is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.cli.inputs.json_documents import documents
from assignors.cli.inputs.lines import Line
from tests.cli.running import GROUP, answers

ASSIGN = ("assign", "--assignor", "sticky")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab"\\{[]},: é\n', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abc{", max_size=2), values, max_size=4)
indents = st.sampled_from([None, 0, 1, 4, "\t"])


def lines_of(text: str) -> Iterator[Line]:
    return (Line(line, number) for number, line in enumerate(text.encode().split(b"\n"), 1))


@given(st.lists(st.tuples(objects, indents), max_size=5))
def test_documents_are_those_that_were_written_however_they_are_indented(
    written: list[tuple[dict[str, object], int | str | None]],
) -> None:
    texts = [json.dumps(document, indent=indent) for document, indent in written]
    found = list(documents(lines_of("\n".join(texts)) if texts else []))
    assert [json.loads(line.text) for line in found] == [document for document, _ in written]
    begins = [1 + sum(text.count("\n") + 1 for text in texts[:i]) for i in range(len(texts))]
    assert [line.number for line in found] == begins


@given(st.lists(objects, min_size=1, max_size=5), indents, st.integers(0, 3))
def test_the_objects_of_an_array_come_one_by_one(
    written: list[dict[str, object]], indent: int | str | None, before: int
) -> None:
    array = json.dumps(written, indent=indent)
    ours = "[\n" + ",\n".join(json.dumps(each, indent=2) for each in written) + "\n]"
    for text in (array, ours):
        found = list(documents(lines_of("{}\n" * before + text)))[before:]
        assert [json.loads(line.text) for line in found] == written
        for line in found:
            begin = text.encode().split(b"\n")[line.number - before - 1]
            assert line.text.split(b"\n")[0] in begin


@given(st.lists(objects, max_size=4), st.lists(objects, max_size=6), st.data())
def test_a_line_that_is_cut_off_takes_no_line_with_it(
    first: list[dict[str, object]], rest: list[dict[str, object]], data: st.DataObject
) -> None:
    whole = json.dumps({"topics": {"t": 6}, "members": [{"id": "a", "topics": ["t"]}, *first]})
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    after = [json.dumps(each) for each in rest]
    found = [line.text.decode() for line in documents(lines_of("\n".join([cut, *after])))]
    assert found == [cut, *after]


@pytest.mark.parametrize("cut", ['{"a": [', '{"a": 1,', '{"a": [{"b": 1},', "["])
def test_a_line_that_is_cut_off_is_found_out_after_a_few_lines(cut: str) -> None:
    """The others may be a stream that never ends."""
    taken: list[int] = []

    def stream() -> Iterator[Line]:
        yield Line(cut.encode(), 1)
        for number in range(2, 10_000):
            taken.append(number)
            yield Line(b'{"c": 1}', number)

    found = documents(stream())
    assert next(found).text == cut.encode()
    assert len(taken) < 4
    assert next(found).number == 2


def test_a_mistake_in_a_document_over_many_lines_is_one_error_with_its_line() -> None:
    text = json.dumps(GROUP, indent=2).replace('"generation": 7,', '"generation": seven,', 1)
    documents_, code = answers(*ASSIGN, given=f"{json.dumps(GROUP)}\n{text}\n{json.dumps(GROUP)}\n")
    good, bad, again = documents_
    wrong = next(n for n, line in enumerate(text.splitlines(), 2) if "seven" in line)
    assert (bad["error_kind"], bad["error_at"]["line"]) == ("bad-json", wrong)
    assert good["assignment"] == again["assignment"] is not None
    assert code == 2


@pytest.mark.parametrize("command", [ASSIGN, ("explain", "--partition", "t:0"), ("check",)])
def test_every_command_reads_what_an_editor_saved(command: tuple[str, ...], tmp_path: Path) -> None:
    group = {**GROUP, "assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}}
    file = tmp_path / "groups.json"
    file.write_text(json.dumps([group, group, {"topics": {}}], indent=4))
    found, _ = answers(*command, str(file))
    one, _ = answers(*command, given=json.dumps(group))
    assert found[:2] == one * 2
    number = file.read_text().splitlines().index('        "topics": {}')
    assert found[2]["error_at"] == {"path": "members", "line": number, "file": str(file)}


def test_simulate_says_the_line_too() -> None:
    rows = (
        '{"seed": 1, "members": 1, "topics": 1, "events": 0}\n{"seed": 1, "joins": 5}\n{"seed": []}'
    )
    documents_, _ = answers("histories", "-", "--assignor", "range", given=rows)
    assert documents_[0]["error"] is None
    assert [each["error_at"] for each in documents_[1:]] == [
        {"path": "joins", "line": 2},
        {"path": "seed", "line": 3},
    ]
