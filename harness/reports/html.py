"""What pages share: templates that escape all they print, and the files beside them."""

from __future__ import annotations

from typing import Any

from harness.reports.escaping import clean, page_text


def environment() -> Any:
    """A Jinja environment of our templates that escapes everything but markup of ours.

    `joined` is its filter for names, which may break at their joints.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("harness.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            value if isinstance(value, Markup) else clean(value) if isinstance(value, str) else value
        ),
    )
    made.filters["joined"] = lambda text: Markup(page_text(text))
    return made


def source(made: Any, name: str) -> str:
    """The text of a stylesheet or script beside the templates."""
    text: str = made.loader.get_source(made, name)[0]
    return text
