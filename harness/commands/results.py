"""What the jobs of a plan have left in its results folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.records.files import read_model

if TYPE_CHECKING:
    from harness.plan.model import Plan


def read_results(folder: Path, made: Plan, **remedy: str):
    """The results of a plan's variants and of their timings that are there and of its options, by name."""
    from harness.plan.done import belongs
    from harness.plan.files import variant_plans
    from harness.plan.model import CONTROL
    from harness.records.results import TimingResult, VariantResult

    def there(where: str, names, model):
        files = {name: folder / where / f"{name}.json" for name in names}
        found = {name: read_model(path, model, **remedy) for name, path in files.items() if path.exists()}
        return {name: result for name, result in found.items() if belongs(result, jobs[name])}

    jobs = variant_plans(made)
    timed = [CONTROL, *(c.variant for c in made.comparisons)]
    return there("variants", made.cells, VariantResult), there("timing", timed, TimingResult)
