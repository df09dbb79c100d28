"""Text that others wrote (names, error messages) made safe for each format that it is printed in."""

from __future__ import annotations

import html
import re
import unicodedata

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "−": r"\ensuremath{-}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\ldots{}",
    "Δ": r"\ensuremath{\Delta}",
    "α": r"\ensuremath{\alpha}",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "·": r"\textperiodcentered{}",
    "→": r"\ensuremath{\to}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "√": r"\ensuremath{\surd}",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
}
_BREAK_AFTER = frozenset("-._/,:=")
_NUMBER = re.compile(r"(?:(?<![A-Za-z0-9])-)?\d{1,20}(?:[.,]\d{1,20})*(?:e[-+]?\d{1,3})?")
_LONGEST_UNBROKEN = 14

_NO_BREAK = "\u00a0"
_INTERVAL = re.compile(r"\[[^\[\]]{1,30}\]")
_UNIT = re.compile(r"(?<=\d) (?=%|(?:ms|s|min|h|pp|[kMGT]?B)\b)")
_NAME_JOINT = re.compile(r"(?<=[A-Za-z0-9][._/])(?=[A-Za-z])")  # not inside a number

# A command, an option or a name, as our sentences set them off: words in which no format has anything to escape.
_CODE = r"(?<!`)`([A-Za-z0-9][A-Za-z0-9 .:,=/_-]*)`(?!`)"
# Marks that always mean something; brackets that would make a link, a footnote, a box to tick or, at the start of a
# line, a link's definition; underscores that are not inside a word.
_MARKDOWN = re.compile(_CODE + r"|([\\`*|~#$]|^\[|\[(?=\^)|\](?=[\[(])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def clean(text: str) -> str:
    """One line of printable text: control characters, colour codes, surrogates and bidirectional overrides are gone."""
    if isinstance(text, str) and text.isprintable():  # of almost all there is nothing to take out
        return " ".join(text.split())
    text = re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]", "", str(text))
    kept = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    return " ".join("".join(c for c in kept if unicodedata.category(c) not in ("Cs", "Cf", "Co", "Cn")).split())


def latex(text: str, breakable: bool = False) -> str:
    """For LaTeX's text mode under pdflatex.

    A character outside Latin-1 that is not in the table above becomes its code point, `[U+4E2D]`: pdflatex stops at
    characters that its fonts lack.

    Args:
        text: anything.
        breakable: allow line breaks inside words (long names in narrow columns), though not inside numbers.
    """
    text = clean(text)
    pieces = []
    unbroken = 0
    whole = {at for number in _NUMBER.finditer(text) for at in range(number.start(), number.end() - 1)}
    for at, character in enumerate(text):
        if character in _LATEX:
            pieces.append(_LATEX[character])
        elif ord(character) < 0x7F or 0xC0 <= ord(character) <= 0xFF:
            pieces.append(character)
        else:
            pieces.append(f"[U+{ord(character):04X}]")
        unbroken = 0 if character == " " else unbroken + 1
        if breakable and at not in whole and (character in _BREAK_AFTER or unbroken >= _LONGEST_UNBROKEN):
            pieces.append(r"\allowbreak{}")
            unbroken = 0
    return "".join(pieces)


def markdown(text: str) -> str:
    """For a line or a table cell of GitHub's Markdown: no formatting, no HTML, no column of its own.

    Plain words between two backticks are the exception: they stay the code span that our own sentences mean by it.
    """
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(lambda found: found.group() if found.group(1) else f"\\{found.group()}", text)


def page_text(text: str) -> str:
    """For a table's cell or a line of the page, as HTML.

    A name may break after a dot, an underscore or a slash inside it, as it may after a hyphen anyway; an interval stays
    on one line, and so does a number with its unit. Plain words between two backticks are code, as in `markdown`.
    """
    kept = _INTERVAL.sub(lambda found: found.group().replace(" ", _NO_BREAK), clean(text))
    kept = _UNIT.sub(_NO_BREAK, kept)
    return _NAME_JOINT.sub("<wbr>", re.sub(_CODE, r"<code>\1</code>", html.escape(kept)))


def code(text: str) -> str:
    """A code span of Markdown; its fence is longer than any run of backticks in the text."""
    text = clean(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def spreadsheet(text: str) -> str:
    """For a CSV cell of free text: what a spreadsheet would run as a formula is quoted with an apostrophe."""
    text = clean(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text
