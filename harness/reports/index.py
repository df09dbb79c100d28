"""`results/index.html` and `results/index.md`: all specs of a results folder side by side."""

from __future__ import annotations

import shlex
from pathlib import Path

from harness import __version__
from harness.plan.model import Plan
from harness.records.files import read_model, write_atomically
from harness.reports.earlier_plan import plan_since
from harness.reports.escaping import markdown
from harness.reports.html import environment, source
from harness.reports.index_contents import MEAN_HEADING, ONCE_HEADINGS, SPEC_HEADINGS, IndexContents, index_contents
from harness.reports.tables import markdown_table
from harness.spec.errors import InputError, Problem
from harness.verdicts.dataset_label import dataset_label
from harness.verdicts.everywhere import JudgedSpec
from harness.verdicts.model import Verdicts

_REPORTS = ("report.html", "report.md")


def write_index(root: Path) -> list[str]:
    """Write both files from what lies in `root/<spec>/verdicts.json`.

    Args:
        root: a results folder, or one of committed results, in which there is no plan.

    Returns:
        A line for each spec that is left out, and why; the files have them too.

    Raises:
        InputError: no verdicts can be read there.
    """
    specs, left_out = _read(root)
    if not specs:
        said = f" ({'; '.join(left_out)})" if left_out else ""
        remedy = "`snakemake --cores 2 results/<spec>/report.html` makes some"
        raise InputError(Problem(str(root), f"no verdicts of any spec can be read here{said}; {remedy}"))
    contents = index_contents(str(root), specs, _links(root, specs), left_out)
    write_atomically(root / "index.md", index_markdown(contents, root))
    write_atomically(root / "index.html", index_page(contents, root))
    return left_out


def _read(root: Path) -> tuple[list[JudgedSpec], list[str]]:
    """Specs in the order of their names; what cannot be read costs its own row, not the page."""
    specs, left_out = [], []
    for folder in sorted(path for path in root.glob("*") if path.is_dir()):
        if not (folder / "verdicts.json").is_file():
            if (folder / "plan.json").is_file():
                left_out.append(f"{folder.name}: planned, and not judged yet")
            continue
        try:
            verdicts = read_model(folder / "verdicts.json", Verdicts)
            if plan_since(verdicts, folder) is not None:
                left_out.append(f"{folder.name}: judged by an earlier plan; `harness analyze` judges it by that of now")
                continue
            specs.append(JudgedSpec(folder.name, _dataset(folder, verdicts), verdicts))
        except InputError as error:
            left_out.append(f"{folder.name}: {error.problems[0].message}")
    return specs, left_out


def _dataset(folder: Path, verdicts: Verdicts) -> str:
    """In words: of verdicts from before they said so by the plan beside them, else by the spec's name."""
    if verdicts.dataset:
        return verdicts.dataset
    plan = folder / "plan.json"
    return dataset_label(read_model(plan, Plan).dataset.dataset) if plan.is_file() else f"the graph of {folder.name}"


def _links(root: Path, specs: list[JudgedSpec]) -> dict[str, str]:
    """Each spec's page, else its document, as a path from the index."""
    found = {}
    for spec in specs:
        name = next((name for name in _REPORTS if (root / spec.spec / name).is_file()), None)
        if name is not None:
            found[spec.spec] = f"{spec.spec}/{name}"
    return found


def _command(root: Path) -> str:
    return f"harness report --all {shlex.quote(str(root))}"


def index_page(contents: IndexContents, root: Path) -> str:
    """The page, in the look of a report; Jinja escapes everything."""
    from markupsafe import Markup

    made = environment()
    stylesheets = [source(made, name) for name in ("report.css", "index.css")]
    return made.get_template("index.html").render(
        c=contents,
        stylesheet=Markup("\n".join(stylesheets)),
        mean_heading=MEAN_HEADING,
        spec_headings=SPEC_HEADINGS,
        once_headings=ONCE_HEADINGS,
        command=_command(root),
        version=__version__,
    )


def index_markdown(contents: IndexContents, root: Path) -> str:
    """The same as a document."""
    parts = [f"# {markdown(contents.title)}: all specs", f"**{markdown(contents.headline)}**"]
    if contents.matrix:
        header = ["variant", MEAN_HEADING, *(f"{spec} ({dataset})" for spec, dataset in contents.columns)]
        rows = [
            [row.name, row.mean, *(" ".join([cell.verdict, cell.numbers]).strip() for cell in row.cells)]
            for row in contents.matrix
        ]
        parts += [markdown_table(header, rows), _list([f"**{v}**: {markdown(m)}" for v, m in contents.meanings])]
        parts.append("## What holds everywhere, and what depends on the graph")
        for group in contents.groups:
            meaning = group.meaning[0].upper() + group.meaning[1:]
            parts += [f"### {group.title}", f"{meaning}.", _list([markdown(line) for line in group.lines])]
    parts += ["## Specs", markdown_table(SPEC_HEADINGS, contents.specs)]
    linked = [f"[{markdown(spec)}]({link})" for spec, link in _documents(contents).items()]
    parts.append(f"Reports: {', '.join(linked)}." if linked else "")
    if contents.left_out:
        parts += ["Left out:", _list([markdown(line) for line in contents.left_out])]
    if contents.once:
        parts += ["## Variants on one data set only", markdown_table(ONCE_HEADINGS, contents.once)]
    parts += ["## How to read this", _list([markdown(note) for note in contents.notes])]
    parts.append(f"Again: `{_command(root)}`")
    return "\n\n".join(part for part in parts if part) + "\n"


def _documents(contents: IndexContents) -> dict[str, str]:
    """Markdown leads to Markdown, which is shown where a page is not."""
    return {spec: link.replace("report.html", "report.md") for spec, link in contents.links.items()}


def _list(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
