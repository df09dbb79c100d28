"""The JSON schema of a spec, for editors: completion, descriptions and red underlines while writing."""

from __future__ import annotations

import json
from typing import Any

from harness.spec.option_paths import ARGS, SECTIONS, option_paths, split
from harness.spec.schema import Spec


def spec_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a spec; a variant's `set`, `grid` and `zip` know every option's path."""
    schema = Spec.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "harness spec"
    defs = schema["$defs"]
    for model in SECTIONS.values():
        own = model.model_json_schema(by_alias=True)
        defs.update(own.pop("$defs", {}))
        defs[model.__name__] = own
    single = {path: _option(path, defs) for path in option_paths()}
    defs["Patch"] = {
        "type": "object",
        "description": "Dotted path of an option to its value.",
        "properties": single,
        "patternProperties": {f"^{ARGS.replace('.', '[.]')}.+$": {}},
        "additionalProperties": False,
    }
    defs["Lists"] = {
        "type": "object",
        "description": "Dotted path of an option to a list of values.",
        "properties": {path: {"type": "array", "minItems": 1, "items": item} for path, item in single.items()},
        "patternProperties": {f"^{ARGS.replace('.', '[.]')}.+$": {"type": "array", "minItems": 1}},
        "additionalProperties": False,
    }
    properties = defs["Variant"]["properties"]
    for key, shape in (("set", "Patch"), ("grid", "Lists"), ("zip", "Lists")):
        properties[key] = {"$ref": f"#/$defs/{shape}", "description": properties[key]["description"]}
    return schema


def _option(path: str, defs: dict[str, Any]) -> dict[str, Any]:
    """The schema of one option, by reference to its section."""
    section, keys = split(path)
    place = SECTIONS[section].__name__
    for key in keys[:-1]:
        field = defs[place]["properties"][key]
        place = field["$ref"].rsplit("/", 1)[-1]
    return {"$ref": f"#/$defs/{place}/properties/{keys[-1]}"}


def schema_text() -> str:
    """The text of specs/schema.json."""
    return json.dumps(spec_schema(), indent=2, ensure_ascii=False) + "\n"
