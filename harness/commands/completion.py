"""What the shell completes: specs, results, variants, claims and data sets, looked up from the present folder.

Where nothing fits, nothing is said, and the shell goes on with its own completion of files. A mistake in a file is not
said here either: completing must never print.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

DATA_FILES = (".csv", ".tsv", ".parquet", ".npz", ".npy", ".mtx", ".csv.gz", ".tsv.gz")


def spec_files(incomplete: str) -> list[str]:
    """Paths of specs: those of `specs/`, of `specs/claims/grids/` and of the present folder."""
    found = [*Path("specs").glob("*.yaml"), *Path("specs/claims/grids").glob("*.yaml"), *Path().glob("*.yaml")]
    return _fitting((path.as_posix() for path in found), incomplete)


def spec_names(incomplete: str) -> list[str]:
    """Names of the specs that have been planned."""
    return _fitting((path.parent.name for path in Path("results").glob("*/plan.json")), incomplete)


def results_folders(incomplete: str) -> list[str]:
    """Folders with a plan or with verdicts; the committed ones too."""
    found = [*Path("results").glob("*/plan.json"), *Path("results").glob("*/verdicts.json")]
    found += Path("results/reference").glob("*/verdicts.json")
    return _fitting((path.parent.as_posix() for path in found), incomplete)


def variants(incomplete: str) -> list[str]:
    """Variants of the spec named before, after those that the list holds already."""
    return _listed(_cells(), incomplete)


def timings(incomplete: str) -> list[str]:
    """Likewise of what is timed: `control` too."""
    return _listed(["control", *_cells()], incomplete)


def failed_statuses(incomplete: str) -> list[str]:
    """Statuses of a failed run."""
    from harness.records.record import FAILED

    return _listed(FAILED, incomplete)


def claim_ids(incomplete: str) -> list[str]:
    """Claims of the ledger."""
    return _fitting((path.stem for path in Path("specs/claims").glob("*.yaml")), incomplete)


def data_sets(incomplete: str) -> list[str]:
    """Names that `harness init` knows, and data files; without a colon, at which some shells cut words."""
    from harness.plan.sizes import known_names

    names = ["wordnet", "synthetic", *known_names("pyg"), *known_names("ogb")]
    files = [path.as_posix() for path in Path().glob("*") if path.name.endswith(DATA_FILES)]
    return _fitting([*names, *files], incomplete)


def _cells() -> list[str]:
    """Variants of the first word of the line that names a planned spec; none where its plan cannot be read.

    The parser gives no arguments while an option still waits for its value, so the words come from the shell.
    """
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    for place in (folder / "plan.json" for word in line.split() for folder in (Path("results") / word, Path(word))):
        try:
            return list(json.loads(place.read_bytes())["cells"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return []


def _fitting(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


def _listed(names: Iterable[str], incomplete: str) -> list[str]:
    """The next name of a comma-separated list, after what is written of it."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [f"{before}{comma}{name}" for name in _fitting(names, last) if name not in taken]
