"""A variant's quality job: its seeds and those of its reference, look by look, until the accuracy is decided."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from harness.graphs.data_version import data_version
from harness.graphs.graph import GraphMeta
from harness.graphs.store import open_graph
from harness.plan.ids import run_id
from harness.plan.model import Cell, VariantPlan
from harness.plan.version import ENGINE_VERSION, uses_metis
from harness.records.data_version import DataVersion
from harness.records.drawn_batch import DrawnBatch
from harness.records.record import Record
from harness.records.results import DecisionRule, Parity, SeedRun, VariantResult
from harness.records.spread import over_smoothed, spread_judged
from harness.records.store import RecordStore
from harness.runs.lease import Device, lease_device
from harness.runs.remaining import Remaining, seconds_of
from harness.runs.request import RunRequest
from harness.runs.supervisor import ENGINE, Engine, ForkServer, run_one, standing

Decide = Callable[[list[float | None], list[float | None], bool, int | None], bool]
Progress = Callable[[str], None]

MAX_FAILURES = 2  # of one cell: a second failure says that more seeds would cost as much and fail as well


def to_stderr(line: str) -> None:
    """Progress where nothing better is at hand: plain lines."""
    print(line, file=sys.stderr, flush=True)


def run_variant(
    plan: VariantPlan,
    graph_path: Path,
    results: Path,
    decide: Decide,
    progress: Progress = to_stderr,
    engine: Engine = ENGINE,
) -> VariantResult:
    """Train the seeds of a variant and, where they are missing, of its reference; one process a run.

    At each look the variant's seeds ``first … first + look - 1`` run, then the reference's; an exact variant's parity
    check runs once, after the first look. Then `decide` says whether more seeds are needed. A failed run leaves its
    record and the look's other seeds still run. A seed that the reference failed is no pair: the seed after the look's
    last takes its place. Where the variant failed and the reference ran no further look follows, and a cell that failed
    twice runs no more seeds: those are absent from the result. The baseline's own job has no reference: its first
    look's seeds run.

    Args:
        plan: the variant.
        graph_path: folder of the prepared graph.
        results: folder of all results; records go to ``results/runs``.
        decide: ``(reference, variant, predictions_equal, test_nodes) -> bool``, the gate's metric in seed order (None
            for a failed run, and only seeds that both tried); True when decided.
        progress: called with a line when a run is done.

    Raises:
        InputError: the graph is not there, damaged or of another version, the device is not there, the disk is full.
        ServerFault: a fault of the harness.
    """
    graph = open_graph(graph_path)
    meta, data = graph.meta, data_version(graph)
    with (
        lease_device(plan.device, lambda line: progress(f"{plan.cell.name}: {line}")) as device,
        ForkServer(plan.quality_threads, device, engine) as server,
    ):
        job = _Job(plan, graph_path, meta, data, RecordStore(results / "runs", progress), server, device, progress)
        job.run(decide)
        job.draw()
        return job.result()


@dataclass
class _Job:
    plan: VariantPlan
    graph_path: Path
    meta: GraphMeta
    data: DataVersion
    store: RecordStore
    server: ForkServer
    device: Device
    progress: Progress
    variant: dict[int, Record] = field(default_factory=dict)  # by seed
    reference: dict[int, Record] = field(default_factory=dict)
    parity: Parity | None = None
    drawn: DrawnBatch | None = None
    not_drawn: str = ""
    remaining: Remaining = field(default_factory=Remaining)

    def run(self, decide: Decide) -> None:
        looks = self.plan.seeds.looks if self.plan.reference is not None else self.plan.seeds.looks[:1]
        for look in looks:
            if not self._look(look) or self.plan.reference is None:
                return
            if decide(*self._pairs(), self.meta.test_nodes):
                return

    def _look(self, pairs: int) -> bool:
        """Run what this look's complete pairs still miss; False when no further look makes sense.

        A seed that the reference failed is no pair: the next seed takes its place.
        """
        seeds = pairs
        while True:
            self._run_both(seeds)
            if self._hopeless():
                return False
            complete = sum(r.status == "ok" and self._ran(seed) for seed, r in self.variant.items())
            if self.plan.reference is None or complete >= pairs:
                return True
            seeds += pairs - complete

    def _run_both(self, seeds: int) -> None:
        first = self.plan.seeds.first
        wanted = range(first, first + seeds)
        self._run_seeds(self.plan.cell, wanted, self.variant)
        if self.plan.reference is not None:
            self._run_seeds(self.plan.reference, [s for s in wanted if s in self.variant], self.reference)
            self._check_parity()

    def _ran(self, seed: int) -> bool:
        return seed in self.reference and self.reference[seed].status == "ok"

    def _hopeless(self) -> bool:
        """The variant failed where the reference ran, or one of them so often that it runs no more seeds."""
        lone = any(r.status != "ok" and self._ran(seed) for seed, r in self.variant.items())
        return lone or any(_failures(records) >= MAX_FAILURES for records in (self.variant, self.reference))

    def _run_seeds(self, cell: Cell, seeds: Iterable[int], records: dict[int, Record]) -> None:
        seeds = list(seeds)
        for seed in seeds:
            if seed in records:
                continue
            if _failures(records) >= MAX_FAILURES:
                self.progress(f"{cell.name}: {MAX_FAILURES} runs failed; its other seeds are not run")
                return
            request = self._request(cell, seed)
            made: list[Record] = []
            records[seed] = run_one(
                request,
                store=self.store,
                server=self.server,
                limits=self.plan.limits,
                data=self.data.model_dump(),
                say=lambda line: self.progress(f"{self.plan.cell.name}: {line}"),
                name=cell.name,
                made=made.append,
            )
            self.remaining.saw(records[seed])
            if made:
                self._tell(cell, records[seed], seeds)

    def _tell(self, cell: Cell, record: Record, seeds: list[int]) -> None:
        position = seeds.index(record.seed) + 1
        left = sum(not self._stands(run_id) for run_id in self._ids_of_look(len(seeds)))
        metric = self._metric(record)
        words = [
            f"{cell.name} seed {position}/{len(seeds)} {record.status}",
            f"{metric:.3f}" if metric is not None else record.message,
            f"{seconds_of(record):.1f}s",
        ]
        line = " ".join(w for w in words if w)
        estimate = self.remaining.words(left)
        self.progress(f"{line} · {estimate}" if estimate else line)

    def _ids_of_look(self, seeds: int) -> list[str]:
        cells = [c for c in (self.plan.cell, self.plan.reference) if c is not None]
        first = self.plan.seeds.first
        return [self._request(c, s).run_id for c in cells for s in range(first, first + seeds)]

    def _stands(self, run_id: str) -> bool:
        return standing(self.store, run_id, self.plan.limits) is not None

    def _request(self, cell: Cell, seed: int) -> RunRequest:
        return make_request(
            self.plan, cell, seed, self.graph_path, self.meta, self.device, self.plan.quality_threads, purpose="quality"
        )

    def _metric(self, record: Record) -> float | None:
        return None if record.metrics is None else getattr(record.metrics.test, self.plan.gate.metric)

    def _pairs(self) -> tuple[list[float | None], list[float | None], bool]:
        """The metric of reference and variant over the seeds that both tried, and whether all predictions agree."""
        seeds = [s for s in sorted(self.variant) if s in self.reference]
        reference = [self._metric(self.reference[s]) for s in seeds]
        variant = [self._metric(self.variant[s]) for s in seeds]
        hashes = [(_predictions(self.reference[s]), _predictions(self.variant[s])) for s in seeds]
        return reference, variant, bool(hashes) and all(a is not None and a == b for a, b in hashes)

    def _check_parity(self) -> None:
        """The exact variant against its reference, once, where at least one of its runs is ok."""
        runs = (*self.variant.values(), *self.reference.values())
        ran = {r.cell_id for r in runs if r.status == "ok"}
        if not self.plan.exact or self.parity is not None or self.plan.reference is None:
            return
        if not {self.plan.cell.cell_id, self.plan.reference.cell_id} <= ran:
            return
        seed = self.plan.seeds.first
        requests = [self._request(self.plan.reference, seed), self._request(self.plan.cell, seed)]
        log = self.store.root / "logs" / f"{requests[1].run_id}.parity.log"
        ending = self.server.call(self.server.engine.parity, requests, log, self.plan.limits)
        if ending.outcome is not None:
            self.parity = Parity.model_validate(ending.outcome)
        else:
            note = f"the check did not end ({ending.status}): {ending.message}"
            self.parity = Parity(
                state="not-checked", max_abs_logit=0.0, max_abs_difference=0.0, gradient_cosine=0.0, note=note
            )
        self.progress(
            f"{self.plan.cell.name} parity {self.parity.state}" + (f": {self.parity.note}" if self.parity.note else "")
        )

    def draw(self) -> None:
        """A small batch of the baseline's, after all of its runs: nothing that is measured shares a process with it."""
        if self.plan.reference is not None:
            return
        request = self._request(self.plan.cell, self.plan.seeds.first)
        log = self.store.root / "logs" / f"{request.run_id}.drawing.log"
        ending = self.server.call(self.server.engine.drawing, [request], log, self.plan.limits)
        if ending.outcome is not None:
            self.drawn = DrawnBatch.model_validate(ending.outcome)
        else:
            self.not_drawn = ending.message or ending.status

    def result(self) -> VariantResult:
        reference = self.plan.reference
        ok = [r for r in self.variant.values() if r.status == "ok"] or list(self.variant.values())
        environment = ok[0].environment if ok else {}
        return VariantResult(
            variant=self.plan.cell.name,
            cell_id=self.plan.cell.cell_id,
            reference=None if reference is None else reference.name,
            reference_cell_id=None if reference is None else reference.cell_id,
            runs=[self._seed_run(r, environment) for _, r in sorted(self.variant.items())],
            reference_runs=[self._seed_run(r, environment) for _, r in sorted(self.reference.items())],
            parity=self.parity,
            test_nodes=self.meta.test_nodes,
            fingerprint=self.meta.fingerprint,
            threads=self.plan.quality_threads,
            device=self.device.kind,
            data=self.data,
            environment=environment,
            counters=ok[0].counters if ok else {},
            drawn_batch=self.drawn,
            not_drawn=self.not_drawn,
            decided_by=None if reference is None else DecisionRule.of(self.plan.gate, self.plan.seeds),
        )

    def _seed_run(self, record: Record, environment: dict[str, Any]) -> SeedRun:
        metrics, by_layer = record.metrics, record.counters.get("embedding_spread", [])
        return SeedRun(
            seed=record.seed,
            run_id=record.run_id,
            status=record.status,
            metric=self._metric(record),
            predictions_sha256=_predictions(record),
            best_epoch=None if metrics is None else metrics.best_epoch,
            epochs=None if metrics is None else metrics.epochs,
            val_accuracy=[] if metrics is None else metrics.val_accuracy,
            train_loss=[] if metrics is None else metrics.train_loss,
            gradient_norm=[] if metrics is None else metrics.gradient_norm,
            memory_warnings=[] if record.memory is None else record.memory.warnings,
            embedding_spread=spread_judged(by_layer, record.model.jumping),
            spread_by_layer=by_layer,
            over_smoothed=over_smoothed(by_layer, record.model.jumping),
            message=record.message,
            ended_at=record.ended_at,
            environment={k: v for k, v in record.environment.items() if environment.get(k) != v},
        )


def make_request(
    plan: VariantPlan,
    cell: Cell,
    seed: int,
    graph_path: Path,
    meta: GraphMeta,
    device: Device,
    threads: int,
    **special: Any,
) -> RunRequest:
    """One run of a cell, with its id.

    Args:
        special: `purpose`, and for timing the epochs; `extra` enters the id alone.
    """
    extra = special.pop("extra", "")
    identity = run_id(
        cell.cell_id,
        purpose=special["purpose"],
        seed=seed,
        fingerprint=meta.fingerprint,
        device_kind=device.kind,
        threads=threads,
        torch_version=version("torch"),
        engine_version=str(ENGINE_VERSION),
        pyg_version=version("torch-geometric"),
        pymetis_version=_pymetis() if uses_metis(cell) else "",
        extra=extra,
    )
    return RunRequest(
        run_id=identity,
        cell_id=cell.cell_id,
        seed=seed,
        model=cell.model,
        training=cell.training,
        options=cell.options,
        graph_path=str(graph_path),
        spec_dir=plan.spec_dir,
        device=device.name,
        threads=threads,
        **special,
    )


def _pymetis() -> str:
    """Its version; empty where it is gone since the plan was made, which the run itself will say."""
    try:
        return version("pymetis")
    except PackageNotFoundError:
        return ""


def _failures(records: dict[int, Record]) -> int:
    return sum(r.status != "ok" for r in records.values())


def _predictions(record: Record) -> str | None:
    return None if record.metrics is None else record.metrics.predictions_sha256
