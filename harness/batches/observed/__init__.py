"""What batches really were, counted from the batches and the graph alone: the evidence of `harness.runs.proof`.

Nothing here shares code with the samplers: a count by the code that made it proves nothing.
"""
