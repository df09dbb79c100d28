"""One thing found out about the machine, and what to do about it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from harness.spec.options import Frozen


class Finding(Frozen):
    """One line of the answer."""

    level: Literal["ok", "note", "problem"] = Field(
        description="`note`: runs work, and something is slow, absent or unlike what one may think; `problem`: mend it."
    )
    text: str
    remedy: str = Field("", description="What to do.")
    fatal: bool = Field(False, description="Makes every run impossible.")
    facts: dict[str, Any] = Field(default_factory=dict, description="The text's figures, for programs.")


class Section(Frozen):
    """Findings about one thing."""

    title: str
    findings: tuple[Finding, ...]


class Diagnosis(Frozen):
    """All of them."""

    sections: tuple[Section, ...]

    @property
    def can_run(self) -> bool:
        """Whether any run is possible here."""
        return not any(finding.fatal for section in self.sections for finding in section.findings)


def ok(text: str, **facts: Any) -> Finding:
    """As it should be."""
    return Finding(level="ok", text=text, facts=facts)


def note(text: str, remedy: str = "", **facts: Any) -> Finding:
    """Worth knowing; runs work."""
    return Finding(level="note", text=text, remedy=remedy, facts=facts)


def problem(text: str, remedy: str, fatal: bool = False, **facts: Any) -> Finding:
    """To be mended; ``fatal`` where no run is possible before it is."""
    return Finding(level="problem", text=text, remedy=remedy, fatal=fatal, facts=facts)
