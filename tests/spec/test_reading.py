"""What a good spec may look like, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.spec.errors import InputError
from harness.spec.load import load_spec, position
from harness.spec.yaml_tree import read_tree, scalar

HEAD = "version: 1\nname: s\ndataset: {source: builtin, name: wordnet}\n"


def load(tmp_path: Path, text: str):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    return load_spec(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("+.5", 0.5),
        ("1.", 1.0),
        ("1_000", 1000),
        ("0x10", 16),
        ("0o17", 15),
        ("010", 10),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("on", "on"),
        ("no", "no"),
        ("1-2", "1-2"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("e5", "e5"),
        (".", "."),
        ("-", "-"),
        ("-inf", "-inf"),
        ("-.inf", float("-inf")),
    ],
)
def test_plain_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_number_that_python_writes_is_read_back(number: float) -> None:
    assert scalar(repr(number)) == number


def test_scientific_notation_is_a_learning_rate(tmp_path: Path) -> None:
    spec = load(
        tmp_path, HEAD + "model: {conv: gcn}\ntraining: {lr: 1e-3}\nvariants: {a: {set: {training.lr: 1e-2}}}\n"
    )
    assert spec.training.lr == 0.001


def test_quotes_make_text(tmp_path: Path) -> None:
    spec = load(tmp_path, HEAD + "description: '1e-3'\nmodel: {conv: gcn}\nvariants: {'1': {set: {precision: fp16}}}\n")
    assert spec.description == "1e-3"
    assert list(spec.variants) == ["1"]


def test_anchors_aliases_and_merges(tmp_path: Path) -> None:
    spec = load(
        tmp_path,
        HEAD
        + "model: {conv: gcn}\nvariants:\n"
        + "  a: {set: &half {precision: fp16}}\n"
        + "  b: {set: {<<: *half, checkpointing: true}}\n"
        + "  c: {set: {<<: [*half, {aggregation: spmm}], precision: bf16}}\n",
    )
    assert spec.variants["a"].set == {"precision": "fp16"}
    assert spec.variants["b"].set == {"checkpointing": True, "precision": "fp16"}
    assert spec.variants["c"].set == {"precision": "bf16", "aggregation": "spmm"}


def test_a_byte_order_mark_and_carriage_returns_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    text = HEAD + "model: {conv: gcn}\nvariants: {a: {set: {precision: fp16}}}\n"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_spec(path).name == "s"


def test_data_is_looked_up_beside_the_spec_then_under_harness_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "version: 1\nname: s\ndataset: {source: files, path: g.npz}\nmodel: {conv: gcn}\n"
    text += "variants: {a: {set: {precision: fp16}}}\n"
    monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "data"))
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path, text)
    (tmp_path / "data" / "files").mkdir(parents=True)
    (tmp_path / "data" / "files" / "g.npz").touch()
    assert load(tmp_path, text).name == "s"


def test_a_model_beside_the_spec_is_found_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "mynet.py").write_text("raise SystemExit('imported')\nclass Net: pass\n")
    package = tmp_path / "nets"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "deep.py").write_text("if True:\n    class Net: pass\n")
    for name in ("mynet:Net", "nets.deep:Net"):
        text = HEAD + f"model: {{class: '{name}'}}\nvariants: {{a: {{set: {{batching: full}}}}}}\n"
        assert load(tmp_path, text).model.class_path == name


def test_a_model_with_a_syntax_error_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "mynet.py").write_text("class Net:\n    def forward(self x): pass\n")
    with pytest.raises(InputError, match=r"mynet\.py, line 2 cannot be read as Python"):
        load(tmp_path, HEAD + "model: {class: 'mynet:Net'}\nvariants: {a: {set: {batching: full}}}\n")


def test_a_position_points_at_the_value(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(HEAD + "model: {conv: gcn}\n")
    assert position(path, "dataset", "name") == (3, 34)
    assert position(path, "model") == (4, 1)
    assert position(path, "model", "absent") == (4, 1)
    assert position(tmp_path / "gone.yaml", "model") == (None, None)
    assert read_tree(path).find_key(("dataset", "name")) == (3, 34 - len("name: "))


FOLDER = Path(__file__).resolve().parents[2] / "specs"
SPECS = sorted([*FOLDER.glob("*.yaml"), *(FOLDER / "claims" / "grids").glob("*.yaml")])


@pytest.mark.parametrize(
    "path", [path for path in SPECS if "source: files" not in path.read_text()], ids=lambda p: p.stem
)
def test_shipped_specs_are_good(path: Path) -> None:
    assert load_spec(path).name == path.stem
