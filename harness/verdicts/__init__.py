"""Records to verdicts. In: accuracies and log ratios, results of variants. Out: `verdicts.json`.

May import harness.spec, harness.records and harness.plan; never torch.
"""
