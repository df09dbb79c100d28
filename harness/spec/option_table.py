"""The reference of all keys of a spec, as Markdown, from the models themselves."""

from __future__ import annotations

import json
from typing import Any

from harness.spec.json_schema import spec_schema

_SECTIONS = (
    ("Spec", "The file"),
    ("Builtin", "dataset: {source: builtin}"),
    ("Pyg", "dataset: {source: pyg}"),
    ("Ogb", "dataset: {source: ogb}"),
    ("Files", "dataset: {source: files}"),
    ("Synthetic", "dataset: {source: synthetic}"),
    ("Split", "dataset.split"),
    ("Transform", "dataset.transform"),
    ("Model", "model"),
    ("Training", "training"),
    ("Options", "baseline"),
    ("Sampling", "baseline.sampling"),
    ("Features", "baseline.features"),
    ("Partition", "baseline.partition"),
    ("Loader", "baseline.loader"),
    ("Variant", "variants.&lt;name&gt;"),
    ("Design", "design"),
    ("Seeds", "seeds"),
    ("Gate", "gate"),
    ("Timing", "timing"),
    ("Limits", "limits"),
)
_HEAD = """\
# Every key of a spec

Written by `harness schema --format md`; a test says when it is stale. A variant's `set`, `grid` and `zip` take the keys
of `baseline` by their dotted path (`sampling.fanout`) and those of the other two sections with the section
(`model.hidden`, `training.lr`). What cannot be combined is in the plan, with the reason: `harness plan SPEC`.
"""


def option_table() -> str:
    """The text of docs/options.md: one table a section with key, values, default and meaning."""
    schema = spec_schema()
    defs: dict[str, Any] = {**schema["$defs"], "Spec": schema}
    lines = [_HEAD]
    for name, title in _SECTIONS:
        lines += [f"\n## {title}\n", defs[name].get("description", ""), ""]
        lines += ["| key | values | default | meaning |", "|---|---|---|---|"]
        required = defs[name].get("required", [])
        for key, field in defs[name]["properties"].items():
            default = "required" if key in required else _default(field)
            lines.append(f"| `{key}` | {_values(field)} | {default} | {field.get('description', '')} |")
    return "\n".join(lines) + "\n"


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value is None or isinstance(value, dict) or value == "":
        return "" if value is not None or "default" not in field else "none"
    return f"`{json.dumps(value)}`".replace('"', "")


def _values(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_values(option) for option in field["anyOf"] if option.get("type") != "null")
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "$ref" in field or "oneOf" in field:
        return "a section"
    kind = {"integer": "whole number", "number": "number", "boolean": "true or false", "string": "text"}.get(
        field.get("type", ""), "list" if field.get("type") == "array" else "keys"
    )
    bounds = [
        f"{sign} {field[name]:g}"
        for name, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if name in field
    ]
    return " ".join([kind, " and ".join(bounds)]).strip()
