"""Every mistake in a spec names its line and column, the key, the value and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.spec.errors import InputError
from harness.spec.load import load_spec

GOOD = """\
version: 1
name: cora-sage
dataset: {source: pyg, name: Planetoid/Cora}
model: {conv: sage, layers: 2}
training: {epochs: 10, lr: 0.01}
baseline: {batching: neighbor, sampling: {fanout: [25, 10]}}
variants:
  cache: {grid: {features.cache_ratio: [0.1, 0.3]}}
"""


@dataclass(frozen=True)
class Mistake:
    """One line of the good spec replaced; the message must stand at ``at`` in it."""

    line: int
    text: str
    at: str
    path: str
    says: tuple[str, ...]


MISTAKES = {
    "top-level key misspelt": Mistake(2, "nam: cora", "nam", "nam", ("unknown key", "did you mean `name`")),
    "key in another section": Mistake(
        5, "training: {hidden: 64}", "hidden", "training.hidden", ("unknown key", "it belongs at `model.hidden`")
    ),
    "option of the baseline at the top": Mistake(
        6, "precision: fp16", "precision", "precision", ("unknown key", "it belongs at `baseline.precision`")
    ),
    "nested key misspelt": Mistake(
        6,
        "baseline: {sampling: {fanuot: [25, 10]}}",
        "fanuot",
        "baseline.sampling.fanuot",
        ("unknown key", "did you mean `fanout`", "allowed: method, fanout"),
    ),
    "wrong source": Mistake(
        3,
        "dataset: {source: pygg, name: Planetoid/Cora}",
        "pygg",
        "dataset.source",
        ("'pygg' is not allowed", "did you mean `pyg`", "builtin, pyg, ogb, files, synthetic"),
    ),
    "no source": Mistake(3, "dataset: {name: Cora}", "dataset", "dataset.source", ("missing", "builtin, pyg, ogb")),
    "dataset is a word": Mistake(3, "dataset: cora", "cora", "dataset", ("'cora' is not allowed", "a mapping")),
    "key of another source": Mistake(
        3,
        "dataset: {source: pyg, name: Planetoid/Cora, subset: verb}",
        "subset",
        "dataset.subset",
        ("unknown key", "allowed of `source: pyg`", "split"),
    ),
    "name of a data set with spaces": Mistake(
        3,
        "dataset: {source: pyg, name: my cora}",
        "my cora",
        "dataset.name",
        ("'my cora' is not allowed", "e.g. Planetoid/Cora"),
    ),
    "a name for a list of names": Mistake(
        3,
        "dataset: {source: builtin, name: wordnet, transform: {structural: degree}}",
        "degree",
        "dataset.transform.structural",
        ("'degree' is not allowed", "a list of some of degree, pagerank, clustering, random-walk, e.g. [degree]"),
    ),
    "random split without shares": Mistake(
        3,
        "dataset: {source: pyg, name: Planetoid/Cora, split: {kind: random}}",
        "split",
        "dataset.split",
        ("needs `train` and `val`",),
    ),
    "split without test nodes": Mistake(
        3,
        "dataset: {source: builtin, name: wordnet, split: {kind: random, train: 0.8, val: 0.2}}",
        "split",
        "dataset.split",
        ("train + val is 1", "test set"),
    ),
    "literal misspelt": Mistake(
        4, "model: {conv: saeg}", "saeg", "model.conv", ("'saeg'", "did you mean `sage`", "gcn, sage, gat, gin")
    ),
    "no model": Mistake(4, "model: {layers: 2}", "model", "model", ("either `conv`", "or `class`")),
    "heads do not divide hidden": Mistake(
        4, "model: {conv: gat, hidden: 10, heads: 4}", "model", "model", ("`hidden` (10)", "multiple of `heads` (4)")
    ),
    "text for a number": Mistake(
        5, 'training: {lr: "0.01"}', '"0.01"', "training.lr", ("'0.01'", "must be a number", "remove the quotes")
    ),
    "percent for a number": Mistake(5, "training: {lr: 5%}", "5%", "training.lr", ("'5%'", "must be a number")),
    "fraction for a count": Mistake(
        5, "training: {epochs: 1.5}", "1.5", "training.epochs", ("1.5 is not allowed", "a whole number")
    ),
    "out of range": Mistake(4, "model: {conv: gcn, dropout: 1.0}", "1.0", "model.dropout", ("1.0", "less than 1.0")),
    "negative": Mistake(5, "training: {lr: -1e-3}", "-1e-3", "training.lr", ("-0.001", "greater than 0.0")),
    "infinite": Mistake(5, "training: {lr: .inf}", ".inf", "training.lr", ("inf is not allowed", "finite")),
    "bytes with a unit": Mistake(
        6,
        "baseline: {features: {cache_bytes: 500MB}}",
        "500MB",
        "baseline.features.cache_bytes",
        ("'500MB' is not allowed", "a whole number of bytes", "or auto"),
    ),
    "a cache sized twice": Mistake(
        6,
        "baseline: {features: {cache_ratio: 0.2, cache_bytes: 1000}}",
        "1000",
        "baseline.features.cache_bytes",
        ("given twice", "set one of them to 0 or null"),
    ),
    "a cache sized again by a variant": Mistake(
        8,
        "  cache: {grid: {features.cache_ratio: [0.1]}, set: {features.cache_bytes: 1000}}",
        "0.1",
        "variants.cache.grid.features.cache_ratio[0]",
        ("cell `cache-0.1`: ", "given twice"),
    ),
    "a step given twice": Mistake(
        5,
        "training: {accumulate: 2, accumulate_targets: 64}",
        "64",
        "training.accumulate_targets",
        ("a step is given twice", "set accumulate: 1"),
    ),
    "weights that are neither a word nor a file": Mistake(
        6,
        "baseline: {sampling: {method: importance, weights: degre}}",
        "degre",
        "baseline.sampling.weights",
        ("'degre' is not allowed", "degree, pagerank, or the path of a .npy"),
    ),
    "a file of weights that is not there": Mistake(
        6,
        "baseline: {sampling: {method: importance, weights: w.npy}}",
        "w.npy",
        "baseline.sampling.weights",
        ("no such file: 'w.npy'", "relative to the spec or to $HARNESS_DATA"),
    ),
    "a variant's file of weights that is not there": Mistake(
        8,
        "  by: {set: {sampling.method: importance}, grid: {sampling.weights: [degree, w.npy]}}",
        "w.npy",
        "variants.by.grid.sampling.weights[1]",
        ("no such file: 'w.npy'",),
    ),
    "a budget of nothing": Mistake(
        6,
        "baseline: {sampling: {node_edge_budget: 0}}",
        "0}",
        "baseline.sampling.node_edge_budget",
        ("0 is not allowed", "at least 1"),
    ),
    "on for true": Mistake(
        6,
        "baseline: {checkpointing: on, sampling: {fanout: [25, 10]}}",
        "on, ",
        "baseline.checkpointing",
        ("YAML 1.2 reads on as text", "write true"),
    ),
    "number for a name": Mistake(
        2, "name: 2024", "2024", "name", ("2024 is not allowed", "must be text", 'quotes: "2024"')
    ),
    "name with a slash": Mistake(2, "name: a/b", "a/b", "name", ("'a/b'", "safe as a file's name")),
    "empty value": Mistake(2, "name:", "name", "name", ("is empty", "must be text")),
    "fan-out without brackets": Mistake(
        6,
        "baseline: {sampling: {fanout: 25}}",
        "25",
        "baseline.sampling.fanout",
        ("25 is not allowed", "a list", "[25, 10]"),
    ),
    "fan-out of zero": Mistake(
        6,
        "baseline: {sampling: {fanout: [25, 0]}}",
        "sampling",
        "baseline.sampling",
        ("fan-out of 0", "-1 for all neighbours"),
    ),
    "fan-out for one layer": Mistake(
        6,
        "baseline: {sampling: {fanout: [25]}}",
        "fanout",
        "baseline.sampling.fanout",
        ("1 hop", "2 layers", "e.g. [25, 10]"),
    ),
    "default fan-out for three layers": Mistake(
        6,
        "baseline: {sampling: {fanout: [25, 10, 5]}}",
        "fanout",
        "baseline.sampling.fanout",
        ("3 hops", "2 layers"),
    ),
    "more parts a batch than parts": Mistake(
        6,
        "baseline: {partition: {parts: 4, per_batch: 8}}",
        "8",
        "baseline.partition.per_batch",
        ("per_batch is 8 and parts 4", "at most 4"),
    ),
    "looks that fall": Mistake(
        6, "seeds: {looks: [10, 5]}", "looks", "seeds.looks", ("looks must increase", "[5, 10, 20]")
    ),
    "odd timing look": Mistake(6, "timing: {looks: [5]}", "5", "timing.looks[0]", ("5", "a multiple of 2")),
    "confirmation": Mistake(
        6,
        "design: {kind: stack, confirm: recommended}",
        "recommended",
        "design.confirm",
        ("accepted alone, which design stack does not run", "confirm: none", "kind: one-at-a-time"),
    ),
    "tag": Mistake(
        2, "name: !!python/object/apply:os.system [x]", "!!python", "name", ("tag !!python/object", "refused")
    ),
    "custom tag": Mistake(2, "name: !env HOME", "!env", "name", ("tag !env", "refused")),
    "duplicate key": Mistake(
        4, "model: {conv: gcn, layers: 2, conv: sage}", "conv: sage", "model.conv", ("duplicate", "line 4")
    ),
    "no such option": Mistake(
        8,
        "  fan: {grid: {sampling.fanuot: [[15, 10]]}}",
        "sampling.fanuot",
        "variants.fan.grid.sampling.fanuot",
        ("no such option", "did you mean `sampling.fanout`"),
    ),
    "option without its section": Mistake(
        8,
        "  cache: {set: {cache_ratio: 0.1}}",
        "cache_ratio",
        "variants.cache.set.cache_ratio",
        ("no such option", "did you mean `features.cache_ratio`"),
    ),
    "option with baseline in front": Mistake(
        8,
        "  cache: {set: {baseline.precision: fp16}}",
        "baseline.precision",
        "variants.cache.set.baseline.precision",
        ("did you mean `precision`",),
    ),
    "section for an option": Mistake(
        8,
        "  s: {set: {sampling: {fanout: [5, 5]}}}",
        "sampling",
        "variants.s.set.sampling",
        ("is a section", "sampling.fanout"),
    ),
    "not for variants": Mistake(
        8,
        "  s: {set: {dataset.undirected: true}}",
        "dataset.undirected",
        "variants.s.set.dataset.undirected",
        ("no such option", "model.* and training.*"),
    ),
    "grid value out of range": Mistake(
        8,
        "  cache: {grid: {features.cache_ratio: [0.1, 1.3]}}",
        "1.3",
        "variants.cache.grid.features.cache_ratio[1]",
        ("1.3 is not allowed", "at most 1.0"),
    ),
    "set value misspelt": Mistake(
        8,
        "  p: {set: {precision: fp17}}",
        "fp17",
        "variants.p.set.precision",
        ("'fp17'", "did you mean `fp16`", "fp16-linear"),
    ),
    "list in set": Mistake(
        8,
        "  p: {set: {precision: [fp16, bf16]}}",
        "precision",
        "variants.p.set.precision",
        ("to try several values use `grid:",),
    ),
    "no list in grid": Mistake(
        8,
        "  p: {grid: {precision: fp16}}",
        "fp16",
        "variants.p.grid.precision",
        ("'fp16' is not allowed", "must be a list"),
    ),
    "empty grid": Mistake(
        8, "  p: {grid: {precision: []}}", "precision", "variants.p.grid.precision", ("empty list", "give values")
    ),
    "zip of unequal lengths": Mistake(
        8,
        "  z: {zip: {training.lr: [0.1, 0.2], training.batch_size: [10]}}",
        "zip",
        "variants.z.zip",
        ("equally long", "training.lr has 2, training.batch_size has 1"),
    ),
    "same path in set and grid": Mistake(
        8,
        "  p: {set: {precision: fp16}, grid: {precision: [bf16]}}",
        "precision: [bf16]",
        "variants.p.grid.precision",
        ("given in `set`", "keep one"),
    ),
    "nothing in a variant": Mistake(8, "  p: {exact: true}", "p", "variants.p", ("needs `set`, `grid` or `zip`",)),
    "epochs without end": Mistake(
        5, "training: {epochs: 100000000000}", "1000", "training.epochs", ("100000000000", "at most 1000000")
    ),
    "exact in training": Mistake(
        8,
        "  p: {set: {training.lr: 0.1, features.cache_ratio: 0.1}, exact: true}",
        "true",
        "variants.p.exact",
        ("`p` changes training.lr and cannot be exact", "remove `exact: true`", "aggregation, checkpointing"),
    ),
    "exact in a grid": Mistake(
        8,
        "  p: {grid: {precision: [fp16], sampling.method: [fixed]}, exact: true}",
        "true",
        "variants.p.exact",
        ("`p` changes precision, sampling.method and cannot be exact",),
    ),
    "changes nothing": Mistake(
        8, "  p: {set: {precision: fp32}}", "fp32", "variants.p.set.precision", ("`p` changes nothing", "leave it out")
    ),
    "a cell that changes nothing": Mistake(
        8,
        "  cache: {grid: {features.cache_ratio: [0.0, 0.1]}}",
        "0.0",
        "variants.cache.grid.features.cache_ratio[0]",
        ("cell `cache-0`", "changes nothing"),
    ),
    "reserved name": Mistake(
        8,
        "  baseline: {set: {precision: fp16}}",
        "baseline",
        "variants.baseline",
        ("the harness uses itself", "choose another"),
    ),
    "variant's name with a space": Mistake(
        8,
        "  my cache: {set: {precision: fp16}}",
        "my cache",
        "variants.my cache",
        ("'my cache'", "safe as a file's name"),
    ),
    "name of a cell too long": Mistake(
        8,
        f"  {'x' * 75}: {{grid: {{precision: [fp16-linear]}}}}",
        "xxx",
        "variants." + "x" * 75,
        ("has 87 characters", "at most 80", "shorter name"),
    ),
    "name of a cell unsafe": Mistake(
        8,
        "  a: {grid: {model.args.kind: [x/y]}, set: {model.class: 'torch:Tensor', model.conv: null}}",
        "a",
        "variants.a",
        ("`a-x/y` is not safe as a file's name",),
    ),
    "same value twice": Mistake(
        8,
        "  cache: {grid: {features.cache_ratio: [0.1, 0.10]}}",
        "cache",
        "variants.cache",
        ("`cache-0.1` comes twice in its lists",),
    ),
    "fan-out of a variant": Mistake(
        8,
        "  fan: {grid: {sampling.fanout: [[15, 10], [5]]}}",
        "[5]",
        "variants.fan.grid.sampling.fanout[1]",
        ("cell `fan-5`", "1 hop", "2 layers"),
    ),
    "layers of a variant": Mistake(
        8,
        "  deep: {set: {model.layers: 3}}",
        "3",
        "variants.deep.set.model.layers",
        ("2 hops", "3 layers", "[25, 10, 5]"),
    ),
    "parts of a variant": Mistake(
        8,
        "  parts: {set: {batching: cluster, partition.parts: 4}}",
        "4",
        "variants.parts.set.partition.parts",
        ("per_batch is 8 and parts 4",),
    ),
    "heads of a variant": Mistake(
        8,
        "  heads: {set: {model.conv: gat}, grid: {model.heads: [3]}}",
        "heads",
        "variants.heads",
        ("cell `heads-3`", "`hidden` (64) must be a multiple of `heads` (3)"),
    ),
    "no module of a model": Mistake(
        4,
        "model: {class: 'no_such_module_here:Net'}",
        "'no_such",
        "model.class",
        ("no module `no_such_module_here`", "beside the spec"),
    ),
    "a model without its class": Mistake(
        4, "model: {class: mynet.py}", "mynet.py", "model.class", ("'mynet.py'", "module:Class")
    ),
    "no such class in the module": Mistake(
        4, "model: {class: 'json.decoder:JSONDecoderr'}", "'json", "model.class", ("did you mean `JSONDecoder`",)
    ),
    "file of the data": Mistake(
        3,
        "dataset: {source: files, path: nowhere.npz}",
        "nowhere.npz",
        "dataset.path",
        ("no such file: 'nowhere.npz'", "looked for", "$HARNESS_DATA"),
    ),
    "file of the split": Mistake(
        3,
        "dataset: {source: pyg, name: Planetoid/Cora, split: {kind: file, path: s.npz}}",
        "s.npz",
        "dataset.split.path",
        ("no such file: 's.npz'",),
    ),
    "one of three files": Mistake(
        3,
        "dataset: {source: files, edges: e.csv}",
        "dataset",
        "dataset",
        ("missing features, labels",),
    ),
    "name of a folder of all results": Mistake(2, "name: runs", "runs", "name", ("'runs'", "choose another name")),
    "public split of data without one": Mistake(
        3,
        "dataset: {source: synthetic, nodes: 100, split: {kind: public}}",
        "public",
        "dataset.split.kind",
        ("has no public split", "kind: random"),
    ),
    "class beside the baseline's conv": Mistake(
        8,
        "  own: {set: {model.class: 'json:JSONDecoder'}}",
        "own",
        "variants.own",
        ("either `conv`", "add `model.conv: null`"),
    ),
    "version as a truth value": Mistake(1, "version: true", "true", "version", ("allowed: 1",)),
}


def problems_of(path: Path) -> list[tuple[int | None, int | None, str, str]]:
    with pytest.raises(InputError) as caught:
        load_spec(path)
    return [(p.line, p.column, p.path, p.message) for p in caught.value.problems]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_message_at_its_place(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    lines = GOOD.splitlines()
    lines[mistake.line - 1] = mistake.text
    path = tmp_path / "spec.yaml"
    path.write_text("\n".join(lines) + "\n")
    place = (mistake.line, mistake.text.index(mistake.at) + 1, mistake.path)
    found = problems_of(path)
    here = [message for *where, message in found if tuple(where) == place]
    assert len(here) == 1, found
    assert all(words in here[0] for words in mistake.says), here[0]
    # a replaced line takes a needed key with it here and there: only that may be said besides
    others = [problem for problem in found if problem[3] != here[0]]
    assert all(message.startswith("missing") for *_, message in others), others
    assert not any(jargon in here[0] for jargon in ("pydantic", "http", "Input should", "Value error", "type="))


def test_the_good_spec_is_good(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(GOOD)
    assert load_spec(path).training.lr == 0.01


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        GOOD.replace("conv: sage", "conv: saeg")
        .replace("lr: 0.01", "lr: fast")
        .replace("  cache:", "  fan: {set: {sampling.fanuot: [5, 5]}}\n  cache:")
        .replace("0.3]", "3]")
    )
    assert [(line, where) for line, _, where, _ in problems_of(path)] == [
        (4, "model.conv"),
        (5, "training.lr"),
        (8, "variants.fan.set.sampling.fanuot"),
        (9, "variants.cache.grid.features.cache_ratio[1]"),
    ]


def test_a_message_reads_file_line_column_path_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(GOOD.replace("conv: sage", "conv: saeg"))
    with pytest.raises(InputError) as caught:
        load_spec(path)
    expected = (
        f"{path}:4:15: model.conv: 'saeg' is not allowed; did you mean `sage`? allowed: gcn, sage, gat, gin, mpnn"
    )
    assert str(caught.value) == expected


def test_the_default_fanout_of_a_deeper_model_is_told_at_its_layers(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(GOOD.replace("layers: 2", "layers: 3").replace(", sampling: {fanout: [25, 10]}", ""))
    ((line, column, where, message),) = problems_of(path)
    assert (line, column, where) == (4, 29, "model.layers")
    assert "the fan-out [25, 10] has 2 hops" in message
    assert "[25, 10, 5]" in message


def test_the_same_name_from_two_variants(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(GOOD + "  Cache-0.3: {set: {precision: fp16}}\n")
    ((line, column, _, message),) = problems_of(path)
    assert (line, column) == (9, 3)
    assert "`Cache-0.3` comes from variant `cache` too" in message


def test_more_cells_than_can_be_planned(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    numbers = list(range(1, 102))
    path.write_text(GOOD + f"  many: {{grid: {{training.epochs: {numbers}, training.batch_size: {numbers}}}}}\n")
    ((line, _, _, message),) = problems_of(path)
    assert line == 9
    assert "more than 10,000 cells" in message


WHOLE_FILES = {
    "empty": (b"", "the file is empty; start from specs/quickstart.yaml"),
    "only a comment": (b"# nothing\n", "the file is empty"),
    "a list": (b"- a\n- b\n", "this file is a list"),
    "a word": (b"quickstart\n", "this file is a single value"),
    "a tab": (b"version: 1\nmodel:\n\tconv: sage\n", "indent with spaces only"),
    "two documents": (GOOD.encode() + b"---\n" + GOOD.encode(), "a second document starts here"),
    "not UTF-8": (b"version: 1\nname: caf\xe9\n", "not UTF-8: byte 0xe9"),
    "a control character": (b"version: 1\nname: a\x00b\n", "not YAML"),
    "an open bracket": (b"version: 1\nmodel: {conv: sage\nname: x\n", "a bracket is not closed"),
    "an open quote": (b'version: 1\nname: "x\n', "a quote is not closed"),
    "a colon too many": (b"version: 1\nname: a: b\n", "in quotes"),
    "an alias to nothing": (b"version: 1\nname: *x\n", "has no anchor"),
    "an alias to itself": (b"version: 1\nmodel: &m {args: *m}\n", "inside its own anchor"),
    "a bomb of aliases": (
        b"a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + b"".join(b"%c: &%c [%s]\n" % (c, c, b", ".join([b"*%c" % (c - 1)] * 10)) for c in range(98, 106)),
        "too large for a spec",
    ),
    "very deep": (b"a: " + b"[" * 200 + b"]" * 200 + b"\n", "nested deeper"),
}


@pytest.mark.parametrize("name", WHOLE_FILES)
def test_a_file_that_is_no_spec_is_one_message(name: str, tmp_path: Path) -> None:
    content, says = WHOLE_FILES[name]
    path = tmp_path / "spec.yaml"
    path.write_bytes(content)
    ((*_, message),) = problems_of(path)
    assert says in message


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "quickstart.yaml").write_text(GOOD)
    ((line, _, _, message),) = problems_of(tmp_path / "quikstart.yaml")
    assert line is None
    assert message.startswith("no such file; did you mean")
    assert message.endswith("quickstart.yaml?")


def test_a_name_of_a_spec_suggests_its_file(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "quickstart.yaml").write_text(GOOD)
    ((*_, message),) = problems_of(tmp_path / "quickstart")
    assert message.endswith("specs/quickstart.yaml?")


def test_a_missing_file_suggests_nothing_that_is_unlike_it(tmp_path: Path) -> None:
    (tmp_path / "wordnet.yaml").write_text(GOOD)
    ((*_, message),) = problems_of(tmp_path / "none.yaml")
    assert message == "no such file"


def test_each_file_of_the_data_is_looked_for(tmp_path: Path) -> None:
    lines = GOOD.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("dataset:"))
    keys = ("edges", "features", "labels", "edge_features")
    lines[at] = "dataset: {source: files, " + ", ".join(f"{key}: no-{key}.npy" for key in keys) + "}"
    (tmp_path / "spec.yaml").write_text("\n".join(lines))
    found = problems_of(tmp_path / "spec.yaml")
    assert [where for _, _, where, _ in found] == [f"dataset.{key}" for key in keys]
    assert all(message.startswith("no such file: 'no-") for *_, message in found)


def test_a_folder_is_no_spec(tmp_path: Path) -> None:
    ((*_, message),) = problems_of(tmp_path)
    assert "this is a folder" in message


def test_two_duplicate_keys_and_a_tag_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(GOOD + "name: again\nmodel: !x {conv: gcn}\n")
    assert [(line, where) for line, _, where, _ in problems_of(path)] == [(9, "name"), (10, "model"), (10, "model")]
