"""The network: convolutions, normalisation, ReLU and dropout, over the blocks of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.batches.batch import Block
from harness.models.aggregation import Aggregation, padding_share
from harness.models.block import BlockTensors, TorchBlock
from harness.models.checkpointing import checkpointed
from harness.models.convolutions import Rows, convolution, normalisation
from harness.models.linear_dtype import LinearDtypes
from harness.models.precision import Precision
from harness.spec.options import Model, Options


class Layer(nn.Module):
    """One convolution and, but for the last layer, normalisation, ReLU and dropout."""

    def __init__(self, conv: nn.Module, norm: nn.Module | None, dropout: float, last: bool, how: Aggregation) -> None:
        super().__init__()
        self.conv, self.norm, self.dropout, self.last = conv, norm, dropout, last
        self.aggregation = how

    def forward(self, x: Tensor, block: TorchBlock) -> Tensor:
        """Features of the sources ``[num_src, F]`` to those of the destinations ``[num_dst, F']``."""
        sources = self.conv.send(x)
        destinations = tuple(rows[: block.num_dst] for rows in sources)
        return self.finish(sources, destinations, block, self.aggregation)

    def finish(self, sources: Rows, destinations: Rows, block: TorchBlock, aggregation: Aggregation) -> Tensor:
        """All that comes after the convolution's projection."""
        x = self.conv.receive(sources, destinations, block, aggregation)
        if self.last:
            return x
        if self.norm is not None:
            x = self.norm(x)
        return F.dropout(F.relu(x), self.dropout, self.training)


class Network(nn.Module):
    """gcn, sage, gat or gin with the options' aggregation, precision and checkpointing.

    With checkpointing every layer but the last is computed twice; the last one's activations are what the backward
    pass needs first, so dropping them saves nothing (a network of one layer drops them all the same).
    """

    def __init__(self, model: Model, in_channels: int, num_classes: int, options: Options) -> None:
        super().__init__()
        self.model, self.in_channels, self.num_classes, self.options = model, in_channels, num_classes, options
        widths = [in_channels, *[model.hidden] * (model.layers - 1), num_classes]
        self.layers = nn.ModuleList(self._layer(i, widths[i], widths[i + 1]) for i in range(model.layers))
        self._tensors = BlockTensors()
        self._recomputations = 0
        self._linear = LinearDtypes(self)

    def _layer(self, index: int, in_channels: int, out_channels: int) -> Layer:
        model, last = self.model, index == self.model.layers - 1
        assert model.conv is not None
        conv = convolution(
            model.conv,
            in_channels,
            out_channels,
            heads=model.heads,
            dropout=model.dropout,
            norm=model.norm,
            last=last,
        )
        norm = None if last else normalisation(model.norm, out_channels)
        dtype = Precision(self.options.precision, "cpu").message_dtype
        return Layer(conv, norm, model.dropout, last, Aggregation(self.options.aggregation, dtype))

    def forward(self, x: Tensor, blocks: Sequence[Block | TorchBlock]) -> Tensor:
        """Logits of the last block's destinations.

        Args:
            x: features of the batch's nodes, ``[blocks[0].num_src, in_channels]``, on the model's device.
            blocks: one a layer, input layer first.

        Returns:
            float32 (float64 for a model in float64), ``[blocks[-1].num_dst, num_classes]``.

        Raises:
            ValueError: another number of blocks than layers, or of rows than the first block has sources.
            Unsupported: the aggregation has no kernel for this precision on this device.
        """
        if len(blocks) != len(self.layers):
            raise ValueError(f"{len(self.layers)} layers need as many blocks; got {len(blocks)}")
        if len(x) != blocks[0].num_src:
            raise ValueError(f"the first block reads {blocks[0].num_src} nodes; x has {len(x)} rows")
        with Precision(self.options.precision, x.device.type).autocast():
            for layer, block in zip(self.layers, self.prepare(blocks, x.device), strict=True):
                x = self._run_layer(layer, x, block)
        return x if x.dtype == torch.float64 else x.float()

    def prepare(self, blocks: Sequence[Block | TorchBlock], device: torch.device) -> tuple[TorchBlock, ...]:
        """Blocks as tensors, which `forward` takes as well: for whoever wants the transfer outside of its clock."""
        return self._tensors.of(blocks, device)

    def counters(self) -> dict[str, Any]:
        """What the layers really did, in training and wherever else `forward` was called.

        `aggregation_calls` counts second computations too; `aggregation_dtype` is, layer by layer, that of the messages
        last summed, `linear_dtype` those of the linear layers' outputs; of the `nonfinite_checked` sums in half
        precision, `nonfinite_aggregations` had an overflow; `padding_share` is that of empty slots in padded rows.
        """
        each = [layer.aggregation for layer in self.layers]
        return {
            "aggregation": self.options.aggregation,
            "aggregation_calls": dict(sum((a.calls for a in each), Counter())),
            "aggregation_dtype": [str(a.message_dtype).removeprefix("torch.") for a in each if a.message_dtype],
            "linear_dtype": self._linear.seen(),
            "padding_share": padding_share(each),
            "nonfinite_aggregations": sum(a.nonfinite for a in each),
            "nonfinite_checked": sum(a.checked for a in each),
            "checkpoint_recomputations": self._recomputations,
        }

    def _run_layer(self, layer: nn.Module, x: Tensor, block: TorchBlock) -> Tensor:
        drops = self.options.checkpointing and (not layer.last or len(self.layers) == 1)
        if drops and torch.is_grad_enabled():
            return checkpointed(layer, x, block, recomputed=self._count_recomputation)
        return layer(x, block)

    def _count_recomputation(self) -> None:
        self._recomputations += 1
