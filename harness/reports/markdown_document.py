"""`report.md`: the report for a pull request or a design review, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from harness.reports.contents import (
    CLAIM_HEADINGS,
    CLAIM_NOTE,
    FAILURE_HEADINGS,
    REFERENCE_HEADINGS,
    Contents,
    VariantDetails,
)
from harness.reports.escaping import code, markdown
from harness.reports.figures.drawing import Figure
from harness.reports.open_questions import HEADING, NONE
from harness.reports.tables import markdown_table
from harness.reports.together import HEADING as TOGETHER
from harness.reports.together import HEIGHT_HEADINGS, HEIGHTS_CAPTION, PART_HEADINGS, PARTS_CAPTION
from harness.reports.where_time_goes import COSTS_HEADING, Table
from harness.reports.where_time_goes import HEADING as TIME_HEADING


def markdown_document(contents: Contents) -> str:
    """The whole document; figures are linked beside it."""
    parts = [
        f"# {markdown(contents.spec)}",
        markdown(contents.description),
        markdown(contents.question),
        f"**{markdown(contents.answer)}**",
        markdown_table(contents.headings, [*contents.anchors, *contents.rows]),
        f"{markdown(contents.ratios_note)} {markdown(contents.baseline)}",
        _list([f"**{verdict}**: {markdown(meaning)}" for verdict, meaning in contents.meanings]),
        f"{markdown(contents.control)}\n\n{markdown(contents.resolution)}",
        markdown(contents.looks),
        *_together(contents),
        f"## {HEADING}",
        _list([markdown(line) for line in contents.open_questions]) or NONE,
        f"## {TIME_HEADING}",
        _list([markdown(sentence) for sentence in contents.time.sentences]),
        _figure(contents.time.figure),
        *[_table(table) for table in contents.time.tables],
        *([f"## {COSTS_HEADING}", _table(contents.time.trainings)] if contents.time.trainings.rows else []),
        "## Figures",
        *[_figure(figure) for figure in contents.figures],
        *_claims(contents),
        "## References",
        markdown_table(REFERENCE_HEADINGS, contents.references) if contents.references else "No reference ran.",
        "## Skipped and failed",
        _failures(contents),
        "## Behind each verdict",
        *[_details(details) for details in contents.details],
        "## How it was measured",
        _list([markdown(line) for line in contents.method]),
        _facts(contents.run),
        "## Machine and versions",
        _facts(contents.environment) or "Not recorded.",
        "Again, with the same spec:",
        f"```\n{contents.command}\n```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Table) -> str:
    return f"{markdown_table(table.headings, table.rows)}\n\n{markdown(table.note)}"


def _claims(contents: Contents) -> list[str]:
    if not contents.claims:
        return []
    return ["## Claims that these results test", markdown_table(CLAIM_HEADINGS, contents.claims), markdown(CLAIM_NOTE)]


def _together(contents: Contents) -> list[str]:
    found = contents.together
    if found is None:
        return []
    parts = [f"## {TOGETHER}", _list([markdown(line) for line in found.lines])]
    if found.row:
        parts.append(markdown_table(contents.headings, found.row))
    if found.parts:
        parts += [markdown_table(PART_HEADINGS, found.parts), markdown(PARTS_CAPTION)]
        parts.append(_list([markdown(words) for words in found.words]))
    if found.heights:
        parts += [markdown_table(HEIGHT_HEADINGS, found.heights), markdown(HEIGHTS_CAPTION)]
    return parts


def _figure(figure: Figure) -> str:
    if not figure.wide:
        return f"**{markdown(figure.title)}.** {markdown(figure.missing)}"
    return (
        f"![{markdown(figure.title)}](figures/{figure.name}.svg)\n\n**{markdown(figure.title)}.** "
        f"{markdown(figure.caption)} [Data](figures/{figure.name}.csv)."
    )


def _failures(contents: Contents) -> str:
    if not contents.failures:
        return "None."
    return markdown_table(FAILURE_HEADINGS, [(f.variant, f.what, f.status, f.message) for f in contents.failures])


def _details(details: VariantDetails) -> str:
    lines = [f"### {markdown(details.variant)}: {details.verdict}", markdown(details.reason), _facts(details.facts)]
    if details.counters:
        lines.append(
            "Counters of what it changes: "
            + ", ".join(code(f"{name} = {value}") for name, value in details.counters)
            + f". All are in {code(details.counters_of)}; docs/counters.md says what each is."
        )
    if details.pairs:
        pairs = ", ".join(f"{row[3]}{'' if row[4] == 'yes' else ' (not counted)'}" for row in details.pairs)
        seeds = f"{details.pairs[0][0]} to {details.pairs[-1][0]}"
        lines.append(f"Differences in pp, seeds {seeds}: {markdown(pairs)}")
    return "\n\n".join(line for line in lines if line)


def _facts(pairs: Sequence[tuple[str, str]]) -> str:
    return _list([f"{markdown(name)}: {markdown(value)}" for name, value in pairs])


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
