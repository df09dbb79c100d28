"""The command line: assembles the commands, and turns outcomes into exit codes.

Exit codes: 0 for outcomes (a failed run is an outcome: it has a row), 2 for bad input, 1 for a fault of the harness.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import Annotated, TextIO

import typer

from harness import __version__
from harness.commands.analyze import analyze
from harness.commands.check import doctor, plan, schema, validate
from harness.commands.claims import claims
from harness.commands.compare import compare
from harness.commands.init import init
from harness.commands.jobs import confirm_run, confirm_time, recommend, run, time
from harness.commands.prepare import prepare
from harness.commands.report import report
from harness.commands.retry import retry
from harness.commands.status import status
from harness.records.files import remedy_of
from harness.spec.errors import InputError, Problem

app = typer.Typer(
    name="harness",
    help="Benchmarks and ablations for the training of graph neural networks. Start with `snakemake --cores 2`.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
confirm = typer.Typer(help="Train and time what is recommended together, on fresh seeds.", no_args_is_help=True)

JOBS = ("prepare", "run", "time", "recommend", "confirm", "analyze", "report")  # what Snakemake calls


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        print(f"harness {__version__}")
        raise typer.Exit


# What a person calls, in the order of `harness --help`
app.command(short_help="Write a commented spec for a data set, after a look at it.")(init)
app.command(short_help="Show what is done, running and failed, what is left, and the verdicts so far.")(status)
app.command()(validate)
app.command(short_help="Show what will run, what it costs, and what is skipped.")(plan)
app.command()(schema)
app.command(short_help="Say what a run needs and this machine has, lacks or does badly.")(doctor)
app.command()(retry)
app.command(short_help="Compare two results folders: two versions of code or library, or two machines.")(compare)
app.command()(claims)

# What Snakemake calls; each also works by hand
app.command()(prepare)
app.command()(run)
app.command()(time)
app.command()(recommend)
app.add_typer(confirm, name="confirm")
confirm.command("run")(confirm_run)
confirm.command("time")(confirm_time)
app.command()(analyze)
app.command()(report)


def _same_file(one: TextIO | None, other: TextIO | None) -> bool:
    """Whether both go to the same place; one that is closed goes nowhere."""
    if one is None or other is None:
        return False
    try:
        return os.path.sameopenfile(one.fileno(), other.fileno()) or (one.isatty() and other.isatty())
    except (OSError, ValueError):
        return False


def _write_out() -> None:
    """Write what was printed now, while a full disk can still be told, and not when Python ends."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = None  # or Python would try again at its end, and say so
        raise


def _problems(error: Exception) -> list[Problem] | None:
    """What a person can put right: bad input, or what the disk refuses; None of a fault of ours."""
    if isinstance(error, InputError):
        return error.problems
    remedy = remedy_of(error) if isinstance(error, OSError) else None
    if remedy is None or not isinstance(error, OSError):
        return None
    return [Problem(str(error.filename or "the output"), f"cannot be read or written: {remedy}")]


def _refuse_undecodable(words: list[str]) -> None:
    """File names of bytes that are no text could be written into no spec, plan or record.

    Raises:
        InputError: a word of the command line holds such bytes.
    """
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = word.encode(errors="backslashreplace").decode()
            raise InputError(Problem(shown, "the name holds bytes that are no UTF-8; rename the file")) from None


def main() -> None:
    """Run the command line; the only place where exceptions become messages and exit codes."""
    # The stderr of Snakemake's jobs goes to a log, so what a person must read goes to the screen too.
    logged = sys.argv[1:2] and sys.argv[1] in JOBS and not _same_file(sys.stderr, sys.stdout)
    try:
        try:
            _refuse_undecodable(sys.argv[1:])
            app()
        finally:
            _write_out()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        problems = _problems(error)
        with contextlib.suppress(OSError):
            print(*problems, sep="\n", file=sys.stderr) if problems else traceback.print_exc()
        with contextlib.suppress(OSError):
            if logged:
                told = problems or [f"harness: a fault of its own: {type(error).__name__}: {error}"]
                print(*told, sep="\n", flush=True)
        sys.exit(2 if problems else 1)


if __name__ == "__main__":
    main()
