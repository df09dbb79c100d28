"""Memory that training adds to a process, by part; anonymous memory (CUDA: allocated bytes), as the peak is counted."""

from __future__ import annotations

from harness.plan.batch_shapes import LayerShape
from harness.plan.sizes import Sizes
from harness.plan.step_memory import FLOAT, LONG, StepMemory
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options

PROCESS = 1_500_000  # bytes that any training adds to its process
A_NODE = 56  # bytes of the arrays with an entry a node: labels, sampler's maps, counts
HEAP = 2.1  # glibc's heap over the most that lies in it at once: tensors of many sizes come and go, and leave holes
KERNELS_KEPT = 16  # that oneDNN keeps of those it compiles for bfloat16, one for each batch size
A_KERNEL = 900_000  # bytes of one, measured with AVX-512


def memory_parts(settings: Settings, sizes: Sizes, layers: list[LayerShape], device: str) -> dict[str, int]:
    """Bytes by part; docs/memory.md has the formulas.

    Before a step: features, cache, loader, graph, batch (features and edges of one), parameters, gradients of them,
    optimiser. Within it, at its fullest moment: messages, activations, gradients. On the CPU also `allocator`: what
    glibc's heap holds beyond that, of tensors freed before; and `kernels`, compiled for bfloat16.
    """
    options = settings.options
    model = StepMemory(settings, layers, device)
    step, heap = model.ledger, max(HEAP * model.ledger.heap, model.ledger.heap + model.holes)
    stored = options.stored_bytes
    table = sizes.nodes * sizes.features * stored
    rows = layers[0].sources * sizes.features * (FLOAT if stored == FLOAT else FLOAT + stored)  # half ones are widened
    weights = parameters(settings, layers, sizes) * FLOAT
    full = options.batching == "full"
    ahead = max(options.loader.depth, options.loader.threads)
    parts = {
        "features": table if _held_in_memory(options, device) else 0,
        "cache": 0 if full else min(table, _cache_bytes(options, table)),
        "loader": ahead * rows if options.loader.threads and not full else 0,
        "graph": PROCESS + sizes.nodes * A_NODE if device == "cpu" else 0,
        "batch": (0 if full and stored == FLOAT else rows) + _edge_bytes(settings, layers, sizes.edge_features),
        "messages": step.peak["messages"],
        "activations": step.peak["activations"],
        "gradients": step.peak["gradients"] + weights,
        "parameters": weights,
        "optimiser": 2 * weights,
        "allocator": max(0.0, heap + step.mapped - sum(step.peak.values())) if device == "cpu" else 0,
        "kernels": _kernel_bytes(options, device),
    }
    return {name: int(size) for name, size in parts.items()}


def _kernel_bytes(options: Options, device: str) -> int:
    """A full graph has one size for all epochs, and few kernels."""
    sized = options.batching != "full" and options.precision in ("bf16", "bf16-linear")
    return KERNELS_KEPT * A_KERNEL if sized and device == "cpu" else 0


def _edge_bytes(settings: Settings, layers: list[LayerShape], edge_features: int) -> float:
    """Index arrays of a batch's blocks, in each form that the model reads."""
    options, looped = settings.options, settings.model.adds_self_loops
    shared = options.batching != "neighbor"
    total = 0.0
    for layer in layers[:1] if shared else layers:
        edges = layer.edges * 2 * LONG + (layer.sources + 2 * layer.targets) * LONG
        read = layer.edges + layer.targets if looped else layer.edges
        if looped:
            edges += read * (2 * LONG + FLOAT)
        if settings.model.reads_edges:
            edges += layer.edges * (edge_features * FLOAT + LONG)  # attributes, and whose they are
        if options.aggregation in ("spmm", "segment"):
            edges += read * 2 * LONG + layer.sources * LONG
        if options.aggregation == "dense":
            edges += layer.targets * (layer.max_degree + looped) * (2 * LONG + 1)
        total += edges
    return total


def _held_in_memory(options: Options, device: str) -> bool:
    """Whether all rows lie in the memory that is counted, the device's: by their home, or since a full graph's do."""
    home = options.features.home
    return options.batching == "full" or home == "device" or (home == "host" and device == "cpu")


def _cache_bytes(options: Options, table: float) -> float:
    """Of the cache; `auto` at most the table, and not known before the run."""
    features = options.features
    if features.home == "device":
        return 0.0
    if features.cache_bytes is None:
        return table * features.cache_ratio
    return table if features.cache_bytes == "auto" else float(features.cache_bytes)


def parameters(settings: Settings, layers: list[LayerShape], sizes: Sizes) -> int:
    """Weights of the model, biases and norms included; of our convolutions."""
    model, total = settings.model, 0
    for index, layer in enumerate(layers):
        last = index == len(layers) - 1 and model.jumping == "none"
        total += _convolution_parameters(model, layer, last, sizes.edge_features)
        if not last:
            total += _norm_parameters(model, layer.width_out)
            total += layer.width_in * layer.width_out if model.residual and layer.width_in != layer.width_out else 0
    if model.jumping != "none":
        total += (model.hidden * (len(layers) if model.jumping == "cat" else 1) + 1) * sizes.classes
    return total


def _convolution_parameters(model: Model, layer: LayerShape, last: bool, edge_features: int) -> int:
    into, out = layer.width_in, layer.width_out
    if model.conv == "gin":  # a perceptron of two layers
        hidden = into if last else out
        return (into + 1) * hidden + _norm_parameters(model, hidden) + (hidden + 1) * out
    if model.conv == "gat":  # the last layer's heads have all channels
        return (into + 2) * out * (model.heads if last else 1) + out
    if model.conv == "mpnn":
        return (2 * into + 1 + edge_features + 1) * out
    return (2 * into if model.conv == "sage" else into) * out + out


def _norm_parameters(model: Model, width: int) -> int:
    return 2 * width if model.norm in ("batch", "layer") else 0
