"""From a YAML file to a `Spec`, or every mistake in it at once with file:line:column."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.spec.dataset import Builtin, Dataset, Files, Synthetic
from harness.spec.errors import InputError, Problem
from harness.spec.model_source import SourceError, check_class, source_of
from harness.spec.option_paths import SECTIONS, Settings
from harness.spec.options import Model, Options, Training
from harness.spec.places import candidates, find_file
from harness.spec.schema import Spec, Variant
from harness.spec.variant_checks import check_settings, check_variants
from harness.spec.wording import Finding, Loc, dotted, explain
from harness.spec.yaml_tree import Node, read_tree

Section = TypeVar("Section", bound=BaseModel)
RESERVED = ("reference", "runs")  # folders of results/ that belong to no spec
_DATASET: TypeAdapter[Dataset] = TypeAdapter(Dataset)


def load_spec(path: Path) -> Spec:
    """Read and check a spec: schema, variants against the baseline, files and modules it names.

    Raises:
        InputError: all mistakes of the file, each with its line and column, in the order of the file.
    """
    path = Path(path)
    tree = read_tree(path)
    data = tree.plain()
    spec, findings = _against_schema(data)
    findings += _beyond_schema(data, path.parent)
    if findings:
        raise InputError(placed(findings, tree, str(path)))
    if spec is None:
        raise AssertionError("a spec without findings must be valid")
    return spec


def position(path: Path, *keys: str | int) -> tuple[int | None, int | None]:
    """Line and column of a key's value in a spec's file; None where the file cannot be read any more."""
    try:
        return read_tree(Path(path)).find(keys)
    except InputError:
        return None, None


def _against_schema(data: dict[str, Any]) -> tuple[Spec | None, list[Finding]]:
    if isinstance(data.get("version"), bool):  # Python takes true for 1
        data = {**data, "version": str(data["version"]).lower()}
    dataset = data.get("dataset")
    source = dataset.get("source") if isinstance(dataset, dict) else None
    source = source if isinstance(source, str) else None
    try:
        return Spec.model_validate(data), []
    except ValidationError as error:
        details = error.errors()
        # a list with a faulty item is also called too short, since the item is not counted
        inner = {d["loc"][:-1] for d in details}
        kept = [d for d in details if not (d["type"] == "too_short" and d["loc"] in inner)]
        return None, [explain(d, source) for d in kept]


def _section(model: type[Section], value: Any) -> Section | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _beyond_schema(data: dict[str, Any], spec_dir: Path) -> list[Finding]:
    """Checks on those sections that are well formed, whatever is wrong with the others."""
    options = _section(Options, data.get("baseline", {}))
    model = _section(Model, data.get("model"))
    training = _section(Training, data.get("training", {}))
    base = Settings(model or Model(conv="sage"), training or Training(), options or Options())
    complete = options is not None and model is not None and training is not None
    findings: list[Finding] = []
    if complete:
        for path, message in check_settings(base):
            findings.append(Finding(_baseline_loc(data, path), message))
    written = data.get("variants")
    if isinstance(written, dict):
        sections = {key: _section(Variant, value) for key, value in written.items()}
        variants = {key: variant for key, variant in sections.items() if variant is not None}
        findings += check_variants(variants, base, exact_base=complete)
        findings += _classes_of_variants(variants, spec_dir)
        for key, variant in variants.items():
            findings += _weights_of_variant(key, variant, spec_dir)
    if model is not None and model.class_path is not None:
        findings += _class(("model", "class"), model.class_path, spec_dir)
    if options is not None:
        findings += _weights(("baseline", "sampling", "weights"), options.sampling.weights, spec_dir)
    return findings + _name(data.get("name")) + _dataset(data.get("dataset"), spec_dir)


def _name(name: Any) -> list[Finding]:
    if isinstance(name, str) and name.casefold() in RESERVED:
        return [
            Finding(("name",), f"'{name}' is a folder of results/ that the harness uses itself; choose another name")
        ]
    return []


def _baseline_loc(data: dict[str, Any], path: str) -> Loc:
    """Where the baseline's option is written, else the model's depth that its default does not fit."""
    section, key = path.split(".")
    if section in SECTIONS:
        return (section, key)
    inner = data.get("baseline", {}).get(section, {})
    if path == "sampling.fanout" and key not in inner and "layers" in (data.get("model") or {}):
        return ("model", "layers")
    return ("baseline", section, key)


def _class(loc: Loc, class_path: str, spec_dir: Path) -> list[Finding]:
    try:
        check_class(class_path, source_of(class_path, spec_dir))
    except SourceError as error:
        return [Finding(loc, f"{class_path}: {error}")]
    return []


def _values_of(key: str, variant: Variant, path: str) -> list[tuple[Loc, Any]]:
    """The values that a variant gives an option, each with its place."""
    places: list[tuple[Loc, Any]] = [(("variants", key, "set", path), variant.set.get(path))]
    for kind in ("grid", "zip"):
        values = getattr(variant, kind).get(path, [])
        places += [(("variants", key, kind, path, index), value) for index, value in enumerate(values)]
    return places


def _classes_of_variants(variants: dict[str, Variant], spec_dir: Path) -> list[Finding]:
    findings = []
    for key, variant in variants.items():
        for loc, value in _values_of(key, variant, "model.class"):
            if isinstance(value, str) and ":" in value:
                findings += _class(loc, value, spec_dir)
    return findings


def _weights_of_variant(key: str, variant: Variant, spec_dir: Path) -> list[Finding]:
    places = _values_of(key, variant, "sampling.weights")
    return [found for loc, value in places if isinstance(value, str) for found in _weights(loc, value, spec_dir)]


def _weights(loc: Loc, weights: str, spec_dir: Path) -> list[Finding]:
    """`sampling.weights` where it is a file; its content is looked at when a run opens it."""
    return _missing_file(loc, weights, spec_dir) if weights.endswith(".npy") else []


def _dataset(dataset: Any, spec_dir: Path) -> list[Finding]:
    try:
        section = _DATASET.validate_python(dataset)
    except ValidationError:
        return []
    if isinstance(section, Builtin | Synthetic) and section.split is not None and section.split.kind == "public":
        message = (
            f"{section.source} data has no public split; write e.g. {{kind: random, train: 0.6, val: 0.2, seed: 0}}"
        )
        return [Finding(("dataset", "split", "kind"), message)]
    return _data_files(section, spec_dir)


def _data_files(section: Dataset, spec_dir: Path) -> list[Finding]:
    wanted: list[tuple[Loc, str]] = []
    if isinstance(section, Files):
        for key in ("path", "edges", "features", "labels", "edge_features"):
            value = getattr(section, key)
            wanted += [(("dataset", key), value)] if value is not None else []
    if section.split is not None and section.split.path is not None:
        wanted.append((("dataset", "split", "path"), section.split.path))
    return [found for loc, value in wanted for found in _missing_file(loc, value, spec_dir)]


def _missing_file(loc: Loc, path: str, spec_dir: Path) -> list[Finding]:
    if find_file(path, spec_dir) is not None:
        return []
    looked = ", ".join(dict.fromkeys(str(place) for place in candidates(path, spec_dir)))
    message = f"no such file: '{path}'; looked for {looked}; paths are relative to the spec or to $HARNESS_DATA"
    return [Finding(loc, message)]


def placed(findings: list[Finding], tree: Node, file: str) -> list[Problem]:
    """Findings with the line and column of their keys, in the order of the file."""
    problems = []
    for finding in dict.fromkeys(findings):
        line, column = tree.find_key(finding.loc) if finding.at_key and finding.loc else tree.find(finding.loc)
        problems.append(Problem(file, finding.message, line, column, dotted(finding.loc)))
    return sorted(problems, key=lambda problem: (problem.line or 0, problem.column or 0))
