"""Whatever is in the file: a spec, or an `InputError` with places in the file; never another exception."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.spec.errors import InputError, Problem
from harness.spec.load import load_spec
from harness.spec.schema import Spec

WORDS = [
    *(
        "1",
        "true",
        "null",
        "on",
        "-1",
        "0.5",
        "[1, 2]",
        "{}",
        "[]",
        "{a: 1}",
        "'x'",
        "1e-3",
        ".nan",
        "&a 1",
        "*a",
        "!t x",
    ),
    *("sage", "fp16", "neighbor", "[25, 10]", "{set: {precision: fp16}}", "{grid: {sampling.fanout: [[5, 5], 3]}}"),
]
KEYS = [*Spec.model_fields, "sampling.fanout", "set", "grid", "zip", "model.class", "source", "conv", "<<", "1", ""]
LINES = """\
version: 1
name: s
dataset: {source: pyg, name: Planetoid/Cora}
model: {conv: sage, layers: 2}
training: {epochs: 10, lr: 0.01}
baseline: {batching: neighbor, sampling: {fanout: [25, 10]}}
variants:
  cache: {grid: {features.cache_ratio: [0.1, 0.3]}}
  args: {set: {model.class: 'json:JSONDecoder', model.conv: null, model.args.k: {a: [1]}}, grid: {model.args.j: [1]}}
""".splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


def check(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    problems = []
    try:
        assert isinstance(load_spec(path), Spec)
    except InputError as error:
        problems = error.problems or [Problem(file="", message="")]
    lines = content.count(b"\n") + content.count(b"\r") + 2
    for problem in problems:
        assert problem.file == str(path)
        assert problem.message
        assert problem.line is None or 1 <= problem.line <= lines
        assert problem.column is None or problem.column >= 1


@settings(max_examples=150)
@given(st.data())
def test_a_spec_with_values_and_keys_exchanged(folder: Path, data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        index = data.draw(st.integers(0, len(lines) - 1))
        key, _, value = lines[index].partition(":")
        if data.draw(st.booleans()):
            value = " " + data.draw(st.sampled_from(WORDS))
        else:
            key = data.draw(st.sampled_from(KEYS))
        lines[index] = f"{key}:{value}"
    check(folder / "exchanged.yaml", "\n".join(lines).encode())


@settings(max_examples=150)
@given(st.data())
def test_a_spec_with_characters_changed(folder: Path, data: st.DataObject) -> None:
    text = "\n".join(LINES)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    new = data.draw(st.text(alphabet=" :,[]{}\n\t'\"&*!|>-#%@?a1.é\u2028\x00", max_size=6))
    check(folder / "changed.yaml", (text[:start] + new + text[end:]).encode())


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes(folder: Path, content: bytes) -> None:
    check(folder / "bytes.yaml", content)


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(KEYS), trees, min_size=1))
def test_any_tree(folder: Path, tree: dict[str, Any]) -> None:
    check(folder / "tree.yaml", json.dumps(tree).encode())
