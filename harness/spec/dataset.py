"""The dataset section of a spec: where a graph comes from and how it is split."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.spec.options import Frozen

WALK_STEPS = 16


class Split(Frozen):
    """Which nodes train, validate and test."""

    kind: Literal["public", "file", "random", "stratified"]
    index: int = Field(0, ge=0, description="Which public split, where the data has several.")
    path: str | None = Field(None, description="npz with train, val, test (node ids or masks), for `file`.")
    train: float | None = Field(None, gt=0.0, lt=1.0, description="Share of labelled nodes.")
    val: float | None = Field(None, gt=0.0, lt=1.0, description="Share of labelled nodes; the rest tests.")
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _complete(self) -> Split:
        if self.kind in ("random", "stratified"):
            if self.train is None or self.val is None:
                raise ValueError(f"a {self.kind} split needs `train` and `val`, e.g. train: 0.6, val: 0.2")
            if self.train + self.val >= 1.0:
                raise ValueError(f"train + val is {self.train + self.val:g}; it must leave nodes for the test set")
        if self.kind == "file" and self.path is None:
            raise ValueError("a split from a file needs `path`")
        return self


class Transform(Frozen):
    """Changes to the features, in this order, fitted on the training nodes so that nothing leaks."""

    missing: Literal["error", "mean"] = Field(
        "error", description="Features that are NaN: an error, or their column's mean over the nodes that have it."
    )
    scale: Literal["standard", "minmax", "row"] | None = Field(
        None, description="standard and minmax by column; row: each node's features sum to 1."
    )
    pca: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Project on so many principal components; a warning where they keep under 85 % of the variance.",
    )
    structural: Annotated[
        tuple[Literal["degree", "pagerank", "clustering", "random-walk"], ...], Field(strict=False, max_length=4)
    ] = Field(
        (),
        description="Columns added from the edges, standardised (minmax where `scale` is): logarithms of in-degree and "
        "PageRank, clustering coefficient, and return probabilities of random walks.",
    )
    walk_steps: int = Field(WALK_STEPS, ge=1, le=256, description="Longest walk of `random-walk`, a column a step.")
    fit: Literal["train", "all"] = Field(
        "train", description="`all` also fits on validation and test nodes: a leak, to measure what it is worth."
    )

    @model_validator(mode="after")
    def _does_something(self) -> Transform:
        if self.missing == "error" and self.scale is None and self.pca is None and not self.structural:
            raise ValueError("changes nothing; give scale, pca, structural or missing: mean, or leave it out")
        if len(set(self.structural)) < len(self.structural):
            raise ValueError(f"`structural` names a column twice: {', '.join(self.structural)}")
        if self.walk_steps != WALK_STEPS and "random-walk" not in self.structural:
            raise ValueError("`walk_steps` changes nothing without structural: [random-walk]")
        if self.fit == "all" and not self.leaks:
            raise ValueError("`fit` changes nothing with scale: row alone, which fits nothing; leave it out")
        return self

    @property
    def leaks(self) -> bool:
        """Something is fitted, and on validation and test nodes too. Dividing rows by their sum fits nothing."""
        fits = self.missing == "mean" or self.scale in ("standard", "minmax") or self.pca is not None
        return self.fit == "all" and (fits or bool(self.structural))

    def columns_after(self, num_features: int) -> int:
        """Columns that a table of so many has after it."""
        added = sum(self.walk_steps if column == "random-walk" else 1 for column in self.structural)
        return (num_features if self.pca is None else self.pca) + added


class _Dataset(Frozen):
    undirected: bool = Field(False, description="Add the reverse of every edge. Default: messages go source to target.")
    transform: Transform | None = None
    split: Split | None = Field(None, description="Default: public where the data has one, else random 60/20/20.")

    @property
    def adds_columns(self) -> bool:
        """Features are made from the edges, so the source need have none."""
        return self.transform is not None and bool(self.transform.structural)


class Builtin(_Dataset):
    """WordNet 3.0, shipped with the package: synsets, relations, words of the gloss."""

    source: Literal["builtin"]
    name: Literal["wordnet"]
    subset: Literal["noun", "verb", "adj"] | None = Field(
        None, description="Synsets of one part of speech; adverbs are a single class, so they cannot be learned."
    )
    features: int = Field(1024, ge=1, le=1024, description="Gloss words used as features, the most frequent first.")


class Pyg(_Dataset):
    """A node-classification data set of torch_geometric.datasets, as Class/Name or Class."""

    source: Literal["pyg"]
    name: str = Field(pattern=r"^[A-Za-z_]\w*(/[\w.+-]+)?$", description="e.g. Planetoid/Cora, Amazon/Photo, Reddit2")


class Ogb(_Dataset):
    """A node-property-prediction data set of OGB, with its own split."""

    source: Literal["ogb"]
    name: str = Field(pattern=r"^ogbn-[a-z0-9]+$")


class Files(_Dataset):
    """Your own files: one npz of plain arrays, or edges, features and labels apart."""

    source: Literal["files"]
    path: str | None = Field(
        None,
        description="npz with edge_index or indptr+indices, x or x_indptr+x_indices+x_shape, y; perhaps edge_attr",
    )
    edges: str | None = Field(None, description="npz, npy, csv, parquet or mtx")
    features: str | None = Field(
        None, description="npy or npz (dense or scipy sparse); may be left out with transform.structural"
    )
    edge_features: str | None = Field(None, description="npy, a row an edge, in the order of `edges` (mpnn)")
    labels: str | None = Field(None, description="npy, npz, csv or parquet; -1 or empty is unlabelled")

    @model_validator(mode="after")
    def _one_of_both(self) -> Files:
        apart = [self.edges, self.features, self.labels, self.edge_features]
        if self.path is not None and any(apart):
            raise ValueError("give `path` (one npz) or `edges`, `features` and `labels`, not both")
        needed = ["edges", "features", "labels"]
        if self.adds_columns:
            needed.remove("features")
        missing = [k for k in needed if getattr(self, k) is None]
        if self.path is None and missing:
            makes = "; without features `transform: {structural: [degree]}` makes some" if "features" in missing else ""
            raise ValueError(
                f"missing {', '.join(missing)}: give `path` (one npz) or edges, features and labels{makes}"
            )
        if self.path is None and self.features is None and self.transform is not None and self.transform.pca:
            raise ValueError(
                "there are no features for `transform.pca` to project: structural columns are added after it; "
                "leave pca out"
            )
        return self


class Synthetic(_Dataset):
    """Degree-corrected stochastic block model with power-law degrees and class-dependent features."""

    source: Literal["synthetic"]
    nodes: int = Field(ge=10, le=50_000_000)
    mean_degree: float = Field(14.0, gt=0.0, description="Edge ends per node, both directions counted.")
    classes: int = Field(10, ge=2)
    features: int = Field(64, ge=1, le=1_000_000)
    homophily: float = Field(0.7, ge=0.0, le=1.0, description="Share of edges inside a class.")
    exponent: float = Field(2.5, gt=1.0, description="Power law of the degrees; larger is more even.")
    signal: float = Field(
        0.5, ge=0.0, le=1e6, description="Distance of class means over the noise's standard deviation."
    )
    edge_features: int = Field(
        0, ge=0, le=1024, description="Attributes of each edge: whether its ends share a class, in noise (mpnn)."
    )
    seed: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _fits(self) -> Synthetic:
        if self.classes > self.nodes:
            raise ValueError(f"{self.classes} classes for {self.nodes} nodes; give at least one node a class")
        most = (self.nodes - 1) / 2
        if self.mean_degree > most:
            raise ValueError(f"a mean_degree of {self.mean_degree:g} with {self.nodes} nodes; at most {most:g} fits")
        return self


Dataset = Annotated[Builtin | Pyg | Ogb | Files | Synthetic, Field(discriminator="source")]
