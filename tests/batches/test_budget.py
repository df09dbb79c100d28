"""Batches closed by nodes times edges of their sampled subgraph."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.batches.budget import BudgetedEpoch, next_tried, node_edges
from harness.batches.epochs import NoSuchBatch
from harness.batches.plans import batches_of
from harness.spec.options import Options, Training


@dataclass
class Made:
    """What the division looks at in a batch; its size is a sum over the seeds, so that it is known by other means."""

    targets: np.ndarray
    nodes: range
    num_edges: int
    index: int


def _division(sizes: list[int], budget: int) -> tuple[BudgetedEpoch, list[int]]:
    """Of seeds 0, 1, … with ``sizes`` edges each; and how many seeds were sampled each time."""
    sampled: list[int] = []
    size = np.array(sizes, dtype=np.int64)

    def sample(seeds: np.ndarray, index: int) -> Made:
        sampled.append(len(seeds))
        edges = int(size[seeds].sum())
        return Made(seeds, range(edges), edges, index)

    return BudgetedEpoch(np.arange(len(size)), sample, budget), sampled


def _all(division: BudgetedEpoch) -> list[Made]:
    made = []
    for index in count():
        try:
            made.append(division.batch(index))
        except NoSuchBatch:
            return made


@settings(max_examples=200)
@given(st.lists(st.integers(0, 60), max_size=400), st.integers(1, 10**7))
def test_batches_hold_every_seed_once_and_as_many_as_fit(sizes: list[int], budget: int) -> None:
    made = _all(_division(sizes, budget)[0])
    assert [seed for batch in made for seed in batch.targets] == list(range(len(sizes)))
    start = 0
    for batch in made:
        seeds, left = len(batch.targets), len(sizes) - start
        assert seeds == 1 or node_edges(batch) <= budget
        if seeds < left:
            assert sum(sizes[start : start + next_tried(seeds, left)]) ** 2 > budget
        start += seeds


def test_a_seed_above_the_budget_is_a_batch_of_its_own() -> None:
    made = _all(_division([1, 1, 100, 1, 1], 9)[0])
    assert [batch.targets.tolist() for batch in made] == [[0, 1], [2], [3, 4]]


def test_no_seed_no_batch_and_a_large_budget_one() -> None:
    assert _all(_division([], 10)[0]) == []
    assert [len(batch.targets) for batch in _all(_division([3] * 5000, 10**18)[0])] == [5000]
    assert [len(batch.targets) for batch in _all(_division([0] * 500, 1)[0])] == [500]  # without edges all fit


def test_the_batch_before_makes_the_search_short() -> None:
    division, sampled = _division([5] * 50_000, (5 * 1000) ** 2)
    made = _all(division)
    assert {len(batch.targets) for batch in made[:-1]} == {992}  # 1000 would fit; above 512 every 16th is tried
    assert len(sampled) < 20 + 3 * len(made)


def test_numbers_of_seeds_are_tried_to_three_percent() -> None:
    tried = [1]
    while tried[-1] < 5000:
        tried.append(next_tried(tried[-1], 5000))
    assert tried[:65] == [*range(1, 65), 66]
    assert tried[-1] == 5000
    assert max((b - a) / a for a, b in pairwise(tried[63:])) <= 1 / 32


def test_any_order_of_asking_gives_the_same_batches() -> None:
    sizes = np.random.default_rng(0).integers(0, 40, 3000).tolist()
    expected = [batch.targets.tolist() for batch in _all(_division(sizes, 10**5)[0])]
    division, _ = _division(sizes, 10**5)
    order = np.random.default_rng(1).permutation(len(expected))
    found = {int(i): division.batch(int(i)).targets.tolist() for i in order}
    assert [found[i] for i in range(len(expected))] == expected
    with pytest.raises(NoSuchBatch, match=f"has {len(expected)} batches"):
        division.batch(len(expected))


# --- in a plan -----------------------------------------------------------------------------------------------------

BUDGET = 200_000


@pytest.fixture
def plan(skewed, make_graph):
    def make(budget: int = BUDGET, method: str = "uniform", train=None):
        sampling = {"fanout": [5, 3], "node_edge_budget": budget, "method": method}
        options = Options.model_validate({"sampling": sampling})
        return batches_of(make_graph(*skewed, train=train), options, Training(batch_size=7), 2, 0)

    return make


def _content(batches) -> list[tuple]:
    return [(b.index, b.nodes.tobytes(), b.blocks[0].indices.tobytes(), b.blocks[0].indptr.tobytes()) for b in batches]


@pytest.mark.parametrize("method", ["uniform", "fixed", "importance", "degree-stratified", "labor"])
def test_an_epoch_is_divided_within_the_budget(plan, method: str) -> None:
    batches = plan(method=method)
    assert batches.num_batches is None
    made = list(batches.epoch(1))
    seeds = np.concatenate([b.nodes[: len(b.targets)] for b in made])
    assert np.array_equal(np.sort(seeds), np.arange(0, 2000, 2))
    found = batches.counters()
    assert found["node_edges"]["max"] == max(node_edges(b) for b in made) <= BUDGET
    assert found["closings"] == {"checked": 4, "early": 0}
    assert (found["seeds_once"], found["over_budget"], found["above_budget"]) == (True, 0, 0)
    assert found["seeds_per_batch"]["mean"] == pytest.approx(1000 / len(made))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_no_batch(plan, threads: int) -> None:
    background, plain, before = plan(), plan(), threading.active_count()
    for epoch in (1, 2):
        assert _content(background.epoch(epoch, threads, 5)) == _content(plain.epoch(epoch))
    found, expected = background.counters(), plain.counters()
    # a thread that asks for a batch whose end another one has found samples it once more
    assert found.pop("samplings") >= expected.pop("samplings") > 2 * expected["batches"]
    assert found == expected
    assert threading.active_count() == before


def test_epochs_differ_in_their_number_of_batches_and_can_be_left_early(plan) -> None:
    plain, stopped = plan(30_000), plan(30_000)
    lengths = {len(list(plain.epoch(epoch))) for epoch in range(6)}
    assert len(lengths) > 1
    for batch in stopped.epoch(1, threads=2):
        if batch.index == 3:
            break
    assert _content(stopped.epoch(1)) == _content(plain.epoch(1)) == _content(plain.replay(1))
    assert _content(stopped.epoch(2, threads=2)) == _content(plain.epoch(2))


def test_a_batch_does_not_depend_on_those_before_it_having_been_made(plan) -> None:
    made = list(plan().epoch(3))
    alone = plan().batch(3, len(made) - 1)
    assert _content([alone]) == _content(made[-1:])
    with pytest.raises(NoSuchBatch):
        plan().batch(3, len(made))


def test_a_budget_below_one_seed_counts_the_seeds_above_it(plan) -> None:
    batches = plan(1)
    made = list(batches.epoch(1))
    found = batches.counters()
    assert found["over_budget"] == sum(node_edges(b) > 1 for b in made) > 500
    assert found["above_budget"] == 0


def test_a_seed_above_the_budget_closes_its_batch_without_a_look_at_the_next(make_csr, make_graph) -> None:
    """A hub with 200 leaves: with two seeds another draw may fit, which is no fault of the division."""
    hub, leaves = np.zeros(200, np.int64), np.arange(1, 201)
    csr = make_csr(201, np.concatenate([hub, leaves]), np.concatenate([leaves, hub]))
    options = Options.model_validate({"sampling": {"fanout": [1, -1], "node_edge_budget": 5000}})
    smaller = 0
    for seed in range(30):
        batches = batches_of(make_graph(*csr, train=np.arange(40)), options, Training(batch_size=7), 2, seed)
        made = list(batches.epoch(1))
        assert batches.counters()["closings"]["early"] == 0
        alone = [b for b in made[:4] if len(b.targets) == 1 and node_edges(b) > 5000]
        smaller += len(alone)
    assert smaller > 0


@pytest.mark.parametrize("threads", [0, 2])
def test_no_training_node_no_batch(plan, threads: int) -> None:
    batches = plan(train=np.zeros(0, np.int64))
    assert list(batches.epoch(1, threads)) == []
    assert batches.counters()["closings"] == {"checked": 0, "early": 0}


def test_a_budget_above_the_graph_is_one_batch(plan) -> None:
    assert [len(b.targets) for b in plan(10**12).epoch(1, threads=1)] == [1000]
