"""The data set in a few words, by which results of several specs are told to be of one graph."""

from __future__ import annotations

from pathlib import PurePath

from harness.spec.dataset import Builtin, Dataset, Files, Ogb, Pyg

_SUBSETS = {"noun": "nouns", "verb": "verbs", "adj": "adjectives", "adv": "adverbs"}


def dataset_label(dataset: Dataset) -> str:
    """`WordNet (verbs)`, `Amazon Computers`; of files the name of the one that holds the edges."""
    if isinstance(dataset, Builtin):
        return f"WordNet ({_SUBSETS[dataset.subset]})" if dataset.subset else "WordNet"
    if isinstance(dataset, Pyg | Ogb):
        return dataset.name.replace("/", " ")
    if isinstance(dataset, Files):
        return PurePath(dataset.path or dataset.edges or "files").stem
    return f"a synthetic graph of {dataset.nodes:,} nodes"
