"""Node features. In: rows on disk and the nodes of a batch. Out: their rows on the device, and what moved.

`store` hands them out, `cache_policy` and `cache_size` say what the device keeps, `choose` turns options into a store.
"""
