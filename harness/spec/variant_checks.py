"""What the schema alone cannot tell about variants: paths, values, names, and whether they change anything."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from harness.spec.cells import MAX_CELLS, RESERVED, NamedPatch, count, is_safe, named_patches
from harness.spec.option_paths import (
    SECTIONS,
    Settings,
    Tree,
    is_option,
    patched,
    settings_of,
    split,
    suggest,
    tree_of,
)
from harness.spec.schema import Variant
from harness.spec.wording import Finding, Loc, explain, shown

EXACT = (
    "aggregation",
    "checkpointing",
    "retain",
    "features.",
    "loader.",
    "sampling.backend",
)  # what changes how, and not what, a run computes


def check_settings(settings: Settings, patch: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    """Contradictions between options, as (dotted path, message); empty where there are none.

    Args:
        settings: one cell's, or the baseline's.
        patch: what the cell changes, to name the option at fault; None for the baseline.
    """
    options, model = settings.options, settings.model
    found = []
    fanout = options.sampling.fanout
    if options.batching == "neighbor" and len(fanout) != model.layers:
        blamed = "sampling.fanout"
        if patch is not None and blamed not in patch:
            blamed = next((p for p in ("model.layers", "batching") if p in patch), blamed)
        message = (
            f"the fan-out {shown(list(fanout))} has {len(fanout)} hop{'s' * (len(fanout) != 1)} and the model "
            f"{model.layers} layer{'s' * (model.layers != 1)}: "
            f"neighbour batching needs one fan-out a layer, e.g. {shown([25, 10, 5, 5, 5][: model.layers])}"
        )
        found.append((blamed, message))
    if options.features.cache_bytes is not None and options.features.cache_ratio:
        blamed = "features.cache_ratio"
        if patch is None or blamed not in patch:
            blamed = "features.cache_bytes"
        message = "the cache's size is given twice, by cache_ratio and by cache_bytes; set one of them to 0 or null"
        found.append((blamed, message))
    if settings.training.accumulate > 1 and settings.training.accumulate_targets is not None:
        blamed = "training.accumulate"
        if patch is None or blamed not in patch:
            blamed = "training.accumulate_targets"
        message = (
            "a step is given twice, by accumulate and by accumulate_targets; set accumulate: 1 or "
            "accumulate_targets: null"
        )
        found.append((blamed, message))
    partition = options.partition
    if partition.per_batch > partition.parts:
        blamed = "partition.per_batch"
        if patch is not None and blamed not in patch:
            blamed = "partition.parts"
        message = (
            f"per_batch is {partition.per_batch} and parts {partition.parts}: "
            f"a batch cannot join more parts than there are; per_batch at most {partition.parts}"
        )
        found.append((blamed, message))
    return found


def check_variants(variants: dict[str, Variant], base: Settings, exact_base: bool) -> list[Finding]:
    """All findings about the variants.

    Args:
        variants: those whose own section is well formed.
        base: the baseline's settings, or a stand-in where they are faulty.
        exact_base: False for a stand-in: then nothing is said about how a variant relates to the baseline.
    """
    findings: list[Finding] = []
    cells: list[NamedPatch] = []
    sections = tree_of(base)
    total = 0
    for key, variant in variants.items():
        if key.casefold() in RESERVED:
            message = f"`{key}` is a name the harness uses itself ({', '.join(RESERVED)}); choose another"
            findings.append(Finding(("variants", key), message, at_key=True))
        own = [*_lists(key, variant), *_paths(key, variant)]
        findings += [] if own else _exact(key, variant)
        own += [] if own else _values(key, variant, sections)
        findings += own
        if own:
            continue
        total += count(variant)
        if total > MAX_CELLS:
            message = f"the variants make more than {MAX_CELLS:,} cells; shorten the grids"
            return [*findings, Finding(("variants", key), message, at_key=True)]
        made = named_patches(key, variant)
        if exact_base:
            findings += _cells(key, variant, made, base, sections)
        cells += made
    return findings + _names(cells)


def _lists(key: str, variant: Variant) -> list[Finding]:
    found = []
    for kind in ("grid", "zip"):
        for path, values in getattr(variant, kind).items():
            if not values:
                message = f"an empty list makes no cell; give values, e.g. {kind}: {{{path}: [..., ...]}}"
                found.append(Finding(("variants", key, kind, path), message))
    lengths = {path: len(values) for path, values in variant.zip.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{path} has {n}" for path, n in lengths.items())
        found.append(Finding(("variants", key, "zip"), f"the lists run in parallel and must be equally long; {sizes}"))
    return found


def _paths(key: str, variant: Variant) -> list[Finding]:
    found = []
    seen: dict[str, str] = {}
    for kind in ("set", "grid", "zip"):
        for path in getattr(variant, kind):
            loc: Loc = ("variants", key, kind, path)
            if not is_option(path):
                hint = suggest(path)
                message = hint if hint.startswith("`") else f"no such option{'; ' + hint if hint else ''}"
                if not hint:
                    message += "; a variant may patch the baseline's options, model.* and training.*"
                found.append(Finding(loc, message, at_key=True))
            elif path in seen:
                found.append(Finding(loc, f"given in `{seen[path]}` of this variant already; keep one", at_key=True))
            seen.setdefault(path, kind)
    return found


def _exact(key: str, variant: Variant) -> list[Finding]:
    """`exact: true` on an option that changes what is computed; the parity check sees one batch and not all of that."""
    paths = [path for kind in ("set", "grid", "zip") for path in getattr(variant, kind)]
    inexact = [path for path in paths if not any(path == e or (e[-1] == "." and path.startswith(e)) for e in EXACT)]
    if not variant.exact or not inexact:
        return []
    message = (
        f"`{key}` changes {', '.join(inexact)} and cannot be exact: remove `exact: true`; "
        "only aggregation, checkpointing, retain, features.*, loader.* and sampling.backend can be exact"
    )
    return [Finding(("variants", key, "exact"), message)]


def _values(key: str, variant: Variant, sections: dict[str, Tree]) -> list[Finding]:
    """Each value against its option, one by one, so that the message stands at the value."""
    found = []
    for path, value in variant.set.items():
        found += _value(("variants", key, "set", path), path, value, sections)
    for kind in ("grid", "zip"):
        for path, values in getattr(variant, kind).items():
            for index, value in enumerate(values):
                found += _value(("variants", key, kind, path, index), path, value, sections)
    return found


def _value(loc: Loc, path: str, value: Any, sections: dict[str, Tree]) -> list[Finding]:
    section, keys = split(path)
    model: type[BaseModel] = SECTIONS[section]
    try:
        model.model_validate(patched({section: sections[section]}, {path: value})[section])
    except ValidationError as error:
        found = []
        for details in error.errors():
            finding = explain(details, None, model)
            if finding.loc[: len(keys)] == keys:
                found.append(Finding((*loc, *finding.loc[len(keys) :]), finding.message, finding.at_key))
            elif len(finding.loc) == len(keys) - 1 and finding.loc == keys[:-1] and section == "options":
                # a rule of the option's own section, e.g. a fan-out of 0; the model's concern several options: later
                found.append(Finding(loc, finding.message))
        if found and isinstance(value, list) and loc[2] == "set" and _would_pass(path, value, sections):
            return [Finding(loc, f"{found[0].message}; to try several values use `grid: {{{path}: {shown(value)}}}`")]
        return found
    return []


def _would_pass(path: str, values: list[Any], sections: dict[str, Tree]) -> bool:
    return bool(values) and not any(
        not isinstance(value, list) and _value(("", "", "", ""), path, value, sections) for value in values
    )


def _cells(
    key: str, variant: Variant, cells: list[NamedPatch], base: Settings, sections: dict[str, Tree]
) -> list[Finding]:
    """Each cell as a whole: rules over several options, and whether it differs from the baseline."""
    found: dict[str, Finding] = {}
    told = {message for _, message in check_settings(base)}  # the baseline's own fault is said once, there
    for cell in cells:
        try:
            settings = settings_of(patched(sections, cell.patch))
        except ValidationError as error:
            message = explain(error.errors()[0], None).message
            if base.model.conv is not None and "model.class" in cell.patch and "model.conv" not in cell.patch:
                message += "; add `model.conv: null` to `set`, since the baseline has a conv"
            found.setdefault(message, Finding(("variants", key), f"{_which(cell)}{message}", at_key=True))
            continue
        for path, message in check_settings(settings, cell.patch):
            if message in told:
                continue
            found.setdefault(path + message, Finding(_place(variant, cell, path), f"{_which(cell)}{message}"))
        if settings == base:
            message = "changes nothing: its values are the baseline's; leave it out or give another value"
            loc = _place(variant, cell, next(reversed(cell.patch)))
            found.setdefault(cell.name, Finding(loc, f"{_which(cell) or f'`{key}` '}{message}"))
    return list(found.values())


def _which(cell: NamedPatch) -> str:
    return f"cell `{cell.name}`: " if cell.name != cell.variant else ""


def _place(variant: Variant, cell: NamedPatch, path: str) -> Loc:
    """Where a cell's value for ``path`` is written."""
    for kind in ("set", "grid", "zip"):
        if path in getattr(variant, kind):
            index = () if kind == "set" else (cell.positions[path],)
            return ("variants", cell.variant, kind, path, *index)
    return ("variants", cell.variant)


def _names(cells: list[NamedPatch]) -> list[Finding]:
    found = []
    seen: dict[str, NamedPatch] = {}
    for cell in cells:
        loc: Loc = ("variants", cell.variant)
        if not is_safe(cell.variant):
            continue  # the schema says so of the key itself
        if not is_safe(cell.name):
            too_long = (
                f"has {len(cell.name)} characters, at most 80 are allowed"
                if len(cell.name) > 80
                else ("is not safe as a file's name (letters, digits, `.`, `_`, `-`)")
            )
            message = (
                f"the cell's name `{cell.name[:90]}` {too_long}; use a shorter name, or `set` in variants of their own"
            )
            found.append(Finding(loc, message, at_key=True))
            continue
        other = seen.setdefault(cell.name.casefold(), cell)
        if other is not cell:
            where = "twice in its lists" if other.variant == cell.variant else f"from variant `{other.variant}` too"
            message = f"the cell's name `{cell.name}` comes {where}; names must differ (in more than case)"
            found.append(Finding(loc, message, at_key=True))
    return list(dict.fromkeys(found))
