"""The source file of a model given by import path, found and looked at without importing it."""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from difflib import get_close_matches
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path


class SourceError(ValueError):
    """The module or the class cannot be found; the message says where was looked and what to do."""


def source_of(class_path: str, spec_dir: Path) -> Path:
    """The file of ``module`` in ``module:Class``, looked for in the spec's folder, the present one, then `sys.path`.

    Raises:
        SourceError: no such module, or a module without a file.
    """
    module = class_path.split(":")[0]
    search = [str(spec_dir.resolve()), os.getcwd(), *sys.path]
    found: ModuleSpec | None = None
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        found = PathFinder.find_spec(name, search)
        if found is None:
            where = (
                f"{spec_dir}/, the present folder and the installed packages"
                if depth == 1
                else f"`{'.'.join(parts[: depth - 1])}`"
            )
            raise SourceError(
                f"no module `{name}` in {where}; put {parts[depth - 1]}.py beside the spec, or install its package"
            )
        search = list(found.submodule_search_locations or [])
    if found is None or found.origin is None or not Path(found.origin).is_file():
        raise SourceError(f"`{module}` is a folder without __init__.py; name the module that holds the class")
    return Path(found.origin)


def check_class(class_path: str, source: Path) -> None:
    """Check that the module's source binds the class's name, as far as that can be told without running it.

    Raises:
        SourceError: a syntax error, or no such name at the module's top level.
    """
    if source.suffix != ".py":
        return
    wanted = class_path.split(":")[1]
    try:
        tree = ast.parse(source.read_bytes(), filename=str(source))
    except (SyntaxError, ValueError, OSError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise SourceError(f"{source}{line} cannot be read as Python: {getattr(error, 'msg', None) or error}") from None
    names, open_ended = _bound_names(tree.body)
    if wanted in names or open_ended:
        return
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    near = get_close_matches(wanted, classes, 1)
    hint = f"; did you mean `{near[0]}`?" if near else f"; classes there: {', '.join(classes) or 'none'}"
    raise SourceError(f"{source} defines no `{wanted}`{hint}")


def _bound_names(body: list[ast.stmt]) -> tuple[set[str], bool]:
    """Names bound at the top level; True where others may be (star imports, `__getattr__`)."""
    names: set[str] = set()
    open_ended = False
    for statement in body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(statement.name)
            open_ended |= statement.name == "__getattr__"
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.split(".")[0] for alias in statement.names}
            open_ended |= any(alias.name == "*" for alias in statement.names)
        else:  # assignments, and bindings inside if, try, with
            nested = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
            inner, inner_open = _bound_names(nested) if nested else (set(), False)
            names |= inner | {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            open_ended |= inner_open
            for handler in getattr(statement, "handlers", []):
                inner, inner_open = _bound_names(handler.body)
                names |= inner
                open_ended |= inner_open
    return names, open_ended


def source_sha256(class_path: str, spec_dir: Path) -> str:
    """Hash of the module's file: what an id holds of a model that the harness does not know.

    Modules that it imports in turn are not covered.

    Raises:
        SourceError: see ``source_of``.
    """
    return hashlib.sha256(source_of(class_path, spec_dir).read_bytes()).hexdigest()
