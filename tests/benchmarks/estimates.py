"""``python -m tests.benchmarks.estimates [FILE]``: expected memory beside the measured peak, cell by cell.

Each cell is a timing run of its own process, forked as `harness time` does it. With a file the table is put into it,
between its lines with the two marks. Exit code 1 where fewer than eight cells are within 0.7 to 1.4.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.graphs.graph import Graph
from harness.plan.batch_shapes import layer_shapes
from harness.plan.sizes import sizes_of
from harness.records.record import Memory
from harness.runs.request import Outcome, RunRequest
from harness.runs.supervisor import ForkServer
from harness.spec.dataset import Builtin, Dataset, Files, Pyg, Split, Synthetic
from harness.spec.errors import InputError
from harness.spec.option_paths import Settings, patched, settings_of, tree_of
from harness.spec.options import Model, Options, Training
from harness.spec.schema import Limits
from tests.benchmarks.graphs import DEBIAN, prepared

MARKS = "<!-- cells -->", "<!-- end of cells -->"
LEAST, MOST, ENOUGH = 0.7, 1.4, 8
FEW = Split(kind="random", train=0.1, val=0.1, seed=0)  # a batch is as large as with more, and an epoch shorter
MANY = Split(kind="random", train=0.6, val=0.2, seed=0)
DATASETS: dict[str, Dataset] = {
    "wordnet": Builtin(source="builtin", name="wordnet", split=FEW),
    "wordnet verbs": Builtin(source="builtin", name="wordnet", subset="verb", split=MANY),
    "debian": Files(source="files", path=str(DEBIAN.resolve()), split=FEW),
    "Computers": Pyg(source="pyg", name="Amazon/Computers", split=MANY),
    "Cora": Pyg(source="pyg", name="Planetoid/Cora"),
    "synthetic": Synthetic(source="synthetic", nodes=20_000, features=256, edge_features=16, split=MANY),
}
BASE = Settings(Model(conv="sage", layers=2, hidden=128, norm="batch"), Training(batch_size=1024), Options())
FULL = {"batching": "full", "model.conv": "gcn"}
CELLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("wordnet", {}),
    ("wordnet", {"aggregation": "spmm"}),
    ("wordnet", {"aggregation": "dense", "model.hidden": 64}),
    ("wordnet", {"sampling.fanout": [5, 5], "model.hidden": 256}),
    ("wordnet", {"model.conv": "gcn"}),
    ("wordnet", {"model.conv": "gin", "aggregation": "segment"}),
    ("wordnet", {"batching": "cluster", "model.conv": "gcn"}),
    ("wordnet", {"features.home": "disk", "aggregation": "spmm"}),
    ("wordnet", {"features.home": "disk", "features.cache_ratio": 0.1, "aggregation": "spmm"}),
    ("wordnet", {"features.home": "disk", "precision": "bf16", "aggregation": "spmm"}),
    ("wordnet", {"precision": "fp16-features", "aggregation": "spmm"}),
    ("wordnet verbs", {}),
    ("wordnet verbs", {"model.conv": "gat", "model.heads": 4}),
    ("wordnet verbs", {"model.norm": "pair", "model.residual": True, "model.jumping": "cat"}),
    ("debian", {}),
    ("debian", {"model.conv": "gat", "model.hidden": 64}),
    ("debian", {"loader.threads": 1, "aggregation": "spmm"}),
    ("debian", {"features.home": "disk", "model.layers": 3, "sampling.fanout": [10, 5, 5]}),
    ("debian", {"features.home": "disk", "model.layers": 3, "sampling.fanout": [10, 5, 5], "checkpointing": True}),
    ("Computers", {}),
    ("Computers", {"training.batch_size": 256, "training.accumulate": 4}),
    ("Computers", {"model.conv": "gin", "precision": "bf16"}),
    ("Computers", {"batching": "cluster"}),
    ("Computers", FULL),
    ("Computers", {**FULL, "aggregation": "spmm"}),
    ("Computers", {**FULL, "aggregation": "spmm", "model.layers": 4}),
    ("Computers", {**FULL, "aggregation": "spmm", "model.layers": 4, "checkpointing": True}),
    ("Cora", {**FULL, "model.hidden": 64}),
    ("Cora", {**FULL, "model.hidden": 64, "model.layers": 32}),
    ("Cora", {**FULL, "model.hidden": 64, "model.layers": 32, "model.residual": True}),
    ("Cora", {**FULL, "model.hidden": 64, "model.layers": 32, "model.norm": "pair"}),
    ("Cora", {**FULL, "model.conv": "gat", "model.heads": 8}),
    ("Cora", {**FULL, "model.conv": "sage", "aggregation": "segment"}),
    ("synthetic", {"model.conv": "mpnn"}),
    ("synthetic", {"model.conv": "mpnn", "batching": "cluster", "aggregation": "segment"}),
)


@dataclass(frozen=True)
class Measured:
    """One cell."""

    data: str
    patch: dict[str, Any]
    memory: Memory
    article: float  # bytes by the formula (F·N + 16·E)·4·L, of the batch

    @property
    def ratio(self) -> float:
        return (self.memory.estimated_bytes or 0) / self.memory.peak_bytes

    @property
    def beside_rows(self) -> float:
        """The same without the table of all features and the cache, whose size is known to the byte."""
        parts = self.memory.estimated_parts
        known = parts["features"] + parts["cache"]
        return ((self.memory.estimated_bytes or 0) - known) / (self.memory.peak_bytes - known)


def main() -> int:
    found = list(_measured())
    within = sum(LEAST <= cell.ratio <= MOST for cell in found)
    text = f"{_table(found)}\n\n{within} of {len(found)} cells are within {LEAST} to {MOST}."
    if len(sys.argv) > 1:
        _put(Path(sys.argv[1]), text)
    print(text)
    return int(within < ENOUGH)


def _measured() -> Iterator[Measured]:
    graphs: dict[str, Graph | None] = {}
    with ForkServer(1) as server, tempfile.TemporaryDirectory() as folder:
        for data, patch in CELLS:
            if data not in graphs:
                graphs[data] = _graph(data)
            graph = graphs[data]
            if graph is None:
                continue
            settings = settings_of(patched(tree_of(BASE), patch))
            memory = _run(server, graph, settings, Path(folder))
            first = layer_shapes(settings, sizes_of(graph.meta.model_dump()))[0]
            article = (first.width_in * first.sources + 16 * first.edges) * 4 * settings.model.layers
            yield Measured(data, patch, memory, article)


def _graph(data: str) -> Graph | None:
    try:
        return prepared(DATASETS[data])
    except InputError as error:
        print(f"{data} is left out: {error}", file=sys.stderr)
        return None


def _run(server: ForkServer, graph: Graph, settings: Settings, folder: Path) -> Memory:
    request = RunRequest(
        run_id="",
        cell_id="",
        purpose="timing",
        seed=0,
        model=settings.model,
        training=settings.training,
        options=settings.options,
        graph_path=str(graph.path),
        spec_dir=str(folder),
        device="cpu",
        threads=1,
        warmup_epochs=2,
        timed_epochs=3,
    )
    ending = server.call(server.engine.execute, [request], folder / "log", Limits(time_s=600))
    memory = Outcome.model_validate_json(json.dumps(ending.outcome)).memory if ending.outcome else None
    if memory is None:
        raise SystemExit(f"{settings}: {ending.status}: {ending.message}")
    return memory


def _table(cells: list[Measured]) -> str:
    lines = [
        "| data | changed | estimate | peak | estimate / peak | without features | largest parts | rule of thumb |",
        "|---|---|---:|---:|---:|---:|---|---:|",
    ]
    for cell in cells:
        changed = ", ".join(f"{path.rpartition('.')[2]} {_value(value)}" for path, value in cell.patch.items())
        parts = sorted(cell.memory.estimated_parts.items(), key=lambda part: -part[1])[:3]
        largest = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in parts)
        mark = "" if LEAST <= cell.ratio <= MOST else " **outside**"
        lines.append(
            f"| {cell.data} | {changed or '–'} | {(cell.memory.estimated_bytes or 0) / 1e6:.0f} "
            f"| {cell.memory.peak_bytes / 1e6:.0f} | {cell.ratio:.2f}{mark} | {cell.beside_rows:.2f} | {largest} "
            f"| {cell.article / 1e6:.0f} |"
        )
    return "\n".join(lines)


def _value(value: Any) -> str:
    return "on" if value is True else str(value)


def _put(document: Path, text: str) -> None:
    before, _, rest = document.read_text().partition(MARKS[0])
    _, mark, after = rest.partition(MARKS[1])
    if not mark:
        raise SystemExit(f"{document} needs the lines {MARKS[0]} and {MARKS[1]}; the table goes between them")
    document.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}")


if __name__ == "__main__":
    sys.exit(main())
