"""Which share of the rows of batches a cache holds, by policy, against the best static cache there is."""

from __future__ import annotations

import argparse

import torch

from harness.batches.features.cache_policy import by_degree, by_hindsight, by_presampling, highest, most_hits
from harness.batches.plans import batches_of
from harness.graphs.graph import Graph
from harness.spec.options import Options, Sampling, Training
from tests.benchmarks.graphs import debian, wordnet
from tests.benchmarks.result import Line, Result

TITLE = "hits of each policy over those of the best static cache"
HOW = (
    "Fan-out [10, 5], batches of 1,024 training nodes; hits counted over the distinct nodes of each batch of "
    "the epochs 1 to 10; presample looks at two other epochs. No times: the figures are exact and the same on "
    "every machine."
)
RATIOS = (0.05, 0.1, 0.2, 0.3, 0.5)
EPOCHS, PRESAMPLED = 10, 2
PRESAMPLE_BY_BEST = 0.87


def run(asked: argparse.Namespace) -> Result:
    torch.set_num_threads(1)
    lines = []
    for name, graph in (("debian", debian()), ("wordnet", wordnet())):
        if graph is None:
            lines.append(
                Line(name, None, at_least=PRESAMPLE_BY_BEST, note="HARNESS_DATA has no files/debian12_deps.npz")
            )
        else:
            lines += _on_graph(
                name, graph, 2 if asked.quick else EPOCHS, PRESAMPLE_BY_BEST if name == "debian" else None
            )
    return Result("cache", TITLE, HOW, lines)


def _on_graph(name: str, graph: Graph, epochs: int, least: float | None) -> list[Line]:
    plan = batches_of(graph, Options(sampling=Sampling(fanout=(10, 5))), Training(batch_size=1024), 2, seed=0)
    fetches = by_hindsight(plan.replay, epochs, graph.num_nodes).score
    scores = {
        "degree": by_degree(graph.indices, graph.num_nodes),
        "presample": by_presampling(plan.replay, PRESAMPLED, graph.num_nodes),
    }
    requests, lines = int(fetches.sum()), []
    for ratio in RATIOS:
        count = round(ratio * graph.num_nodes)
        best = most_hits(fetches, count)
        for policy, scored in scores.items():
            hits = int(fetches[highest(scored, count).nodes].sum())
            lines.append(
                Line(
                    f"{name}, {ratio:g} of the nodes: {policy}",
                    hits / best,
                    at_least=least if policy == "presample" else None,
                    note=f"hit ratio {hits / requests:.3f}, best {best / requests:.3f}",
                    samples={"hits": [hits], "best": [best], "requests": [requests]},
                )
            )
    return lines
