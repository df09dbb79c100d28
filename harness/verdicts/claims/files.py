"""Where measured claims lie: in a spec's results, else among the committed reference results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.records.files import read_model
from harness.spec.claims import Claim, Measure
from harness.verdicts.claims.ledger import Lookup
from harness.verdicts.claims.model import ClaimResults

FILE = "claims.json"


def wanted_of(claims: Iterable[Claim], spec: str) -> list[tuple[Measure, str | None]]:
    """What the claims ask of a spec's results, each with the spec of its reference where that is another."""
    return [
        (expected.measure, test.against)
        for claim in claims
        for test in claim.tests
        if test.spec == spec
        for expected in (*claim.where, *claim.expects)
    ]


def lookup_under(results: Path, *, reference: bool = True) -> Lookup:
    """Sources of a spec: ``results/<spec>``, then ``results/reference/<spec>``, which another machine measured.

    Each file is read once.

    Args:
        reference: whether committed results count.
    """
    read: dict[Path, ClaimResults] = {}

    def lookup(spec: str) -> list[tuple[str, ClaimResults]]:
        paths = [results / spec / FILE, *([results / "reference" / spec / FILE] if reference else [])]
        for path in paths:
            if path not in read and path.is_file():
                read[path] = read_model(path, ClaimResults)
        return [(str(path), read[path]) for path in paths if path in read]

    return lookup
