"""Every relative link of the documentation leads somewhere, and every spec named in it exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    links = [link for link in LINK.findall(page.read_text()) if not link.startswith(("http://", "https://"))]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_spec_is_valid_and_has_a_header_of_purpose_and_cost():
    for spec in sorted([*(ROOT / "specs").glob("*.yaml"), *(ROOT / "specs" / "claims" / "grids").glob("*.yaml")]):
        header = [line for line in spec.read_text().splitlines() if line.startswith("#")]
        assert header[0].startswith("# yaml-language-server"), spec
        assert any("Costs:" in line for line in header), spec
