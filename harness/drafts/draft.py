"""From a data set to a commented spec: look at it, prepare it, choose, and estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from harness.drafts.budget import costs_line, limits_entry, seeds_entry, timing_entry, within
from harness.drafts.choose_data import data_entries
from harness.drafts.choose_training import Sight, baseline_block, model_entry, training_entry
from harness.drafts.choose_variants import variants_block
from harness.drafts.look import look
from harness.drafts.parts import Block, Draft, Entry
from harness.drafts.target import checked
from harness.graphs.prepare import prepare
from harness.graphs.sources import read_source
from harness.graphs.splits import untested_classes
from harness.graphs.store import open_graph
from harness.plan.cpu_flags import half_instructions
from harness.plan.estimate import refined
from harness.plan.expand import make_plan
from harness.plan.ids import dataset_id
from harness.plan.machine import Machine, usable_cpus
from harness.plan.model import Plan
from harness.spec.places import cache_root
from harness.spec.schema import Spec
from harness.verdicts.wording import plural

RARE = 0.2  # share of the smaller of two classes below which accuracy says little


@dataclass(frozen=True)
class Wishes:
    """What a person decides.

    Attributes:
        directed: messages go from source to target alone.
        half: half precision also on a CPU that is slow at it.
        hours: what the whole may be expected to take at most, by the plan's guess.
    """

    directed: bool = False
    half: bool = False
    hours: float = 1.0


def draft_spec(
    command: str,
    name: str,
    section: dict[str, Any],
    path: Path,
    machine: Machine,
    wishes: Wishes,
    say: Callable[[str], None],
) -> Draft:
    """The spec for a data set, whose graph is prepared by now.

    Args:
        command: what a person typed.
        name: of the spec.
        section: where the graph comes from.
        path: where the spec will lie; paths in the section are relative to its folder.
        machine: the probe's answer.
        say: called with a line about each stage.

    Raises:
        InputError: the data are missing, malformed or unsuitable.
    """
    seen = look(read_source(checked(section), path.parent, say))
    data = data_entries(section, seen, wishes.directed)
    dataset = checked({entry.key: entry.value for entry in data if not entry.offered})
    graph = open_graph(prepare(dataset, dataset_id(dataset, path.parent), path.parent, say))
    meta = graph.meta
    untested = tuple(untested_classes(graph.y, graph.test, meta.class_names))
    sight = Sight(meta, seen, machine.device("auto"), psutil.virtual_memory().total, untested)
    draft = _first(name, command, data, sight, machine, wishes)

    def planned(some: Draft) -> Plan:
        return _planned(some, path, machine, sight)

    draft = draft.adding(timing_entry(planned(draft)))
    if sight.device == "cpu":
        draft = within(draft, wishes.hours, planned)
    plan = planned(draft)
    draft = draft.adding(seeds_entry(plan, sight.device, meta.num_nodes, wishes.hours), limits_entry(plan))
    return replace(draft, heading=(*draft.heading, costs_line(planned(draft))))


def _first(name: str, command: str, data: list[Entry], sight: Sight, machine: Machine, wishes: Wishes) -> Draft:
    """All but how often."""
    half = half_instructions() or set() if sight.device == "cpu" else set()
    question = f"Which training optimisations are worth having for {_model_words(sight)} on {sight.meta.name}?"
    parts: tuple[Entry | Block, ...] = (
        Entry("version", 1),
        Entry("name", name, "names the folder results/<name>"),
        Entry("description", question),
        Block("dataset", tuple(data)),
        model_entry(sight),
        training_entry(sight),
        baseline_block(sight),
        variants_block(sight, machine, half, wishes.half, len(usable_cpus())),
        Entry("design", {"confirm": "recommended"}, _CONFIRM),
        _gate(sight),
    )
    return Draft(_heading(command, sight), parts)


_CONFIRM = "what is accepted is joined, and trained and timed again on fresh seeds"


def _heading(command: str, sight: Sight) -> tuple[str, ...]:
    meta, device = sight.meta, "a GPU" if sight.device == "cuda" else "a CPU"
    facts = (
        f"{meta.name}: {meta.num_nodes:,} nodes, {meta.num_edges:,} edges, {meta.num_features:,} features, "
        f"{meta.num_classes} classes; {meta.train_nodes:,} nodes train, {meta.val_nodes:,} validate, "
        f"{meta.test_nodes:,} test."
    )
    start = f"a start, chosen by these sizes and {device}; every value is yours to change"
    how = f"Written by `{command}`: {start}."
    return facts, how, *(f"Mind: {warning.rstrip('.')}." for warning in meta.warnings)


def _model_words(sight: Sight) -> str:
    conv = model_entry(sight).value["conv"]
    words = {"gcn": "GCN", "sage": "GraphSAGE"}[conv]
    return f"a full-batch {words}" if sight.full else words


def _gate(sight: Sight) -> Entry:
    test = sight.meta.test_nodes
    resolution = f"0.5 percentage points are {0.005 * test:.2g} of {plural(test, 'test node')}"
    if test >= 2000:
        resolution = f"0.5 percentage points are {0.005 * test:,.0f} of {test:,} test nodes"
    resolution += "" if 0.005 * test >= 1 else ": only a variant that predicts the same can pass; test more nodes"
    if sight.seen.classes == 2 and sight.seen.rarest_share < RARE:
        why = f"{100 * sight.seen.rarest_share:.2g} % of the nodes are of the rarer class, so that accuracy says little"
        if sight.untested:
            why += f"; but no test node is of class {sight.untested[0]}, and without one there is no ROC-AUC"
            return Entry("gate", {"metric": "accuracy", "max_drop_pp": 0.5, "min_speedup": 1.05}, why)
        return Entry("gate", {"metric": "roc_auc", "max_drop_pp": 0.5, "min_speedup": 1.05}, why)
    return Entry("gate", {"metric": "accuracy", "max_drop_pp": 0.5, "min_speedup": 1.05}, resolution)


def _planned(draft: Draft, path: Path, machine: Machine, sight: Sight) -> Plan:
    """With estimates from the prepared graph."""
    made = make_plan(Spec.model_validate(draft.plain()), path, machine)
    return refined(made, cache_root(), sight.device)
