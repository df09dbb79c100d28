"""Whether sums in half precision left its range: sampled, and compared with the same sums in float32."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from harness.models.adjacency import Adjacency, to_tensor
from harness.models.sparse_looks import is_looked_at

Finish = Callable[[Tensor, Tensor], Tensor]
HALF = (torch.float16, torch.bfloat16)
ROWS, COLUMNS = 256, 64  # of an output that are compared with float32, at most
EDGES = 2**14  # summed at a time: the sum of a hub takes no more memory than that


class Summed(NamedTuple):
    """What an output is the sum of, and what was done to the sum.

    Attributes:
        rows: what was summed, before it was cast to half: row ``index[e]`` is edge e's, or row e for None.
        weight: of the edges, ``[num_edges]`` or ``[num_edges, heads]``; None: the adjacency's.
        finish: what was done to the sums: of float32 sums and their destinations; None: nothing.
    """

    rows: Tensor
    index: Tensor | None
    weight: Tensor | None = None
    finish: Finish | None = None


class HalfRange:
    """Looks at the first sums of a layer and then at each sixteenth; sums in float32 and float64 are left alone.

    Of a sum that is looked at, all values are searched for one that is not finite. Up to 256 destinations, evenly
    spaced, and the one of the largest degree are summed in float32 too, in up to 64 evenly spaced columns. Nothing
    waits for the device until the counts are asked for.

    Attributes:
        checked: outputs looked at.
        values: values compared with their float32 sum.
    """

    def __init__(self) -> None:
        self.checked = self.values = 0
        self._counts: dict[str, Tensor] = {}  # on the device

    def look(self, call: int, out: Tensor, adjacency: Adjacency, summed: Summed) -> None:
        """See one output.

        Args:
            call: number of the layer's call, from 1.
            out: ``[num_dst, ...]``.
            summed: over the adjacency's edges.
        """
        if out.dtype not in HALF or not is_looked_at(call):
            return
        with torch.no_grad(), torch.autocast(out.device.type, enabled=False):
            self.checked += 1
            self._add("nonfinite", ~torch.isfinite(out).all())
            width = out[0].numel() if len(out) else 0
            if adjacency.num_edges == 0 or width == 0:
                return
            columns = torch.arange(0, width, -(-width // COLUMNS), device=out.device)
            looked, edges, place = _sample(adjacency)
            rows, index, weight, finish = summed
            weight = adjacency.weight(torch.float32) if weight is None else weight
            exact = torch.zeros(len(looked), len(columns), device=out.device)
            sampled = rows.flatten(1)[:, columns]
            for some, where in zip(edges.split(EDGES), place.split(EDGES), strict=True):
                messages = sampled.index_select(0, some if index is None else index[some]).float()
                if weight is not None:
                    messages *= _in_columns(weight.index_select(0, some).float(), columns, width)
                exact.index_add_(0, where, messages)
            if finish is not None:
                exact = finish(exact, looked)
            found = out.flatten(1).index_select(0, looked).index_select(1, columns).float()
            self.values += exact.numel()
            in_float32 = torch.isfinite(exact)
            self._add("over", in_float32 & ~torch.isfinite(found))
            tiny = found.abs() < torch.finfo(out.dtype).smallest_normal
            self._add("under", in_float32 & (exact != 0) & tiny)

    def _add(self, what: str, found: Tensor) -> None:
        self._counts[what] = found.sum() + self._counts.get(what, 0)

    @property
    def nonfinite(self) -> int:
        """Outputs with a value that is not finite, of those looked at."""
        return int(self._counts.get("nonfinite", 0))

    @property
    def overflows(self) -> int:
        """Values that are not finite where their float32 sum is."""
        return int(self._counts.get("over", 0))

    @property
    def underflows(self) -> int:
        """Values that are 0 or subnormal where their float32 sum is not 0."""
        return int(self._counts.get("under", 0))


def half_range_counters(each: Iterable[HalfRange]) -> dict[str, Any]:
    """Of all layers together; the shares are None where nothing was compared, as in float32."""
    layers = list(each)
    values = sum(layer.values for layer in layers)
    over, under = sum(layer.overflows for layer in layers), sum(layer.underflows for layer in layers)
    return {
        "nonfinite_aggregations": sum(layer.nonfinite for layer in layers),
        "nonfinite_checked": sum(layer.checked for layer in layers),
        "aggregation_values_checked": values,
        "aggregation_overflow_by_layer": [layer.overflows / layer.values if layer.values else None for layer in layers]
        if values
        else None,
        "aggregation_overflow_share": over / values if values else None,
        "aggregation_underflow_share": under / values if values else None,
    }


def _sample(adjacency: Adjacency) -> tuple[Tensor, Tensor, Tensor]:
    """Destinations that are looked at, their edges, and the place of each edge's destination among these."""
    indptr, device = adjacency.row_pointer, adjacency.device
    degree = np.diff(indptr)
    looked = np.unique([int(degree.argmax()), *range(0, len(degree), -(-len(degree) // ROWS))])
    counts = degree[looked]
    place = np.repeat(np.arange(len(looked)), counts)
    before = np.cumsum(counts) - counts
    edges = np.arange(counts.sum()) + (indptr[looked] - before)[place]
    return to_tensor(looked, device), to_tensor(edges, device), to_tensor(place, device)


def _in_columns(weight: Tensor, columns: Tensor, width: int) -> Tensor:
    """Weights of edges beside the columns: one for all, or that of the head that a column is of."""
    if weight.dim() == 1:
        return weight.view(-1, 1)
    return weight.index_select(1, columns // (width // weight.shape[1]))
