"""Small graphs with everything that breaks an aggregation, and batches of them made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from harness.batches.batch import Block
from harness.batches.edges import BatchEdges, EdgeTable
from harness.graphs.graph import Graph, GraphMeta

CLASSES, EDGE_FEATURES = 4, 3


@dataclass(frozen=True)
class Made:
    """A graph in memory, its edge list kept in the order of its CSR."""

    indptr: np.ndarray
    indices: np.ndarray
    x: np.ndarray
    y: np.ndarray
    edge_attr: np.ndarray

    @property
    def num_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def edge_index(self) -> torch.Tensor:
        target = np.repeat(np.arange(self.num_nodes), np.diff(self.indptr))
        return torch.from_numpy(np.stack([self.indices.astype(np.int64), target]))

    @property
    def self_loops(self) -> np.ndarray:
        source, target = self.edge_index.numpy()
        return np.bincount(target[source == target], minlength=self.num_nodes)

    def on_disk(self, folder: Path) -> Graph:
        """As the engine sees it; the arrays stay in memory."""
        split = np.array_split(np.arange(self.num_nodes), 3)
        meta = GraphMeta(
            name="made",
            dataset={},
            fingerprint="",
            num_nodes=self.num_nodes,
            num_edges=len(self.indices),
            num_features=self.x.shape[1],
            edge_features=self.edge_attr.shape[1],
            num_classes=CLASSES,
            class_names=[str(c) for c in range(CLASSES)],
            train_nodes=len(split[0]),
            val_nodes=len(split[1]),
            test_nodes=len(split[2]),
            directed=True,
            isolated_nodes=0,
            self_loops=int(self.self_loops.sum()),
            duplicate_edges=0,
            max_in_degree=int(np.diff(self.indptr).max()),
            split="random",
        )
        return Graph(folder, meta, self.indptr, self.indices.astype(np.int32), self.x, self.y, *split, self.edge_attr)

    def edges(self, ids: np.ndarray) -> BatchEdges:
        """Of a batch that holds these."""
        return BatchEdges(EdgeTable(self.edge_attr), ids)


def make(source: np.ndarray, target: np.ndarray, num_nodes: int, features: int = 12, seed: int = 0) -> Made:
    order = np.lexsort((source, target))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(target, minlength=num_nodes))])
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(num_nodes, features)).astype(np.float32)
    y, edge_attr = rng.integers(0, CLASSES, num_nodes), rng.normal(size=(len(source), EDGE_FEATURES))
    return Made(indptr, source[order].astype(np.int64), x, y, edge_attr.astype(np.float32))


def awkward(undirected: bool = False, seed: int = 0) -> Made:
    """80 nodes: a hub, isolated nodes, nodes that only send, repeated edges, one and several self-loops."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, 60, 150), rng.integers(0, 50, 150)  # 50..59 only send; 60.. are isolated
    source = np.concatenate([source, rng.integers(0, 60, 60), [3, 4, 4, 4], source[:20]])
    target = np.concatenate([target, np.full(60, 7), [3, 4, 4, 4], target[:20]])
    if undirected:
        loop = source == target
        source, target = np.concatenate([source, target[~loop]]), np.concatenate([target, source[~loop]])
    return make(source, target, 80, seed=seed)


def full_blocks(graph: Made, layers: int) -> tuple[Block, ...]:
    degree = np.diff(graph.indptr)
    edges = graph.edges(np.arange(len(graph.indices)))
    block = Block(graph.indptr, graph.indices, graph.num_nodes, degree, degree, graph.self_loops, edges=edges)
    return (block,) * layers


def cluster_blocks(graph: Made, layers: int, nodes: np.ndarray) -> tuple[Block, ...]:
    """The edges among these nodes, the same block for each layer."""
    place = np.full(graph.num_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    all_edges = [np.arange(graph.indptr[v], graph.indptr[v + 1]) for v in nodes]
    held = [row[place[graph.indices[row]] >= 0] for row in all_edges]
    edges = np.concatenate(held)
    degree = np.diff(graph.indptr)[nodes]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in held])])
    sizes = (len(nodes), degree, degree, graph.self_loops[nodes])
    return (Block(indptr, place[graph.indices[edges]], *sizes, edges=graph.edges(edges)),) * layers


def neighbor_blocks(
    graph: Made, seeds: np.ndarray, fanout: list[int], seed: int = 0
) -> tuple[np.ndarray, tuple[Block, ...]]:
    """Nodes and hop-wise blocks, input layer first: each hop draws for the nodes that the one before found."""
    rng = np.random.default_rng(seed)
    nodes, drawn, known = list(seeds), [], [len(seeds)]
    for count in fanout:
        for v in nodes[len(drawn) :]:
            row = np.arange(graph.indptr[v], graph.indptr[v + 1])
            keep = np.arange(len(row)) if count < 0 else rng.permutation(len(row))[:count]
            drawn.append(row[np.sort(keep)])
        for u in graph.indices[np.concatenate(drawn)].tolist():
            if u not in nodes:
                nodes.append(u)
        known.append(len(nodes))
    place = {v: i for i, v in enumerate(nodes)}
    everyone = np.array(nodes)
    degree, loops = np.diff(graph.indptr)[everyone], graph.self_loops[everyone]
    blocks, edges = [], graph.edges(np.concatenate(drawn))
    for dst, src in zip(known[-2::-1], known[:0:-1], strict=True):
        indptr = np.concatenate([[0], np.cumsum([len(r) for r in drawn[:dst]])])
        indices = np.array([place[graph.indices[e]] for row in drawn[:dst] for e in row], dtype=np.int64)
        blocks.append(Block(indptr, indices, src, degree[:dst], degree[:src], loops[:src], edges=edges))
    return everyone, tuple(blocks)


def batch_of(graph: Made, kind: str, layers: int) -> tuple[np.ndarray, tuple[Block, ...]]:
    """Nodes and blocks of one batch: the hub, isolated nodes and self-loops are in each."""
    if kind == "full":
        return np.arange(graph.num_nodes), full_blocks(graph, layers)
    if kind == "cluster":
        nodes = np.array([7, 3, 4, 70, *range(10, 40)])
        return nodes, cluster_blocks(graph, layers, nodes)
    return neighbor_blocks(graph, np.array([7, 70, 3, 4, 55, 11]), [5, 3, 2][:layers])


@pytest.fixture
def graphs() -> Callable[..., Made]:
    return awkward


@pytest.fixture
def build_graph() -> Callable[..., Made]:
    return make


@pytest.fixture
def batches() -> Callable[..., tuple[np.ndarray, tuple[Block, ...]]]:
    return batch_of


@pytest.fixture
def sampled() -> Callable[..., tuple[np.ndarray, tuple[Block, ...]]]:
    return neighbor_blocks


@pytest.fixture
def whole() -> Callable[..., tuple[Block, ...]]:
    return full_blocks
