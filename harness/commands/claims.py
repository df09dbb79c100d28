"""`harness claims`: the ledger of the articles' claims, and what a spec's results say of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.commands import completion
from harness.commands.folders import RESULTS
from harness.commands.results import read_results
from harness.records.files import read_model
from harness.spec.errors import InputError, Problem

if TYPE_CHECKING:
    from harness.spec.claims import Claim
    from harness.verdicts.claims.ledger import ClaimOutcome

CLAIMS = Path("specs") / "claims"


def claims(
    claim: Annotated[
        str | None, typer.Argument(help="One claim in detail, e.g. A4.", autocompletion=completion.claim_ids)
    ] = None,
    form: Annotated[Literal["text", "md", "json"], typer.Option("--format", help="For a terminal, or files.")] = "text",
    short: Annotated[bool, typer.Option("--summary", help="Of Markdown only the table of a README.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Measure results/<spec> again, into claims.json.")] = False,
) -> None:
    """Show which of the articles' claims hold, by this folder's results, else by the committed ones."""
    from harness.spec.load_claims import load_claims
    from harness.verdicts.claims.files import lookup_under
    from harness.verdicts.claims.ledger import ledger

    entries = load_claims(CLAIMS)
    if write:
        for spec in dict.fromkeys(test.spec for entry in entries for test in entry.tests):
            if not (RESULTS / spec / "plan.json").is_file():
                continue
            try:
                print(f"{_write_claims(RESULTS / spec, entries)}: written", file=sys.stderr)
            except InputError as error:  # of one spec: the others are measured all the same
                print(f"warning: {error}", file=sys.stderr)
    if claim is not None:
        known = [entry.id for entry in entries]
        entries = tuple(entry for entry in entries if entry.id == claim.upper())
        if not entries:
            raise InputError(Problem("claims", f"'{claim}' is no claim; there are {', '.join(known)}"))
    _show_claims(ledger(entries, lookup_under(RESULTS)), form, short, detailed=claim is not None)


def _show_claims(outcomes: list[ClaimOutcome], form: str, short: bool, detailed: bool) -> None:
    from rich.console import Console

    from harness.reports.claims import markdown, terminal

    if form == "json":
        print(json.dumps([outcome.model_dump(mode="json") for outcome in outcomes], indent=2))
    elif form == "md":
        print((markdown.summary if short else markdown.whole)(outcomes), end="")
    elif detailed:
        terminal.claim_details(outcomes[0], Console())
    else:
        terminal.ledger_table(outcomes, Console())


def tested_claims(folder: Path, spec: str) -> list[ClaimOutcome]:
    """The claims that a spec's results test, measured now and kept beside them; none where there is no ledger.

    A mistake in the ledger is said and costs the report its section, not the grid its report.
    """
    from harness.spec.load_claims import load_claims
    from harness.verdicts.claims.files import lookup_under, wanted_of
    from harness.verdicts.claims.ledger import ledger

    try:
        entries = load_claims(CLAIMS) if CLAIMS.is_dir() else ()
    except InputError as error:
        print(f"warning: the report says nothing of claims: {error}", file=sys.stderr)
        return []
    tested = [entry for entry in entries if wanted_of([entry], spec)]
    if not tested:
        return []
    _write_claims(folder, entries)
    return ledger(tested, lookup_under(folder.parent, reference=False))


def _write_claims(folder: Path, entries: tuple[Claim, ...]) -> Path:
    """Measure what the claims ask of a spec's results; the file is all that the ledger needs of them."""
    from harness.plan.model import Plan
    from harness.records.files import write_atomically
    from harness.reports.details import command
    from harness.verdicts.claims.files import FILE, wanted_of
    from harness.verdicts.claims.measure import measure_all
    from harness.verdicts.claims.results import SpecResults

    def results_of(spec: str) -> SpecResults | None:
        place = folder.parent / spec
        if not (place / "plan.json").is_file():
            return None
        made = read_model(place / "plan.json", Plan)
        return SpecResults(made, *read_results(place, made), place)

    results = results_of(folder.name)
    assert results is not None  # asked only of folders with a plan
    found = measure_all(results, wanted_of(entries, folder.name), results_of, command(results.plan))
    path = folder / FILE
    write_atomically(path, found.model_dump_json(indent=1) + "\n")
    return path
