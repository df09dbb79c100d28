"""Overflow and underflow of sums in half precision are seen, and counted where float32 has none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from harness.batches.batch import Block
from harness.models.aggregation import Aggregation
from harness.models.block import TorchBlock, to_torch
from harness.models.build import build_model
from harness.models.half_range import half_range_counters
from harness.models.sparse_looks import LOOK_FIRST
from harness.spec.options import Model, Options

CPU = torch.device("cpu")
AGGREGATIONS = ["scatter", "segment", "spmm", "dense"]
HUB = 70_000


def star(leaves: int) -> Block:
    """Node 0 hears from nodes 1 .. leaves, node 1 from node 2, and nobody else from anyone."""
    indptr = np.array([0, leaves, *[leaves + 1] * leaves])
    degree = np.diff(indptr)
    return Block(indptr, np.array([*range(1, leaves + 1), 2]), leaves + 1, degree, degree)


def shares(how: Aggregation) -> tuple[float, float]:
    found = half_range_counters([how.range])
    return found["aggregation_overflow_share"], found["aggregation_underflow_share"]


@pytest.mark.parametrize("aggregation", AGGREGATIONS[:3])  # padded to a hub, every row would be as long as the hub's
@pytest.mark.parametrize(("precision", "finite"), [("fp16", False), ("fp16-linear", True), ("bf16", True)])
def test_a_hub_of_70000_neighbours(aggregation, precision, finite):
    """The sum of 70,000 messages of about 2 is beyond float16's 65,504: reported, and finite with fp16-linear."""
    torch.manual_seed(0)
    net = build_model(Model(conv="sage", layers=1), 4, 3, Options(aggregation=aggregation, precision=precision))
    logits = net(torch.full((HUB + 1, 4), 2.0), (star(HUB),))
    logits.mean().backward()
    found = net.counters()
    for values in (logits, *(p.grad for p in net.parameters() if p.dim() == 2)):
        assert bool(torch.isfinite(values).all()) or not finite
    assert bool(torch.isfinite(logits).all()) == finite
    assert (found["nonfinite_aggregations"] > 0) == (not finite)
    if precision == "fp16-linear":
        assert (found["aggregation_values_checked"], found["aggregation_overflow_share"]) == (0, None)
    else:
        assert found["aggregation_values_checked"] >= 4  # the hub is among the destinations looked at
        assert (found["aggregation_overflow_share"] > 0) == (not finite)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_overflow_is_counted_value_by_value(aggregation):
    how, block = Aggregation(aggregation, torch.float16), to_torch(star(800), CPU)
    x = torch.full((801, 10), 1.0)
    x[:, 3] = 100.0  # 80,000 in one of ten columns
    how.sum(x, block.plain)
    looked = how.range.values / 10
    assert 200 <= looked <= 257
    assert (how.range.overflows, how.range.underflows, how.range.nonfinite, how.range.checked) == (1, 0, 1, 1)
    x[5] = float("inf")  # not finite in float32 either: no fault of half precision
    how.sum(x, block.plain)
    assert (how.range.overflows, how.range.nonfinite) == (1, 2)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize(("dtype", "lost"), [(torch.float16, True), (torch.bfloat16, False)])
def test_underflow_is_counted(aggregation, dtype, lost):
    """1e-6 is subnormal in float16, whose smallest normal number is 6e-5, and normal in bfloat16."""
    how = Aggregation(aggregation, dtype)
    how.mean(torch.full((11, 4), 1e-6), to_torch(star(10), CPU))
    assert shares(how) == (0.0, pytest.approx(2 / 11 if lost else 0.0))  # nodes 0 and 1; the others have no edge


@pytest.mark.parametrize("aggregation", ["scatter", "segment", "dense"])
def test_attention_and_messages_of_edges_are_compared_likewise(aggregation):
    block = to_torch(star(200), CPU)
    how = Aggregation(aggregation, torch.float16)
    attention = torch.stack([torch.full((201,), 1.0), torch.full((201,), 1e-9)], dim=1)
    how.attend(torch.full((201, 2, 5), 400.0), attention, block.plain)
    values = how.range.values
    assert how.range.overflows == 5  # the hub's first head: 80,000
    assert how.range.underflows == 10  # the second head: its attention is 0 in half
    how.reduce_mean(torch.full((201, 2), 400.0), block)
    assert (how.range.overflows, how.range.values) == (5 + 2, values + values // 5)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_mean_over_3000_neighbours_keeps_its_count(aggregation, dtype):
    x = torch.full((3001, 2), 1.5)
    mean = Aggregation(aggregation, dtype).mean(x, to_torch(star(3000), CPU))
    # 4,500 / 3,000, of which the sum is rounded; a count in float16 ends at 2,048, in bfloat16 at 256
    assert mean[0].tolist() == pytest.approx([1.5, 1.5], rel=torch.finfo(dtype).eps)


def test_later_sums_are_looked_at_now_and_then(graphs, whole):
    block = to_torch(whole(graphs(), 1)[0], CPU)
    how, safe = Aggregation("spmm", torch.bfloat16), Aggregation("spmm", torch.float32)
    for _ in range(64):
        how.sum(torch.ones(80, 3), block.plain)
        safe.sum(torch.ones(80, 3), block.plain)
    assert how.range.checked == LOOK_FIRST + 3  # and calls 32, 48 and 64
    assert safe.range.checked == 0


def test_nothing_to_look_at():
    none = np.zeros(0, dtype=np.int64)
    empty = TorchBlock(np.zeros(1, dtype=np.int64), none, 0, none, none, None, CPU)
    how = Aggregation("spmm", torch.float16)
    how.mean(torch.zeros(0, 3), empty)
    assert (how.range.checked, how.range.values) == (1, 0)
