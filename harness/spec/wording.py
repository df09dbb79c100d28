"""Pydantic's findings in plain words: what is wrong, the value, what is allowed, did you mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from harness.spec.dataset import Builtin, Files, Ogb, Pyg, Synthetic
from harness.spec.option_paths import option_paths
from harness.spec.schema import Spec
from harness.spec.yaml_tree import scalar

SOURCES: dict[str, type[BaseModel]] = {
    "builtin": Builtin,
    "pyg": Pyg,
    "ogb": Ogb,
    "files": Files,
    "synthetic": Synthetic,
}
Loc = tuple[str | int, ...]


@dataclass(frozen=True)
class Finding:
    """One mistake, placed by the path of keys; `at_key` where the key is at fault, not its value."""

    loc: Loc
    message: str
    at_key: bool = False


def dotted(loc: Loc) -> str:
    """`("a", "b", 1)` as ``a.b[1]``."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def shown(value: Any) -> str:
    """A value as YAML would have it, cut to a readable length."""
    if value is None:
        text = "nothing"
    elif value is True or value is False:
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = f"'{value}'"
    elif isinstance(value, Mapping):
        text = "a mapping" + (f" ({', '.join(map(str, list(value)[:4]))})" if value else " without keys")
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(shown(item) for item in value) + "]"
    else:
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def close(word: object, words: list[str] | tuple[str, ...]) -> str:
    """``; did you mean …?`` or nothing."""
    text = str(word)
    folded = {w.casefold(): w for w in words}
    near = get_close_matches(text.casefold(), folded, 1, 0.6)
    starts = [w for w in words if len(text) >= 3 and w.casefold().startswith(text.casefold())]
    best = folded[near[0]] if near else (starts[0] if starts else "")
    return f"; did you mean `{best}`?" if best and best != text else ""


def clean_loc(loc: Loc) -> Loc:
    """Pydantic's location without the tag of the dataset's union and without `[key]`."""
    if len(loc) >= 2 and loc[0] == "dataset" and loc[1] in SOURCES:
        loc = (loc[0], *loc[2:])
    return loc[:-1] if loc and loc[-1] == "[key]" else loc


def _unwrap(annotation: Any) -> Any:
    """The model or plain type inside Optional, Annotated, and the values of a dict or of a list of any length."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _unwrap(get_args(annotation)[0])
    if origin is dict:
        return _unwrap(get_args(annotation)[1])
    if origin is tuple and get_args(annotation)[1:] == (...,):
        return _unwrap(get_args(annotation)[0])
    options = [arg for arg in get_args(annotation) if arg is not type(None)]
    if origin is not None and len(options) == 1:
        return _unwrap(options[0])
    return annotation


def model_at(loc: Loc, source: str | None, root: type[BaseModel] = Spec) -> type[BaseModel] | None:
    """The schema of the section at ``loc`` (cleaned); ``source`` decides the dataset's."""
    model: Any = root
    in_dict = False
    for part in loc:
        if in_dict:  # a key the person chose, e.g. a variant's name
            in_dict = False
            continue
        if isinstance(part, int):  # an item of a list
            continue
        field = field_of(model, str(part)) if isinstance(model, type) and issubclass(model, BaseModel) else None
        if field is None:
            return None
        if root is Spec and loc[0] == "dataset" and part == "dataset" and model is Spec:
            if source not in SOURCES:
                return None
            model = SOURCES[source]
        else:
            in_dict = get_origin(field.annotation) is dict
            model = _unwrap(field.annotation)
    return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def field_of(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The field that a YAML key names."""
    return next((info for name, info in model.model_fields.items() if key == (info.alias or name)), None)


def keys_of(model: type[BaseModel]) -> list[str]:
    """The YAML keys of a section."""
    return [info.alias or name for name, info in model.model_fields.items()]


@cache
def _places_of_keys() -> dict[str, str]:
    """Where a key belongs that was put in another section: `batch_size` -> `training.batch_size`."""
    places: dict[str, str] = {}
    for path in option_paths():
        full = path if path.startswith(("model.", "training.")) else f"baseline.{path}"
        places.setdefault(path.rsplit(".", 1)[-1], full)
        places.setdefault(full.rsplit(".", 2)[-2], full.rsplit(".", 1)[0])
    for section in ("seeds", "gate", "timing", "limits", "design"):
        model = model_at((section,), None)
        for key in keys_of(model) if model else []:
            places.setdefault(key, f"{section}.{key}")
    return places


def _unknown_key(loc: Loc, value: Any, source: str | None, root: type[BaseModel]) -> Finding:
    key, parent = str(loc[-1]), model_at(loc[:-1], source, root)
    keys = keys_of(parent) if parent else []
    place = _places_of_keys().get(key) if root is Spec else None
    if place and place != dotted(loc):
        hint = f"; it belongs at `{place}`;"
    elif key == "options" and root is Spec:
        hint = "; did you mean `baseline`?"
    else:
        hint = close(key, keys) or ";"
    kind = f" of `source: {source}`" if loc[0] == "dataset" and len(loc) == 2 and source else ""
    return Finding(loc, f"unknown key{hint} allowed{kind}: {', '.join(keys)}", at_key=True)


def _missing(loc: Loc, source: str | None, root: type[BaseModel]) -> Finding:
    parent = model_at(loc[:-1], source, root)
    field = field_of(parent, str(loc[-1])) if parent else None
    about = f": {field.description}" if field is not None and field.description else ""
    examples: dict[Loc, str] = {
        ("version",): "; write `version: 1`",
        ("name",): "; write e.g. `name: my-graph`",
        ("dataset",): "; write e.g. `dataset: {source: pyg, name: Planetoid/Cora}`",
        ("model",): "; write e.g. `model: {conv: sage, layers: 2}`",
        ("variants",): "; write e.g. `variants: {cache: {grid: {features.cache_ratio: [0.1, 0.3]}}}`",
        ("dataset", "source"): f"; allowed: {', '.join(SOURCES)}",
    }
    return Finding(loc, f"missing{examples.get(loc, about)}")


def _wrong_type(expected: str) -> Callable[[Any, dict[str, Any]], str]:
    def message(value: Any, _: dict[str, Any]) -> str:
        hint = ""
        if value is None:
            return f"is empty; it must be {expected}"
        if isinstance(value, str) and "number" in expected:
            if isinstance(scalar(value), int | float) and not isinstance(scalar(value), bool):
                hint = f"; remove the quotes: {value}"
        elif isinstance(value, str) and "true" in expected and value.lower() in ("on", "off", "yes", "no", "y", "n"):
            hint = (
                f"; YAML 1.2 reads {value} as text: write {'true' if value.lower() in ('on', 'yes', 'y') else 'false'}"
            )
        elif expected == "text" and isinstance(value, bool | int | float):
            hint = f'; put it in quotes: "{shown(value)}"'
        elif "whole" in expected and isinstance(value, float) and value.is_integer():
            hint = f"; write {int(value)}"
        return f"{shown(value)} is not allowed; it must be {expected}{hint}"

    return message


def _literal(value: Any, ctx: dict[str, Any]) -> str:
    allowed = re.findall(r"'([^']*)'", ctx["expected"]) or [ctx["expected"]]
    hint = close(value, allowed) if isinstance(value, str) else ""
    start = "is empty" if value is None else f"{shown(value)} is not allowed"
    return f"{start}{hint or ';'} allowed: {', '.join(allowed)}"


def _pattern(value: Any, ctx: dict[str, Any]) -> str:
    known = {
        "^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$": (
            "a name that is safe as a file's name: letters, digits, `.`, `_`, `-`, at most 80, a letter or digit first"
        ),
        r"^(degree|pagerank|.+\.npy)$": (
            "degree, pagerank, or the path of a .npy of one number a node, e.g. weights.npy"
        ),
        "^ogbn-[a-z0-9]+$": "a node-property data set of OGB, e.g. ogbn-arxiv",
    }
    pattern = ctx["pattern"]
    if pattern in known:
        allowed = known[pattern]
    elif ":" in pattern:
        allowed = "module:Class, e.g. my_model:Net (file my_model.py beside the spec)"
    elif "/" in pattern:
        allowed = "Class/Name or Class of torch_geometric.datasets, e.g. Planetoid/Cora, Reddit2"
    else:
        allowed = f"text that matches {pattern}"
    return f"{shown(value)} is not allowed; it must be {allowed}"


def _value_error(value: Any, ctx: dict[str, Any]) -> str:
    return str(ctx["error"])


def _names_in(loc: Loc, source: str | None, root: type[BaseModel]) -> tuple[str, ...]:
    """What a list of names may hold; nothing where it is one of numbers."""
    parent = model_at(loc[:-1], source, root)
    field = field_of(parent, str(loc[-1])) if parent else None
    items = get_args(field.annotation)[:1] if field is not None else ()
    return get_args(items[0]) if items and get_origin(items[0]) is Literal else ()


_BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
    "multiple_of": ("multiple_of", "a multiple of"),
}

_MESSAGES: dict[str, Callable[[Any, dict[str, Any]], str]] = {
    "string_type": _wrong_type("text"),
    "int_type": _wrong_type("a whole number"),
    "int_from_float": _wrong_type("a whole number"),
    "float_type": _wrong_type("a number"),
    "bool_type": _wrong_type("true or false"),
    "list_type": _wrong_type("a list, e.g. [0.1, 0.3]"),
    "tuple_type": _wrong_type("a list of whole numbers, e.g. [25, 10]"),
    "finite_number": lambda value, _: f"{shown(value)} is not allowed; it must be a finite number",
    "literal_error": _literal,
    "string_pattern_mismatch": _pattern,
    "value_error": _value_error,
    "too_short": lambda value, ctx: f"{shown(value)} is too short; give at least {ctx['min_length']}",
}


def explain(error: Mapping[str, Any], source: str | None, root: type[BaseModel] = Spec) -> Finding:
    """One of ``ValidationError.errors()`` as a finding.

    Args:
        error: pydantic's details: type, loc, input, ctx.
        source: the dataset's `source` as written.
        root: the schema that was checked.
    """
    kind, ctx, value = error["type"], error.get("ctx") or {}, error.get("input")
    at_key = bool(error["loc"]) and error["loc"][-1] == "[key]"
    loc = clean_loc(error["loc"])
    if kind == "missing":
        return _missing(loc, source, root)
    if kind == "extra_forbidden":
        return _unknown_key(loc, value, source, root)
    if kind == "union_tag_not_found":
        if isinstance(value, Mapping):
            return Finding((*loc, "source"), f"missing; allowed: {', '.join(SOURCES)}")
        return Finding(
            loc, f"{shown(value)} is not allowed; it must be a mapping, e.g. {{source: builtin, name: wordnet}}"
        )
    if kind == "union_tag_invalid":
        tag = value.get("source") if isinstance(value, Mapping) else None
        return Finding(
            (*loc, "source"),
            f"{shown(tag)} is not allowed{close(tag, list(SOURCES)) or ';'} allowed: {', '.join(SOURCES)}",
        )
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        model = model_at(loc, source, root)
        keys = f" with keys from: {', '.join(keys_of(model))}" if model else ""
        start = "is empty" if value is None else f"{shown(value)} is not allowed"
        return Finding(loc, f"{start}; it must be a mapping{keys}")
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return Finding(loc, f"{shown(value)} is not allowed; it must be {words} {ctx[name]}")
    if kind == "tuple_type" and (names := _names_in(loc, source, root)):
        listed = f"a list of some of {', '.join(names)}, e.g. [{names[0]}]"
        return Finding(loc, _wrong_type(listed)(value, ctx))
    if kind in _MESSAGES:
        return Finding(loc, _MESSAGES[kind](value, ctx), at_key)
    return Finding(loc, f"{shown(value)} is not allowed: {error['msg']}", at_key)
