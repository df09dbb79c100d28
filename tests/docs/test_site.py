"""The documentation builds as a site without a warning, needs nothing from elsewhere, and its commands are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
ELSEWHERE = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")


def mkdocs_build(config: Path, site: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--config-file",
        str(config),
        "--site-dir",
        str(site),
    ]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=30, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = mkdocs_build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_on_the_site_with_its_sections(site: Path) -> None:
    for page in PAGES:
        html = (site / ("index.html" if page.stem == "README" else f"{page.stem}.html")).read_text()
        headings = re.findall(r"^##+ ", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), flags=re.MULTILINE)
        assert len(re.findall(r"<h[2-6] id=", html)) == len(headings), page.name


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    assert {page.name: found for page in site.glob("*.html") if (found := ELSEWHERE.findall(page.read_text()))} == {}
    styles = "".join(sheet.read_text() for sheet in site.rglob("*.css"))
    assert re.findall(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", styles) == []


def test_lists_are_lists(site: Path) -> None:
    """GitHub takes lines that begin with a dash for a list wherever they stand; the site needs an empty line before."""
    loose = re.compile(r"^(?:- |\d\. )", flags=re.MULTILINE)
    for page in site.glob("*.html"):
        article = re.sub(r"<pre.*?</pre>", "", page.read_text(), flags=re.DOTALL)
        paragraphs = re.findall(r"<p>(.*?)</p>", article, flags=re.DOTALL)
        assert [p for p in paragraphs if loose.search(p)] == [], page.name


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[gone](gone.md)", "'gone.md'"),
        ("[gone](other.md#gone)", "#gone"),
        ("[theirs](/other.md)", "'/other.md'"),
    ],
)
def test_a_broken_link_fails_the_build(tmp_path: Path, written: str, said: str) -> None:
    """The settings of the site on two pages, of which one is wrong: a build that always passes would prove nothing."""
    config = (ROOT / "mkdocs.yml").read_text().split("nav:")[0].replace("scripts/", f"{ROOT}/scripts/")
    (tmp_path / "mkdocs.yml").write_text(config)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "other.md").write_text("# Other\n\n## There\n")
    page = tmp_path / "docs" / "README.md"
    page.write_text("# Here\n\n[there](other.md#there), [the README](../README.md)\n")
    good = mkdocs_build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert good.returncode == 0, good.stderr
    assert "the README (<code>README.md</code>)" in (tmp_path / "site" / "index.html").read_text()
    page.write_text(f"# Here\n\n{written}\n")
    broken = mkdocs_build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert broken.returncode != 0
    assert said in broken.stderr


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"]({page.name})" not in index] == []


def test_the_commands_are_current(tmp_path: Path) -> None:
    arguments = ["-m", "typer", "harness.cli", "utils", "docs", "--name", "harness", "--output"]
    subprocess.run([sys.executable, *arguments, tmp_path / "commands.md"], cwd=ROOT, capture_output=True, check=True)
    current = (tmp_path / "commands.md").read_text() == (ROOT / "docs" / "commands.md").read_text()
    assert current, f"run `python {' '.join(arguments)} docs/commands.md`"
