"""Links that leave docs/, for the site, which holds nothing but docs/: text and path stand in their place.

A hook of mkdocs. In the repository, and where that is shown, these links work as they are.
"""

import re

LEAVING = re.compile(r"\[([^\]]*)\]\(\.\./([^)\s]+)\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """``[text](../path)`` becomes the text and the path."""
    return LEAVING.sub(r"\1 (`\2`)", markdown)
