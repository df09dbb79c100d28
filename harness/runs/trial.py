"""What a second of a convolution gave."""

from __future__ import annotations

from pydantic import Field

from harness.spec.options import Frozen


class Trial(Frozen):
    """The answer of `harness.runs.trial_convolution`."""

    convolved: float = Field(description="Edges a second through one layer, forward and backward.")
    sampled: float = Field(description="Edges a second that the sampler draws, one thread.")
    threads: int = Field(description="Threads of torch.")
    width: int = Field(description="Features of a message.")
    finite: bool = Field(description="Whether the output was.")
