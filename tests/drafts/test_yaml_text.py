"""A draft's file says in YAML what the draft holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.drafts.parts import Block, Draft, Entry
from harness.drafts.yaml_text import flow, yaml_text
from harness.spec.yaml_tree import read_tree

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0xD7FF)),
    st.sampled_from(["no", "1e3", "a: b", "# c", "~"]),
)
VALUES = st.one_of(
    st.booleans(), st.integers(-(10**9), 10**9), st.floats(1e-6, 1e6), TEXTS, st.lists(st.integers(0, 99), max_size=3)
)


def _read(text: str, folder: Path) -> dict[str, Any]:
    path = folder / "read.yaml"
    path.write_text(text, encoding="utf-8")
    return read_tree(path).plain()


@given(value=VALUES)
def test_any_value_is_read_as_it_was(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert _read(f"a: {{b: {flow(value)}}}\n", tmp_path_factory.getbasetemp()) == {"a": {"b": value}}


def test_comments_stand_beside_or_above_and_offers_are_comments(tmp_path: Path) -> None:
    entries = (
        Entry("p", "x.csv", "short"),
        Entry("q", [1, 2], "long " * 40),
        Entry("r", {"s": True}, "maybe", offered=True),
    )
    draft = Draft(("Seen.",), (Entry("version", 1), Block("dataset", entries, "why")))
    text = yaml_text(draft, "# modeline")
    assert _read(text, tmp_path) == draft.plain() == {"version": 1, "dataset": {"p": "x.csv", "q": [1, 2]}}
    lines = text.splitlines()
    assert lines[:4] == ["# modeline", "# Seen.", "version: 1", "# why"]
    assert "  p: x.csv  # short" in lines
    assert "  # r: {s: true}  # maybe" in lines
    assert max(map(len, lines)) <= 120
