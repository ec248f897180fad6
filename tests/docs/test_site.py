"""The documentation builds as a site: without a warning, without a network, no link is broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

# A build must not fetch anything: sockets refuse.
BUILD = """
import gc, socket, sys
gc.disable()  # a fifth of the time, and the process ends soon
def refuse(*_):
    raise OSError("the documentation is built without a network")
socket.socket.connect = socket.getaddrinfo = refuse
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""

REMOTE = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?//""")
"""What a page loads from another host."""


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a tree, warnings as errors."""
    options = ("-W", "--keep-going", "-q", "-c", str(source / "docs"), "-d", str(out / "state"))
    return subprocess.run(
        [sys.executable, "-c", BUILD, *options, str(source), str(out / "site")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A tree with our configuration, an index and one page."""
    shutil.copytree(ROOT / "docs" / "site", tmp_path / "docs" / "site")
    shutil.copy(ROOT / "docs" / "conf.py", tmp_path / "docs")
    (tmp_path / "docs" / "index.md").write_text("# Index\n\n## One\n\n[Page](page.md#part)\n")
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n## Part\n\n[conf](conf.py)\n")
    return tmp_path


@pytest.mark.slow
def test_the_site_builds_and_has_every_page_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    # One test: workers that share the tests of a file would build the site once each.
    done = build(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert "url=docs/index.html" in (site / "index.html").read_text(encoding="utf-8")
    menu = (site / "docs" / "index.html").read_text(encoding="utf-8")
    assert 'href="recipes/add-consumers.html"' in menu
    for path in sorted(ROOT.glob("docs/**/*.md")):
        page = path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (site / "docs" / page).exists()
    for path in sorted(site.rglob("*.html")):
        assert not REMOTE.search(path.read_text(encoding="utf-8")), path.name
    options = (site / "docs" / "reference" / "command.html").read_text(encoding="utf-8")
    assert "--protocol" in options
    assert "\N{EN DASH}" not in options


def test_every_page_is_linked_from_another_one() -> None:
    pages = {path.resolve() for path in ROOT.glob("docs/**/*.md")}
    linked = {
        (path.parent / target).resolve()
        for path in pages
        for target in re.findall(r"\]\(([^)#:]+\.md)", path.read_text(encoding="utf-8"))
        if (path.parent / target).resolve() != path
    }
    assert pages - linked == {ROOT / "docs" / "index.md"}


def test_each_broken_link_fails_the_build_with_its_line(small: Path, tmp_path: Path) -> None:
    broken = ("nowhere.md", "page.md#nowhere", "#nowhere", "../nowhere.py")
    page = small / "docs" / "page.md"
    whole = page.read_text()
    page.write_text(whole + "".join(f"\n[a]({target})\n" for target in broken))
    done = build(small, tmp_path / "build")
    assert done.returncode != 0
    assert done.stderr.count("WARNING") == len(broken), "the rest of the tree has no fault"
    first = whole.count("\n") + 2
    for line in range(first, first + 2 * len(broken), 2):
        assert f"page.md:{line}: WARNING" in done.stderr
