"""What the pages tell a person to type: fenced blocks, and the command lines in them and between backticks."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"commands.md"}  # written from the command line itself: usage lines, not commands
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.name not in GENERATED
]
SHELL = ("sh", "bash", "console")
# What a command may be.
WORDS = ("harness", "snakemake", "make", "python", "pip", "git", "cd", "jq", "mkdocs", "source")
_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_SPAN = re.compile(rf"`((?:[A-Z_]+=\S+ )*(?:{'|'.join(WORDS)})(?: [^`]+)?)`")
_SETTING = re.compile(r"[A-Z_]+=")


@dataclass(frozen=True)
class Block:
    """A fenced block: the word after the fence, the file that it stands for (`title="…"`), its lines."""

    language: str
    title: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command line as its words, settings of the environment before it left out."""

    page: str
    words: tuple[str, ...]
    fenced: bool  # in a block, to be typed as it is; between backticks it may be a form (`harness plan SPEC`)

    @property
    def line(self) -> str:
        return " ".join(self.words)


def blocks(page: Path) -> list[Block]:
    found = []
    for fence in _FENCE.finditer(page.read_text()):
        title = re.search(r'title="([^"]+)"', fence["info"])
        found.append(Block((fence["info"].split() or [""])[0], title[1] if title else "", fence["text"]))
    return found


def commands(page: Path) -> list[Command]:
    """All command lines of a page, in its order: of shell blocks, then between backticks."""
    found = []
    for block in blocks(page):
        if block.language in SHELL:
            lines = block.text.replace("\\\n", " ").splitlines()
            found += [Command(page.name, words, True) for line in lines if (words := words_of(line))]
    prose = _FENCE.sub("", page.read_text())
    for span in _SPAN.findall(re.sub(r"(`[^`\n]*)\n([^`\n]*`)", r"\1 \2", prose)):
        found.append(Command(page.name, words_of(span), False))
    return found


def words_of(line: str) -> tuple[str, ...]:
    """`A=1 harness plan SPEC  # why` to its words; nothing of an empty line or a comment."""
    words = shlex.split(line, comments=True)
    while words and _SETTING.match(words[0]):
        words = words[1:]
    return tuple(words)
