"""Every toggle and every parity check on the quickstart graph, on the GPU where there is one: `make gpu-check`.

Needs only torch, torch-geometric, numba, scipy and pydantic (METIS rows are skipped, with the reason, without pymetis).
Each run is a process of its own, as in the main job; the table shows the counter that proves each toggle. Under five
minutes. Times are medians of a few epochs in one process, so this is a check, not a verdict.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # works without an install

from harness.graphs.prepare import prepare
from harness.graphs.store import open_graph
from harness.plan.ids import dataset_id
from harness.records.record import Record
from harness.records.results import Parity
from harness.records.store import RecordStore
from harness.runs.lease import lease_device
from harness.runs.request import RunRequest
from harness.runs.supervisor import ForkServer, run_one
from harness.spec.dataset import Builtin, Split
from harness.spec.options import Features, Model, Options, Partition, Sampling, Training
from harness.spec.schema import Limits

DATASET = Builtin(
    source="builtin", name="wordnet", subset="verb", features=256, split=Split(kind="random", train=0.6, val=0.2)
)
TRAINING = Training(epochs=3, batch_size=512, lr=0.02)
BASELINE = Options(sampling=Sampling(fanout=(10, 5)), partition=Partition(parts=32, per_batch=4))
LIMITS = Limits(time_s=120)
_CLOCKS_AGREE = (0.9, 1.02)  # events over the host's clock, which waits for the device at both ends of an epoch


@dataclass(frozen=True)
class Toggle:
    """One row: options, and what in the record shows that they were on."""

    name: str
    options: Options
    proof: Callable[[dict[str, Any]], str]
    needs: str | None = None


def _with(**changes: Any) -> Options:
    return BASELINE.model_copy(update=changes)


def _aggregation(counters: dict[str, Any]) -> str:
    return f"aggregation_calls {counters['aggregation_calls']}"


def _dtype(counters: dict[str, Any]) -> str:
    linear, summed = (" ".join(dict.fromkeys(counters[f"{kind}_dtype"])) for kind in ("linear", "aggregation"))
    return f"linear_dtype {linear}, aggregation_dtype {summed}, loss_scale {counters['loss_scale']}"


def _hits(counters: dict[str, Any]) -> str:
    return f"cache_hits {counters['cache_hits']} of {counters['cache_requests']}, home {counters['feature_home']}"


def _kept(counters: dict[str, Any]) -> str:
    return f"{counters['partition']['method']}, kept_edge_share {counters['kept_edge_share']:.2f}"


def _drawn(counters: dict[str, Any]) -> str:
    return f"{counters['sampling_method']}, edges {counters['edges']}"


TOGGLES = (
    Toggle("baseline", BASELINE, _drawn),
    Toggle("fanout-5-5", _with(sampling=Sampling(fanout=(5, 5))), _drawn),
    Toggle("fixed", _with(sampling=Sampling(method="fixed", fanout=(10, 5))), _drawn),
    Toggle("cache-0.3", _with(features=Features(cache_ratio=0.3)), _hits),
    Toggle("cache-1.0", _with(features=Features(cache_ratio=1.0)), _hits),
    Toggle("disk", _with(features=Features(home="disk")), _hits),
    Toggle("cluster-metis", _with(batching="cluster"), _kept, needs="pymetis"),
    Toggle(
        "cluster-random",
        _with(batching="cluster", partition=Partition(method="random", parts=32, per_batch=4)),
        _kept,
    ),
    Toggle("full", _with(batching="full"), lambda c: f"batching {c['batching']}, batches {c['batches']}"),
    Toggle("bf16", _with(precision="bf16"), _dtype),
    Toggle("fp16", _with(precision="fp16"), _dtype),
    Toggle("fp16-linear", _with(precision="fp16-linear"), _dtype),
    Toggle("bf16-linear", _with(precision="bf16-linear"), _dtype),
    Toggle("spmm", _with(aggregation="spmm"), _aggregation),
    Toggle("segment", _with(aggregation="segment"), _aggregation),
    Toggle("dense", _with(aggregation="dense"), lambda c: f"{_aggregation(c)}, padding_share {c['padding_share']:.2f}"),
    Toggle("checkpointing", _with(checkpointing=True), lambda c: f"recomputations {c['checkpoint_recomputations']}"),
    Toggle("retain-layer", _with(retain="layer"), lambda c: f"retained_bytes {c['retained_bytes']}"),
    Toggle("deterministic", _with(deterministic=True), lambda c: f"deterministic {c['deterministic_algorithms']}"),
)
EXACT = ("cache-0.3", "disk", "spmm", "segment", "dense", "checkpointing", "retain-layer")


def main() -> int:
    """Print both tables; the exit code is 1 where a run failed or a parity check did not hold."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    arguments.add_argument("--output", type=Path, help="write the tables to this Markdown file too")
    asked = arguments.parse_args()
    started = time.monotonic()
    graph = prepare(DATASET, dataset_id(DATASET, Path()), Path())
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    with (
        tempfile.TemporaryDirectory(prefix="harness-gpu-check-") as folder,
        lease_device(asked.device, print) as device,
        ForkServer(max(1, len(os.sched_getaffinity(0))), device) as server,
    ):
        if device.name == "cpu":
            tell("No CUDA device is used: these are figures of the CPU.")
        meta = open_graph(graph).meta
        tell(f"Device: {device.kind}. Graph: {meta.name}, {meta.num_nodes:,} nodes, {meta.num_edges:,} edges.\n")
        check = _Check(graph, device.name, server, RecordStore(Path(folder) / "runs"))
        faults = [*check.toggles(tell), *check.parities(tell)]
    tell(f"\n{time.monotonic() - started:.0f} s; " + (f"{len(faults)} faults: {', '.join(faults)}" if faults else "ok"))
    if asked.output:
        asked.output.write_text("\n".join(lines) + "\n")
    return int(bool(faults))


class _Check:
    def __init__(self, graph: Path, device: str, server: ForkServer, store: RecordStore) -> None:
        self._graph, self._device, self._server, self._store = graph, device, server, store

    def toggles(self, tell: Callable[[str], None]) -> Iterator[str]:
        """One row a toggle: a quality run of three epochs and a timed process; yields the names of failures."""
        tell(
            "| toggle | status | val. acc. | epoch ms | by events | × baseline | busy | peak MB | reserved MB | proof |"
        )
        tell("|---|---|---|---|---|---|---|---|---|---|")
        first = None
        model = Model(conv="sage", layers=2, hidden=64, norm="batch")
        for toggle in TOGGLES:
            if toggle.needs and find_spec(toggle.needs) is None:
                tell(f"| {toggle.name} | skipped: needs {toggle.needs} | | | | | | | | |")
                continue
            quality = self._run(model, toggle, "quality")
            timing = self._run(model, toggle, "timing")
            if quality.status != "ok" or timing.status != "ok" or quality.metrics is None or timing.memory is None:
                failed = quality if quality.status != "ok" else timing
                tell(f"| {toggle.name} | {failed.status}: {failed.message} | | | | | | | | |")
                if failed.status != "unsupported":
                    yield toggle.name
                continue
            epoch = statistics.median(timing.epoch_s)
            first = first or epoch
            times, reserved = timing.device_times, "–"
            events = "–" if times is None else f"{1000 * statistics.median(times.epoch_s):.1f}"
            busy = "–" if times is None or times.busy_share is None else f"{100 * times.busy_share:.0f} %"
            if timing.memory.reserved_bytes is not None:
                reserved = f"{timing.memory.reserved_bytes / 1e6:.1f}"
            tell(
                f"| {toggle.name} | ok | {quality.metrics.val.accuracy:.3f} | {1000 * epoch:.1f} | {events} "
                f"| {first / epoch:.2f} | {busy} | {timing.memory.peak_bytes / 1e6:.1f} | {reserved} "
                f"| {toggle.proof(quality.counters)} |"
            )
            if times is not None and not _CLOCKS_AGREE[0] < statistics.median(times.epoch_s) / epoch < _CLOCKS_AGREE[1]:
                yield f"{toggle.name}: the device's clock and the host's disagree"

    def parities(self, tell: Callable[[str], None]) -> Iterator[str]:
        """One row a model and exact toggle: same weights, same batch, float32."""
        tell("\n| model | exact toggle | max abs. difference of logits | largest logit | gradient cosine | parity |")
        tell("|---|---|---|---|---|---|")
        exact = [t for t in TOGGLES if t.name in EXACT]
        for conv in ("sage", "gcn", "gin", "gat"):
            model = Model(conv=conv, layers=2, hidden=64, norm="batch")
            for toggle in exact:
                status, found = self._parity(model, toggle)
                if found is None:
                    tell(f"| {conv} | {toggle.name} | | | | {status} |")
                    if not status.startswith("unsupported"):
                        yield f"{conv} {toggle.name}"
                    continue
                tell(
                    f"| {conv} | {toggle.name} | {found.max_abs_difference:.2e} | {found.max_abs_logit:.2f} "
                    f"| {found.gradient_cosine:.7f} | {'ok' if found.ok else 'NOT ok ' + found.note} |"
                )
                if not found.ok:
                    yield f"{conv} {toggle.name}"

    def _run(self, model: Model, toggle: Toggle, purpose: str) -> Record:
        return run_one(
            self._request(model, toggle.options, f"{toggle.name}-{purpose}", purpose),
            store=self._store,
            server=self._server,
            limits=LIMITS,
        )

    def _parity(self, model: Model, toggle: Toggle) -> tuple[str, Parity | None]:
        names = ("reference", BASELINE), ("variant", toggle.options)
        requests = [self._request(model, options, name, "quality") for name, options in names]
        log = self._store.root / "logs" / f"parity-{model.conv}-{toggle.name}.log"
        ending = self._server.call(self._server.engine.parity, requests, log, LIMITS)
        if ending.outcome is None:
            return f"{ending.status}: {ending.message}", None
        return ending.status, Parity.model_validate(ending.outcome)

    def _request(self, model: Model, options: Options, name: str, purpose: str) -> RunRequest:
        timing = {"warmup_epochs": 2, "timed_epochs": 4} if purpose == "timing" else {}
        return RunRequest(
            run_id=name,
            cell_id=name,
            purpose=purpose,
            seed=0,
            model=model,
            training=TRAINING,
            options=options,
            graph_path=str(self._graph),
            spec_dir=".",
            device=self._device,
            threads=self._server.threads,
            **timing,
        )


if __name__ == "__main__":
    sys.exit(main())
