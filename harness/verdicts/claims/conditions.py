"""Was a timing made under conditions that let it say something? By the rules that a verdict's gain is held to."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.plan.model import CONTROL
from harness.records.results import Block, TimingResult
from harness.verdicts.claims.results import NotMeasured, SpecResults
from harness.verdicts.comparable import Remedy, disk_reads_difference, timing_difference
from harness.verdicts.control import noise_objection, summarise_control
from harness.verdicts.disturbed import causes, disturbed
from harness.verdicts.wording import plural


def refuse_disturbed(timing: TimingResult, results: SpecResults, blocks: Sequence[Block]) -> None:
    """Hold a ratio of seconds to a machine that did nothing else, and whose control is around 1.00.

    Args:
        timing: of a variant; the control itself is held to its blocks alone.
        results: of its spec, which has the control.
        blocks: that the ratio rests on.

    Raises:
        NotMeasured: a block was disturbed, the control is missing or off 1.00, or was timed under other conditions.
    """
    found = disturbed(blocks)
    if found["disturbed_blocks"]:
        of = f"{found['disturbed_blocks']} of {plural(len(blocks), 'block')}"
        raise NotMeasured("failed", f"disturbed while timed in {of} ({causes(found['disturbed_by'])})")
    _refuse_noise(timing, results, memory=False)


def refuse_unsteady_peaks(timing: TimingResult, results: SpecResults) -> None:
    """Hold a ratio of peaks to a control that is around 1.00; what else runs does not change them.

    Raises:
        NotMeasured: as `refuse_disturbed`.
    """
    _refuse_noise(timing, results, memory=True)


def _refuse_noise(timing: TimingResult, results: SpecResults, memory: bool) -> None:
    control = results.timings.get(CONTROL)
    if timing is control:
        return
    remedy = Remedy(results.plan.spec)
    unlike = timing_difference(timing, control, remedy) or disk_reads_difference(timing, remedy)
    if unlike is not None:
        raise NotMeasured("failed", unlike)
    noise = summarise_control(control, results.plan.gate, results.plan.timing)
    lower, upper = (noise.memory_ci if memory else noise.ci) or (None, None)
    # An entry's region may be of no gain at all, so that the width of the control's interval has nothing to exceed.
    objection = noise_objection("peak memory" if memory else "time", math.inf, lower, upper)
    if objection is not None:
        raise NotMeasured("failed", objection)
