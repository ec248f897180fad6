"""What a public host would run and show: the workflow, and the forms of issues."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.release.building import ROOT

GITHUB = ROOT / ".github"
WORKFLOW = GITHUB / "workflows" / "ci.yml"
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml"))

SCHEMAS = {
    "vendor.github-workflows": [WORKFLOW],
    "vendor.github-issue-forms": FORMS,
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
}


@pytest.mark.parametrize("schema", list(SCHEMAS))
def test_the_host_would_accept_these_files(schema: str) -> None:
    """By the host's own schemas, which come with check-jsonschema."""
    files: list[str | Path] = [*SCHEMAS[schema]]
    assert files
    checker = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema]
    done = subprocess.run(
        [*checker, *files], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_workflow_runs_the_command_of_the_readme_with_what_it_needs() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^    make test\b", readme, flags=re.MULTILINE)
    (job,) = re.findall(r"^  test:\n.*?(?=^  \w+:)", text, flags=re.MULTILINE | re.DOTALL)
    assert "- run: make test\n" in job
    steps = re.findall(r"- (?:uses|run): (\S+)", job)
    assert steps.index("make") == len(steps) - 1
    tools = {step.partition("@")[0] for step in steps}
    assert {f"actions/setup-{name}" for name in ("python", "java", "go", "node")} <= tools
    assert 'java-version: "17"' in job


def test_the_wheel_is_tried_on_every_python_of_the_classifiers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        each.rpartition(" ")[2]
        for each in project["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    ]
    matrix = re.search(r"python: \[(.*)\]", WORKFLOW.read_text(encoding="utf-8"))
    assert matrix
    assert re.findall(r"[\d.]+", matrix[1]) == named
    assert project["requires-python"] == f">={named[0]}"
    assert f'python-version: "{named[0]}"' in WORKFLOW.read_text(encoding="utf-8")


def test_nothing_here_is_an_address_of_its_own() -> None:
    """There is no public address of this project yet, so none may be made up."""
    listed = [WORKFLOW, *FORMS, GITHUB / "ISSUE_TEMPLATE" / "config.yml"]
    assert [path for path in listed if "://" in path.read_text(encoding="utf-8")] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "urls" not in project
