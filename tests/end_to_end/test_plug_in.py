"""A data set by one YAML and no code; a model by its import path."""

import json

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_own_data_set_by_one_yaml(workspace, edited):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 300)
    source = rng.integers(0, 300, 3000)
    near = np.array([rng.choice(np.flatnonzero(label == label[s])) for s in source])
    lines = ["source,target", *(f"{a},{b}" for a, b in zip(source, near, strict=True))]
    folder = workspace.path / "specs"
    (folder / "edges.csv").write_text("\n".join(lines) + "\n")
    (folder / "labels.csv").write_text("label\n" + "\n".join("abc"[c] for c in label) + "\n")
    np.save(folder / "x.npy", rng.normal(size=(300, 8)).astype(np.float32) + label[:, None])
    old = "{source: synthetic, nodes: 400, mean_degree: 8, classes: 3, features: 16, signal: 1.0, seed: 1}"
    new = "{source: files, edges: edges.csv, features: x.npy, labels: labels.csv, undirected: true}"
    workspace.spec(edited(old, new).replace("epochs: 3", "epochs: 30"))
    done = workspace.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(workspace.results("variants/spmm.json").read_text())
    assert [r["status"] for r in result["runs"]] == ["ok"] * 3
    assert min(r["metric"] for r in result["runs"]) > 0.5


def test_own_model_by_import_path(workspace, edited):
    (workspace.path / "specs" / "my_models.py").write_text(
        "import torch\n"
        "from torch_geometric.nn import SAGEConv\n\n\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self, in_channels, out_channels, hidden=8):\n"
        "        super().__init__()\n"
        "        self.first = SAGEConv(in_channels, hidden)\n"
        "        self.last = SAGEConv(hidden, out_channels)\n\n"
        "    def forward(self, x, edge_index):\n"
        "        return self.last(self.first(x, edge_index).relu(), edge_index)\n"
    )
    text = edited("{conv: sage, layers: 2, hidden: 16, dropout: 0.2}", '{class: "my_models:Net", args: {hidden: 12}}')
    workspace.spec(text.replace("variants:\n", "variants:\n  thin: {set: {sampling.fanout: [2, 2]}}\n"))
    done = workspace.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(workspace.results("variants/thin.json").read_text())
    assert [r["status"] for r in result["runs"]] == ["ok"] * 3
    plan = json.loads(workspace.results("plan.json").read_text())
    assert [s["variant"] for s in plan["skipped"]] == ["spmm"]
