"""How many times smaller? Ratios of peak memory, judged like speed, and above the control's own spread."""

from __future__ import annotations

from collections.abc import Sequence

from harness.verdicts.speed import RatioJudgement, Speedup, judge_ratios, ratio_state, speedup


def judge_memory(
    log_ratios: Sequence[float],
    looks: Sequence[int],
    min_saving: float,
    *,
    exact: bool = False,
    control_upper: float | None = None,
) -> RatioJudgement:
    """Is the saving real? A gain if lower > ``min_saving`` and lower > ``control_upper``.

    Args:
        log_ratios: log(baseline peak / variant peak), in the order measured; peaks of the timing processes, counted
            over the process's base after imports (or an allocator's peak).
        looks: numbers of ratios at which a decision may be made.
        min_saving: the smallest ratio that counts.
        exact: an allocator's bytes that never vary: the interval is the ratio itself, at any number of blocks.
        control_upper: upper bound of the baseline's peak against itself; None where there is no control, and then the
            caller accepts nothing.
    """
    if exact and log_ratios:
        ratio = speedup(log_ratios[:1]).ratio
        judged = ratio_state(Speedup(ratio, ratio, ratio, 1.0, len(log_ratios)), min_saving)
    else:
        judged = judge_ratios(log_ratios, looks, min_saving)
    interval = judged.interval
    if (
        judged.state == "gain"
        and interval is not None
        and control_upper is not None
        and interval.lower <= control_upper
    ):
        return RatioJudgement("unknown", interval, judged.decided, judged.narrow)
    return judged
