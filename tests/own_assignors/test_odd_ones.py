"""An assignor of one's own that is wrong is named, with what it did, wherever it runs."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assignors import AssignorError, Cluster, Group, Member, MemberNote, assignor_named, lead
from assignors.checks.compare import compare
from assignors.checks.explain import explain
from assignors.clients.common.client_session import new_session
from assignors.simulation.processes import ENDED_EARLY
from tests.cli.running import AS_LINES, ROOT, answers
from tests.own_assignors.odd_ones import NOTED, TAKEN, WRONG
from wire import Subscription, decode_assignment, encode_subscription

HERE = "tests.own_assignors.odd_ones:"
GROUP = Group(
    cluster=Cluster.of({"t": 4, "u": 2}),
    members=(Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t", "u"))),
)
LINE = json.dumps(
    {
        "topics": {"t": 4, "u": 2},
        "members": [{"id": "a", "topics": ["t"]}, {"id": "b", "topics": ["t", "u"]}],
    }
)
SIMULATE = ("histories", "--events", "0", "--seeds", "1", "--members", "2", "--topics", "1")


@pytest.mark.parametrize("name", WRONG)
def test_by_name_it_is_refused_by_every_function(name: str) -> None:
    assignor = assignor_named(HERE + name)
    _, sentence = WRONG[name]
    for ask in (
        lambda: assignor.assign(GROUP),
        lambda: explain(GROUP, assignor, "t", 0),
    ):
        with pytest.raises(AssignorError) as refused:
            ask()
        assert f"{HERE}{name} {sentence}" in str(refused.value)
    column, _ = compare(GROUP, [assignor, assignor_named("sticky")]).columns
    assert f"{HERE}{name} {sentence}" in str(column.failure)


@pytest.mark.parametrize("name", WRONG)
def test_a_leader_and_explain_refuse_the_object_itself(name: str) -> None:
    assignor, sentence = WRONG[name]
    asked = encode_subscription(Subscription(topics=("t",)))
    with pytest.raises(AssignorError, match=f"^own/{assignor.name} "):
        lead(assignor, GROUP.cluster, {"a": asked, "b": asked})
    with pytest.raises(AssignorError) as refused:
        explain(GROUP, assignor, "t", 0)
    assert f"own/{assignor.name} {sentence}" in str(refused.value)


def test_what_is_only_written_differently_is_taken() -> None:
    checked = assignor_named(HERE + "TAKEN")
    everything = {"t": (0, 1, 2, 3), "u": (0, 1)}
    assert checked.assign(GROUP).assignment == {"a": everything, "b": {"t": ()}}
    asked = encode_subscription(Subscription(topics=("t", "u")))
    led = lead(TAKEN, GROUP.cluster, {"a": asked, "b": asked})
    got = decode_assignment(led.assignments["a"]).value
    assert got is not None
    assert got.partitions == everything
    assert lead(NOTED, GROUP.cluster, {"a": asked}).rebalance.notes[0].text == "a remark"


@pytest.mark.parametrize("name", ["NINETY_NINE", "NOTHING", "RAISES"])
def test_every_command_names_it_and_the_next_line_is_answered(name: str) -> None:
    for command in (
        ("assign", "--assignor", HERE + name),
        ("explain", "--partition", "t:0", "--assignor", HERE + name),
    ):
        documents, code = answers(*command, given=f"{LINE}\n{LINE}\n")
        texts = [document["error"] for document in documents]
        assert [text.partition(" ")[0] for text in texts] == [HERE + name] * 2
        assert code == 2
    documents, code = answers("assign", "--compare", f"{HERE}{name},sticky", given=LINE)
    assert HERE + name in documents[0]["compared"][0]["failure"]
    assert documents[0]["compared"][1]["failure"] is None


def test_simulate_shows_the_traceback_of_what_it_raised() -> None:
    documents, code = answers(*SIMULATE, "--assignor", HERE + "RAISES", "--assignor", "sticky")
    text, trace = documents[0]["error"].split("\n", 1)
    assert text == f"{HERE}RAISES {WRONG['RAISES'][1]}"
    assert trace.splitlines()[0] == "Traceback (most recent call last):"
    assert "in _raises" in trace
    assert "return group.nothing" in trace
    assert "assignors/own_assignors" not in trace.replace("tests/own_assignors", "")
    assert documents[1]["error"] is None
    assert code == 2


MINE = """
from assignors import Assignor, Rebalance

def _assign(group):
    return Rebalance(assignment={member.member_id: {} for member in group.members})

LAZY = Assignor(family="mine", name="lazy", assign=_assign)
BROKEN = Assignor(family="mine", name="broken", assign=lambda group: group.nothing)

def _die(group):
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)

DEADLY = Assignor(family="mine", name="deadly", assign=_die)
"""


def run_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its script does: without the working directory on the path."""
    code = "import sys; from assignors.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, **AS_LINES, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"},
        input=LINE,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_a_module_in_the_working_directory_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = run_in(tmp_path, "assign", "--assignor", "mine:LAZY")
    assert json.loads(done.stdout)["assignment"] == {"a": {}, "b": {}}
    done = run_in(tmp_path, "assign", "--assignor", "mine:LASY")
    assert "module 'mine' has no attribute 'LASY'; did you mean 'LAZY'?" in done.stderr
    assert done.returncode == 2


def test_processes_find_it_too_and_the_traceback_is_shown(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    own = ("--assignor", "mine:LAZY", "--assignor", "mine:BROKEN")
    done = run_in(tmp_path, *SIMULATE, "--processes", "2", *own)
    lazy, broken = map(json.loads, done.stdout.splitlines())
    assert lazy["error"] is None
    assert "mine:BROKEN raised AttributeError" in broken["error"]
    drawn = run_in(tmp_path, *SIMULATE, "-o", "table", "--assignor", "mine:BROKEN").stdout
    assert "mine.py" in drawn.replace("\n", "")  # the path may be long
    assert "Traceback (most recent call last):" in drawn


def test_a_process_that_it_ends_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = run_in(tmp_path, *SIMULATE, "--processes", "2", "--assignor", "mine:DEADLY")
    assert done.stderr.splitlines() == [f"kafka-assignors: {ENDED_EARLY}"]
    assert (done.stdout, done.returncode) == ("", 2)


def test_a_module_that_fails_as_it_is_imported_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("1 / 0")
    done = run_in(tmp_path, "assign", "--assignor", "mine:LAZY")
    assert "cannot import 'mine:LAZY': ZeroDivisionError: division by zero" in done.stderr
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_file_in_the_working_directory_replaces_no_installed_module(tmp_path: Path) -> None:
    for name in ("json", "numpy", "click", "difflib"):  # the last one is imported late
        (tmp_path / f"{name}.py").write_text("raise SystemExit('replaced')")
    done = run_in(tmp_path, "assign", "--assignor", "sticky")
    assert json.loads(done.stdout)["error"] is None
    done = run_in(tmp_path, "assign", "--assignor", "stiky")
    assert "did you mean 'sticky'?" in done.stderr


@pytest.mark.parametrize("name", WRONG)
def test_in_a_client_the_group_goes_on_and_the_note_says_what_was_wrong(name: str) -> None:
    assignor, sentence = WRONG[name]
    logger = logging.getLogger("odd")
    logger.disabled = True
    notes: list[MemberNote] = []
    session = new_session(assignor, logger=logger, on_note=notes.append)
    asked = encode_subscription(Subscription(topics=("t",)))
    given = session.lead(GROUP.cluster, {"a": asked, "b": asked}, instance_ids={}, joined=1)
    got = [decode_assignment(given[member]).value for member in "ab"]
    assert sorted(n for each in got if each for n in each.partitions["t"]) == [0, 1, 2, 3]
    (note,) = [note for note in notes if note.code == "assignor-failed"]
    assert f"own/{assignor.name} {sentence.split(' member ')[0]}" in note.text
