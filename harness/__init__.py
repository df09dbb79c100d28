"""Declarative benchmarks and ablations for the training of graph neural networks."""

__version__ = "0.1.0"
