"""LaTeX as a person would run it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def pdflatex(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run it on a file in a folder; it stops at the first error and reads no file above."""
    return subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        cwd=folder,
        env=os.environ | {"TEXMFVAR": str(folder / "texmf"), "openin_any": "p"},
        check=False,
    )
