"""The four stages of a training step, by name and in their order."""

from __future__ import annotations

from typing import Literal

Stage = Literal["sample", "fetch", "compute", "update"]
STAGES: tuple[Stage, ...] = ("sample", "fetch", "compute", "update")
