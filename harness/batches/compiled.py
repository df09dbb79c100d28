"""How the loops over edges are compiled: as those of the graphs are."""

from harness.graphs.compiled import compiled

__all__ = ["compiled"]
