"""A convolution whose messages are made of an edge's attributes too."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from harness.models.aggregation import Aggregation
from harness.models.block import TorchBlock


class Mpnn(nn.Module):
    """``W_1 x_i + b + mean_j ReLU(W_2 x_j + W_3 e_ij + c)``, e_ij the attributes of the edge from j to i.

    Message passing in the framework of Gilmer et al. 2017 ("Neural message passing for quantum chemistry", eq. 1 and
    2): the message is a layer of a perceptron over the source and the edge, ``ReLU(W [x_j, e_ij] + c)`` with W in two
    parts, so that the sources' is computed once a node and not once an edge; the update is linear. With the mean for
    their sum, so that a sampled neighbourhood stands for the whole, as in sage.

    Every edge has a message of the layer's width, which a backward pass keeps: memory grows with edges times width.

    Args:
        in_channels, out_channels: of a node.
        edge_features: attributes of an edge.
    """

    def __init__(self, in_channels: int, out_channels: int, edge_features: int) -> None:
        super().__init__()
        self.out_channels = out_channels
        self.lin_own = nn.Linear(in_channels, out_channels)
        self.lin_source = nn.Linear(in_channels, out_channels, bias=False)
        self.lin_edge = nn.Linear(edge_features, out_channels)
        self.read: int | None = None  # attributes of an edge, as seen when messages were last made in training

    def send(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """``W_2 x_j``, and what `receive` needs of a destination."""
        return self.lin_source(x), x

    def receive(
        self, sources: tuple[Tensor, ...], destinations: tuple[Tensor, ...], block: TorchBlock, aggregation: Aggregation
    ) -> Tensor:
        """See `Convolution.receive`.

        Raises:
            ValueError: the block carries no attributes of its edges.
        """
        if block.edge_attr is None:
            raise ValueError("mpnn needs blocks that carry the attributes of their edges (`Block.edges`)")
        attributes = self.lin_edge(block.edge_attr.to(self.lin_edge.weight.dtype))
        if self.training:
            self.read = block.edge_attr.shape[1]
        # in place: nothing but the result is needed by a backward pass
        messages = sources[0].index_select(0, block.plain.indices).add_(attributes)
        return aggregation.reduce_mean(F.relu(messages, inplace=True), block) + self.lin_own(destinations[1])
