"""Dotted paths of what a variant may patch: the baseline's options, `model.*` and `training.*`."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel

from harness.spec.options import Model, Options, Training

SECTIONS: dict[str, type[BaseModel]] = {"options": Options, "model": Model, "training": Training}
ARGS = "model.args."


def _leaves(model: type[BaseModel], prefix: str) -> list[str]:
    paths: list[str] = []
    for name, info in model.model_fields.items():
        key = info.alias or name
        inner = info.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            paths += _leaves(inner, f"{prefix}{key}.")
        else:
            paths.append(f"{prefix}{key}")
    return paths


@cache
def option_paths() -> tuple[str, ...]:
    """Every path that a variant may set, options first: `batching`, `sampling.method`, …, `model.hidden`, …"""
    return (*_leaves(Options, ""), *_leaves(Model, "model."), *_leaves(Training, "training."))


@cache
def option_sections() -> dict[str, tuple[str, ...]]:
    """Prefixes that are no options themselves, with the options below: `sampling` -> `sampling.method`, …"""
    heads = sorted({path.rsplit(".", 1)[0] for path in option_paths() if "." in path})
    return {head: tuple(path for path in option_paths() if path.startswith(head + ".")) for head in heads}


def is_option(path: str) -> bool:
    """Whether a variant may set ``path``; any key below `model.args` is one."""
    return path in option_paths() or (path.startswith(ARGS) and path != ARGS)


def suggest(path: str) -> str:
    """What a wrong path may have meant, as the end of a message; empty where nothing is near."""
    if path in option_sections():
        return f"`{path}` is a section; write one of its options: {', '.join(option_sections()[path])}"
    for prefix in ("baseline.", "options."):
        if path.startswith(prefix) and is_option(path.removeprefix(prefix)):
            return f"did you mean `{path.removeprefix(prefix)}`? (no `{prefix[:-1]}` in front)"
    leaf = path.rsplit(".", 1)[-1]
    same_leaf = [p for p in option_paths() if p.rsplit(".", 1)[-1] == leaf]
    near = same_leaf[:1] or get_close_matches(path, option_paths(), 1, 0.6)
    if not near:
        leaves = {p.rsplit(".", 1)[-1]: p for p in reversed(option_paths())}
        near = [leaves[hit] for hit in get_close_matches(leaf, leaves, 1, 0.7)]
    return f"did you mean `{near[0]}`?" if near else ""


def split(path: str) -> tuple[str, tuple[str, ...]]:
    """Section (`options`, `model`, `training`) and keys within it."""
    head, *rest = path.split(".")
    if head in ("model", "training"):
        # a dot inside a key below model.args would be another key
        return head, tuple(rest)
    return "options", (head, *rest)


Tree = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """One full set of options, without a seed and without a name."""

    model: Model
    training: Training
    options: Options


def tree_of(settings: Settings) -> dict[str, Tree]:
    """The settings as nested dicts by section; a fresh copy, `class` under its YAML name."""
    return {
        "options": settings.options.model_dump(),
        "model": settings.model.model_dump(by_alias=True),
        "training": settings.training.model_dump(),
    }


def copy_tree(value: Any) -> Any:
    """A deep copy of dicts and lists: no value of one cell may reach another."""
    if isinstance(value, dict):
        return {key: copy_tree(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copy_tree(inner) for inner in value]
    return value


def patched(sections: dict[str, Tree], patch: dict[str, Any]) -> dict[str, Tree]:
    """A deep copy of ``sections`` with each path of ``patch`` set."""
    result: dict[str, Tree] = copy_tree(sections)
    for path, value in patch.items():
        section, keys = split(path)
        place = result[section]
        for key in keys[:-1]:
            place = place.setdefault(key, {})
        place[keys[-1]] = copy_tree(value)
    return result


def settings_of(sections: dict[str, Tree]) -> Settings:
    """Validated settings.

    Raises:
        pydantic.ValidationError: a value that its option does not allow.
    """
    return Settings(
        model=Model.model_validate(sections["model"]),
        training=Training.model_validate(sections["training"]),
        options=Options.model_validate(sections["options"]),
    )


def flat(sections: dict[str, Tree]) -> dict[str, Any]:
    """Dotted path to value of every leaf, options bare, the others under `model.` and `training.`."""
    leaves: dict[str, Any] = {}

    def walk(tree: Tree, prefix: str) -> None:
        for key, value in tree.items():
            if isinstance(value, dict):
                walk(value, f"{prefix}{key}.")
            else:
                leaves[f"{prefix}{key}"] = value

    walk(sections["options"], "")
    walk(sections["model"], "model.")
    walk(sections["training"], "training.")
    return leaves
