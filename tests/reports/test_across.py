"""What `harness compare` prints."""

from __future__ import annotations

import io

from rich.console import Console

from harness.reports.across import across_markdown, across_table, answers, differing
from harness.verdicts.across.compare import compare
from harness.verdicts.across.model import Across
from tests.verdicts.across.made_up import A_METRICS, NEW, folder, less, with_hash

WIGGLE = [0.0005, -0.0004, 0.0002, -0.0006, 0.0003]
DROPPED = [m + w for m, w in zip(less(A_METRICS, 1.0), WIGGLE, strict=True)]


def printed(found: Across, width: int = 80) -> str:
    file = io.StringIO()
    across_table(found, Console(file=file, width=width))
    return file.getvalue()


def test_a_drop_is_the_answer() -> None:
    found = compare(folder("old/thin"), folder("new/thin", environment=NEW, baseline=DROPPED, variant=DROPPED))
    assert answers(found) == ["Accuracy is shown to drop by more than 0.5 pp in baseline and thin."]
    assert differing(found) == ["torch: 2.12.0 in A, 2.13.0 in B"]


def test_what_cannot_be_told_apart_is_said() -> None:
    found = compare(folder(), folder(environment=NEW | {"numpy": "2.4.0"}))
    assert answers(found) == [
        "No drop of accuracy by more than 0.5 pp is shown. "
        "Of 2 sets of options: 2 kept (2 with identical predictions).",
        "2 things differ at once (torch and numpy), so that a change cannot be put down to one of them.",
    ]


def test_a_failure_in_b_is_said() -> None:
    found = compare(folder(), folder(environment=NEW, variant=["oom", *A_METRICS[1:]]))
    assert answers(found)[0].startswith("B failed where A ran in thin.")
    assert "seed 0 of B ended as oom" in printed(found)


def test_nothing_that_differs_is_said() -> None:
    one = with_hash(folder(), "h")
    assert differing(compare(one, one)) == [
        "nothing that was recorded: data, versions, threads, device, gate and looks are the same"
    ]


def test_it_is_read_at_80_columns() -> None:
    text = printed(compare(folder("a"), folder("b", environment=NEW, baseline=DROPPED, ratios=[0.99, 1.0, 1.01, 1.0])))
    assert max(len(line) for line in text.splitlines()) <= 80
    lines = text.splitlines()
    (row,) = [line for line in lines if line.startswith("baseline") and "dropped" in line]
    assert row.split()[:5] == ["baseline", "70.10", "%", "69.10", "%"]
    (row,) = [line for line in lines if "changed" in line]
    assert row.split() == ["thin", "accept", "no-gain", "changed"]
    assert "\n\n\n" not in text
    assert "were not measured in turn on one machine" in " ".join(text.split())


def test_the_document_has_the_same_tables() -> None:
    text = across_markdown(compare(folder("a"), folder("b|c", environment=NEW, baseline=DROPPED)))
    assert "B: b\\|c" in text
    assert "| baseline" in text
    assert "dropped" in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        "## What differs",
        "## Accuracy, B minus A over the seeds of both",
        "## Speed-up within each folder",
        "## Memory saved within each folder",
        "## Seconds and bytes",
        "## Verdicts",
    ]
