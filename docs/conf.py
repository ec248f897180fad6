"""How Sphinx builds the documentation site: `make docs`.

The pages are the Markdown files of this tree as they are, so that they read as well on a host of
repositories. The source directory is the root of the tree: a link from a page to README.md or to a
file of the tests leads to a page of the site, or to a download. The navigation is made of the
links in each index.md, section by section.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import cast

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from assignors import __version__  # noqa: E402  # after the path above

project = "kafka-assignors"
author = "the kafka-assignors authors"
version = release = __version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "notebooks/**.md", "assignors/**.md", "tests/**.md"]
exclude_patterns = ["build", "dist", "docs/conf.py", "**/node_modules", "**/.*"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]

myst_enable_extensions = ["html_image"]
myst_heading_anchors = 6

html_theme = "furo"
html_title = f"kafka-assignors {__version__}"
html_extra_path = ["site"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
# Our fences name languages for readers; no example is worth failing a build for its colours.
suppress_warnings = [
    "misc.highlighting_failure",
    # evidence under tests/ is linked from the pages that need it, and stands in no menu
    "toc.not_included",
]

# `--report` is an option, and no dash.
smartquotes = False

# Docstrings are written for people: what stands between single backticks is code.
default_role = "code"
autodoc_member_order = "bysource"
# Options of a class stand in the docstring of its `__init__`.
autoclass_content = "both"
autodoc_typehints = "signature"
add_module_names = False
maximum_signature_line_length = 80


SECTION = re.compile(r"^## (.+)$", flags=re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+?)\.md\)")


def with_navigation(_: Sphinx, docname: str, source: list[str]) -> None:
    """Add hidden tables of contents to an index, of the pages that each section links to."""
    if not docname.endswith("index"):
        return
    first, *parts = SECTION.split(source[0])
    sections = zip(parts[::2], parts[1::2], strict=True) if parts else [("", first)]
    for title, text in sections:
        entries = "\n".join(dict.fromkeys(LINK.findall(text)))
        caption = f":caption: {title}\n" if title else ""
        source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def with_literal_blocks(*event: object) -> None:
    """Make what is indented below a colon a literal block, as it is meant in our docstrings."""
    lines = cast("list[str]", event[-1])
    for number, (line, empty, below) in enumerate(zip(lines, lines[1:], lines[2:], strict=False)):
        is_text = line.endswith(":") and not line.startswith(" ") and not empty
        if is_text and below.startswith(" "):
            lines[number] += ":"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Connect what is ours."""
    app.connect("source-read", with_navigation)
    app.connect("autodoc-process-docstring", with_literal_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
