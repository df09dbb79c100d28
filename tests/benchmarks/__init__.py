"""The harness timed against what else does the same work, side by side in one run: ``python -m tests.benchmarks``."""
