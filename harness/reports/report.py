"""All files of a report: the page, the tables and the figures, each whole or absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.plan.model import Plan
from harness.records.files import told_where, write_atomically
from harness.records.results import TimingResult, VariantResult
from harness.reports.contents import contents_of
from harness.reports.figures.in_order import figures
from harness.reports.latex_document import latex_document
from harness.reports.markdown_document import markdown_document
from harness.reports.page import page
from harness.reports.table_forms import csv_table
from harness.verdicts.claims.ledger import ClaimOutcome
from harness.verdicts.model import Verdicts


def write_report(
    plan: Plan,
    verdicts: Verdicts,
    variants: Mapping[str, VariantResult],
    timings: Mapping[str, TimingResult],
    folder: Path,
    claims: Sequence[ClaimOutcome] = (),
) -> None:
    """Write ``report.md``, ``report.tex``, ``report.csv``, ``report.html``, ``figures/*.svg`` and ``figures/*.csv``.

    Figures without data are not written; their place in the page says why, and one of an earlier report is removed.

    Args:
        plan: what was to run.
        verdicts: what came of it.
        variants: quality results by variant.
        timings: timing results by variant.
        folder: ``results/<spec>``.
        claims: those that the results test.

    Raises:
        InputError: the folder cannot be written, or the disk is full.
    """
    with told_where(folder / "figures"):
        (folder / "figures").mkdir(parents=True, exist_ok=True)  # an output of Snakemake, drawn into or not
    drawn = figures(plan, verdicts, variants)
    contents = contents_of(plan, verdicts, variants, timings, drawn, claims)
    for figure in drawn:
        _write_or_remove(folder / "figures" / f"{figure.name}.svg", figure.wide)
        _write_or_remove(folder / "figures" / f"{figure.name}.csv", "" if figure.data is None else figure.data.csv())
    write_atomically(folder / "report.csv", csv_table([verdicts]))
    write_atomically(folder / "report.tex", latex_document(contents))
    write_atomically(folder / "report.md", markdown_document(contents))
    write_atomically(folder / "report.html", page(contents))


def _write_or_remove(path: Path, text: str) -> None:
    if text:
        write_atomically(path, text)
    else:
        with told_where(path):
            path.unlink(missing_ok=True)
