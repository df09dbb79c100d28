"""The schema that editors read."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from harness.spec.json_schema import schema_text, spec_schema
from harness.spec.option_paths import option_paths
from harness.spec.yaml_tree import read_tree

SPECS = Path(__file__).resolve().parents[2] / "specs"


def test_the_committed_schema_is_up_to_date() -> None:
    committed = (SPECS / "schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "run `harness schema > specs/schema.json`"


@pytest.mark.parametrize(
    "path", sorted([*SPECS.glob("*.yaml"), *(SPECS / "claims" / "grids").glob("*.yaml")]), ids=lambda p: p.stem
)
def test_shipped_specs_satisfy_it(path: Path) -> None:
    jsonschema.Draft202012Validator(spec_schema()).validate(read_tree(path).plain())


@pytest.mark.parametrize("path", sorted(SPECS.rglob("*.yaml")), ids=lambda p: p.stem)
def test_the_first_line_leads_editors_to_it(path: Path) -> None:
    """Claims are no specs, and name none."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    if path.parent.name == "claims":
        assert found is None
    else:
        assert found is not None
        assert (path.parent / found[1]).resolve() == SPECS / "schema.json"


def test_it_knows_options_in_variants() -> None:
    schema = spec_schema()
    assert set(schema["$defs"]["Patch"]["properties"]) == set(option_paths())
    spec = {
        "version": 1,
        "name": "s",
        "dataset": {"source": "builtin", "name": "wordnet"},
        "model": {"conv": "gcn"},
        "variants": {"v": {"grid": {"features.cache_ratio": [0.1, 1.5]}, "set": {"sampling.fanuot": [5]}}},
    }
    messages = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(spec)]
    assert any("1.5 is greater than the maximum" in message for message in messages)
    assert any("sampling.fanuot" in message for message in messages)


def test_options_are_described() -> None:
    defs = spec_schema()["$defs"]
    assert "Neighbours per hop" in defs["Sampling"]["properties"]["fanout"]["description"]
    assert "class" in defs["Model"]["properties"]
