"""How often the gate and the intervals err, and how often they decide: the tables of docs/statistics.md, simulated.

    python scripts/error_rates.py                            # all tables, as Markdown
    python scripts/error_rates.py false-passes chances       # some of them
    python scripts/error_rates.py --write docs/statistics.md # put all of them into the page

Draws have fixed seeds, so that the same tables come out. Differences are in percentage points, variant minus baseline;
0.5 pp may be lost. Seconds, on one thread.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import special

from harness.records.files import write_atomically
from harness.reports.tables import markdown_table
from harness.verdicts.power import PASS, Power, means_and_sds, power, replay_all
from harness.verdicts.sequential import alpha_per_look
from harness.verdicts.speed import NARROW, ratio_confidence
from harness.verdicts.wording import numbers

LOOKS, RATIO_LOOKS = (5, 10, 20), (4, 6, 8, 12)
LINE, MIN_SPEEDUP = -0.5, 1.05
DRAWS = 100_000
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]  # mean 0, standard deviation 1


def states(d_pp: np.ndarray, looks: Sequence[int], level: float | None = None) -> np.ndarray:
    """1 pass, -1 fail, 0 open, by the looks replayed.

    Args:
        d_pp: paired differences, ``[draws, at least looks[-1]]``.
        looks: numbers of pairs at which the gate decides.
        level: one-sided, at each look; by default the one that keeps the error over all looks at 5 %.
    """
    level = alpha_per_look(tuple(looks)) if level is None else level
    return replay_all(*means_and_sds(d_pp, looks), looks, level).state


# A drop of exactly the allowance, which may not pass


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape)


def uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), shape)


def laplace(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.laplace(0.0, math.sqrt(0.5), shape)


def collapses(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """One run in twenty falls by 4.4 standard deviations; the others stand a little above the mean."""
    return (0.05 - (rng.random(shape) < 0.05)) / math.sqrt(0.05 * 0.95)


DISTRIBUTIONS: dict[str, Draw] = {
    "normal": normal,
    "uniform": uniform,
    "Laplace (heavy tails)": laplace,
    "one run in twenty collapses": collapses,
}


def false_passes() -> str:
    header = ["differences", "5 pairs, one look", f"looks {numbers(LOOKS)}", "the same at 5 % a look, uncorrected"]
    rows = []
    for name, draw in DISTRIBUTIONS.items():
        d = LINE + 0.5 * draw(np.random.default_rng(11), (DRAWS, LOOKS[-1]))
        found = [states(d, (5,)), states(d, LOOKS), states(d, LOOKS, level=0.05)]
        rows.append([name, *(percent(np.mean(state == PASS)) for state in found)])
    return markdown_table(header, rows)


# What the gate does with a true change, by the spread of paired differences


def chances() -> str:
    """Three tables: how often it passes, how often it fails, how many seeds it takes."""
    spreads = (0.2, 0.35, 0.5, 0.7, 1.0)
    found = {
        true: [power(true, sd, LOOKS) for sd in spreads]
        for true in (0.5, 0.0, -0.1, -0.2, -0.3, -0.4, -0.5, -0.7, -1.0)
    }
    shown: dict[str, Callable[[Power], str]] = {
        "passes": lambda p: percent(p.passes),
        "fails": lambda p: percent(p.fails),
        "seeds on average": lambda p: f"{p.mean_seeds:.1f}",
    }
    return "\n\n".join(
        markdown_table(
            [f"true change: {what}", *(f"spread {sd:g} pp" for sd in spreads)],
            [[change(true), *(cell(p) for p in powers)] for true, powers in found.items()],
        )
        for what, cell in shown.items()
    )


def change(true_pp: float) -> str:
    return "0" if true_pp == 0.0 else f"{true_pp:+.1f} pp".replace("-", "−")


# What the gate replaces: rules that are in use, on the same draws


def replaced() -> str:
    rng = np.random.default_rng(3)
    header = ["rule", "true −0.5 pp, 3 seeds", "5 seeds", "true −1.0 pp, 3 seeds", "5 seeds"]
    rules = {
        "the gate, one look": lambda d: states(d, (d.shape[1],)) == PASS,
        "the mean of the differences is above −0.5": lambda d: d.mean(axis=1) > LINE,
        "no significant difference (paired t, 5 %)": no_significant_difference,
        "percentile bootstrap, 5 % quantile above −0.5": bootstrap_passes,
    }
    draws = [true + rng.standard_normal((10_000, n)) for true in (-0.5, -1.0) for n in (3, 5)]
    return markdown_table(header, [[name, *(percent(np.mean(rule(d))) for d in draws)] for name, rule in rules.items()])


def no_significant_difference(d_pp: np.ndarray) -> np.ndarray:
    """Whether a two-sided paired t-test at 5 % finds nothing. Shape ``[draws]``."""
    n = d_pp.shape[1]
    t = d_pp.mean(axis=1) * math.sqrt(n) / d_pp.std(axis=1, ddof=1)
    return np.abs(t) < special.stdtrit(n - 1, 0.975)


def bootstrap_passes(d_pp: np.ndarray) -> np.ndarray:
    """Whether the 5 % quantile of 1,000 resampled means lies above the line. Shape ``[draws]``."""
    draws, n = d_pp.shape
    rng, passed = np.random.default_rng(4), np.empty(draws, dtype=bool)
    for start in range(0, draws, 500):  # bounds the memory
        some = d_pp[start : start + 500]
        picked = rng.integers(0, n, (len(some), 1_000 * n), dtype=np.uint8)
        means = np.take_along_axis(some, picked, axis=1).reshape(len(some), 1_000, n).mean(axis=2)
        passed[start : start + 500] = np.partition(means, 49, axis=1)[:, 49] > LINE
    return passed


# Speed-ups, looked at after 4, 6, 8 and 12 ratios


def looked_at(true: float, sd: float, draws: int = DRAWS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The interval at which the looking at a speed-up stops, and the ratios used; see `harness.verdicts.speed`.

    Args:
        true: the speed-up.
        sd: standard deviation of the log ratios.

    Returns:
        Lower and upper bound and number of ratios, ``[draws]`` each.
    """
    log_ratios = np.random.default_rng(11).normal(math.log(true), sd, (draws, RATIO_LOOKS[-1]))
    confidence = ratio_confidence(RATIO_LOOKS)
    means, sds = means_and_sds(log_ratios, RATIO_LOOKS)
    lower, upper, used = np.empty(draws), np.empty(draws), np.zeros(draws, dtype=int)
    running = np.ones(draws, dtype=bool)
    for k, n in enumerate(RATIO_LOOKS):
        half = special.stdtrit(n - 1, 0.5 + confidence / 2.0) * sds[:, k] / math.sqrt(n)
        lower[running] = np.exp(means[:, k] - half)[running]
        upper[running] = np.exp(means[:, k] + half)[running]
        used[running] = n
        running &= ~((lower > MIN_SPEEDUP) | (upper < MIN_SPEEDUP) | (upper / lower <= NARROW))
    return lower, upper, used


def speed() -> str:
    header = ["true speed-up", "ratios scatter by", "interval holds it", "shown to be above 1.05", "ratios used"]
    rows = []
    for true in (1.0, 1.05, 1.1, 1.3):
        for sd in (0.03, 0.1):
            lower, upper, used = looked_at(true, sd)
            holds = np.mean((lower <= true) & (true <= upper))
            gains = np.mean(lower > MIN_SPEEDUP)
            rows.append([f"{true:.2f}", f"{100 * sd:.0f} %", percent(holds), percent(gains), f"{used.mean():.1f}"])
    return markdown_table(header, rows)


# A stack that is chosen because its parts passed


def stack(grids: int = 40_000, variants: int = 10, sd: float = 0.5) -> str:
    """Ten variants that all truly lose 0.5 pp, and the stack that loses 0.5 pp too.

    A grid recommends where one at least passes. Arms have independent seeds' luck; a difference of two scatters by sd.
    """
    rng = np.random.default_rng(1)
    chosen, shared, fresh = np.empty(grids, dtype=bool), np.empty(grids, dtype=bool), np.empty(grids, dtype=bool)
    for start in range(0, grids, 5_000):  # bounds the memory
        some = slice(start, start + 5_000)

        def arm(*shape: int, true: float = 0.0) -> np.ndarray:
            return true + rng.normal(0.0, sd / math.sqrt(2.0), (5_000, *shape, LOOKS[-1]))

        baseline, whole = arm(), arm(true=LINE)
        alone = (arm(variants, true=LINE) - baseline[:, None]).reshape(-1, LOOKS[-1])
        chosen[some] = (states(alone, LOOKS) == PASS).reshape(-1, variants).any(axis=1)
        shared[some] = states(whole - baseline, LOOKS) == PASS
        fresh[some] = states(whole - arm(), LOOKS) == PASS
    return markdown_table(
        ["of grids of ten variants that all truly lose 0.5 pp", "share"],
        [
            ["one variant at least passes, so that a stack is recommended", percent(chosen.mean())],
            ["of these, the stack passes on the grid's seeds and baseline", percent(shared[chosen].mean())],
            ["of these, the stack passes on fresh seeds and a new baseline", percent(fresh[chosen].mean())],
        ],
    )


TABLES: dict[str, Callable[[], str]] = {
    "false-passes": false_passes,
    "chances": chances,
    "replaced": replaced,
    "speed": speed,
    "stack": stack,
}


def percent(share: float) -> str:
    """Rounded, with a digit below 10 %."""
    value = 100.0 * float(share)
    return f"{value:.1f} %" if value < 9.95 else f"{value:.0f} %"


def filled(page: str, tables: dict[str, str]) -> str:
    """The page with each table between its marks.

    Raises:
        ValueError: the page has no place for a table.
    """
    for name, table in tables.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", flags=re.DOTALL)
        page, places = place.subn(lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}", page)
        if places != 1:
            raise ValueError(f"the page has {places} places <!-- {name} --> … <!-- /{name} -->, not one")
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put all tables into this page")
    asked = parser.parse_args()
    if asked.write is None:
        print("\n\n".join(TABLES[name]() for name in asked.tables or TABLES))
        return
    if asked.tables:
        parser.error("--write takes all tables")
    try:
        page = filled(asked.write.read_text(), {name: make() for name, make in TABLES.items()})
    except (OSError, ValueError) as error:
        print(f"{asked.write}: {error}", file=sys.stderr)
        sys.exit(2)
    write_atomically(asked.write, page)


if __name__ == "__main__":
    main()
