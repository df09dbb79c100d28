"""The specs of Cora and CiteSeer reproduce the published accuracy of a full-batch GCN (Kipf and Welling 2017)."""

from pathlib import Path

import numpy as np
import pytest

from harness.graphs.prepare import prepare
from harness.plan.ids import dataset_id
from harness.runs.execute import execute
from harness.runs.request import RunRequest
from harness.spec.load import load_spec

SPECS = Path(__file__).parents[2] / "specs"
SEEDS = range(10)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("name", "low", "high"), [("cora", 0.805, 0.825), ("citeseer", 0.690, 0.720)])
def test_mean_of_ten_seeds_on_the_public_split(name, low, high, real_data, cache, monkeypatch):
    monkeypatch.setenv("HARNESS_DATA", str(real_data))
    spec = load_spec(SPECS / f"{name}.yaml")
    graph = prepare(spec.dataset, dataset_id(spec.dataset, SPECS), SPECS)
    found = []
    for seed in SEEDS:
        request = RunRequest(
            run_id=f"{name}-{seed}",
            cell_id=name,
            purpose="quality",
            seed=seed,
            model=spec.model,
            training=spec.training,
            options=spec.baseline.model_copy(update={"aggregation": "spmm"}),  # equal, and faster
            graph_path=str(graph),
            spec_dir=str(SPECS),
            device="cpu",
            threads=1,
        )
        outcome = execute(request, lambda phase: None)
        found.append(outcome.metrics.test.accuracy)
    assert low <= np.mean(found) <= high, found
