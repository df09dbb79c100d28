"""A draft as YAML: a value on a line, what is said of it above or beside."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from harness.drafts.parts import Block, Draft, Entry

WIDTH = 120
BESIDE = 110  # up to which a comment stands beside what it is about
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 _./+?-]*[A-Za-z0-9_/?]|[A-Za-z]")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"}


def yaml_text(draft: Draft, modeline: str) -> str:
    """The spec's file.

    Args:
        draft: its keys, values and comments.
        modeline: first line, which names the schema to editors.
    """
    lines = [modeline, *(f"# {line}".rstrip() for text in draft.heading for line in _wrapped(text, 0))]
    for part in draft.parts:
        lines += _block(part) if isinstance(part, Block) else _entry(part, "")
    return "\n".join(lines) + "\n"


def flow(value: Any) -> str:
    """A value in YAML's flow style, on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(str(key))}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(inner) for inner in value) + "]"
    if isinstance(value, str):
        return _text(value)
    return json.dumps(value)  # numbers, true, false and null are JSON's in YAML too


def _text(value: str) -> str:
    """Plain where YAML reads it as this text, else quoted as JSON does, which YAML reads too."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS and ": " not in value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _block(block: Block) -> Iterator[str]:
    yield from _comment(block.why, "")
    yield f"{block.key}:"
    for entry in block.entries:
        yield from _entry(entry, "  ")


def _entry(entry: Entry, indent: str) -> Iterator[str]:
    line = f"{indent}{'# ' if entry.offered else ''}{_text(entry.key)}: {flow(entry.value)}"
    beside = f"{line}  # {entry.why}"
    if not entry.why:
        yield line
    elif len(beside) <= BESIDE:
        yield beside
    else:
        yield from _comment(entry.why, indent)
        yield line


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in _wrapped(text, len(indent)):
        yield f"{indent}# {line}"


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH - indent - 2, break_on_hyphens=False, break_long_words=False)
