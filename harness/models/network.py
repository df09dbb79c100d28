"""The network: convolutions, normalisation, ReLU, dropout and links between layers, over the blocks of a batch."""

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
from harness.models.convolutions import convolution
from harness.models.half_range import half_range_counters
from harness.models.input_dropout import InputDropout
from harness.models.jumping import Jumping
from harness.models.linear_dtype import LinearDtypes
from harness.models.linear_range import LinearRange
from harness.models.normalisation import normalisation
from harness.models.parts_called import PartsCalled
from harness.models.precision import Precision
from harness.models.retained import Retained
from harness.spec.options import Model, Options


class Layer(nn.Module):
    """One convolution and, but for the last layer, normalisation, ReLU and dropout.

    With a residual link the layer's input is added after these three, ``F(x) + x``: DeepGCNs' plain link (Li et al.
    2019; PyG's `DeepGCNLayer` with ``block="res"``), which leaves the input itself alone. Dropout is of ``F(x)`` only:
    of the sum it would drop a share of the first layer's output again at each layer. Where widths differ the input is
    projected, ``F(x) + W x`` (He et al. 2016, eq. 2).
    """

    def __init__(
        self,
        conv: nn.Module,
        norm: nn.Module | None,
        shortcut: nn.Module | None,
        dropout: float,
        last: bool,
        how: Aggregation,
    ) -> None:
        super().__init__()
        self.conv, self.norm, self.shortcut, self.dropout, self.last = conv, norm, shortcut, dropout, last
        self.aggregation = how

    def forward(self, x: Tensor, block: TorchBlock) -> Tensor:
        """Features of the sources ``[num_src, F]`` to those of the destinations ``[num_dst, F']``."""
        sources = self.conv.send(x)
        destinations = tuple(rows[: block.num_dst] for rows in sources)
        received = self.conv.receive(sources, destinations, block, self.aggregation)
        return self.finish(received, x[: block.num_dst])

    def finish(self, received: Tensor, x: Tensor) -> Tensor:
        """All that comes after the convolution.

        Args:
            received: its output ``[num_dst, F']``.
            x: the layer's input of the same nodes, ``[num_dst, F]``.
        """
        if self.last:
            return received
        return self.activate(received if self.norm is None else self.norm(received), x)

    def activate(self, normalised: Tensor, x: Tensor) -> Tensor:
        """All that comes after the normalisation, row by row."""
        out = F.dropout(F.relu(normalised), self.dropout, self.training)
        return out if self.shortcut is None else out + self.shortcut(x)


class Network(nn.Module):
    """gcn, sage, gat, gin or mpnn with the options' aggregation, precision, checkpointing and `retain`.

    With jumping knowledge every convolution has the hidden width and is followed by normalisation, ReLU and dropout,
    the last one too, and `Jumping` makes logits of their outputs. Of hop-wise blocks it needs the last one's
    destinations alone: they are the first rows of each layer's output.

    With checkpointing every layer but the last is computed twice; the last one's activations are what the backward
    pass needs first, so dropping them saves nothing (a network of one layer drops them all the same).
    """

    def __init__(
        self, model: Model, in_channels: int, num_classes: int, options: Options, edge_features: int = 0
    ) -> None:
        super().__init__()
        self._edge_features = edge_features
        self.model, self.in_channels, self.num_classes, self.options = model, in_channels, num_classes, options
        jumps = model.jumping != "none"
        widths = [in_channels, *[model.hidden] * (model.layers - 1), model.hidden if jumps else num_classes]
        self.layers = nn.ModuleList(self._layer(i, widths[i], widths[i + 1]) for i in range(model.layers))
        self.input_dropout = InputDropout(model.input_dropout)
        self.jumping = Jumping(model.jumping, model.layers, model.hidden, num_classes) if jumps else None
        self._tensors = BlockTensors()
        self._recomputations = 0
        self._linear = LinearDtypes(self)
        self._linear_range = LinearRange(self, Precision(options.precision, "cpu").half)
        self._retained = Retained(options.retain == "layer")
        parts = [(layer.norm, layer.shortcut) for layer in self.layers]
        self._parts = PartsCalled([norm for norm, _ in parts], [shortcut for _, shortcut in parts], self.jumping)

    def _layer(self, index: int, in_channels: int, out_channels: int) -> Layer:
        model = self.model
        last = index == model.layers - 1 and model.jumping == "none"
        assert model.conv is not None
        conv = convolution(
            model.conv,
            in_channels,
            out_channels,
            heads=model.heads,
            dropout=model.dropout,
            norm=model.norm,
            last=last,
            edge_features=self._edge_features,
        )
        norm = None if last else normalisation(model.norm, out_channels)
        shortcut = _shortcut(in_channels, out_channels) if model.residual and not last else None
        dtype = Precision(self.options.precision, "cpu").message_dtype
        return Layer(conv, norm, shortcut, model.dropout, last, Aggregation(self.options.aggregation, dtype))

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
            logits = self._logits(x, self.prepare(blocks, x.device))
        if self.training:
            self._retained.count()
        return logits if logits.dtype == torch.float64 else logits.float()

    def _logits(self, x: Tensor, blocks: Sequence[TorchBlock]) -> Tensor:
        x, outputs = self.input_dropout(x), []
        for index, block in enumerate(blocks):
            x = self._run_layer(index, x, block)
            if self.jumping is not None:
                outputs.append(x[: blocks[-1].num_dst])
            if self.training:
                self._retained.hold(x)
        return x if self.jumping is None else self.jumping(outputs)

    def release(self) -> None:
        """What was held for `retain: layer` is no longer: called at the end of each step."""
        self._retained.release()

    def prepare(self, blocks: Sequence[Block | TorchBlock], device: torch.device) -> tuple[TorchBlock, ...]:
        """Blocks as tensors, which `forward` takes as well: for whoever wants the transfer outside of its clock."""
        return self._tensors.of(blocks, device)

    def counters(self) -> dict[str, Any]:
        """What the layers really did, in training and wherever else `forward` was called.

        `aggregation_calls` counts second computations too; `aggregation_dtype` is, layer by layer, that of the messages
        last summed, `linear_dtype` those of the linear layers' outputs; `padding_share` is that of empty slots in
        padded rows; `edge_features_read` (mpnn only) how many attributes of an edge each layer read. See
        `half_range_counters`, `LinearRange`, `PartsCalled` and `Retained` for the others.
        """
        each = [layer.aggregation for layer in self.layers]
        return {
            "aggregation": self.options.aggregation,
            "aggregation_calls": dict(sum((a.calls for a in each), Counter())),
            "aggregation_dtype": [str(a.message_dtype).removeprefix("torch.") for a in each if a.message_dtype],
            "linear_dtype": self._linear.seen(),
            "padding_share": padding_share(each),
            **half_range_counters(a.range for a in each),
            **self._linear_range.counters(),
            "checkpoint_recomputations": self._recomputations,
            **self.input_dropout.counters(),
            **({"edge_features_read": [layer.conv.read for layer in self.layers]} if self.model.reads_edges else {}),
            **self._parts.counters(),
            **self._retained.counters(),
        }

    def _run_layer(self, index: int, x: Tensor, block: TorchBlock) -> Tensor:
        layer, last = self.layers[index], len(self.layers) - 1
        drops = self.options.checkpointing and (index < last or last == 0)
        if drops and torch.is_grad_enabled():
            return checkpointed(layer, x, block, recomputed=self._count_recomputation)
        return layer(x, block)

    def _count_recomputation(self) -> None:
        self._recomputations += 1


def _shortcut(in_channels: int, out_channels: int) -> nn.Module:
    """What a layer's input passes before it is added."""
    return nn.Identity() if in_channels == out_channels else nn.Linear(in_channels, out_channels, bias=False)
