"""A YAML file as plain values that remember their line and column.

The tree is built from the parser's events, not from a loader: tags are refused, nothing is constructed, and
duplicate keys are all found at once. Scalars follow the YAML 1.2 core schema (`on`, `off`, `yes`, `no` are text;
`1e-3` is a number, and `1_000` too).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from harness.spec.errors import InputError, Problem

MAX_NODES = 200_000  # counted with aliases followed, so that a few lines of aliases cannot become gigabytes
MAX_BYTES = 4_000_000
MAX_DEPTH = 64

_NULL = re.compile(r"|~|null|Null|NULL")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9][0-9_]*")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True)
class Key:
    """A mapping's key and where it stands; line and column count from 1."""

    text: str
    line: int
    column: int


@dataclass
class Node:
    """One value. Exactly one of `mapping`, `items` and `value` is in use, as `kind` says."""

    kind: str  # mapping, sequence, scalar
    line: int
    column: int
    value: Any = None
    mapping: dict[str, tuple[Key, Node]] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    size: int = 1  # nodes in this subtree, aliases followed

    def plain(self) -> Any:
        """The value as dicts, lists and scalars."""
        if self.kind == "mapping":
            return {key: node.plain() for key, (_, node) in self.mapping.items()}
        if self.kind == "sequence":
            return [node.plain() for node in self.items]
        return self.value

    def find(self, path: tuple[str | int, ...]) -> tuple[int, int]:
        """Line and column of the value at ``path``, or of the closest ancestor that is in the file.

        A container, or a value left empty, is placed at its key, which is where a person looks for it.
        """
        node, place = self, (self.line, self.column)
        for part in path:
            if node.kind == "mapping" and str(part) in node.mapping:
                key, node = node.mapping[str(part)]
                written = node.kind == "scalar" and node.value is not None
                place = (node.line, node.column) if written else (key.line, key.column)
            elif node.kind == "sequence" and isinstance(part, int) and part < len(node.items):
                node = node.items[part]
                place = (node.line, node.column)
            else:
                break
        return place

    def find_key(self, path: tuple[str | int, ...]) -> tuple[int, int]:
        """Line and column of the key that ends ``path``, or of the closest ancestor."""
        parent = self.at(path[:-1])
        if parent is not None and parent.kind == "mapping" and str(path[-1]) in parent.mapping:
            key = parent.mapping[str(path[-1])][0]
            return key.line, key.column
        return self.find(path)

    def at(self, path: tuple[str | int, ...]) -> Node | None:
        """The node at ``path``, or None."""
        node = self
        for part in path:
            if node.kind == "mapping" and str(part) in node.mapping:
                node = node.mapping[str(part)][1]
            elif node.kind == "sequence" and isinstance(part, int) and part < len(node.items):
                node = node.items[part]
            else:
                return None
        return node


def scalar(text: str) -> Any:
    """The value of a plain scalar under the YAML 1.2 core schema."""
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return bool(_TRUE.fullmatch(text))
    if _INT.fullmatch(text):
        return int(text.replace("_", ""))
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    if special := _SPECIAL.fullmatch(text):
        return float("nan") if special[3] else float(f"{special[1]}inf")
    return text


class _Stop(Exception):
    """A fault that ends the reading of the file."""


class _Builder:
    """Turns events into nodes; faults that leave the rest readable are collected."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.anchors: dict[str, Node | None] = {}  # None while the anchored node is still open

    def problem(self, line: int, column: int, message: str, path: str = "") -> None:
        self.problems.append(Problem(file=self.file, line=line, column=column, path=path, message=message))

    def document(self, events: Iterator[Event]) -> Node | None:
        """The only document's root; None for a file without one."""
        root: Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents == 2:
                    line, column = _place(event)
                    self.problem(
                        line, column, "a second document starts here (`---`); a spec is one document: one file"
                    )
                    raise _Stop
            elif isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent | AliasEvent):
                root = self.node(event, events, "", 0)
        return root

    def node(self, event: Event, events: Iterator[Event], path: str, depth: int) -> Node:
        line, column = _place(event)
        if depth > MAX_DEPTH:
            self.problem(line, column, f"nested deeper than {MAX_DEPTH} levels", path)
            raise _Stop
        if isinstance(event, AliasEvent):
            return self.alias(event, path)
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.problem(
                line, column, f"the YAML tag {_tag_text(tag)} is refused: a spec holds plain values only", path
            )
        anchor: str | None = getattr(event, "anchor", None)
        if anchor:
            self.anchors[anchor] = None
        if isinstance(event, ScalarEvent):
            plain = event.style in (None, "") and tag is None
            node = Node("scalar", line, column, value=scalar(event.value) if plain else event.value)
        elif isinstance(event, SequenceStartEvent):
            node = self.sequence(events, Node("sequence", line, column), path, depth)
        else:
            node = self.mapping(events, Node("mapping", line, column), path, depth)
        if anchor:
            self.anchors[anchor] = node
        if node.size > MAX_NODES:
            self.problem(line, column, f"more than {MAX_NODES:,} values (aliases followed): too large for a spec", path)
            raise _Stop
        return node

    def alias(self, event: AliasEvent, path: str) -> Node:
        line, column = _place(event)
        if event.anchor not in self.anchors:
            self.problem(line, column, f"the alias *{event.anchor} has no anchor &{event.anchor} above it", path)
            raise _Stop
        node = self.anchors[event.anchor]
        if node is None:
            self.problem(line, column, f"the alias *{event.anchor} lies inside its own anchor", path)
            raise _Stop
        return node

    def sequence(self, events: Iterator[Event], node: Node, path: str, depth: int) -> Node:
        for event in events:
            if isinstance(event, SequenceEndEvent):
                break
            item = self.node(event, events, f"{path}[{len(node.items)}]", depth + 1)
            node.items.append(item)
            node.size += item.size
        return node

    def mapping(self, events: Iterator[Event], node: Node, path: str, depth: int) -> Node:
        merged: list[Node] = []
        for event in events:
            if isinstance(event, MappingEndEvent):
                break
            key = self.key(event, events, path, depth)
            inner = f"{path}.{key.text}" if path else key.text
            value = self.node(next(events), events, inner, depth + 1)
            node.size += value.size
            if key.text == "<<" and getattr(event, "style", None) in (None, ""):
                merged += self.merge_sources(value, inner)
            elif key.text in node.mapping:
                first = node.mapping[key.text][0]
                self.problem(
                    key.line, key.column, f"duplicate key; it is given in line {first.line} already: keep one", inner
                )
            else:
                node.mapping[key.text] = (key, value)
        for source in merged:  # a key written here wins over a merged one
            for text, pair in source.mapping.items():
                node.mapping.setdefault(text, pair)
        return node

    def key(self, event: Event, events: Iterator[Event], path: str, depth: int) -> Key:
        line, column = _place(event)
        if isinstance(event, ScalarEvent):
            if event.tag is not None:
                self.problem(line, column, f"the YAML tag {_tag_text(event.tag)} is refused", path)
            return Key(event.value, line, column)
        self.problem(line, column, "a key must be plain text, not a list or a mapping", path)
        self.node(event, events, path, depth + 1)
        return Key(f"<line {line}>", line, column)

    def merge_sources(self, value: Node, path: str) -> list[Node]:
        sources = value.items if value.kind == "sequence" else [value]
        if any(source.kind != "mapping" for source in sources):
            self.problem(value.line, value.column, "`<<` merges a mapping, e.g. `<<: *anchor`", path)
        return [source for source in sources if source.kind == "mapping"]


def _place(event: Event) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _tag_text(tag: Any) -> str:
    return str(tag).replace("tag:yaml.org,2002:", "!!")


def read_tree(path: Path) -> Node:
    """The file's root mapping.

    Raises:
        InputError: the file cannot be read, is not UTF-8, not YAML, empty, not a mapping, several documents, or
            has tags or duplicate keys (all of them at once).
    """
    file = str(path)
    text = _read_text(path)
    builder = _Builder(file)
    try:
        root = builder.document(iter(YAML(typ="safe", pure=True).parse(text)))
    except _Stop:
        raise InputError(_once(builder.problems)) from None
    except MarkedYAMLError as error:
        raise InputError([*_once(builder.problems), _syntax_problem(file, text, error)]) from None
    except (YAMLError, ValueError, RecursionError) as error:
        message = f"not YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        raise InputError([*_once(builder.problems), Problem(file=file, message=message)]) from None
    if root is None or (root.kind == "scalar" and root.value is None):
        raise InputError(Problem(file=file, message="the file is empty; start from specs/quickstart.yaml"))
    if root.kind != "mapping":
        what = "a list" if root.kind == "sequence" else "a single value"
        message = f"a spec is a mapping of keys (version, name, dataset, …); this file is {what}"
        raise InputError(Problem(file=file, line=root.line, column=root.column, message=message))
    if builder.problems:
        raise InputError(_once(builder.problems))
    return root


def name_in(path: Path) -> object:
    """The name that a spec's file gives now; None where it cannot be read, or is no spec."""
    try:
        return read_tree(path).plain().get("name")
    except InputError:
        return None


def _once(problems: list[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))


def _read_text(path: Path) -> str:
    file = str(path)
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except FileNotFoundError:
        near = _similar_files(path)
        raise InputError(Problem(file=file, message=f"no such file{near}")) from None
    except IsADirectoryError:
        raise InputError(Problem(file=file, message="this is a folder; name a .yaml file in it")) from None
    except OSError as error:
        raise InputError(Problem(file=file, message=f"cannot be read: {error.strerror or error}")) from None
    if data is None:
        raise InputError(Problem(file=file, message=f"larger than {MAX_BYTES // 1_000_000} MB: not a spec"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"not UTF-8: byte 0x{data[error.start]:02x}; save the file as UTF-8"
        raise InputError(Problem(file=file, line=line, column=column, message=message)) from None


def _similar_files(path: Path) -> str:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f": the folder {path.parent} does not exist"
    found = (p for folder in (path.parent / "specs", path.parent) for p in sorted(folder.glob("*.y*ml"), reverse=True))
    files = {p.stem: p for p in found if p.suffix in (".yaml", ".yml")}
    near = get_close_matches(path.stem, files, 1, cutoff=0.7)  # of the stems: the same ending is no likeness
    return f"; did you mean {files[near[0]]}?" if near else ""


def _syntax_problem(file: str, text: str, error: MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (None, None)
    lines = text.splitlines()
    at_tab = line is not None and line <= len(lines) and "\t" in lines[line - 1][: max(column or 1, 1)]
    if at_tab or "'\\t'" in str(error.problem):
        return Problem(file, "a tab where YAML wants spaces: indent with spaces only", line, column)
    what = str(error.problem or "cannot be parsed").strip()
    context = f" ({error.context}, line {error.context_mark.line + 1})" if error.context and error.context_mark else ""
    remedy = ""
    if "mapping values are not allowed" in what:
        remedy = "; put a value that contains `: ` in quotes, and check the indentation"
    elif "expected ',' or" in what:
        remedy = "; a bracket is not closed, or a comma is missing"
    elif "unexpected end of stream" in what:
        remedy = "; a quote is not closed"
    elif "block end" in what or "expected <" in what:
        remedy = "; check the indentation of this line"
    return Problem(file, f"not YAML: {what}{context}{remedy}", line, column)
