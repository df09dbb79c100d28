"""`report.html`: one self-contained file, readable without scripts and without a network.

A small script of ours sorts, filters and says values under the pointer. The page's own policy lets no other script run
and nothing be fetched, whatever a name or a message holds.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import asdict

from harness import __version__
from harness.reports.contents import (
    CLAIM_HEADINGS,
    CLAIM_NOTE,
    PAIR_HEADINGS,
    REFERENCE_HEADINGS,
    Contents,
)
from harness.reports.figures.data import FigureData
from harness.reports.html import environment, source
from harness.reports.open_questions import HEADING, NONE
from harness.reports.sort_keys import SORTED_AS
from harness.reports.together import HEADING as TOGETHER
from harness.reports.together import HEIGHT_HEADINGS, HEIGHTS_CAPTION, PART_HEADINGS, PARTS_CAPTION
from harness.reports.where_time_goes import COSTS_HEADING
from harness.reports.where_time_goes import HEADING as TIME_HEADING

_OPEN_UP_TO = 8  # variants whose details stand open at first
_MOST_PAIRS = 4000  # of all variants, so that the page stays below 5 MB


def page(contents: Contents) -> str:
    """The page; Jinja escapes everything but the figures, which are SVG of ours."""
    from markupsafe import Markup

    made = environment()
    made.filters["data_uri"] = _data_uri
    made.filters["svg"] = lambda text: Markup(re.sub(r"<\?xml[^>]*>|<!DOCTYPE[^>]*>", "", text))
    script = source(made, "report.js")
    return made.get_template("report.html").render(
        c=contents,
        failures=[list(asdict(f).values()) for f in contents.failures],
        stylesheet=Markup(source(made, "report.css")),
        script=Markup(script),
        script_hash=_script_hash(script),
        sections=_sections(contents),
        sorted_as=SORTED_AS,
        open_details=len(contents.details) <= _OPEN_UP_TO,
        show_pairs=sum(len(details.pairs) for details in contents.details) <= _MOST_PAIRS,
        pair_headings=PAIR_HEADINGS,
        claim_headings=CLAIM_HEADINGS,
        claim_note=CLAIM_NOTE,
        reference_headings=REFERENCE_HEADINGS,
        open_heading=HEADING,
        time_heading=TIME_HEADING,
        costs_heading=COSTS_HEADING,
        together_heading=TOGETHER,
        part_headings=PART_HEADINGS,
        parts_caption=PARTS_CAPTION,
        height_headings=HEIGHT_HEADINGS,
        heights_caption=HEIGHTS_CAPTION,
        nothing_open=NONE,
        version=__version__,
    )


def _sections(contents: Contents) -> list[tuple[str, str]]:
    """Id and short title of each section, in their order; without a title where it is absent."""
    return [
        ("verdicts", "Verdicts"),
        ("open", "Open questions"),
        ("together", "Together" if contents.together else ""),
        ("time", "Time"),
        ("costs", "Costs" if contents.time.trainings.rows else ""),
        ("figures", "Figures"),
        ("behind", "Each variant"),
        ("claims", "Claims" if contents.claims else ""),
        ("failed", "Skipped and failed"),
        ("how", "Method"),
        ("machine", "Machine"),
    ]


def _script_hash(script: str) -> str:
    """By which a content security policy knows the script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _data_uri(data: FigureData) -> str:
    """The CSV inside the page, so that one file is enough."""
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(data.csv().encode()).decode()
