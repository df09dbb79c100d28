"""Ids cover what can change time, memory or accuracy, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plan.ids import canonical, cell_id, dataset_id, run_id
from harness.plan.model import Plan
from harness.spec.dataset import Builtin, Files, Pyg, Split
from harness.spec.model_source import source_sha256
from harness.spec.option_paths import Settings, option_paths, patched, settings_of, tree_of
from harness.spec.options import Model, Options, Training

WORDNET = Builtin(source="builtin", name="wordnet")
BASE = Settings(Model(conv="gat", hidden=64), Training(), Options())
PlanOf = Callable[..., Plan]


def id_of(settings: Settings, **other: Any) -> str:
    wanted = {"dataset": WORDNET, "device": "auto", **other}
    return cell_id(model=settings.model, training=settings.training, options=settings.options, **wanted)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    return tuple(reordered(item) for item in value) if isinstance(value, list) else value


@given(json_values)
def test_canonical_form_ignores_key_order_and_tuples(value: Any) -> None:
    assert canonical(value) == canonical(reordered(value))
    assert json.loads(canonical(value)) == value


@given(st.integers(-(2**53), 2**53))
def test_whole_floats_are_integers(number: int) -> None:
    assert canonical([number]) == canonical([float(number)])


def test_canonical_form_keeps_apart_what_differs() -> None:
    values: list[Any] = [1, "1", True, None, "null", 0, False, 0.1, [1], {"1": 1}, [], {}, "", [1, 2], [[1], 2]]
    assert len({canonical(value) for value in values}) == len(values)
    assert canonical(-0.0) == canonical(0)
    assert canonical(0.1) == "0.1"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_is_not_finite_has_no_id(value: Any) -> None:
    with pytest.raises(ValueError, match="no canonical form"):
        canonical(value)


OTHER: dict[str, Any] = {
    "batching": "full",
    "sampling.method": "fixed",
    "sampling.fanout": [10, 25],
    "sampling.weights": "pagerank",
    "sampling.reweight": True,
    "sampling.node_edge_budget": 10**9,
    "sampling.backend": "torch",
    "features.home": "disk",
    "features.cache_ratio": 0.1,
    "features.cache_bytes": "auto",
    "features.policy": "presample",
    "features.presample_epochs": 3,
    "partition.method": "random",
    "partition.parts": 32,
    "partition.per_batch": 4,
    "partition.passes": 5,
    "loader.threads": 1,
    "loader.depth": 3,
    "precision": "fp16",
    "aggregation": "spmm",
    "checkpointing": True,
    "retain": "layer",
    "deterministic": True,
    "model.conv": "sage",
    "model.layers": 3,
    "model.hidden": 32,
    "model.heads": 2,
    "model.dropout": 0.4,
    "model.input_dropout": 0.1,
    "model.norm": "layer",
    "model.residual": True,
    "model.jumping": "cat",
    "training.epochs": 61,
    "training.batch_size": 1023,
    "training.lr": 0.0030001,
    "training.weight_decay": 1e-9,
    "training.patience": 5,
    "training.selection": "last",
    "training.eval_every": 2,
    "training.clip": 1.0,
    "training.accumulate": 2,
    "training.accumulate_targets": 1024,
}


def test_any_option_changes_the_id() -> None:
    assert set(OTHER) == set(option_paths()) - {"model.class", "model.args"}
    ids = {path: id_of(settings_of(patched(tree_of(BASE), {path: value}))) for path, value in OTHER.items()}
    ids["baseline"] = id_of(BASE)
    own = Settings(Model(class_path="m:N"), BASE.training, BASE.options)
    ids["model.class"] = id_of(own)
    ids["model.args"] = id_of(Settings(Model(class_path="m:N", args={"k": 1}), BASE.training, BASE.options))
    ids["source of the model"] = id_of(own, model_source="ab")
    ids["source of the weights"] = id_of(BASE, weights_source="ab")
    ids["device"] = id_of(BASE, device="cpu")
    ids["dataset"] = id_of(BASE, dataset=Builtin(source="builtin", name="wordnet", subset="verb"))
    ids["split"] = id_of(BASE, dataset=WORDNET.model_copy(update={"split": Split(kind="random", train=0.5, val=0.2)}))
    assert len(set(ids.values())) == len(ids)
    assert all(len(one) == 20 and int(one, 16) >= 0 for one in ids.values())


def test_an_id_is_the_same_on_every_machine_and_in_every_release() -> None:
    """Another value means that every finished run would run again: a new option does that, nothing else should."""
    assert id_of(BASE) == "9304848f02ff76ab1282"


def plan_ids(plan: Plan) -> dict[str, str]:
    return {name: cell.cell_id for name, cell in plan.cells.items()}


def test_names_descriptions_and_order_do_not_enter(plan_of: PlanOf) -> None:
    one = plan_of("variants:\n  a: {set: {precision: fp16, model.hidden: 32}}\n")
    other = plan_of(
        "version: 1\nmodel: {layers: 2, conv: sage}\nname: other\nowner: me\ndescription: something\n"
        "dataset: {subset: verb, name: wordnet, source: builtin}\n"
        "variants:\n  b: {grid: {precision: [fp16]}, set: {model.hidden: 32}, description: x, goal: memory}\n"
        "seeds: {looks: [3, 5]}\ngate: {alpha: 0.01}\n"
    )
    assert plan_ids(one)["baseline"] == plan_ids(other)["baseline"]
    assert plan_ids(one)["a"] == plan_ids(other)["b-fp16"]
    assert one.dataset.dataset_id == other.dataset.dataset_id


def test_defaults_may_be_written_out(plan_of: PlanOf) -> None:
    short = plan_of("variants:\n  a: {set: {precision: fp16}}\n")
    long = plan_of(
        "version: 1\nname: s\n"
        "dataset: {source: builtin, name: wordnet, subset: verb, undirected: false, transform: null, split: null}\n"
        "model: {conv: sage, layers: 2, hidden: 64, dropout: 0.5, norm: none, heads: 1}\n"
        "training: {epochs: 60, lr: 0.003, weight_decay: 0}\n"
        "baseline: {sampling: {fanout: [25, 10]}, features: {cache_ratio: 0}, precision: fp32}\n"
        "variants:\n  a: {set: {precision: fp16, checkpointing: false}}\n"
    )
    assert plan_ids(short) == plan_ids(long)
    assert short.dataset.dataset_id == long.dataset.dataset_id


def test_every_key_of_a_transform_makes_another_data_set(plan_of: PlanOf) -> None:
    def id_of(transform: str) -> str:
        dataset = f"dataset: {{source: builtin, name: wordnet, subset: verb, transform: {transform}}}\n"
        return plan_of(
            f"version: 1\nname: s\n{dataset}model: {{conv: sage}}\nvariants: {{a: {{set: {{precision: fp16}}}}}}\n"
        ).dataset.dataset_id

    transforms = [
        "null",
        "{scale: row}",
        "{scale: standard}",
        "{scale: standard, fit: all}",
        "{scale: standard, missing: mean}",
        "{scale: standard, pca: 8}",
        "{scale: standard, structural: [random-walk]}",
        "{scale: standard, structural: [random-walk], walk_steps: 4}",
        "{scale: standard, structural: [random-walk, degree]}",
    ]
    assert len({id_of(transform) for transform in transforms}) == len(transforms)
    assert id_of("{scale: standard}") == id_of("{scale: standard, fit: train, missing: error, walk_steps: 16}")


def test_the_source_of_a_model_enters(tmp_path: Path, plan_of: PlanOf) -> None:
    text = (
        "version: 1\nname: s\ndataset: {source: builtin, name: wordnet}\nmodel: {class: 'net:Net'}\n"
        "variants: {a: {set: {training.lr: 0.1}}}\n"
    )
    (tmp_path / "net.py").write_text("class Net: pass\n")
    before = plan_ids(plan_of(text))
    assert before == plan_ids(plan_of(text))
    (tmp_path / "net.py").write_text("class Net: width = 2\n")
    assert set(plan_ids(plan_of(text)).values()).isdisjoint(before.values())


def test_what_a_model_imports_from_beside_it_enters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("layers", "torch"):
        (tmp_path / folder).mkdir()
    files = {
        "net.py": "import math\nimport torch\nfrom helper import x\nclass Net: pass\n",
        "helper.py": "def x():\n    import layers.deep\n",
        "layers/__init__.py": "",
        "layers/deep.py": "from .width import WIDTH\n",
        "layers/width.py": "WIDTH = 1\n",
        "unrelated.py": "",
        "torch/data.py": "a folder that is no package hides no installed one",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    seen = [source_sha256("net:Net", tmp_path)]
    for name in ("unrelated.py", "torch/data.py"):
        (tmp_path / name).write_text("changed = True\n")
    assert source_sha256("net:Net", tmp_path) == seen[0]
    for name in files.keys() - {"unrelated.py", "torch/data.py"}:
        (tmp_path / name).write_text(files[name] + "# changed\n")
        seen.append(source_sha256("net:Net", tmp_path))
    assert len(set(seen)) == 6


def test_a_changed_file_is_prepared_anew_and_keeps_its_cells(tmp_path: Path) -> None:
    section = Files(source="files", path="g.npz")
    data = tmp_path / "g.npz"
    data.write_bytes(b"one")
    os.utime(data, ns=(1, 1))
    first = dataset_id(section, tmp_path)
    assert first == dataset_id(section, tmp_path)
    os.utime(data, ns=(2, 2))
    touched = dataset_id(section, tmp_path)
    data.write_bytes(b"three")
    os.utime(data, ns=(2, 2))
    assert len({first, touched, dataset_id(section, tmp_path)}) == 3
    assert id_of(BASE, dataset=section) == id_of(BASE, dataset=Files(source="files", path="g.npz"))


def test_tables_are_read_anew_by_another_version_of_their_reader_and_arrays_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "e.csv").write_text("0,1\n")
    (tmp_path / "g.npz").write_bytes(b"one")
    table, arrays = (
        Files(source="files", edges="e.csv", features="x.npy", labels="y.csv"),
        Files(source="files", path="g.npz"),
    )
    before = [dataset_id(section, tmp_path) for section in (table, arrays)]
    monkeypatch.setattr("harness.plan.ids.TABLES_VERSION", -1)
    after = [dataset_id(section, tmp_path) for section in (table, arrays)]
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_a_file_of_edge_attributes_enters_the_data_set(tmp_path: Path) -> None:
    section = Files(source="files", edges="e.npy", features="x.npy", labels="y.npy", edge_features="a.npy")
    without = dataset_id(section, tmp_path)
    (tmp_path / "a.npy").write_bytes(b"x")
    assert dataset_id(section, tmp_path) != without


def test_a_split_file_enters_the_data_set(tmp_path: Path) -> None:
    section = Pyg(source="pyg", name="Planetoid/Cora", split=Split(kind="file", path="s.npz"))
    without = dataset_id(section, tmp_path)
    (tmp_path / "s.npz").write_bytes(b"x")
    assert dataset_id(section, tmp_path) != without


def test_everything_of_a_run_enters_its_id() -> None:
    base: dict[str, Any] = {
        "cell_id": "c",
        "purpose": "quality",
        "seed": 0,
        "fingerprint": "f",
        "device_kind": "cpu",
        "threads": 1,
        "torch_version": "2.13.0",
        "engine_version": "1",
        "pyg_version": "2.8.1",
        "pymetis_version": "",
        "extra": "",
    }
    changed = {**base, "cell_id": "d", "purpose": "timing", "seed": 1, "fingerprint": "g", "device_kind": "cuda"}
    changed |= {"threads": 2, "torch_version": "2.12.0", "engine_version": "2", "extra": "block 1"}
    changed |= {"pyg_version": "2.7.0", "pymetis_version": "2025.2"}
    ids = {run_id(**{**base, key: value}) for key, value in changed.items()}
    assert len(ids | {run_id(**base)}) == len(base) + 1
    assert run_id(**base) == run_id(**dict(reversed(base.items())))


def test_the_content_of_a_file_of_weights_is_in_the_id(plan_of: PlanOf, tmp_path: Path) -> None:
    """Where one is drawn by: another content is another run, the same content under another name of time is not."""
    text = (
        "variants:\n  by-file: {set: {sampling.method: importance, sampling.weights: w.npy}}\n"
        "  fixed: {set: {sampling.method: fixed}}\n"
    )
    np.save(tmp_path / "w.npy", np.ones(13_767))
    first = plan_ids(plan_of(text))
    np.save(tmp_path / "w.npy", np.ones(13_767))
    assert plan_ids(plan_of(text)) == first
    np.save(tmp_path / "w.npy", np.arange(13_767.0))
    other = plan_ids(plan_of(text))
    assert {name for name in first if first[name] != other[name]} == {"by-file"}
