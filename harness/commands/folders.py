"""Where results lie, and what a person calls a spec's, as a folder."""

from __future__ import annotations

from pathlib import Path

from harness.spec.errors import InputError, Problem

RESULTS = Path("results")


def results_folder(target: str) -> Path:
    """A spec's file, its name, its results folder or a file in that to the folder.

    Raises:
        InputError: there is no plan; the message lists the specs that have one.
    """
    path = Path(target)
    if path.suffix in (".yaml", ".yml"):
        from harness.spec.load import load_spec

        path = RESULTS / load_spec(path).name
    elif path.suffix == ".json":
        path = path.parent
    else:
        named = RESULTS / target  # a folder beside it may have the spec's name too
        is_name = len(path.parts) == 1  # what holds a slash is a path already
        if is_name and (not path.is_dir() or (named.is_dir() and not (path / "plan.json").is_file())):
            path = named
    if not (path / "plan.json").is_file():
        known = sorted(p.parent.name for p in RESULTS.glob("*/plan.json"))
        raise InputError(
            Problem(
                target,
                f"no plan.json under {path} in the present folder; known: {', '.join(known) or 'none yet'}; "
                f"`snakemake --cores 2 results/<spec>/report.html` starts a spec",
            )
        )
    return path


def judged_folder(target: Path) -> Path:
    """The folder of a spec's verdicts: by itself, by a file in it, or by the spec's name.

    Raises:
        InputError: there are no verdicts; the message lists the folders that have some.
    """
    folder = target.parent if target.is_file() or target.suffix == ".json" else target
    if not folder.exists() and (RESULTS / folder).is_dir():
        folder = RESULTS / folder
    if not (folder / "verdicts.json").is_file():
        found = [*RESULTS.glob("*/verdicts.json")] or [*RESULTS.glob("reference/*/verdicts.json")]
        judged = sorted(str(path.parent) for path in found)
        raise InputError(
            Problem(
                str(target),
                f"no verdicts.json under {folder}; there are some in {', '.join(judged) or 'no folder yet'}; "
                f"`snakemake --cores 2 results/<spec>/report.html` makes them",
            )
        )
    return folder
