"""The engine needs torch, PyG, numba, scipy and pydantic: the GPU check runs where nothing else is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
NOT_NEEDED = (
    *("pandas", "pyarrow", "sklearn", "ogb", "pymetis", "snakemake", "ruamel"),
    *("typer", "rich", "altair", "vl_convert", "tabulate", "pygments"),
)
PROGRAM = """
import importlib.machinery
import sys
from pathlib import Path

class Without(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in %r else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Without

import scripts.gpu_check  # the supervisor, the lease and the record store come with it
from importlib.util import find_spec
from harness.graphs.prepare import prepare
from harness.runs.execute import execute
from harness.runs.request import RunRequest
from harness.spec.dataset import Builtin
from harness.spec.options import Model, Options, Training

assert find_spec("pandas") is None
graph = prepare(Builtin(source="builtin", name="wordnet", subset="verb", features=16), "verbs", Path())
request = RunRequest(
    run_id="r", cell_id="c", purpose="quality", seed=0, model=Model(conv="sage", layers=2, hidden=8),
    training=Training(epochs=1, batch_size=2048), options=Options.model_validate({"sampling": {"fanout": [3, 2]}}),
    graph_path=str(graph), spec_dir=".", device="cpu", threads=1,
)
print(execute(request, lambda phase: None).metrics.val.accuracy)
"""


def test_the_builtin_graph_is_prepared_and_trained_on_with_the_engines_libraries_alone(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM % (NOT_NEEDED,)],
        cwd=REPOSITORY,
        env={**os.environ, "HARNESS_CACHE": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) <= 1
