"""The examples of docs/adding-a-dataset.md are true: each is a dataset section, and makes a graph where it can here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from harness.spec.dataset import Builtin, Dataset, Files, Synthetic

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding-a-dataset.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_source_has_an_example() -> None:
    sources = {YAML(typ="safe").load(block)["dataset"]["source"] for block in BLOCKS}
    assert sources == {"builtin", "pyg", "ogb", "files", "synthetic"}


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_is_valid_and_prepares(block: str, opened, arrays, tmp_path: Path) -> None:
    section = YAML(typ="safe").load(block)["dataset"]
    dataset = TypeAdapter(Dataset).validate_python(section)
    if isinstance(dataset, Files):
        np.savez(tmp_path / "mine.npz", **arrays)
        np.save(tmp_path / "features.npy", arrays["x"][:4])
        (tmp_path / "edges.csv").write_text("source,target\n0,1\n0,2\n")
        (tmp_path / "labels.csv").write_text("bird\ncat\nbird\ncat\n")
        np.save(tmp_path / "weights.npy", np.array([0.5, 2.0]))
        np.savez(tmp_path / "split.npz", train=[0, 1], val=[2], test=[3])
    if isinstance(dataset, (Builtin, Synthetic, Files)):
        graph = opened(**section)
        assert len(graph.test)
