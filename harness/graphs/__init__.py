"""The data. In: a dataset section of a spec. Out: one `Graph` on disk (CSR, features, labels, splits,
fingerprint), and partitions of it.

May import harness.spec, harness.records and harness.plan.
"""
