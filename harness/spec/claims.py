"""An entry of the ledger of claims: a statement with a number, and the results that would bear it out or not."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.spec.options import Frozen
from harness.spec.schema import NAME
from harness.spec.stages import Stage

Quantity = Literal[
    "accuracy_delta_pp",
    "speed_ratio",
    "memory_ratio",
    "stage_ratio",
    "stage_share",
    "counter",
    "counter_ratio",
    "sd_ratio",
    "epochs_to_reference_ratio",
    "loss_jitter_ratio",
    "peak_over_formula",
]
OF_ONE = ("stage_share", "counter", "peak_over_formula")  # the others compare a variant with its reference
PATH = r"^(counters|metrics|memory|dataset)(\.[A-Za-z0-9_-]+)+$"


class Region(Frozen):
    """Where the measured interval must lie, both ends included."""

    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _bounded(self) -> Region:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give `at_least`, `at_most`, or both")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise ValueError(f"at_least ({self.at_least:g}) is above at_most ({self.at_most:g})")
        return self


class Measure(Frozen):
    """A quantity of a spec's results. A ratio is reference over variant: above 1 is faster, or smaller."""

    quantity: Quantity
    variant: str = Field("baseline", pattern=NAME, description="A cell of the spec: `baseline`, `cache-0.3`.")
    reference: str | None = Field(None, pattern=NAME, description="Another cell; default the baseline.")
    path: str | None = Field(
        None, pattern=PATH, description="What a run recorded, e.g. `counters.nodes`; `dataset.…` of the prepared graph."
    )
    over: str | None = Field(None, pattern=PATH, description="What `path` is divided by, run by run.")
    stages: Annotated[tuple[Stage, ...], Field(strict=False, description="Stages added up.")] = ()
    runs: Literal["quality", "timing"] = Field("quality", description="Which runs' records hold `path`.")

    @property
    def of_one(self) -> bool:
        """Whether it is about the variant alone."""
        return self.quantity in OF_ONE

    @property
    def reference_name(self) -> str:
        return self.reference or "baseline"

    @model_validator(mode="after")
    def _complete(self) -> Measure:
        if self.quantity.startswith("counter") != (self.path is not None):
            raise ValueError("`path` belongs to `counter` and `counter_ratio`, and they need it, e.g. counters.nodes")
        if self.over is not None and self.path is None:
            raise ValueError("`over` divides a `path`")
        if self.quantity.startswith("stage_") != bool(self.stages):
            raise ValueError("`stages` belongs to `stage_share` and `stage_ratio`, and they need it, e.g. [fetch]")
        if self.of_one and self.reference is not None:
            raise ValueError(f"{self.quantity} is of one cell: leave `reference` out")
        if self.runs == "timing" and self.quantity != "counter":
            raise ValueError("`runs: timing` belongs to `counter`; the other quantities know their runs")
        return self


class Expectation(Measure):
    """What must be measured for the claim to hold, stated before anything is."""

    holds: Region

    @property
    def measure(self) -> Measure:
        """Without the region: what the results are asked for."""
        return Measure(**{name: getattr(self, name) for name in Measure.model_fields})


class ClaimTest(Frozen):
    """Results that test a claim."""

    graph: str = Field(min_length=1, description="For readers.")
    spec: str = Field(pattern=NAME, description="Of specs/<spec>.yaml, and of its folder under results/.")
    against: str | None = Field(
        None, pattern=NAME, description="Another spec with the reference, where only its data differs."
    )


class Claim(Frozen):
    """One file under specs/claims/."""

    id: str = Field(pattern=r"^[AB][1-9][0-9]?$", description="The file's name too.")
    title: str = Field(min_length=1, max_length=46, description="The claim in a few words, for tables.")
    statement: str = Field(min_length=1, description="In our own words.")
    figure: str = Field("", description="The number it comes with.")
    case: str = Field("", description="Where it is said to hold.")
    tested_as: str = Field("", description="How the regions follow from the figure, and what is not tested.")
    not_testable: str | None = Field(None, min_length=1, description="Why it cannot be tested here; else `tests`.")
    where: Annotated[
        tuple[Expectation, ...], Field(strict=False, description="Conditions; a graph that fails one tests nothing.")
    ] = ()
    expects: Annotated[tuple[Expectation, ...], Field(strict=False, description="All must hold.")] = ()
    tests: Annotated[tuple[ClaimTest, ...], Field(strict=False, description="A graph each.")] = ()

    @property
    def article(self) -> str:
        return self.id[0]

    @model_validator(mode="after")
    def _tested_or_not(self) -> Claim:
        if self.not_testable is not None and (self.where or self.expects or self.tests):
            raise ValueError("give either `not_testable`, with the reason, or `expects` and `tests`")
        if self.not_testable is None and not (self.expects and self.tests):
            raise ValueError("give `expects` and `tests`, or `not_testable` with the reason")
        graphs = [test.graph for test in self.tests]
        if len(set(graphs)) < len(graphs):
            raise ValueError(f"a graph is tested once in a claim; got {', '.join(graphs)}")
        return self
