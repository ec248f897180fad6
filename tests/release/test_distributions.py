"""The wheel and the source distribution: what is in them, and what a package index shows."""

from __future__ import annotations

import re
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from packaging.metadata import Metadata

from assignors import __version__
from assignors.conformance.published_vectors import PUBLISHED
from tests.release.building import ROOT, built
from tests.tracked import tracked_files

PACKAGES = ("assignors/", "wire/")
PUBLISHED_FOLDER = "assignors/conformance/published/"
NOT_IN_SDIST = {".gitattributes"}
"""Files under version control that say nothing outside of it."""


@pytest.fixture(scope="module")
def sdist_and_wheel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    sdist, wheel = built(ROOT, tmp_path_factory.mktemp("dist"), "sdist", "wheel")
    return sdist, wheel


@pytest.fixture(scope="module")
def metadata(sdist_and_wheel: tuple[Path, Path]) -> Metadata:
    """The wheel's metadata, with every field checked against its specification."""
    with zipfile.ZipFile(sdist_and_wheel[1]) as wheel:
        (name,) = (each for each in wheel.namelist() if each.endswith(".dist-info/METADATA"))
        return Metadata.from_email(wheel.read(name), validate=True)


def tracked() -> set[str]:
    """Return the files under version control; there are none in an unpacked distribution."""
    names = tracked_files()
    if names is None:
        pytest.skip("not a git checkout")
    return set(names)


def contents(wheel: Path) -> dict[str, str]:
    """Return the hash of each file in a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: sha256(opened.read(name)).hexdigest() for name in opened.namelist()}


def test_the_wheel_has_the_packages_the_vectors_and_nothing_else(
    sdist_and_wheel: tuple[Path, Path],
) -> None:
    names = set(contents(sdist_and_wheel[1]))
    ours = {name for name in names if ".dist-info/" not in name}
    vectors = {PUBLISHED_FOLDER + name for name in (*PUBLISHED.values(), "README.md")}
    assert ours == {name for name in tracked() if name.startswith(PACKAGES)} | vectors
    assert {"assignors/py.typed", "wire/py.typed"} < ours
    assert "assignors/replay/sample/incident.jsonl.gz" in ours
    assert not [name for name in ours if name.startswith("tests/") or "/test_" in name]


def test_the_source_distribution_has_every_file_of_the_tree(
    sdist_and_wheel: tuple[Path, Path],
) -> None:
    """`make test` runs in it, and the README's paths lead somewhere."""
    with tarfile.open(sdist_and_wheel[0]) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert tracked() - NOT_IN_SDIST <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("build/")]


def test_the_source_distribution_builds_the_same_wheel(
    sdist_and_wheel: tuple[Path, Path], tmp_path: Path
) -> None:
    sdist, wheel = sdist_and_wheel
    with tarfile.open(sdist) as opened:
        opened.extractall(tmp_path, filter="data")
    (again,) = built(tmp_path / f"kafka_assignors-{__version__}", tmp_path / "again", "wheel")
    assert again.name == wheel.name == f"kafka_assignors-{__version__}-py3-none-any.whl"
    assert contents(again) == contents(wheel)


def test_the_library_needs_numpy_alone(metadata: Metadata) -> None:
    needed = [each for each in metadata.requires_dist or () if each.marker is None]
    assert [each.name for each in needed] == ["numpy"]
    assert str(metadata.version) == __version__
    assert metadata.license_expression == "Apache-2.0"


def links(text: str) -> list[str]:
    """Return where the links and pictures of a Markdown text lead."""
    found = []
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        for inline in block.children or ():
            found += [str(inline.attrs[name]) for name in ("href", "src") if name in inline.attrs]
    return found


def test_links_work_from_an_index_page(metadata: Metadata) -> None:
    """On the page of an index a relative link leads nowhere, and the picture is broken."""
    shown = metadata.description
    assert shown is not None
    assert metadata.description_content_type == "text/markdown"
    assert [link for link in links(shown) if not re.match(r"https?://|#", link)] == []
    assert "](" not in re.sub(r"\]\((https?:|#)", "", shown)


def test_the_index_page_says_everything_else_and_names_files_that_are_there(
    metadata: Metadata, sdist_and_wheel: tuple[Path, Path]
) -> None:
    shown = metadata.description or ""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ .+", readme, flags=re.MULTILINE)
    assert re.findall(r"^#+ .+", shown, flags=re.MULTILINE) == headings
    assert readme.count("```") == shown.count("```")
    with tarfile.open(sdist_and_wheel[0]) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    relative = {
        link.partition("#")[0] for link in links(readme) if not re.match(r"https?:|#", link)
    }
    pages = {path for path in relative if not path.endswith(".svg")}
    assert len(pages) > 5
    assert relative <= names
    assert all(f"(`{path}`)" in shown for path in pages)
