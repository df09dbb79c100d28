"""PyG's convolutions, on blocks: their parameters and formulas, with an aggregation of our choice; and `Mpnn`.

Each has two parts, so that a mini-batch and inference over the whole graph share the formula: `send`, what is
done to every source before messages are sent, and `receive`, what each destination makes of its messages.
"""

from __future__ import annotations

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv

from harness.models.aggregation import Aggregation
from harness.models.block import TorchBlock
from harness.models.errors import Unsupported
from harness.models.mpnn import Mpnn
from harness.models.normalisation import normalisation

Rows = tuple[Tensor, ...]  # tensors that have a row for each node


class Convolution(Protocol):
    """One layer's formula."""

    def send(self, x: Tensor) -> Rows:
        """What is sent, for each source, from its features ``[num_src, F]``."""

    def receive(self, sources: Rows, destinations: Rows, block: TorchBlock, aggregation: Aggregation) -> Tensor:
        """New features ``[num_dst, F']``, from `send` of the sources and its rows of the destinations."""


class Sage(SAGEConv):
    """``W_1 x_i + W_2 mean(x_j)``: GraphSAGE with the mean (Hamilton, Ying and Leskovec 2017)."""

    def send(self, x: Tensor) -> Rows:
        return (x,)

    def receive(self, sources: Rows, destinations: Rows, block: TorchBlock, aggregation: Aggregation) -> Tensor:
        return self.lin_l(aggregation.mean(sources[0], block)) + self.lin_r(destinations[0])


class Gcn(GCNConv):
    """``sum_j W x_j / sqrt(d_i d_j)`` over the neighbours and the node itself (Kipf and Welling 2017).

    Degrees are those of the whole graph; `TorchBlock.normalised` says what becomes of self-loops, repeated edges and
    sampled neighbourhoods.
    """

    def send(self, x: Tensor) -> Rows:
        return (self.lin(x),)

    def receive(self, sources: Rows, destinations: Rows, block: TorchBlock, aggregation: Aggregation) -> Tensor:
        return _plus_bias(aggregation.sum(sources[0], block.normalised), self.bias)


class Gin(GINConv):
    """``MLP((1 + eps) x_i + sum_j x_j)`` with eps = 0 (Xu et al. 2019).

    The sum over a sampled neighbourhood is scaled by in-degree over edges held. Unscaled, a model would be trained on
    sums of ten neighbours and evaluated on sums of a thousand.
    """

    def __init__(self, in_channels: int, out_channels: int, hidden: int, norm: nn.Module | None) -> None:
        layers = [nn.Linear(in_channels, hidden), norm, nn.ReLU(), nn.Linear(hidden, out_channels)]
        super().__init__(nn.Sequential(*(layer for layer in layers if layer is not None)))

    def send(self, x: Tensor) -> Rows:
        return (x,)

    def receive(self, sources: Rows, destinations: Rows, block: TorchBlock, aggregation: Aggregation) -> Tensor:
        return self.nn(aggregation.scaled_sum(sources[0], block) + (1 + self.eps) * destinations[0])


class Gat(GATConv):
    """``sum_j a_ij W x_j``, a the softmax of ``LeakyReLU(s . W x_j + t . W x_i)`` (Velickovic et al. 2018).

    Over the neighbours and the node itself, once, as PyG does. Scores and softmax are at least in float32;
    the precision decides over the messages and their weights.
    """

    def send(self, x: Tensor) -> Rows:
        projected = self.lin(x).view(-1, self.heads, self.out_channels)
        return projected, (projected * self.att_src).sum(dim=-1)

    def receive(self, sources: Rows, destinations: Rows, block: TorchBlock, aggregation: Aggregation) -> Tensor:
        if block.reweighted:
            raise Unsupported(
                "gat cannot take the weights of a re-weighted sample: its attention is normalised over the neighbours "
                "drawn, so no weight makes it unbiased; set sampling.reweight: false"
            )
        projected, sent = sources
        edges = block.looped
        received = (destinations[0] * self.att_dst).sum(dim=-1)
        scores = sent.index_select(0, edges.indices) + received.index_select(0, edges.dst)
        attention = aggregation.softmax(F.leaky_relu(scores, self.negative_slope), edges)
        attention = F.dropout(attention, self.dropout, self.training)
        heads = aggregation.attend(projected, attention, edges)
        return _plus_bias(heads.flatten(1) if self.concat else heads.mean(dim=1), self.bias)


def _plus_bias(x: Tensor, bias: Tensor) -> Tensor:
    """In the dtype of `x`: a float32 bias would make everything after it float32."""
    return x + bias.to(x.dtype)


def convolution(
    conv: str,
    in_channels: int,
    out_channels: int,
    *,
    heads: int,
    dropout: float,
    norm: str,
    last: bool,
    edge_features: int = 0,
) -> nn.Module:
    """The convolution that `model.conv` names.

    gat has ``out_channels / heads`` channels a head; in the last layer its heads have all channels and are averaged.
    """
    if conv == "gcn":
        return Gcn(in_channels, out_channels)
    if conv == "sage":
        return Sage(in_channels, out_channels)
    if conv == "gin":
        hidden = in_channels if last else out_channels
        inner = None if norm == "pair" else normalisation(norm, hidden)  # PairNorm is of layers' outputs alone
        return Gin(in_channels, out_channels, hidden, inner)
    if conv == "gat":
        channels = out_channels if last else out_channels // heads
        return Gat(in_channels, channels, heads=heads, concat=not last, dropout=dropout)
    if conv == "mpnn":
        return Mpnn(in_channels, out_channels, edge_features)
    raise ValueError(f"no convolution {conv!r}")
