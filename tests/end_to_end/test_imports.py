"""What the Snakefile imports must be light: it is parsed by every job of a cluster too."""

import subprocess
import sys
from pathlib import Path


def test_planning_imports_no_heavy_library():
    code = (
        "import sys; import harness.plan.grid, harness.cli\n"
        "heavy = {'torch', 'torch_geometric', 'numba', 'ogb', 'pandas', 'altair', 'scipy.stats', 'sklearn'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_snakefile_is_short_and_thin():
    lines = Path(__file__).parents[2].joinpath("Snakefile").read_text().splitlines()
    assert len(lines) < 100
    assert not [
        line for line in lines if line.lstrip().startswith(("import torch", "from torch", "run:", "checkpoint"))
    ]
