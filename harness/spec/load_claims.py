"""The ledger's entries from their files, or every mistake in them at once with file:line:column."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.spec.cells import named_patches
from harness.spec.claims import Claim, Expectation
from harness.spec.errors import InputError, Problem
from harness.spec.load import placed
from harness.spec.schema import Variant
from harness.spec.wording import Finding, Loc, close, explain
from harness.spec.yaml_tree import read_tree


def load_claims(folder: Path) -> tuple[Claim, ...]:
    """All entries of ``specs/claims``, by article and number; specs they name lie beside that folder or in its `grids`.

    Raises:
        InputError: all mistakes of all files: schema, a file that is not named after its id, a spec or a cell of it
            that does not exist.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(Problem(str(folder), "no such folder; the claims are files in it, e.g. A4.yaml"))
    specs = _Specs(folder.parent, folder / "grids")
    claims, problems = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            claims.append(_load(path, specs))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return tuple(sorted(claims, key=lambda claim: (claim.article, int(claim.id[1:]))))


def _load(path: Path, specs: _Specs) -> Claim:
    tree = read_tree(path)
    try:
        claim = Claim.model_validate(tree.plain())
    except ValidationError as error:
        findings = [explain(detail, None, Claim) for detail in error.errors()]
    else:
        findings = list(_beyond_schema(claim, path, specs))
        if not findings:
            return claim
    raise InputError(placed(findings, tree, str(path)))


def _beyond_schema(claim: Claim, path: Path, specs: _Specs) -> Iterator[Finding]:
    if claim.id != path.stem:
        yield Finding(("id",), f"'{claim.id}' is not the file's name; rename the file to {claim.id}.yaml")
    for number, test in enumerate(claim.tests):
        known = [(key, name) for key, name in (("spec", test.spec), ("against", test.against)) if name is not None]
        missing = [(key, name) for key, name in known if specs.cells(name) is None]
        for key, name in missing:
            where = f"no spec {specs.path(name)}{close(name, specs.names())}"
            yield Finding(("tests", number, key), f"{where}; write it first, or correct the name")
        if not missing:
            yield from _cells(claim, test.spec, test.against or test.spec, specs)


def _cells(claim: Claim, spec: str, reference_spec: str, specs: _Specs) -> Iterator[Finding]:
    for section, number, expected in _expectations(claim):
        named = [("variant", expected.variant, spec)]
        if not expected.of_one:
            named.append(("reference", expected.reference_name, reference_spec))
        for key, name, of in named:
            cells = specs.cells(of) or []
            if name not in cells:
                loc: Loc = (section, number, key)
                hint = close(name, cells) or ";"
                yield Finding(loc, f"'{name}' is no variant of {specs.path(of)}{hint} it has {', '.join(cells)}")


def _expectations(claim: Claim) -> Iterator[tuple[str, int, Expectation]]:
    for section, listed in (("where", claim.where), ("expects", claim.expects)):
        for number, expected in enumerate(listed):
            yield section, number, expected


class _Specs:
    """Names of the cells of the specs in some folders; each file is read once, and its data need not be there."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self._cells: dict[str, list[str] | None] = {}

    def path(self, name: str) -> Path:
        paths = [folder / f"{name}.yaml" for folder in self.folders]
        return next((path for path in paths if path.is_file()), paths[0])

    def names(self) -> list[str]:
        return sorted(path.stem for folder in self.folders for path in folder.glob("*.yaml"))

    def cells(self, name: str) -> list[str] | None:
        """None without such a spec.

        Raises:
            InputError: the spec cannot be read.
        """
        if name not in self._cells:
            path = self.path(name)
            self._cells[name] = _cell_names(read_tree(path).plain()) if path.is_file() else None
        return self._cells[name]


def _cell_names(spec: dict[str, Any]) -> list[str]:
    """The baseline, each variant, and what the design adds."""
    design = spec.get("design") or {}
    added = [
        *(["all"] if design.get("kind") == "leave-one-out" else []),
        *(["recommended"] if design.get("confirm") == "recommended" else []),
    ]
    names = ["baseline", *added]
    for key, written in (spec.get("variants") or {}).items():
        try:
            names += [cell.name for cell in named_patches(key, Variant.model_validate(written))]
        except ValidationError:  # `harness validate` says what is wrong with it
            continue
    return names
