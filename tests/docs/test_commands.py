"""Every command line of the pages is one: its command, options, targets and files exist. What is not known is an error.

Commands between backticks are held to the same, but for files, since they may be forms (`harness plan SPEC`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from harness.cli import app
from tests.docs.pages import PAGES, ROOT, SHELL, WORDS, Command, blocks, commands, words_of

EVERY = [command for page in PAGES for command in commands(page)]
# Files and folders that a reader makes: the tutorial's spec and results, and others named for the sake of an example.
READERS = re.compile(r"(\w+/)*mine(\.yaml|/|$)|results/|data/mine/|\.venv/|make_data\.py|old/|new/|path/to/|[A-Z_]+$")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+$|[\w-]+\.(?:md|py|txt|yaml)$")


def of(word: str) -> list[Command]:
    return [command for command in EVERY if command.words[0] == word]


def ids(command: Command) -> str:
    return f"{command.page}: {command.line}"


def test_commands_stand_in_blocks_that_say_so() -> None:
    """An unmarked block is not looked at, so none may hold a command."""
    typed = re.compile(rf"^\s*\$? ?(?:{'|'.join(WORDS)}) ", flags=re.MULTILINE)
    unmarked = [b.text for page in PAGES for b in blocks(page) if b.language not in SHELL and b.language != "python"]
    assert [text for text in unmarked if any(words_of(m)[0] in WORDS for m in typed.findall(text))] == []
    indented = re.compile(rf"^ {{4,}}(?:{'|'.join(WORDS)}) ", flags=re.MULTILINE)
    assert {page.name for page in PAGES if indented.search(page.read_text())} == set()


def test_every_command_is_one_of_those_looked_at() -> None:
    assert {command.words[0] for command in EVERY} <= set(WORDS)
    fences = [line for page in PAGES for line in page.read_text().splitlines() if re.match(r"\s+```", line)]
    assert fences == [], "a block within a list is not looked at, and not one on the site"
    assert len(of("harness")) > 30
    assert len(of("snakemake")) > 5


@pytest.mark.parametrize("command", of("harness"), ids=ids)
def test_harness_has_the_command_and_its_options(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    code = parsed(command.words[1:])
    told = capsys.readouterr().err
    assert code == 0 or (not command.fenced and ("Missing argument" in told or len(command.words) == 1)), told


@pytest.mark.parametrize("words", ["plam x", "plan", "plan x --powr", "compare a b --format html", "retry mine --x 1"])
def test_a_wrong_command_would_be_found(words: str) -> None:
    assert parsed(words.split()) == 2


def parsed(words: Sequence[str]) -> int:
    """Exit code of the command line with these words, where no command does anything."""
    group = typer.main.get_command(app)
    silence(group)
    with pytest.raises(SystemExit) as ended:
        group.main(list(words), prog_name="harness")
    return int(ended.value.code or 0)


def silence(group: Any) -> None:
    for option in group.params:
        option.callback = None  # typer's own would write completion into the files of whoever runs the tests
    for command in group.commands.values():
        if hasattr(command, "commands"):
            silence(command)
        else:
            command.callback = lambda **_: None


@pytest.mark.parametrize("command", of("snakemake"), ids=ids)
def test_snakemake_has_the_options(command: Command) -> None:
    from snakemake.cli import get_argument_parser

    get_argument_parser().parse_args(list(command.words[1:]))


def test_every_snakemake_target_is_made_by_a_rule(tmp_path: Path) -> None:
    """A dry run of all targets at once, with the specs that are part of the repository, in a copy of it."""
    targets = {word for command in of("snakemake") for word in command.words if word.startswith("results/")}
    ours = sorted(target for target in targets if (ROOT / "specs" / f"{target.split('/')[1]}.yaml").exists())
    assert {target.split("/")[1] for target in targets - set(ours)} <= {"mine", "<spec>"}
    assert len(ours) >= 2
    for name in ("Snakefile", "workflows", "profiles", "specs"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, tmp_path / name)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "debian12_deps.npz").touch()  # a plan asks whether a file is there, not what is in it
    environment = {**os.environ, "HARNESS_DATA": str(tmp_path / "data"), "HARNESS_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1", *ours]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_has_the_targets() -> None:
    targets = sorted({word for command in of("make") for word in command.words[1:] if "=" not in word})
    assert "quickstart" in targets
    done = subprocess.run(["make", "--dry-run", *targets], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_python_program_has_the_options() -> None:
    """Its `--help` names them."""
    options = {command: [w for w in command.words[1:] if w.startswith("--")] for command in of("python")}
    for program in sorted({program_of(command) for command in options if options[command]}):
        line = [sys.executable, *program, "--help"]
        told = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=100, check=True).stdout
        for command, asked in options.items():
            if program_of(command) == program:
                assert [option for option in asked if option not in told] == [], command.line


def program_of(command: Command) -> tuple[str, ...]:
    if command.words[1] != "-m":
        return command.words[1:2]
    module = ROOT / command.words[2].replace(".", "/")
    assert module.with_suffix(".py").exists() or (module / "__main__.py").exists(), command.line
    return command.words[1:3]


@pytest.mark.parametrize("command", [command for command in EVERY if command.fenced], ids=ids)
def test_every_file_named_exists(command: Command) -> None:
    named = [word for word in command.words[1:] if PATH.match(word) and not READERS.match(word)]
    assert [word for word in named if not (ROOT / word).exists()] == []
