"""From the spec's `model` section and the options to a `torch.nn.Module`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.models.errors import Unsupported
from harness.models.network import Network
from harness.models.own import OwnModel, construct
from harness.plan.capabilities import lacks_edge_attributes, model_cannot
from harness.spec.options import Model, Options


def build_model(
    model: Model,
    in_channels: int,
    num_classes: int,
    options: Options,
    folders: Sequence[Path | str] = (),
    edge_features: int = 0,
) -> Network | OwnModel:
    """The network, on the CPU, in float32, initialised from torch's random state.

    Its ``forward(x, blocks)`` takes features ``[blocks[0].num_src, in_channels]`` and the blocks of a batch (as the
    sampler makes them, or as tensors from ``prepare``), and returns float32 logits
    ``[blocks[-1].num_dst, num_classes]``. ``counters()`` says what was really done.

    Args:
        folders: where a module given by `class` is looked for first; the spec's folder.
        edge_features: attributes of an edge, for mpnn; 0 where the data have none.

    Raises:
        Unsupported: the model cannot have these options; the message is the reason.
        ModelError: a module given by `class` is not found, or its constructor fails.
    """
    reason = model_cannot(model, options) or lacks_edge_attributes(model, edge_features)
    if reason is not None:
        raise Unsupported(reason)
    if model.conv is not None:
        return Network(model, in_channels, num_classes, options, edge_features)
    return OwnModel(construct(model, in_channels, num_classes, folders), model, num_classes, options)
