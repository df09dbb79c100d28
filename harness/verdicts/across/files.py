"""The files of a results folder that `harness compare` reads: what is missing, and which version wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import __version__
from harness.plan.version import ENGINE_VERSION
from harness.spec.errors import InputError, Problem
from harness.verdicts.wording import listed


def refuse_incomplete(folder: Path) -> None:
    """Two folders are compared run by run, so an outcome alone is not enough.

    Raises:
        InputError: the plan or the verdicts are missing.
    """
    missing = [name for name in ("plan.json", "verdicts.json") if not (folder / name).is_file()]
    if missing:
        message = (
            f"{listed(missing)} {'is' if len(missing) == 1 else 'are'} missing; a folder that can be compared has "
            "plan.json, variants/, timing/ and verdicts.json, as `snakemake` leaves them in results/<spec>, while the "
            "folders in results/reference keep only the outcome: run their spec and compare with that"
        )
        raise InputError(Problem(str(folder), message))


def other_version(folder: Path) -> str:
    """What to do about a file that this version cannot read, with both versions by name."""
    own = _named({"harness": __version__, "engine": ENGINE_VERSION})
    written = _written_by(folder)
    if written is None:
        return f"no file there says which version wrote it, and this is {own}: make these results again with this one"
    if written == own:
        return f"{written} wrote these results, as this is, so the file is damaged: make it again"
    return (
        f"{written} wrote these results, and this is {own}: compare with the newer of the two if it reads both, else "
        "make these results again with this one"
    )


def _written_by(folder: Path) -> str | None:
    paths = [folder / "verdicts.json", *sorted(folder.glob("variants/*.json")), *sorted(folder.glob("timing/*.json"))]
    for path in paths:
        try:
            environment = json.loads(path.read_bytes())["environment"]
            return _named(environment)
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _named(environment: dict[str, Any]) -> str:
    """Of an environment, as a record has it."""
    return f"harness {environment['harness']} with engine {environment['engine']}"
