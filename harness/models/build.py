"""From the spec's `model` section and the options to a `torch.nn.Module`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.models.errors import Unsupported
from harness.models.network import Network
from harness.models.own import OwnModel, construct
from harness.spec.options import Model, Options


def build_model(
    model: Model, in_channels: int, num_classes: int, options: Options, folders: Sequence[Path | str] = ()
) -> Network | OwnModel:
    """The network, on the CPU, in float32, initialised from torch's random state.

    Its ``forward(x, blocks)`` takes features ``[blocks[0].num_src, in_channels]`` and the blocks of a batch (as the
    sampler makes them, or as tensors from ``prepare``), and returns float32 logits
    ``[blocks[-1].num_dst, num_classes]``. ``counters()`` says what was really done.

    Args:
        folders: where a module given by `class` is looked for first; the spec's folder.

    Raises:
        Unsupported: the model cannot have these options; the message is the reason.
        ModelError: a module given by `class` is not found, or its constructor fails.
    """
    check_supported(model, options)
    if model.conv is not None:
        return Network(model, in_channels, num_classes, options)
    return OwnModel(construct(model, in_channels, num_classes, folders), model, num_classes, options)


def check_supported(model: Model, options: Options) -> None:
    """Raise Unsupported where the model cannot have the options, whatever the library and the hardware."""
    if model.conv == "gat" and options.aggregation == "spmm":
        raise Unsupported(
            "aggregation spmm with gat: attention makes a weight for each edge and head that needs a gradient, which a "
            "sparse product does not give"
        )
    if model.class_path is None:
        return
    if options.aggregation != "scatter":
        raise Unsupported(f"aggregation {options.aggregation}: a module of your own aggregates by itself")
    if options.checkpointing:
        raise Unsupported(
            "checkpointing: layers are computed again one by one, and the layers of a module of your own are not known"
        )
