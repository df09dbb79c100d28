"""A timing job: reference, variant, variant, reference in fresh processes, alone, until the speed is decided."""

from __future__ import annotations

import math
import statistics
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.graphs.data_version import data_version
from harness.graphs.graph import GraphMeta
from harness.graphs.store import open_graph
from harness.plan.model import Cell, VariantPlan
from harness.plan.version import TIMING_VERSION
from harness.records.data_version import DataVersion
from harness.records.record import Memory, Record, Stages
from harness.records.results import Block, TimedProcess, TimingResult, VariantResult
from harness.records.store import RecordStore
from harness.runs.job import Progress, make_request, to_stderr
from harness.runs.lease import Device, alone_on_machine, lease_device
from harness.runs.load import PATIENCE_S, wait_for_quiet
from harness.runs.parent import check_parent
from harness.runs.remaining import Remaining
from harness.runs.supervisor import ENGINE, Engine, ForkServer, run_one
from harness.runs.surroundings import Surroundings, Watch, disturbances

Decide = Callable[[list[float], int], bool]
Arm = Literal["reference", "variant"]

ORDER: tuple[Arm, ...] = ("reference", "variant", "variant", "reference")  # a drift over the block cancels
_PAIRS = ((0, 1), (3, 2))  # positions of a reference and the variant beside it


def time_variant(
    plan: VariantPlan,
    graph_path: Path,
    results: Path,
    decide: Decide,
    progress: Progress = to_stderr,
    engine: Engine = ENGINE,
    patience_s: float = PATIENCE_S,
) -> TimingResult:
    """Time a variant against its reference, in blocks, up to the look at which it is decided.

    Each block runs reference, variant, variant, reference, each in a fresh process with the block's seed, and gives two
    log ratios: of the first pair and of the second. `decide` is asked only at looks, never between. A block is repeated
    when something disturbed it from outside (`harness.runs.surroundings`), never for its ratio; when the repeats of the
    plan are used up it is kept and marked. A plan without reference, and the control, time the baseline against itself.

    Args:
        plan: the variant.
        graph_path: folder of the prepared graph.
        results: folder of all results; records go to ``results/runs``, and none is ever used twice.
        decide: ``(log_ratios, look_index) -> bool``; log ratios of peak memory where the goal is memory.
        progress: called with a line when a block is done, or waits.
        patience_s: how long to wait for a quiet machine, seconds, over all blocks.

    Returns:
        Status ``dnf`` when a process of the variant fails, ``skipped`` when one of the reference does.

    Raises:
        InputError: the graph is not there, damaged or of another version, the device is not there, the disk is full.
        ServerFault: a fault of the harness.
    """
    graph = open_graph(graph_path)
    meta, data = graph.meta, data_version(graph)

    def say(line: str) -> None:
        progress(f"{plan.cell.name}: {line}")

    with (
        alone_on_machine(say),
        lease_device(plan.device, say) as device,
        ForkServer(plan.timing_threads, device, engine) as server,
    ):
        server.start()  # its imports must not fall into the first block's time
        store = RecordStore(results / "runs", progress)
        job = _Job(plan, graph_path, meta, data, store, server, device, progress, patience_s)
        job.run(decide)
        return job.result()


def not_worth_timing(plan: VariantPlan, quality: VariantResult) -> TimingResult | None:
    """What stands for the timing of a variant of which, or of whose reference, no quality run ended well; else None.

    Its timing processes would fail as well, after as long, and say nothing of speed.
    """
    reference = plan.reference or plan.cell
    for whose, runs in (("its", quality.runs), ("the reference's", quality.reference_runs)):
        if runs and not any(run.status == "ok" for run in runs):
            why = f"{runs[0].status}: {runs[0].message}" if runs[0].message else runs[0].status
            return TimingResult(
                variant=plan.cell.name,
                cell_id=plan.cell.cell_id,
                reference=reference.name,
                reference_cell_id=reference.cell_id,
                fingerprint=quality.fingerprint,
                timing_version=TIMING_VERSION,
                status="skipped",
                reason=f"{whose} quality runs failed: {why}",
                estimated_bytes=plan.cell.estimate.memory_bytes,
                threads=plan.timing_threads,
                device=quality.device,
                data=quality.data,
                environment=quality.environment,
            )
    return None


class _Failed(Exception):
    """A process of a block failed; the block is not finished."""

    def __init__(self, arm: Arm, record: Record) -> None:
        super().__init__(f"{record.status}: {record.message}" if record.message else record.status)
        self.arm = arm


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
    patience_s: float
    # A timing is never taken from the store: each job's ids are its own.
    nonce: str = field(default_factory=lambda: uuid.uuid4().hex)
    blocks: list[Block] = field(default_factory=list)
    records: list[list[Record]] = field(default_factory=list)  # of each block kept, in ORDER
    repeats_left: int = 0
    failed: _Failed | None = None
    remaining: Remaining = field(default_factory=Remaining)

    @property
    def reference(self) -> Cell:
        return self.plan.reference or self.plan.cell

    def _say(self, line: str) -> None:
        self.progress(f"{self.plan.cell.name}: {line}")

    def run(self, decide: Decide) -> None:
        self.repeats_left = self.plan.timing.max_repeats
        for index, ratios in enumerate(self.plan.timing.looks):
            while len(self.blocks) * 2 < ratios:
                try:
                    self._block(len(self.blocks), ratios // 2)
                except _Failed as failed:
                    self.failed = failed
                    self.progress(f"{self.plan.cell.name} timing stopped: the {failed.arm} failed, {failed}")
                    return
            judged = self._memory_ratios() if self.plan.goal == "memory" else self._log_ratios()
            if len(judged) >= ratios and decide(judged, index):
                return

    def _block(self, index: int, blocks: int) -> None:
        """Time one block, again while it is disturbed and repeats are left, and keep it."""
        repeats = 0
        while True:
            records, found = self._attempt(index, repeats)
            words = disturbances(found, ORDER, self.plan.timing_threads)
            if not words or self.repeats_left == 0:
                break
            self.repeats_left -= 1
            repeats += 1
            self._say(f"block {index + 1} is repeated: {', '.join(words)}")
        self.blocks.append(_block(index, records, found, repeats, words))
        self.records.append(records)
        self._tell(index, blocks, words)

    def _attempt(self, index: int, attempt: int) -> tuple[list[Record], Surroundings]:
        """Records of one try at a block, in ORDER, and what the machine did meanwhile.

        Raises:
            _Failed: a process failed.
        """
        before = time.monotonic()
        wait_for_quiet(self.plan.timing_threads, self._say, self.patience_s)
        check_parent()
        self.patience_s = max(0.0, self.patience_s - (time.monotonic() - before))
        watch, records = Watch(), []
        for position, arm in enumerate(ORDER):
            with watch.process():
                record = self._process(index, attempt, position, arm)
            records.append(record)
            if record.status != "ok":
                self.blocks.append(_block(index, records, watch.read(), attempt, []))
                raise _Failed(arm, record)
        return records, watch.read()

    def _process(self, index: int, attempt: int, position: int, arm: Arm) -> Record:
        cell = self.reference if arm == "reference" else self.plan.cell
        request = make_request(
            self.plan,
            cell,
            self.plan.seeds.first + index,
            self.graph_path,
            self.meta,
            self.device,
            self.plan.timing_threads,
            purpose="timing",
            warmup_epochs=self.plan.timing.warmup_epochs,
            timed_epochs=self.plan.timing.epochs,
            extra=f"{self.reference.name}:{self.plan.cell.name}:{index}:{position}:{attempt}:{self.nonce}",
        )
        record = run_one(
            request,
            store=self.store,
            server=self.server,
            limits=self.plan.limits,
            data=self.data.model_dump(),
            say=self._say,
            name=cell.name,
        )
        self.remaining.saw(record)
        return record

    def _tell(self, index: int, blocks: int, words: list[str]) -> None:
        first, second = _log_ratios(self.blocks[-1])
        line = f"{self.plan.cell.name} block {index + 1}/{blocks} ratios {math.exp(first):.3f} {math.exp(second):.3f}"
        if words:
            line += f", disturbed: {', '.join(words)}"
        restless = sum(process.settled is False for process in self.blocks[-1].processes)
        if restless:
            line += f", {restless} of its processes never settled"
        estimate = self.remaining.words(len(ORDER) * (blocks - index - 1))
        self.progress(f"{line} · {estimate}" if estimate else line)

    def _log_ratios(self) -> list[float]:
        return [ratio for block in self._finished() for ratio in _log_ratios(block)]

    def _memory_ratios(self) -> list[float]:
        return [ratio for block in self._finished() for ratio in _memory_ratios(block)]

    def _finished(self) -> list[Block]:
        return self.blocks[: len(self.records)]

    def _of(self, arm: Arm) -> list[Record]:
        return [r for records in self.records for a, r in zip(ORDER, records, strict=True) if a == arm]

    def result(self) -> TimingResult:
        of_variant, of_reference = self._of("variant"), self._of("reference")
        last = of_variant[-1] if of_variant else None
        memory = None if last is None else last.memory
        return TimingResult(
            variant=self.plan.cell.name,
            cell_id=self.plan.cell.cell_id,
            reference=self.reference.name,
            reference_cell_id=self.reference.cell_id,
            fingerprint=self.meta.fingerprint,
            timing_version=TIMING_VERSION,
            status="ok" if self.failed is None else ("dnf" if self.failed.arm == "variant" else "skipped"),
            reason="" if self.failed is None else _reason(self.failed),
            blocks=self.blocks,
            log_ratios=self._log_ratios(),
            memory_log_ratios=self._memory_ratios(),
            memory_exact=_exact(of_reference) and _exact(of_variant),
            reference_stages=_mean_stages(of_reference),
            variant_stages=_mean_stages(of_variant),
            preprocess_s=_preprocess_s(of_variant),
            reference_preprocess_s=_preprocess_s(of_reference),
            estimated_bytes=_estimated_bytes(memory, self.plan.cell),
            memory_warnings=[] if memory is None else memory.warnings,
            counters={} if last is None else last.counters,
            ended_at=max((record.ended_at for block in self.records for record in block), default=""),
            threads=self.plan.timing_threads,
            device=self.device.kind,
            data=self.data,
            environment=self.server.environment if last is None else last.environment,
        )


def _estimated_bytes(memory: Memory | None, cell: Cell) -> int | None:
    """By the run itself, which knows the graph; by the plan where no run ended well."""
    if memory is None or memory.estimated_bytes is None:
        return cell.estimate.memory_bytes
    return memory.estimated_bytes


def _reason(failed: _Failed) -> str:
    return str(failed) if failed.arm == "variant" else f"the reference failed: {failed}"


def _block(index: int, records: list[Record], found: Surroundings, repeats: int, words: list[str]) -> Block:
    rates = [mhz for mhz in found.rates_mhz if mhz is not None]
    return Block(
        index=index,
        processes=[_timed(arm, record) for arm, record in zip(ORDER, records, strict=False)],
        other_load=round(found.other_load, 3),
        steal_share=_rounded(found.steal_share),
        throttled_share=_rounded(found.throttled_share),
        clock_mhz=(min(rates), max(rates)) if rates else None,
        repeats=repeats,
        disturbed=bool(words),
        disturbed_by=words,
    )


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _timed(arm: Arm, record: Record) -> TimedProcess:
    return TimedProcess(
        arm=arm,
        run_id=record.run_id,
        status=record.status,
        epoch_s=record.epoch_s,
        warmup_s=record.warmup_s,
        settled=record.settled,
        device_times=record.device_times,
        peak_bytes=None if record.memory is None else record.memory.peak_bytes,
        reserved_bytes=None if record.memory is None else record.memory.reserved_bytes,
        profile=record.profile,
        disk_reads=record.counters.get("disk_reads"),
        message=record.message,
    )


def _log_ratios(block: Block) -> tuple[float, float]:
    """log(reference / variant) of the median epoch, for the block's first and second half."""
    medians = [statistics.median(p.epoch_s) for p in block.processes]
    first, second = (math.log(medians[a] / medians[b]) for a, b in _PAIRS)
    return first, second


def _memory_ratios(block: Block) -> list[float]:
    """log(reference / variant) of the peaks; none where a process had no peak over its base to speak of."""
    peaks = [p.peak_bytes for p in block.processes]
    if not all(peak is not None and peak > 0 for peak in peaks):
        return []
    return [math.log(peaks[a] / peaks[b]) for a, b in _PAIRS]  # type: ignore[operator]  # checked above


def _exact(records: list[Record]) -> bool:
    """Whether the allocator's bytes never varied within an arm."""
    peaks = {r.memory.peak_bytes for r in records if r.memory is not None and r.memory.kind == "cuda_allocated"}
    return len(records) > 0 and len(peaks) == 1 and all(r.memory is not None for r in records)


def _mean_stages(records: list[Record]) -> Stages | None:
    found = [r.stages for r in records if r.stages is not None]
    if not found:
        return None
    return Stages(**{name: statistics.fmean(getattr(s, name) for s in found) for name in Stages.model_fields})


def _preprocess_s(records: list[Record]) -> dict[str, float]:
    """Median of each one-off cost: the counters ``partition_s``, ``cache_fill_s``, …"""
    names = sorted({name for r in records for name in _one_off_costs(r.counters)})
    return {name: statistics.median(_values(records, name)) for name in names}


def _one_off_costs(counters: dict[str, Any]) -> Iterable[str]:
    return (name for name, value in counters.items() if name.endswith("_s") and isinstance(value, int | float))


def _values(records: list[Record], name: str) -> list[float]:
    return [float(r.counters[name]) for r in records if name in r.counters]
