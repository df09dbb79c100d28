"""Tiny passes of what each half precision needs of torch on a device: an exception is the answer that it cannot."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from harness.models.adjacency import Csr
from harness.models.spmm import multiply

Check = Callable[[str, torch.dtype], None]  # on a device; raises what torch raises, or FloatingPointError

_INDPTR, _SOURCES, _TARGETS = (0, 2, 2, 3), (0, 2, 1), (0, 0, 2)  # three edges; node 1 receives from nobody


def linear(device: str, dtype: torch.dtype) -> None:
    """A linear layer under autocast, forward and backward."""
    _backward(_messages(device, dtype), dtype)


def scatter(device: str, dtype: torch.dtype) -> None:
    """Messages added to their targets, forward and backward."""
    messages = _messages(device, dtype).to(dtype)[torch.tensor(_SOURCES, device=device)]
    _backward(messages.new_zeros(3, 8).index_add(0, torch.tensor(_TARGETS, device=device), messages), dtype)


def spmm(device: str, dtype: torch.dtype) -> None:
    """A product with a sparse matrix."""
    indptr, columns = (torch.tensor(ids, device=device) for ids in (_INDPTR, _SOURCES))
    _product(Csr(indptr, columns, torch.ones(3, device=device, dtype=dtype), 3), dtype)


def segment(device: str, dtype: torch.dtype) -> None:
    """Sums of the edges in their order."""
    _product(Csr(torch.tensor(_INDPTR, device=device), torch.arange(3, device=device), None, 3), dtype)


def dense(device: str, dtype: torch.dtype) -> None:
    """Padded rows with a mask, summed, forward and backward."""
    padded = _messages(device, dtype).to(dtype)[torch.zeros(3, 2, dtype=torch.int64, device=device)]
    empty = torch.tensor([[False, False], [True, True], [False, True]], device=device).unsqueeze(-1)
    _backward(padded.masked_fill_(empty, 0.0).sum(dim=1), dtype)


# by what a precision's name is followed by
CHECKS: dict[str, Check] = {"-linear": linear, "": scatter, "+spmm": spmm, "+segment": segment, "+dense": dense}


def _messages(device: str, dtype: torch.dtype) -> Tensor:
    layer = torch.nn.Linear(4, 8).to(device)
    with torch.autocast(device, dtype=dtype):
        out: Tensor = layer(torch.ones(3, 4, device=device))
    return out


def _backward(out: Tensor, dtype: torch.dtype) -> None:
    loss = _finite(out.float().sum())
    if dtype is torch.float16:
        loss = torch.amp.GradScaler(loss.device.type, init_scale=2.0).scale(loss)
    loss.backward()


def _product(matrix: Csr, dtype: torch.dtype) -> None:
    """The engine's own: backward it multiplies by a transpose made beforehand, with the same kernel."""
    _finite(multiply(matrix, _messages(matrix.indptr.device.type, dtype).detach().to(dtype)))


def _finite(out: Tensor) -> Tensor:
    if not torch.isfinite(out).all():
        raise FloatingPointError("the result is not finite")
    return out
