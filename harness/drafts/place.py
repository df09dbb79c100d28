"""Where a first spec is written, and the schema that its first line names to editors."""

from __future__ import annotations

import json
import os
from pathlib import Path

from harness.records.files import write_atomically
from harness.spec.errors import InputError, Problem
from harness.spec.json_schema import schema_text
from harness.spec.yaml_tree import name_in

SCHEMA = "schema.json"
OWN_SCHEMA = "harness-schema.json"  # beside a spec in a folder whose schema.json is another's


def spec_path(name: str, output: Path | None, force: bool) -> Path:
    """The file to write: `--output`, else `specs/<name>.yaml` where there is such a folder, else `<name>.yaml` here.

    Raises:
        InputError: it is there already and may not be overwritten, or is no YAML file.
    """
    folder = Path("specs") if Path("specs").is_dir() else Path()
    path = output if output is not None else folder / f"{name}.yaml"
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(Problem("--output", f"'{path}' is no YAML file; give a name that ends in .yaml"))
    if path.is_dir():
        raise InputError(Problem("--output", f"'{path}' is a folder; name the file to write"))
    if path.exists() and not force:
        remedy = "--force overwrites it; --name or --output writes another file"
        raise InputError(Problem(str(path), f"is there already; {remedy}"))
    return path


def refuse_name_of_other(name: str, path: Path) -> None:
    """Two specs of one name would write the same folder of results/.

    Raises:
        InputError: a spec beside it, or in the folder `specs`, has this name.
    """
    for other in sorted({*path.parent.glob("*.y*ml"), *Path("specs").glob("*.y*ml")}):
        if other.resolve() != path.resolve() and name_in(other) == name:
            message = f"'{name}' is the name of {other} too, and with it results/{name}; give another"
            raise InputError(Problem("--name", message))


def schema_beside(spec: Path) -> Path:
    """Where the schema lies, or shall lie, that a spec's first line names.

    `schema.json` beside the spec, or that of the folder `specs` that the spec's lies in; a name of our own where
    another program's `schema.json` lies beside it.
    """
    folder = spec.parent
    shared = next((above / SCHEMA for above in folder.absolute().parents if above.name == "specs"), None)
    if shared is not None and _is_ours(shared):
        return shared
    taken = (folder / SCHEMA).exists() and not _is_ours(folder / SCHEMA)
    return folder / (OWN_SCHEMA if taken else SCHEMA)


def modeline(spec: Path, schema: Path) -> str:
    """What the YAML language server reads, in VS Code and elsewhere: a path from the spec's folder."""
    relative = Path(os.path.relpath(schema, spec.parent)).as_posix()
    return f"# yaml-language-server: $schema={relative if relative.startswith('..') else f'./{relative}'}"


def write(spec: Path, text: str, schema: Path) -> bool:
    """Write a spec, and its schema where that is not there or of another version.

    Returns:
        Whether the schema was written.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        spec.parent.mkdir(parents=True, exist_ok=True)
        current = schema_text()
        missing = not (schema.exists() and schema.read_text(encoding="utf-8") == current)
        if missing:  # first: a spec that is there stops the same command
            write_atomically(schema, current)
        write_atomically(spec, text)
        return missing
    except OSError as error:
        place = error.filename or spec
        raise InputError(Problem(str(place), f"cannot be written: {error.strerror}; --output names another")) from None


def _is_ours(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_bytes()).get("title") == "harness spec")
    except (OSError, ValueError, AttributeError):
        return False
