"""Mini-batch to loss. In: features and blocks. Out: logits, with the aggregation, precision and
checkpointing that the options ask for.

May import harness.batches and what it may import.
"""
