"""Loading and planning stay light: the Snakefile imports them at each start."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ["torch", "torch_geometric", "numba", "ogb", "pandas", "scipy.stats", "scipy", "pymetis"]


def test_planning_imports_nothing_heavy() -> None:
    program = (
        "import json, sys\n"
        "import harness.spec.load, harness.plan.expand, harness.plan.files, harness.plan.capabilities\n"
        "import harness.plan.estimate, harness.plan.done, harness.spec.json_schema\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
