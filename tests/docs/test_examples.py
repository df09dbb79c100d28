"""The pages' specs load, their pieces of specs are ones, and their Python runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.spec.load import load_spec
from tests.docs.pages import PAGES, Block, blocks

REST = {
    "version:": "version: 1",
    "name:": "name: piece",
    "dataset:": "dataset: {source: builtin, name: wordnet}",
    "model:": "model: {conv: sage}",
    "variants:": "variants: {cache: {set: {features.cache_ratio: 0.3}}}",
}
SECTIONS = (*REST, "training:", "baseline:", "design:", "seeds:", "gate:", "timing:", "limits:", "device:")

FILES = re.compile(r"[\w/.-]+\.(?:csv|npy|npz)\b")
NAMED = re.compile(r"# (\w+\.py)\n")
PROGRAMS = {found[1]: b.text for page in PAGES for b in blocks(page) if (found := NAMED.match(b.text))}


def of(language: str) -> list[Any]:
    found = [(page, block) for page in PAGES for block in blocks(page) if block.language == language]
    return [pytest.param(block, id=f"{page.name} {i}") for i, (page, block) in enumerate(found)]


def sections(block: Block) -> list[str]:
    """The keys at the margin of a block."""
    return [line.split()[0] for line in block.text.splitlines() if line[:1].isalpha()]


@pytest.mark.parametrize("block", of("yaml"))
def test_a_spec_or_a_piece_of_one_loads(block: Block, tmp_path: Path) -> None:
    if block.text.startswith("id: "):
        pytest.skip("a claim, which tests/spec holds to its own schema")
    assert set(sections(block)) <= set(SECTIONS)
    missing = [line for key, line in REST.items() if key not in sections(block)]
    for name in FILES.findall(block.text):  # a spec asks whether a file is there, not what is in it
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for title, text in PROGRAMS.items():
        (tmp_path / title).write_text(text)
    spec = tmp_path / "piece.yaml"
    spec.write_text("\n".join([block.text, *missing]) + "\n")
    assert load_spec(spec).version == 1


@pytest.mark.parametrize("block", of("python"))
def test_python_is_python(block: Block) -> None:
    compile(block.text, "a page", "exec")
    if "from harness" in block.text:
        exec(block.text, {})
