"""Comparisons that make the pages that go wrong first: nothing measured, all failed, too much, hostile text."""

from __future__ import annotations

from collections.abc import Callable

from harness.verdicts.model import ComparisonVerdict, Control, Costs, FailedRun, MemoryUse, ReferenceSummary, Speed

from .conftest import accuracy, comparison, failed_comparison, some_of_each, speed

HOSTILE = '<script>alert(1)</script><img src="http://evil.example/x.png" onerror=alert(1)>'
LATEX_HOSTILE = r"\input{/etc/passwd} $x_1^2$ & 50 % ~ # {unbalanced } \undefined 中文 🙂"
UNTIMED = {"speed": Speed(state="unknown"), "memory": MemoryUse(state="unknown"), "costs": Costs(), "counters": {}}
MISSING = Control(state="missing", reason="the control was not timed, so no gain can be told from noise")
NOISY = Control(
    ratio=1.02,
    ci=(0.85, 1.22),
    level=0.9829,
    blocks=2,
    state="noisy",
    reason="the baseline against itself gives [0.85, 1.22], wider than the smallest gain of 1.05",
    smallest_gain=1.44,
)


def hostile() -> list[ComparisonVerdict]:
    """Markup where a name, a message, a counter and a path are printed."""
    return [
        comparison(HOSTILE, patch={HOSTILE: HOSTILE}, counters={HOSTILE: HOSTILE}, notes=[HOSTILE]),
        comparison("a|b`c*d_e", "reject", reason=LATEX_HOSTILE),
        failed_comparison("=cmd()", f"{HOSTILE} {LATEX_HOSTILE}\x1b[31m\x00\n| new | row |"),
    ]


def sixty() -> list[ComparisonVerdict]:
    """Sixty variants of eighty characters that differ in the middle only."""
    verdicts = ["accept", "reject", "no-gain", "inconclusive"]
    return [
        comparison(
            f"{'a' * 39}{i:02d}{'b' * 39}",
            verdicts[i % 4],
            accuracy=accuracy(-1.0 + i / 40, 0.3, "inconclusive" if i % 4 == 3 else "pass", 12),
            speed=speed(0.8 + i / 30),
        )
        for i in range(60)
    ]


def forty_seven_classes() -> list[ComparisonVerdict]:
    """What a run says class by class, of as many classes as ogbn-products has."""
    counters = {"part_sizes": [1000 + i for i in range(47)]}
    note = f"no target of classes {', '.join(str(i) for i in range(47))}"
    return [comparison("cluster", "reject", patch={"partition.parts": 47}, counters=counters, notes=[note])]


PAGES: dict[str, tuple[Callable[[], list[ComparisonVerdict]], dict]] = {
    "each": (some_of_each, {}),
    "none-accepted": (lambda: [comparison("a", "no-gain", speed=speed(1.0, 0.02, "no-gain"))], {"recommended": []}),
    "all-failed": (
        lambda: [failed_comparison("fp16"), failed_comparison("bf16")],
        {"references": [ReferenceSummary(name="baseline", n=5, mean=0.63, sd_pp=0.3)]},
    ),
    "one-pair": (
        lambda: [
            comparison(
                "cache-0.3",
                "inconclusive",
                n_pairs=1,
                accuracy=accuracy(n=1).model_copy(
                    update={"ci_pp": None, "delta_pp": None, "look": None, "state": "invalid"}
                ),
                **UNTIMED,
            )
        ],
        {"control": MISSING},
    ),
    "sixty": (sixty, {}),
    "baseline-failed": (
        lambda: [
            failed_comparison("cache-0.3", verdict="inconclusive", reason="the baseline did not train", failed=[]),
        ],
        {
            "references": [
                ReferenceSummary(
                    name="baseline",
                    n=0,
                    failed=[
                        FailedRun(
                            arm="reference", purpose="quality", seed=0, run_id="r0", status="oom", message="no memory"
                        )
                    ],
                )
            ],
            "test_set": None,
            "control": MISSING,
            "environment": {},
        },
    ),
    "no-timing": (lambda: [comparison("cache-0.3", "inconclusive", **UNTIMED)], {"control": MISSING}),
    "noisy": (lambda: [comparison("cache-0.3", "inconclusive")], {"control": NOISY}),
    "enables": (
        lambda: [failed_comparison("checkpoint", verdict="enables", failed=[], reason="only it trains")],
        {},
    ),
    "nothing": (list, {"control": MISSING, "references": [], "test_set": None, "environment": {}}),
    "forty-seven-classes": (forty_seven_classes, {}),
    "hostile": (hostile, {"description": HOSTILE + LATEX_HOSTILE, "warnings": [HOSTILE, LATEX_HOSTILE]}),
}
