"""docs/options.md is written from the schema and names every key."""

from pathlib import Path

from harness.spec.option_paths import option_paths
from harness.spec.option_table import option_table

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def test_the_committed_page_is_up_to_date():
    assert PAGE.read_text() == option_table(), "run `harness schema --format md > docs/options.md`"


def test_every_option_of_a_variant_has_a_row():
    text = option_table()
    assert not [path for path in option_paths() if f"| `{path.rsplit('.', 1)[-1]}` |" not in text]
