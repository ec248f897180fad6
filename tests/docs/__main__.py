"""Writes every file of docs/ that is made from the code: python -m tests.docs."""

from __future__ import annotations

from tests.docs.generated import GENERATED

for path, written in GENERATED.items():
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(), encoding="utf-8")
