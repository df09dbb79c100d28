# The main job: `snakemake --cores N` trains what specs/quickstart.yaml asks for and writes
# results/quickstart/report.html. Any other spec: `snakemake --cores N results/<name>/report.html` runs
# specs/<name>.yaml, and `--config spec=path/to/mine.yaml` runs a spec that lives elsewhere.
# No logic here: harness/plan/grid.py says which files make up a spec's grid, the CLI makes them.

import shlex
import sys

from harness.plan.grid import Grid

PY = shlex.quote(sys.executable)  # a bare `python` may be another one
GRID = Grid(config.get("spec"), results="results", specs="specs")


wildcard_constraints:
    spec=r"[^/]+",
    variant=r"[^/]+",


rule all:
    input:
        lambda w: GRID.default_report(),


include: "workflows/rules/prepare.smk"
include: "workflows/rules/measure.smk"
include: "workflows/rules/confirm.smk"
include: "workflows/rules/report.smk"


onsuccess:
    shell("{PY} -m harness.cli report --show " + " ".join(shlex.quote(r) for r in GRID.judged_results()))
