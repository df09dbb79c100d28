"""What a run leaves. In: outcomes of runs. Out: records by id, and results of a variant and of its timing.

May import harness.spec; never torch.
"""
