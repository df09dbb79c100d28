"""Neighbour sampling. In: a CSR, seeds, an epoch and a batch number. Out: a `Batch` of hop-wise blocks.

`numba_sampler` and `torch_sampler` draw the same; `draws_*` hold the methods.
"""
