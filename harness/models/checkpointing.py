"""Gradient checkpointing of one layer: its activations are dropped and computed again in the backward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def checkpointed(layer: nn.Module, *inputs: Any, recomputed: Callable[[], None]) -> Tensor:
    """``layer(*inputs)``, of which only the inputs are kept.

    The second computation draws the same dropout masks (the random state is restored) and leaves the running
    statistics of batch normalisation alone, which the first one has updated already. The non-reentrant form is
    needed: the input layer's features have no gradient.

    Args:
        recomputed: called once for each second computation.
    """

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _recomputation(layer, recomputed)

    return checkpoint(layer, *inputs, use_reentrant=False, preserve_rng_state=True, context_fn=contexts)


@contextmanager
def _recomputation(layer: nn.Module, recomputed: Callable[[], None]) -> Iterator[None]:
    """The running statistics are replaced by copies while the layer is computed again.

    Switching their update off instead would change what the layer saves for the backward pass, which checkpointing
    compares with the first time.
    """
    recomputed()
    norms = [m for m in layer.modules() if isinstance(m, _BatchNorm)]
    kept = [dict(norm._buffers) for norm in norms]
    for norm in norms:
        norm._buffers.update({k: None if v is None else v.clone() for k, v in norm._buffers.items()})
    try:
        yield
    finally:
        for norm, buffers in zip(norms, kept, strict=True):
            norm._buffers.update(buffers)
