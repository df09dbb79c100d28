"""Graph to mini-batch. In: a `Graph` and options. Out: `Batch`es (hop-wise blocks, clusters, full graph)
with their features fetched.

May import harness.graphs and what it may import.
"""
