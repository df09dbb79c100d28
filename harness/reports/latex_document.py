"""`report.tex`: the tables for a paper or a design review; compiles by itself, and each table can be lifted out."""

from __future__ import annotations

from collections.abc import Sequence

from harness.reports.contents import CLAIM_HEADINGS, FAILURE_HEADINGS, Contents
from harness.reports.escaping import latex
from harness.reports.open_questions import HEADING, NONE
from harness.reports.tables import latex_table
from harness.reports.together import HEADING as TOGETHER
from harness.reports.together import HEIGHT_HEADINGS, HEIGHTS_CAPTION, PART_HEADINGS, PARTS_CAPTION
from harness.reports.where_time_goes import HEADING as TIME_HEADING

_PREAMBLE = r"""% Needs booktabs, longtable, array and geometry, which every TeX distribution has.
\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[a4paper,landscape,margin=18mm]{geometry}
\usepackage{array,booktabs,longtable}
\newcolumntype{L}[1]{>{\raggedright\arraybackslash}p{#1}}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\LTleft}{0pt}
\sloppy
\begin{document}
"""
_VERDICT_COLUMNS = r"L{42mm}L{34mm}L{30mm}L{30mm}lL{78mm}"
_STAGE_COLUMNS = "llll"
_TOGGLE_COLUMNS = r"L{50mm}L{38mm}L{34mm}llL{34mm}L{42mm}"
_SAVING_COLUMNS = r"L{48mm}llllL{28mm}L{58mm}"
_TRAINING_COLUMNS = r"L{42mm}L{32mm}L{30mm}L{24mm}L{34mm}L{34mm}L{38mm}"
_CLAIM_COLUMNS = r"L{62mm}L{70mm}L{52mm}L{36mm}l"
_FAILURE_COLUMNS = r"L{52mm}L{32mm}lL{130mm}"
_PART_COLUMNS = r"L{52mm}L{52mm}L{48mm}L{48mm}l"
_HEIGHT_COLUMNS = r"L{62mm}L{58mm}lll"


def latex_document(contents: Contents) -> str:
    """The answer, the verdict table with its legend, warnings and open questions, and what was skipped or failed."""
    parts = [
        rf"\section*{{{latex(contents.spec, breakable=True)}}}",
        latex(contents.question, breakable=True),
        rf"\textbf{{{latex(contents.answer, breakable=True)}}}",
        latex_table(contents.headings, [*contents.anchors, *contents.rows], _VERDICT_COLUMNS, _caption(contents)),
        _paragraphs([f"{verdict}: {meaning}" for verdict, meaning in contents.meanings]),
        latex(contents.control, breakable=True),
        latex(contents.resolution),
        latex(contents.looks, breakable=True),
        *_together(contents),
        rf"\subsection*{{{HEADING}}}",
        _paragraphs(contents.open_questions) or NONE,
        *_time_parts(contents),
        r"\subsection*{How it was measured}",
        _paragraphs(contents.method),
    ]
    if contents.claims:
        parts.insert(-2, latex_table(CLAIM_HEADINGS, contents.claims, _CLAIM_COLUMNS, "Claims that these results test"))
    if contents.failures:
        rows = [(f.variant, f.what, f.status, f.message) for f in contents.failures]
        caption = "Skipped cells and failed runs"
        parts.insert(-2, latex_table(FAILURE_HEADINGS, rows, _FAILURE_COLUMNS, caption))
    return _PREAMBLE + "\n\n".join(parts) + "\n\\end{document}\n"


def _time_parts(contents: Contents) -> list[str]:
    """Where the time goes, and what a training costs."""
    section = contents.time
    parts = [rf"\subsection*{{{TIME_HEADING}}}", _paragraphs(section.sentences)]
    for table, columns in (
        (section.stages, _STAGE_COLUMNS),
        (section.toggles, _TOGGLE_COLUMNS),
        (section.savings, _SAVING_COLUMNS),
        (section.trainings, _TRAINING_COLUMNS),
    ):
        if table.rows:
            parts.append(latex_table(table.headings, table.rows, columns, table.note))
    return parts


def _together(contents: Contents) -> list[str]:
    found = contents.together
    if found is None:
        return []
    parts = [rf"\subsection*{{{TOGETHER}}}", _paragraphs(found.lines)]
    if found.row:
        parts.append(latex_table(contents.headings, found.row, _VERDICT_COLUMNS, "The whole, on fresh seeds"))
    if found.parts:
        parts += [latex_table(PART_HEADINGS, found.parts, _PART_COLUMNS, PARTS_CAPTION), _paragraphs(found.words)]
    if found.heights:
        parts.append(latex_table(HEIGHT_HEADINGS, found.heights, _HEIGHT_COLUMNS, HEIGHTS_CAPTION))
    return parts


def _caption(contents: Contents) -> str:
    return f"Verdicts of {contents.spec}. Ratios are reference over variant: above 1 is faster, or smaller."


def _paragraphs(lines: Sequence[str]) -> str:
    return "\n\n".join(latex(line, breakable=True) for line in lines)
