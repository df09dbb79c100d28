"""The tensors of one training step, forward and backward, in the order in which they come and go.

It follows what `harness.models` computes and what torch's autograd keeps of it, operation by operation where tensors
are large. Rows times width times bytes is all that counts; vectors and scalars are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.plan.batch_shapes import LayerShape
from harness.plan.ledger import MAPPED, Ledger
from harness.spec.option_paths import Settings

FLOAT, LONG = 4, 8
Tensor = tuple[str, float]


@dataclass(frozen=True)
class Widths:
    """Bytes of a value: of what linear layers read and make, and of messages."""

    value: float
    message: float

    @classmethod
    def of(cls, precision: str) -> Widths:
        if precision in ("bf16", "fp16"):
            return cls(2, 2)
        return cls(2 if precision.endswith("-linear") else FLOAT, FLOAT)


@dataclass
class _Layer:
    """What one layer keeps for its backward pass."""

    shape: LayerShape
    index: int
    kept: list[Tensor] = field(default_factory=list)
    output: Tensor | None = None


class StepMemory:
    """One step on a batch whose features are there already; `ledger` holds what it found.

    Args:
        settings: of the run.
        layers: expected blocks, input layer first.
        device: ``cpu`` or ``cuda``; a dropout mask is as large as what it masks on the CPU, a byte a value on CUDA.

    Attributes:
        holes: bytes that the messages of all layers but the last leave in the heap: what a layer keeps is put where
            they lay, and the next layer's no longer fit there.
    """

    def __init__(self, settings: Settings, layers: list[LayerShape], device: str) -> None:
        self._model, self._options = settings.model, settings.options
        self._shapes, self._cuda = layers, device == "cuda"
        self._bytes = Widths.of(settings.options.precision)
        self.ledger = Ledger()
        self._holes: dict[int, float] = {}
        self._run()
        self.holes = sum(self._holes.values())

    # the step

    def _run(self) -> None:
        layers = [_Layer(shape, index) for index, shape in enumerate(self._shapes)]
        if self._model.input_dropout:
            dropped = self._keep(self._shapes[0].sources * self._shapes[0].width_in * FLOAT)
            self._pass(dropped[1])  # the mask
        for layer in layers:
            self._forward(layer)
            if self._drops(layer):
                self.ledger.give(*layer.kept)
                layer.kept = []
        head = self._jump(layers)
        gradient = self._gradient(self._shapes[-1].targets * self._shapes[-1].width_out * self._bytes.value)
        self.ledger.give(*head)
        for layer in reversed(layers):
            if self._drops(layer):
                self.ledger.give(*self._forward_again(layer))
            gradient = self._backward(layer, gradient)
            if layer.output is not None and self._options.retain == "none":
                self.ledger.give(layer.output)

    def _drops(self, layer: _Layer) -> bool:
        last = len(self._shapes) - 1
        return self._options.checkpointing and (layer.index < last or last == 0)

    def _forward_again(self, layer: _Layer) -> list[Tensor]:
        """Its second computation: a second output too, which nothing reads (a single layer's logits are kept)."""
        first, layer.output = layer.output, None
        self._forward(layer)
        again, layer.output = layer.output, first
        return [] if again is None else [again]

    def _jump(self, layers: list[_Layer]) -> list[Tensor]:
        """What jumping knowledge joins: the outputs are held already."""
        if self._model.jumping == "none":
            return []
        rows, copies = self._shapes[-1].targets, len(layers)
        joined = rows * self._model.hidden * copies * self._bytes.value
        return [self._keep(joined) for _ in range(1 if self._model.jumping == "cat" else 2)]

    # forward

    def _forward(self, layer: _Layer) -> None:
        conv = {"gcn": self._gcn, "gat": self._gat, "gin": self._gin, "mpnn": self._mpnn}.get(
            self._model.conv or "", self._sage
        )
        out = conv(layer)
        if layer.index == len(self._shapes) - 1 and self._model.jumping == "none":
            layer.kept.append(out)
            return
        layer.output = self._finish(layer, out)

    def _finish(self, layer: _Layer, out: Tensor) -> Tensor:
        """Normalisation, ReLU, dropout and a residual link."""
        size = out[1]
        if self._model.norm != "none":
            if self._model.norm == "pair":  # centred in float32, and its square
                exact = size * FLOAT / self._bytes.value
                layer.kept.append(self._keep(exact))
                self._pass(exact)
            layer.kept.append(out)
            out = self._keep(size)
        activated = self._keep(size)
        self.ledger.give(out)
        if self._model.dropout:
            layer.kept += [activated, self._keep(size / self._bytes.value if self._cuda else size)]
            activated = self._keep(size)
        if self._model.residual:
            shape = layer.shape
            shortcut = [self._keep(size)] if shape.width_in != shape.width_out else []
            added = self._keep(size)
            self.ledger.give(activated, *shortcut)
            return added
        return activated

    def _sage(self, layer: _Layer) -> Tensor:
        shape = layer.shape
        mean = self._aggregated(layer, shape.width_in, divided=True)
        layer.kept += [mean, *self._cast(layer, shape.targets)]
        one, two = (self._keep(shape.targets * shape.width_out * self._bytes.value) for _ in range(2))
        out = self._keep(one[1])
        self.ledger.give(one, two)
        return out

    def _gin(self, layer: _Layer) -> Tensor:
        shape, value = layer.shape, self._bytes.value
        total = self._aggregated(layer, shape.width_in, divided=False)
        scaled, own = (self._keep(shape.targets * shape.width_in * self._input(layer)) for _ in range(2))
        both = self._keep(own[1])
        self.ledger.give(total, scaled, own)
        hidden = shape.targets * (shape.width_in if self._last(layer) else shape.width_out) * value
        layer.kept += [both, self._keep(hidden)]
        if self._model.norm != "none":
            layer.kept.append(self._keep(hidden))
        return self._keep(shape.targets * shape.width_out * value)

    def _gcn(self, layer: _Layer) -> Tensor:
        shape, value = layer.shape, self._bytes.value
        layer.kept += self._cast(layer, shape.sources)
        sent = self._keep(shape.sources * shape.width_out * value)
        total = self._aggregated(layer, shape.width_out, divided=False, weighted=True)
        out = self._keep(total[1])
        self.ledger.give(total, sent)
        return out

    def _gat(self, layer: _Layer) -> Tensor:
        shape, edges = layer.shape, self._edges(layer.shape)
        heads = self._model.heads
        width = shape.width_out * (heads if self._last(layer) else 1)
        layer.kept += self._cast(layer, shape.sources)
        sent = self._keep(shape.sources * width * self._bytes.value)
        self._pass(sent[1])  # times the attention's vector, before it is summed
        slots = self._slots(shape) if self._options.aggregation == "dense" else edges
        layer.kept += [self._take("messages", edges * heads * FLOAT) for _ in range(5)]
        messages = self._take("messages", slots * width * self._bytes.message)
        self._pass(messages[1], "messages")
        layer.kept += [sent, messages]
        return self._keep(shape.targets * shape.width_out * self._bytes.message)

    def _mpnn(self, layer: _Layer) -> Tensor:
        shape, value = layer.shape, self._bytes.value
        layer.kept += self._cast(layer, shape.sources)
        sent = self._keep(shape.sources * shape.width_out * value)
        attributes, message = (self._take("messages", shape.edges * shape.width_out * value) for _ in range(2))
        layer.kept.append(message)  # made in place of what was gathered
        if value != self._bytes.message:
            self._pass(shape.edges * shape.width_out * self._bytes.message, "messages")
        if self._options.aggregation == "dense":
            self._pass(self._messages(shape, shape.width_out), "messages")
        mean = self._keep(shape.targets * shape.width_out * self._bytes.message)
        self.ledger.give(attributes)
        own, out = (self._keep(shape.targets * shape.width_out * value) for _ in range(2))
        self.ledger.give(own, sent, mean)
        return out

    def _aggregated(self, layer: _Layer, width: int, *, divided: bool, weighted: bool = False) -> Tensor:
        """The sums over neighbours."""
        shape, size = layer.shape, self._bytes.message
        cast = []
        if self._bytes.value != FLOAT and size != self._sent(layer):
            cast = [self._take("messages", shape.sources * width * size)]
        # segment weighs messages where they lie
        copies = self._options.aggregation != "segment" and (weighted or self._options.sampling.reweight)
        many = 2 if copies else 1
        messages = [self._take("messages", m) for m in [self._messages(shape, width)] * many if m]
        total = self._keep(shape.targets * width * size)
        self.ledger.give(*messages)
        if messages and messages[0][1] < MAPPED and self._leaves_a_hole(layer):
            self._holes[layer.index] = messages[0][1]
        if size < FLOAT:
            self._pass(total[1] + 3 * shape.targets * width)  # is every value finite?
        if divided and size < FLOAT:
            self._pass(2 * shape.targets * width * FLOAT)
        elif divided and layer.index:
            self._pass(total[1])
        self.ledger.give(*cast)
        if self._bytes.value < size:  # cast for the linear layer that reads it
            self.ledger.give(total)
            return self._keep(shape.targets * width * self._bytes.value)
        return total

    # backward

    def _backward(self, layer: _Layer, gradient: Tensor) -> Tensor:
        """From the gradient of the layer's output to that of its input."""
        shape, value = layer.shape, self._bytes.value
        if layer.output is not None:
            self._pass(gradient[1])  # each of dropout, ReLU and normalisation makes a new one
        if self._model.projects_first:
            width = shape.width_out * (self._model.heads if self._model.conv == "gat" and self._last(layer) else 1)
            copies = 3 if self._model.conv == "gat" else 2
            self._spread(shape, width, copies)
            sent = self._gradient(shape.sources * width * value)
            self.ledger.give(gradient)
            into = self._gradient(shape.sources * shape.width_in * value) if layer.index else self._gradient(0)
            self.ledger.give(sent, *layer.kept)
            return into
        if not layer.index:
            self.ledger.give(gradient, *layer.kept)
            return self._gradient(0)
        own = self._gradient(shape.targets * shape.width_in * value)
        mean = self._gradient(shape.targets * shape.width_in * self._bytes.message)
        self.ledger.give(gradient, *layer.kept)
        direct = self._gradient(shape.sources * shape.width_in * value)
        self.ledger.give(own)
        self._spread(shape, shape.width_in, 1)
        into = self._gradient(shape.sources * shape.width_in * self._bytes.message)
        self.ledger.give(mean)
        both = self._gradient(direct[1])
        self.ledger.give(direct, into)
        return both

    def _spread(self, shape: LayerShape, width: int, copies: int) -> None:
        """Gradients of messages, on the way from destinations to sources."""
        messages = self._messages(shape, width)
        made_again = self._options.aggregation != "segment" or self._model.conv in ("gat", "mpnn")
        if messages and made_again:
            if self._options.aggregation == "dense":
                copies = 4  # autograd's copies of a view that is changed in place: the slots that are filled with 0
            taken = [self._take("messages", messages) for _ in range(copies)]
            back = self._gradient(shape.sources * width * self._bytes.message)
            self.ledger.give(*taken, back)

    # sizes

    def _messages(self, shape: LayerShape, width: int) -> float:
        """Bytes of all messages of a block."""
        if self._options.aggregation == "spmm":
            return 0.0
        rows = self._slots(shape) if self._options.aggregation == "dense" else self._edges(shape)
        return rows * width * self._bytes.message

    def _edges(self, shape: LayerShape) -> float:
        """With the self-loops that gcn and gat add."""
        return shape.edges + (shape.targets if self._model.adds_self_loops else 0.0)

    def _slots(self, shape: LayerShape) -> float:
        """Of padded rows."""
        return shape.targets * (shape.max_degree + self._model.adds_self_loops)

    def _input(self, layer: _Layer) -> float:
        """Bytes of a value of the layer's input: features are float32."""
        return FLOAT if layer.index == 0 else max(self._bytes.value, self._bytes.message)

    def _sent(self, layer: _Layer) -> float:
        """Bytes of a value of what is sent along edges."""
        if self._model.projects_first:
            return self._bytes.value
        return FLOAT if layer.index == 0 else self._bytes.value

    def _last(self, layer: _Layer) -> bool:
        return layer.index == len(self._shapes) - 1 and self._model.jumping == "none"

    def _leaves_a_hole(self, layer: _Layer) -> bool:
        """Where the backward pass makes messages again: with segment it needs no room for them."""
        return self._options.aggregation != "segment" and layer.index < len(self._shapes) - 1

    def _cast(self, layer: _Layer, rows: float) -> list[Tensor]:
        """What a linear layer in half precision keeps of float32 features."""
        half = self._bytes.value < FLOAT and layer.index == 0
        return [self._keep(rows * layer.shape.width_in * self._bytes.value)] if half else []

    def _keep(self, size: float) -> Tensor:
        return self._take("activations", size)

    def _gradient(self, size: float) -> Tensor:
        return self._take("gradients", size)

    def _pass(self, size: float, part: str = "activations") -> None:
        """A tensor that is made and freed at once."""
        self.ledger.give(self._take(part, size))

    def _take(self, part: str, size: float) -> Tensor:
        return self.ledger.take(part, size)
