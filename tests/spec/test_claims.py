"""The ledger's entries: those shipped are whole, and a mistake is one message at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.spec.claims import Claim
from harness.spec.errors import InputError
from harness.spec.load_claims import load_claims

SPECS = Path(__file__).resolve().parents[2] / "specs"
SPEC = """\
version: 1
variants:
  fanout: {grid: {sampling.fanout: [[5, 5], [5, 2]]}}
  cache:  {set: {features.cache_ratio: 0.3}}
"""
ENTRY = """\
id: A4
title: a smaller fan-out loses points
statement: Cutting the fan-out costs accuracy.
expects:
  - {quantity: accuracy_delta_pp, variant: fanout-5-2, holds: {at_most: -3.6}}
tests:
  - {graph: wordnet, spec: wordnet}
"""


@pytest.fixture(scope="module")
def shipped() -> tuple[Claim, ...]:
    return load_claims(SPECS / "claims")


def test_every_claim_has_its_entry(shipped: tuple[Claim, ...]) -> None:
    assert [c.id for c in shipped] == [f"A{n}" for n in range(1, 26)] + [f"B{n}" for n in range(1, 12)]


def test_enough_of_them_are_tested_on_two_graphs(shipped: tuple[Claim, ...]) -> None:
    assert sum(len(c.tests) >= 2 for c in shipped) >= 22


def test_typed_parts_of_a_record_are_named_right(shipped: tuple[Claim, ...]) -> None:
    from harness.records.record import Memory, Metrics

    known = {"metrics": set(Metrics.model_fields), "memory": set(Memory.model_fields)}
    paths = [p for c in shipped for e in (*c.where, *c.expects) for p in (e.path, e.over) if p]
    for section, name in (path.split(".")[:2] for path in paths):
        assert section not in known or name in known[section], f"{section}.{name}"


def load(tmp_path: Path, entry: str, name: str = "A4.yaml") -> tuple[Claim, ...]:
    (tmp_path / "claims" / "grids").mkdir(parents=True)
    (tmp_path / "wordnet.yaml").write_text(SPEC)
    (tmp_path / "claims" / "grids" / "claims-wordnet.yaml").write_text(SPEC)
    (tmp_path / "claims" / name).write_text(entry)
    return load_claims(tmp_path / "claims")


def test_an_entry(tmp_path: Path) -> None:
    (found,) = load(tmp_path, ENTRY)
    assert (found.article, found.expects[0].reference_name) == ("A", "baseline")


def test_specs_may_be_grids_of_their_own(tmp_path: Path) -> None:
    (found,) = load(tmp_path, ENTRY.replace("spec: wordnet", "spec: claims-wordnet"))
    assert found.tests[0].spec == "claims-wordnet"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("accuracy_delta_pp", "acuracy", "5:16: expects[0].quantity", "allowed: accuracy_delta_pp"),
        ("fanout-5-2", "fanout-5-3", "5:44: expects[0].variant", "'fanout-5-3' is no variant of"),
        ("fanout-5-2", "fanout-5-3", "5:44: expects[0].variant", "it has baseline, fanout-5-5, fanout-5-2, cache"),
        ("spec: wordnet", "spec: wordnets", "7:28: tests[0].spec", "no spec"),
        ("spec: wordnet", "spec: wordnets", "7:28: tests[0].spec", "did you mean `wordnet`?"),
        ("wordnet}", "wordnet, against: x}", "7:46: tests[0].against", "no spec"),
        ("variant: fanout-5-2", "reference: gone", "5:46: expects[0].reference", "'gone' is no variant of"),
        ("{at_most: -3.6}", "{}", "5:56: expects[0].holds", "give `at_least`, `at_most`, or both"),
        ("at_most: -3.6", "at_least: 2, at_most: 1", "5:56: expects[0].holds", "at_least (2) is above at_most (1)"),
        ("holds", "hold", "5:56: expects[0].hold", "did you mean `holds`?"),
        ("accuracy_delta_pp", "counter", "expects[0]", "`path` belongs to `counter`"),
        ("accuracy_delta_pp", "stage_share", "expects[0]", "`stages` belongs to"),
        ("quantity", "path: nodes, quantity", "expects[0].path", "it must be text that matches"),
        ("id: A4", "id: A5", "1:5: id", "'A5' is not the file's name"),
        ("id: A4", "id: C1", "1:5: id", "'C1' is not allowed"),
        ("tests:", "not_testable: it needs a GPU\ntests:", "A4.yaml:1:1", "give either `not_testable`"),
    ],
)
def test_a_mistake_is_one_message_at_its_place(tmp_path: Path, old: str, new: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, ENTRY.replace(old, new, 1))
    messages = [str(problem) for problem in caught.value.problems if "missing" not in problem.message]
    assert len(messages) == 1, messages
    assert place in messages[0]
    assert words in messages[0]


def test_a_graph_counts_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a graph is tested once"):
        load(tmp_path, ENTRY + "  - {graph: wordnet, spec: claims-wordnet}\n")


def test_mistakes_of_all_files_come_at_once(tmp_path: Path) -> None:
    (tmp_path / "claims").mkdir()
    for name in ("A1", "A2"):
        (tmp_path / "claims" / f"{name}.yaml").write_text(f"id: {name}\n")
    with pytest.raises(InputError) as caught:
        load_claims(tmp_path / "claims")
    assert {problem.file.rsplit("/", 1)[-1] for problem in caught.value.problems} == {"A1.yaml", "A2.yaml"}


def test_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_claims(tmp_path / "claims")
