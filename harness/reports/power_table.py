"""What `harness plan --power` prints: how many seeds the accuracy gate will need, and how often it decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console

from harness.reports.terminal import print_table, say
from harness.spec.schema import Gate
from harness.verdicts.pilot import Spread
from harness.verdicts.power import Power, power
from harness.verdicts.sequential import alpha_per_look
from harness.verdicts.wording import METRICS, listed, numbers, percent, plural, signed

_MOST_COLUMNS = 4  # looks that have a column of their own
_MOST_NAMES = 4


@dataclass(frozen=True)
class PowerPlan:
    """The gate's chances: for each stated spread over several true differences, for each pilot's spread at one."""

    gate: Gate
    looks: tuple[int, ...]
    alpha_per_look: float
    true_pp: float
    stated: list[list[Power]]
    pilot: list[tuple[Spread, Power, tuple[int | None, int | None]]]  # with the one look's pairs at the spread's bounds

    def as_json(self) -> dict[str, Any]:
        """Plain values, for `--json`."""
        return {
            "gate": self.gate.model_dump(),
            "looks": list(self.looks),
            "alpha_per_look": self.alpha_per_look,
            "true_pp": self.true_pp,
            "stated": [asdict(row) for rows in self.stated for row in rows],
            "pilot": [asdict(s) | {"power": asdict(p), "one_look_at_bounds": list(b)} for s, p, b in self.pilot],
        }


def plan_power(
    gate: Gate, looks: Sequence[int], sds: Sequence[float], true_drop_pp: float, spreads: Sequence[Spread]
) -> PowerPlan:
    """Compute what `show_power` prints.

    Args:
        gate, looks: of the spec.
        sds: stated spreads of the paired differences, percentage points.
        true_drop_pp: the drop that the pilot's variants are taken to have, and one more row of each stated spread.
        spreads: of a pilot's variants.
    """
    true_pp, limit = 0.0 - true_drop_pp, gate.max_drop_pp

    def at(true: float, sd: float) -> Power:
        return power(true, sd, looks, alpha=gate.alpha, max_drop_pp=limit)

    differences = sorted(
        {0.0, true_pp, *(round(-share * limit, 9) + 0.0 for share in (0.4, 0.6, 1.0, 2.0))}, reverse=True
    )
    return PowerPlan(
        gate=gate,
        looks=tuple(looks),
        alpha_per_look=alpha_per_look(looks, gate.alpha),
        true_pp=true_pp,
        stated=[[at(true, sd) for true in differences] for sd in sds],
        pilot=[
            (s, at(true_pp, s.sd_pp), (at(true_pp, s.lower_pp).one_look, at(true_pp, s.upper_pp).one_look))
            for s in spreads
        ],
    )


def show_power(found: PowerPlan, spec: str, console: Console) -> None:
    """Print the tables; they fit 80 columns, a long name is cut."""
    gate, looks = found.gate, found.looks
    say(console, f"{spec}: power of the gate on {METRICS[gate.metric]}", style="bold")
    which = f"looks {numbers(looks)}, alpha {found.alpha_per_look:.4f} each" if len(looks) > 1 else f"{looks[0]} pairs"
    say(
        console,
        f"A drop of at most {gate.max_drop_pp:g} pp; {which}, {gate.alpha:g} over all. Paired differences are taken as "
        f"normal; seeds: on average, stopping when decided; one look: pairs at which a single look passes (below "
        f"−{gate.max_drop_pp:g} pp: fails) with a chance of 80 %.",
    )
    for rows in found.stated:
        console.print()
        say(console, f"Spread (sd of the paired differences) {rows[0].sd_pp:g} pp", style="bold")
        columns = _columns(looks)
        header = ["true change", "passes", "fails", *(f"by {looks[k]}" for k in columns), "seeds", "one look"]
        print_table(console, header, [_stated_row(row, columns) for row in rows])
    if found.pilot:
        _show_pilot(found, console)


def _show_pilot(found: PowerPlan, console: Console) -> None:
    console.print()
    say(console, f"By the pilot's spreads, for a true change of {signed(found.true_pp, 2)} pp", style="bold")
    header = ["variant", "pairs", "sd [95 %]", "passes", "fails", "seeds", "one look"]
    print_table(console, header, [_pilot_row(*row) for row in found.pilot])
    fewest = min(s.pairs for s, _, _ in found.pilot)
    say(
        console,
        f"Brackets: with the spread at either end of its interval ({plural(fewest, 'pair')} leave it wide). A pilot "
        "that stopped because it was decided shows spreads that are rather too small.",
    )
    floored = [s for s, _, _ in found.pilot if s.half_node_pp is not None]
    if floored:
        say(
            console,
            f"The gate counts a spread as at least half a test node, {floored[0].half_node_pp:.3g} pp. That stands for "
            f"the smaller one of the pairs of {listed([s.variant for s in floored], _MOST_NAMES)}.",
        )


def _stated_row(row: Power, columns: Sequence[int]) -> list[str]:
    return [
        f"{signed(row.true_pp)} pp",
        percent(row.passes),
        percent(row.fails),
        *(percent(row.decided_by[k]) for k in columns),
        f"{row.mean_seeds:.1f}",
        _pairs(row.one_look),
    ]


def _pilot_row(spread: Spread, row: Power, bounds: tuple[int | None, int | None]) -> list[str]:
    return [
        spread.variant,
        str(spread.pairs),
        f"{spread.sd_pp:.2f} [{spread.lower_pp:.2f}, {spread.upper_pp:.2f}]",
        percent(row.passes),
        percent(row.fails),
        f"{row.mean_seeds:.1f}",
        f"{_pairs(row.one_look)} [{_pairs(bounds[0])}, {_pairs(bounds[1])}]",
    ]


def _columns(looks: Sequence[int]) -> list[int]:
    """Positions of the looks that are shown: all, or four from the first to the last."""
    last = len(looks) - 1
    if last < _MOST_COLUMNS:
        return list(range(len(looks)))
    return [round(i * last / (_MOST_COLUMNS - 1)) for i in range(_MOST_COLUMNS)]


def _pairs(pairs: int | None) -> str:
    return ">200" if pairs is None else str(pairs)
