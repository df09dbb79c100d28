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
    """Hash of a model that the harness does not know, as an id holds it: its module and what that imports.

    Of the imported modules, and those that they import in turn, the ones in the spec's folder or the present one count;
    of a package all its files. Installed packages do not: their versions are no business of a model's source.

    Raises:
        SourceError: see ``source_of``.
    """
    source = source_of(class_path, spec_dir)
    own = hashlib.sha256(source.read_bytes()).hexdigest()
    others = _imported(source, class_path.split(":")[0].split(".")[0], spec_dir)
    if not others:
        return own
    lines = [f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for name, path in sorted(others.items())]
    return hashlib.sha256("\n".join([own, *lines]).encode()).hexdigest()


def _imported(source: Path, own_name: str, spec_dir: Path) -> dict[str, Path]:
    """Files beside ``source`` that its import may read, by their path within the folder that Python finds them from."""
    roots = list(dict.fromkeys([spec_dir.resolve(), Path.cwd().resolve()]))
    found: dict[str, Path] = {}
    names, seen = {own_name, *_top_level_imports(source)}, {"harness"}  # whose own version is in every id
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        for root, path in _files_of(name, roots):
            if path.resolve() != source.resolve():
                found[path.relative_to(root).as_posix()] = path
                names |= _top_level_imports(path)
    return found


def _files_of(name: str, roots: list[Path]) -> list[tuple[Path, Path]]:
    """Files of a module, or of a whole package, with the root that it lies in; empty where it lies elsewhere."""
    for root in roots:
        spec = PathFinder.find_spec(name, [str(root)])
        if spec is None:
            continue
        if spec.origin is None and _is_installed(name):  # a folder of that name, which Python passes over
            continue
        if spec.submodule_search_locations is not None:
            return [(root, path) for path in sorted((root / name).rglob("*.py")) if path.is_file()]
        return [(root, Path(spec.origin))] if spec.origin is not None else []
    return []


def _is_installed(name: str) -> bool:
    spec = PathFinder.find_spec(name)
    return spec is not None and spec.origin is not None


def _top_level_imports(source: Path) -> set[str]:
    """First parts of the names that a file imports, anywhere in it; relative ones are in its package already."""
    if source.suffix != ".py":
        return set()
    try:
        nodes = list(ast.walk(ast.parse(source.read_bytes())))
    except (SyntaxError, ValueError):
        return set()
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    origins = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.split(".")[0] for name in plain | origins}
