"""The options of the training system: every knob a spec can set, addressed by a dotted path."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, field_validator, model_validator


class Frozen(BaseModel):
    """Base of everything that crosses a stage boundary: immutable, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, populate_by_name=True)


Fanout = Annotated[
    tuple[Annotated[StrictInt, Field(ge=-1, le=10**9)], ...],
    Field(strict=False, min_length=1, description="Neighbours per hop, seeds' hop first; -1 takes all."),
]


class Sampling(Frozen):
    """How the neighbours of a mini-batch are drawn (`batching: neighbor`)."""

    method: Literal["uniform", "fixed", "importance", "degree-stratified", "labor"] = Field(
        "uniform",
        description="`fixed`: the same every epoch. `importance`: by `weights`. `degree-stratified`: nodes up to "
        "the fan-out keep all, hubs get more, with the logarithm of their degree. `labor`: nodes of a hop share draws.",
    )
    fanout: Fanout = (25, 10)
    weights: str = Field(
        "degree",
        pattern=r"^(degree|pagerank|.+\.npy)$",
        description="Of a node as a neighbour (`importance`): `degree`, `pagerank`, or a .npy of one number a node; 0 "
        "is never drawn.",
    )
    reweight: bool = Field(
        False,
        description="Weigh messages so that sums and means stay unbiased where no weight is 0 (`importance`; not gat, "
        "not `class`).",
    )
    node_edge_budget: int | None = Field(
        None,
        ge=1,
        le=10**18,
        description="Most nodes times edges of a batch's sampled subgraph; closes batches instead of `batch_size`.",
    )
    backend: Literal["numba", "torch"] = Field(
        "numba",
        description="`torch` draws the same batches, on the GPU.",
    )

    @model_validator(mode="after")
    def _no_zero(self) -> Sampling:
        if 0 in self.fanout:
            raise ValueError("a fan-out of 0 samples nothing; use a positive number, or -1 for all neighbours")
        return self


class Features(Frozen):
    """Where node features live, and how much of them is kept in the fast home, the device."""

    home: Literal["host", "disk", "device"] = Field(
        "host", description="`disk` is a memory map, for features larger than memory; `device` keeps all rows there."
    )
    cache_ratio: float = Field(0.0, ge=0.0, le=1.0, description="Share of nodes cached in the fast home.")
    cache_bytes: Annotated[int, Field(ge=1, le=10**15)] | Literal["auto"] | None = Field(
        None, description="Size of the cache instead of `cache_ratio`; `auto` is half of what is free there."
    )
    policy: Literal["degree", "presample", "optimal"] = Field(
        "degree",
        description="Which nodes are cached: sources of most edges, most often sampled in `presample_epochs` before "
        "training, or in hindsight (a yardstick: it samples the whole training first).",
    )
    presample_epochs: int = Field(2, ge=1, le=1000, description="Epochs sampled to order the cache (`presample`).")

    @property
    def cached(self) -> bool:
        """Whether a cache is asked for."""
        return self.cache_bytes is not None or self.cache_ratio > 0

    @field_validator("cache_bytes", mode="before")
    @classmethod
    def _bytes_or_auto(cls, value: Any) -> Any:
        whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**15
        if value is None or value == "auto" or whole:
            return value
        raise ValueError(f"{value!r} is not allowed; it must be a whole number of bytes, at least 1, or auto, or null")


class Partition(Frozen):
    """Parts of the graph that make Cluster-GCN batches (`batching: cluster`)."""

    method: Literal["metis", "random", "fennel", "ldg"] = Field(
        "metis", description="`fennel` and `ldg` read the graph as a stream, where METIS is too slow or too large."
    )
    parts: int = Field(64, ge=1, le=10**9, description="Number of parts.")
    per_batch: int = Field(8, ge=1, le=10**9, description="Parts joined in one batch; edges between them are kept.")
    passes: int = Field(10, ge=1, le=1000, description="Times that `fennel` reads the stream.")


class Loader(Frozen):
    """Batches and their features prepared in the background, while the model computes."""

    threads: int = Field(0, ge=0, le=64, description="Background threads; 0 prepares each batch when it is needed.")
    depth: int = Field(2, ge=1, le=1000, description="Batches ahead of the model, at most (at least `threads`).")


class Options(Frozen):
    """The baseline's options; a variant patches some of them."""

    batching: Literal["neighbor", "cluster", "full"] = Field(
        "neighbor", description="Sampled neighbours of seeds, joined parts of the graph, or all of it in one step."
    )
    sampling: Sampling = Sampling()
    features: Features = Features()
    partition: Partition = Partition()
    loader: Loader = Loader()
    precision: Literal["fp32", "bf16", "fp16", "fp16-linear", "bf16-linear", "fp16-features"] = Field(
        "fp32",
        description="`-linear` keeps aggregation in fp32; `fp16-features` stores and moves features in half and "
        "computes in fp32. Evaluation is in fp32 of the graph's own features always.",
    )
    aggregation: Literal["scatter", "spmm", "segment", "dense"] = Field(
        "scatter",
        description="Gather and scatter, sparse matrix product, reduction over sorted segments, or neighbours padded "
        "to the largest degree of the block, with a mask.",
    )
    checkpointing: bool = Field(False, description="Recompute activations in the backward pass.")
    retain: Literal["none", "layer"] = Field(
        "none",
        description="Held beside what the backward pass needs: nothing, or every layer's output until the step's end, "
        "as code that collects embeddings does; most of them the backward pass holds anyway.",
    )
    deterministic: bool = Field(
        False, description="torch's deterministic algorithms only; an operation that has none ends the run."
    )

    @property
    def stored_bytes(self) -> int:
        """Bytes of a feature where it is stored and moved: of float16 or float32."""
        return 2 if self.precision == "fp16-features" else 4


class Model(Frozen):
    """The network: one of ours by `conv`, or your own `torch.nn.Module` by `class`."""

    conv: Literal["gcn", "sage", "gat", "gin", "mpnn"] | None = Field(
        None, description="One of ours; or give `class`. `mpnn` reads the edges' attributes."
    )
    class_path: str | None = Field(
        None,
        alias="class",
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$",
        description="`module:Class`, called as Class(in_channels, out_channels, **args); forward(x, edge_index).",
    )
    args: dict[str, Any] = Field(default_factory=dict, description="Keyword arguments of `class`.")
    layers: int = Field(2, ge=1, le=64, description="As many as `sampling.fanout` has hops.")
    hidden: int = Field(64, ge=1, le=1_000_000, description="Width of the hidden layers.")
    heads: int = Field(1, ge=1, le=1_000_000, description="Attention heads (gat).")
    dropout: float = Field(0.5, ge=0.0, lt=1.0, description="After each hidden layer; for gat on attention too.")
    input_dropout: float = Field(0.0, ge=0.0, lt=1.0, description="Of the features, before the first layer.")
    norm: Literal["none", "batch", "layer", "pair"] = Field(
        "none",
        description="After each hidden layer: over the nodes, over the features, or PairNorm (over pairs of nodes).",
    )
    residual: bool = Field(
        False, description="Each hidden layer adds its input to its output, projected where widths differ."
    )
    jumping: Literal["none", "cat", "max"] = Field(
        "none",
        description="Jumping knowledge: all layers are hidden, and a linear layer reads their outputs side by side or "
        "their maximum.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Model:
        if (self.conv is None) == (self.class_path is None):
            raise ValueError("give either `conv` (gcn, sage, gat, gin, mpnn) or `class` (module:Class)")
        if self.args and self.class_path is None:
            raise ValueError("`args` belongs to a model given by `class`")
        if self.conv == "gat" and self.hidden % self.heads:
            raise ValueError(f"`hidden` ({self.hidden}) must be a multiple of `heads` ({self.heads})")
        return self

    @property
    def reads_edges(self) -> bool:
        """Whether its messages are made of the attributes of edges too."""
        return self.conv == "mpnn"

    @property
    def adds_self_loops(self) -> bool:
        """Whether each node is among its own neighbours, once."""
        return self.conv in ("gcn", "gat")

    @property
    def projects_first(self) -> bool:
        """Whether rows are transformed before they are sent along the edges; sage and gin do it after."""
        return self.conv in ("gcn", "gat", "mpnn")


class Training(Frozen):
    """The optimiser's side."""

    epochs: int = Field(60, ge=1, le=1_000_000, description="At most; see `patience`.")
    batch_size: int = Field(1024, ge=1, le=10**9, description="Seeds in a mini-batch (`batching: neighbor`).")
    lr: float = Field(0.003, gt=0.0, description="Learning rate of Adam.")
    weight_decay: float = Field(0.0, ge=0.0, description="L2 penalty, of Adam.")
    patience: int | None = Field(
        None, ge=1, le=1_000_000, description="Epochs without a better selection before stopping."
    )
    selection: Literal["best_val_loss", "best_val_accuracy", "last"] = Field(
        "best_val_loss", description="Which epoch is tested; by validation loss needs the fewest seeds."
    )
    eval_every: int = Field(1, ge=1, le=1_000_000, description="Epochs between evaluations.")
    clip: float | None = Field(None, gt=0.0, description="Global gradient norm to clip at, after unscaling.")
    accumulate: int = Field(
        1,
        ge=1,
        le=1_000_000,
        description="Mini-batches whose gradients make one step, weighted by their labelled nodes; one without any is "
        "not counted. `norm: batch` is of each mini-batch.",
    )
    accumulate_targets: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="Instead: mini-batches are gathered until they hold as many labelled nodes, e.g. those that a "
        "`sampling.node_edge_budget` closes.",
    )

    @property
    def accumulates(self) -> bool:
        """Whether a step may have more than one mini-batch."""
        return self.accumulate > 1 or self.accumulate_targets is not None
