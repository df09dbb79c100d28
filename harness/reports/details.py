"""What stands behind a verdict: pairs, counters, costs, failures, the machine and how it was measured. Plain text."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from harness.plan.model import Plan
from harness.records.record import FAILED
from harness.records.results import TimingResult, VariantResult
from harness.reports.answer import look_text, metric
from harness.reports.batch_facts import batch_facts
from harness.reports.digits import bytes_text, decimals, fixed, seconds_text
from harness.reports.where_time_goes import sooner_text
from harness.spec.option_paths import Settings, flat, tree_of
from harness.verdicts.half_node import least_spread_pp
from harness.verdicts.model import Accuracy, ComparisonVerdict, FailedRun, Verdicts
from harness.verdicts.order_effect import order_words
from harness.verdicts.rule import NOT_RUN
from harness.verdicts.total_cost import payoff_text
from harness.verdicts.wording import plural

_PARITY = {"equal": "equal", "differs": "NOT equal", "not-checked": "not checked"}

_SHOWN_DIGITS = 12  # of a fingerprint; `verdicts.json` has all of them

Facts = list[tuple[str, str]]  # name and value, in the order they are read


@dataclass(frozen=True)
class Failure:
    """One row of what did not run to its end."""

    variant: str
    what: str
    status: str
    message: str


def value_text(value: Any) -> str:
    """A counter or an environment value in one line."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, str):
        return value
    return json.dumps(_rounded(value), ensure_ascii=False, sort_keys=True)


def _rounded(value: Any) -> Any:
    """Floats inside lists and tables in four significant digits."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.4g}")
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _rounded(v) for k, v in value.items()}
    return value


def patch_text(patch: Mapping[str, Any]) -> str:
    """What a variant changes: `path = value`, as in a spec."""
    return ", ".join(f"{path} = {json.dumps(value, ensure_ascii=False)}" for path, value in patch.items())


def facts(comparison: ComparisonVerdict, verdicts: Verdicts) -> Facts:
    """The measured side of one comparison, only what there is."""
    found: Facts = [("changes", patch_text(comparison.patch) or "–")]
    found += [("against", f"{comparison.reference}; goal: {comparison.goal}")]
    found += _accuracy_facts(comparison, verdicts) + _parity_facts(comparison) + _speed_facts(comparison)
    found += _reaching_facts(comparison) + _memory_facts(comparison) + _cost_facts(comparison)
    found += _stage_facts(comparison, verdicts)
    found += batch_facts(comparison.counters)
    return found + [("note", note) for note in comparison.notes]


def _accuracy_facts(comparison: ComparisonVerdict, verdicts: Verdicts) -> Facts:
    accuracy = comparison.accuracy
    if accuracy is None:
        return []
    found: Facts = []
    if accuracy.baseline is not None and accuracy.variant is not None:
        found.append((metric(verdicts.gate), f"{accuracy.variant:.4f}, reference {accuracy.baseline:.4f}"))
    if accuracy.look is not None:
        at = f"{look_text(accuracy.look, verdicts.looks)}, alpha {accuracy.alpha:.4f}"
        found.append(("judged at", f"{at}: {accuracy.state}"))
    least = _least_spread(accuracy, verdicts)
    if least is not None:
        found.append(("spread of the pairs", f"counted as half a test node, {least:.3g} pp: more than the pairs show"))
    if comparison.exploratory:
        found.append(("exploratory", comparison.exploratory_reason))
    if accuracy.identical:
        found.append(("predictions", "identical on every pair"))
    if accuracy.collapse_rate_below is not None:
        found.append(("collapses", f"none; at 95 % their rate is below {100 * accuracy.collapse_rate_below:.0f} %"))
    return found


def _least_spread(accuracy: Accuracy, verdicts: Verdicts) -> float | None:
    """Half a test node where it stood for the spread of the pairs that count."""
    d = [seed.delta_pp for seed in accuracy.seeds if seed.counted]
    if accuracy.ci_pp is None or verdicts.test_set is None or len(d) < 2:
        return None
    return least_spread_pp(accuracy, d, verdicts.test_set.nodes)


def _parity_facts(comparison: ComparisonVerdict) -> Facts:
    parity = comparison.parity
    if parity is None:
        return []
    if parity.state == "not-checked" or (parity.state == "differs" and parity.max_abs_logit == 0.0 and parity.note):
        return [("parity", f"{_PARITY[parity.state]}: {parity.note}")]
    text = (
        f"{_PARITY[parity.state]}: largest logit difference {parity.max_abs_difference:.1e} of "
        f"{parity.max_abs_logit:.3g}, gradient cosine {parity.gradient_cosine:.6f}"
    )
    return [("parity", f"{text} ({parity.note})" if parity.note else text)]


def _speed_facts(comparison: ComparisonVerdict) -> Facts:
    speed = comparison.speed
    if speed.ratio is None:
        return []
    epochs = f"{seconds_text(speed.variant_epoch_s)}, reference {seconds_text(speed.reference_epoch_s)}"
    epochs += ", of disturbed blocks since there are no others" if speed.epochs_disturbed else ""
    found: Facts = [("an epoch", epochs), ("timed", f"{plural(speed.blocks, 'block')}: {speed.state}")]
    if speed.disturbed_blocks:
        by = ", ".join(speed.disturbed_by) or "other load"
        found.append(("disturbed", f"{plural(speed.disturbed_blocks, 'block')}, kept: {by}"))
    if speed.unsettled_processes:
        found.append(("never settled", f"{speed.unsettled_processes} of {4 * speed.blocks} timing processes"))
    if comparison.order is not None:
        found.append(("order of a block", order_words(comparison.order)))
    return found


def _reaching_facts(comparison: ComparisonVerdict) -> Facts:
    """Time to the reference's accuracy."""
    found = comparison.time_to_reference
    if found is None:
        return []
    if found.epochs is None:
        return [("reference's accuracy", f"reached in none of {plural(found.pairs, 'pair')} (validation)")]
    ours, theirs = (
        f"epoch {epochs:g}" + ("" if seconds is None else f" ({seconds_text(seconds)})")
        for epochs, seconds in ((found.epochs, found.seconds), (found.reference_epochs, found.reference_seconds))
    )
    few = ", the others never" if found.reached < found.pairs else ""
    text = f"{ours}, reference {theirs}; reached in {found.reached} of {plural(found.pairs, 'pair')}{few} (validation)"
    return [("reference's accuracy at", text), ("sooner", f"{sooner_text(comparison)} times (reference over variant)")]


def _memory_facts(comparison: ComparisonVerdict) -> Facts:
    memory = comparison.memory
    warned: Facts = [("memory", words) for words in memory.warnings]
    if memory.variant_bytes is None:
        return warned
    text = f"{bytes_text(memory.variant_bytes)}, reference {bytes_text(memory.reference_bytes)}: {memory.state}"
    found: Facts = [("peak memory, timed", text)]
    if memory.estimated_bytes is not None:
        off = f", {memory.measured_over_estimated:.2f} times that" if memory.measured_over_estimated else ""
        flag = ": over 1.5 times it, or under half" if memory.estimate_off else ""
        found.append(("estimated", f"{bytes_text(memory.estimated_bytes)}; measured{off or ' as well'}{flag}"))
    return found + warned


def _cost_facts(comparison: ComparisonVerdict) -> Facts:
    costs = comparison.costs
    found: Facts = []
    if costs.preprocess_s:
        once = _once(costs.preprocess_s)
        if costs.reference_preprocess_s:
            once += f"; reference {_once(costs.reference_preprocess_s)}"
        paid = "" if costs.total is None else payoff_text(costs.total, costs.payoff_epochs)
        found.append(("once", f"{once}; {paid}" if paid else once))
    if costs.total is not None:
        total = costs.total
        text = f"{seconds_text(total.seconds)}, reference {seconds_text(total.reference_seconds)}"
        found.append(("a whole training", f"{text}; preparation and {plural(total.epochs, 'epoch')}, no evaluation"))
    if costs.ceiling is not None:
        stages = " and ".join(costs.targets)
        found.append(("ceiling", f"{costs.ceiling:.2f} times, if {stages} took no time at all (Amdahl)"))
    return found


def _stage_facts(comparison: ComparisonVerdict, verdicts: Verdicts) -> Facts:
    """Where its gain came from."""
    gains = [gain for gain in verdicts.diagnosis.gains if gain.variant == comparison.variant]
    return [("stages", sentence) for gain in gains for sentence in gain.sentences]


def _once(seconds: Mapping[str, float]) -> str:
    return ", ".join(f"{name.removesuffix('_s')} {seconds_text(s)}" for name, s in seconds.items())


def pair_rows(comparison: ComparisonVerdict) -> list[list[str]]:
    """Seed, reference, variant, difference in pp, and whether the pair counted."""
    if comparison.accuracy is None:
        return []
    return [
        [str(p.seed), f"{p.reference:.4f}", f"{p.variant:.4f}", fixed(p.delta_pp, 2, signed=True), _counted(p.counted)]
        for p in comparison.accuracy.seeds
    ]


def _counted(counted: bool) -> str:
    return "yes" if counted else "no, after the decision"


def failures(plan: Plan, verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> list[Failure]:
    """Skipped cells, those not run yet and failed runs; runs of a variant that ended alike share a row."""
    skipped = {s.variant: s.reason for s in plan.skipped}
    skipped |= {c.variant: c.reason for c in verdicts.comparisons if c.verdict == "skipped"}
    waiting = [c.variant for c in verdicts.comparisons if c.reason == NOT_RUN]
    alike: dict[tuple[str, str, str, str], list[int]] = {}
    for name, run in _failed_runs(verdicts, variants).values():
        seeds = alike.setdefault((name, run.purpose, run.status, run.message), [])
        if run.seed is not None:
            seeds.append(run.seed)
    return [
        *(Failure(name, "all of it", "skipped", reason) for name, reason in skipped.items()),
        *(Failure(name, "all of it", "missing", NOT_RUN) for name in waiting),
        *(Failure(name, _runs_text(p, seeds), status, text) for (name, p, status, text), seeds in alike.items()),
    ]


def _failed_runs(verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> dict[str, tuple[str, FailedRun]]:
    """By run id, with the name of the cell: a reference's run may be told by many comparisons."""
    found = {run.run_id: (r.name, run) for r in verdicts.references for run in r.failed}
    for reference, variant, failed in _arms(verdicts):
        for run in failed:
            found.setdefault(run.run_id, (reference if run.arm == "reference" else variant, run))
    for result in variants.values():
        for r in result.runs:
            if r.status in FAILED:
                arm: Literal["reference", "variant"] = "reference" if result.reference is None else "variant"
                run = FailedRun(
                    arm=arm, purpose="quality", seed=r.seed, run_id=r.run_id, status=r.status, message=r.message
                )
                found.setdefault(r.run_id, (result.variant, run))
    return found


def _arms(verdicts: Verdicts) -> list[tuple[str, str, list[FailedRun]]]:
    """Reference, variant and failed runs of every comparison, the confirmation's among them."""
    arms = [(c.reference, c.variant, c.failed) for c in verdicts.comparisons]
    confirmation = verdicts.confirmation
    if confirmation is None or confirmation.comparison is None:
        return arms
    stack = confirmation.comparison
    arms.append((f"{stack.reference}, fresh seeds", stack.variant, stack.failed))
    return arms + [(stack.variant, f"{stack.variant} without {p.variant}", p.failed) for p in confirmation.parts]


def _runs_text(purpose: str, seeds: list[int]) -> str:
    if not seeds:
        return purpose
    return f"{purpose}, seed{'s' * (len(seeds) > 1)} {', '.join(str(s) for s in sorted(seeds))}"


def reference_rows(verdicts: Verdicts) -> list[list[str]]:
    """Name, runs that ended well, mean of the metric, standard deviation over seeds, failures."""
    return [
        [
            r.name,
            str(r.n),
            "–" if r.mean is None else f"{r.mean:.4f}",
            "–" if r.sd_pp is None else f"{r.sd_pp:.2f} pp",
            str(len(r.failed)),
        ]
        for r in verdicts.references
    ]


def method(plan: Plan, verdicts: Verdicts) -> list[str]:
    """How it was measured, a sentence each."""
    gate, timing = verdicts.gate, verdicts.timing
    looks = ", ".join(str(n) for n in verdicts.looks)
    ratios = ", ".join(str(n) for n in timing.looks)
    selection = next(iter(plan.cells.values())).training.selection.replace("_", " ")
    return [
        f"Accuracy: variant and reference are trained on the same seeds; each pair gives one difference of test "
        f"{metric(gate)}, at the epoch chosen by {selection}, the test set read once. A paired one-sided t-test of "
        f"non-inferiority passes where the lower bound lies above {fixed(-gate.max_drop_pp, _places(gate.max_drop_pp))}"
        f" pp and fails where the upper bound lies below it.",
        f"It is judged after {looks} pairs, at α = {verdicts.alpha_per_look:.4f} a look, which makes "
        f"{gate.alpha:g} over all looks; the first decision stands. Each bound of the interval holds at "
        f"{100 * (1 - verdicts.alpha_per_look):.2f} %.",
        f"Speed: apart from accuracy and alone on the machine, in blocks of four fresh processes (reference, variant, "
        f"variant, reference), {timing.epochs} steady-state epochs each after at least {timing.warmup_epochs} to warm "
        f"up, evaluation left out. A block gives two log ratios, judged after {ratios} ratios; a gain must exceed "
        f"{gate.min_speedup:g} times with its lower bound.",
        "Time to the reference's accuracy: the first epoch whose validation accuracy is at least the reference's at "
        "the epoch chosen for it, the median over the pairs that reached it, times the median timed epoch.",
        f"Memory: peak of the same processes over what they held after their imports; a gain must exceed "
        f"{gate.min_memory_saving:g} times with its lower bound.",
        "Accepted means both: the accuracy gate passed, and the gain that the variant aims at is real and larger than "
        "the control's noise.",
    ]


def _places(value: float) -> int:
    return max(decimals(None, None, default=1), len(f"{value:g}".partition(".")[2]))


def run_facts(plan: Plan, verdicts: Verdicts, variants: Mapping[str, VariantResult]) -> Facts:
    """Data, settings and threads of the comparison."""
    fingerprints = sorted({v.fingerprint for v in variants.values() if v.fingerprint})
    name, cell = next(iter(plan.cells.items()))
    values = flat(tree_of(Settings(cell.model, cell.training, cell.options)))
    found: Facts = [
        ("spec", f"{plan.spec} ({plan.spec_path})"),
        ("data", json.dumps(plan.dataset.dataset.model_dump(exclude_defaults=True), ensure_ascii=False)),
        ("data fingerprint", ", ".join(fingerprints) or "not known: no run ended well"),
        *_parts(verdicts),
        (name, patch_text({path: value for path, value in values.items() if value is not None})),
        ("design", f"{plan.design}, {plural(len(plan.comparisons), 'comparison')}"),
        ("threads", f"{plan.quality_threads} a quality run, {plan.timing_threads} a timing process"),
        ("device", verdicts.device or plan.device),
    ]
    return found


def _parts(verdicts: Verdicts) -> Facts:
    """Builder and parts of the data; results of before they were recorded have none."""
    data = verdicts.data
    if data is None:
        return []
    parts = ", ".join(f"{name} {digest[:_SHOWN_DIGITS]}" for name, digest in data.parts.model_dump().items())
    return [("fingerprints of its parts", parts), ("built by", f"version {data.builder_version} of the builder")]


def environment_facts(verdicts: Verdicts, timings: Mapping[str, TimingResult]) -> Facts:
    """When it was measured; machine and versions, from the verdicts, else from a timing."""
    found = verdicts.environment or next((t.environment for t in timings.values() if t.environment), {})
    days = list(dict.fromkeys(end[:10] for end in verdicts.measured))
    return [("measured", f"{' to '.join(days)} (UTC)")] * bool(days) + [
        (key.replace("_", " "), bytes_text(value) if key.endswith("_bytes") else _plain(value))
        for key, value in found.items()
        if value is not None
    ]


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value_text(value)


def command(plan: Plan) -> str:
    """The command that repeats the report."""
    path = PurePath(plan.spec_path)
    target = f"results/{plan.spec}/report.html"
    if path.parent.name in ("specs", "grids") and path.stem == plan.spec:
        return f"snakemake --cores {plan.timing_threads} {target}"
    spec = shlex.quote(f"spec={plan.spec_path}")
    return f"snakemake --cores {plan.timing_threads} --config {spec}"
