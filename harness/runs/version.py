"""The engine's version, where runs look for it; the planner owns it, since it enters plans as well as run ids."""

from harness.plan.version import ENGINE_VERSION

__all__ = ["ENGINE_VERSION"]
