"""A person's own module: found by import path, and run on the same batches as ours."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing

from harness.batches.batch import Block
from harness.models.block import BlockTensors, TorchBlock
from harness.models.errors import ModelError, Unsupported
from harness.models.linear_dtype import LinearDtypes
from harness.models.linear_range import LinearRange
from harness.models.precision import Precision
from harness.spec.options import Model, Options


def load_class(class_path: str, folders: Sequence[Path | str] = ()) -> type[nn.Module]:
    """The class that ``module:Class`` names.

    Args:
        folders: looked through before the current folder and Python's own path; the spec's folder, mostly.

    Raises:
        ModelError: the module is not found or fails to import, has no such class, or it is no `torch.nn.Module`.
    """
    module_name, _, class_name = class_path.partition(":")
    places = [str(Path(folder).resolve()) for folder in (*folders, Path.cwd())]
    with _on_path(places):
        _forget_namesake(module_name.partition(".")[0], places)
        module = _import(module_name, class_path, places)
    found = getattr(module, class_name, None)
    if found is None:
        names = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, nn.Module)]
        offered = f"; its modules are {', '.join(sorted(names))}" if names else ""
        raise ModelError(class_path, f"{module_name} has no class {class_name}{offered}")
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise ModelError(
            class_path, f"{class_name} is {type(found).__name__}; it must be a subclass of torch.nn.Module"
        )
    return found


def _forget_namesake(package: str, places: list[str]) -> None:
    """A module of the same name that was imported from another folder would be taken for the one meant."""
    meant = importlib.machinery.PathFinder.find_spec(package, places)
    imported = sys.modules.get(package)
    if meant is None or meant.origin is None or imported is None or getattr(imported, "__file__", None) == meant.origin:
        return
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        del sys.modules[name]


def _import(name: str, class_path: str, places: list[str]) -> Any:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise ModelError(class_path, f"{name} imports {error.name}, which is not installed") from error
        looked = ", ".join(places)
        raise ModelError(class_path, f"no module {name}; looked in {looked} and the installed packages") from error
    except Exception as error:  # whatever a person's file raises
        raise ModelError(class_path, f"importing {name} fails: {type(error).__name__}: {error}") from error


@contextmanager
def _on_path(places: list[str]) -> Iterator[None]:
    kept = list(sys.path)
    sys.path[:0] = places
    try:
        yield
    finally:
        sys.path[:] = kept


def construct(model: Model, in_channels: int, num_classes: int, folders: Sequence[Path | str] = ()) -> nn.Module:
    """``Class(in_channels, num_classes, **args)``.

    Raises:
        ModelError: see `load_class`; or the constructor does not take the arguments.
    """
    assert model.class_path is not None
    cls = load_class(model.class_path, folders)
    try:
        return cls(in_channels, num_classes, **model.args)
    except Exception as error:  # whatever a person's constructor raises
        given = ", ".join([str(in_channels), str(num_classes), *(f"{k}={v!r}" for k, v in model.args.items())])
        message = f"{cls.__name__}({given}) fails: {type(error).__name__}: {error}; correct `model.args` or the class"
        raise ModelError(model.class_path, message) from error


class OwnModel(nn.Module):
    """Calls ``module(x, edge_index)`` with all nodes and edges of a batch, and keeps the seeds' rows.

    Its rows and edges are the engine's own, fed again in later steps and perhaps read-only: it must not write to them.

    In half precision the inputs of every PyG `propagate` in the module are cast to the dtype that the precision asks
    for, as in our own convolutions.

    Raises:
        ModelError: the module has no parameter to train.
        Unsupported: half precision, but the module has no PyG convolution whose messages could be cast, or, for
            `-linear`, no linear layer; or mini-batches for a convolution that keeps the edges of the first one.
    """

    def __init__(self, module: nn.Module, model: Model, num_classes: int, options: Options) -> None:
        super().__init__()
        self.module, self.model, self.num_classes, self.options = module, model, num_classes, options
        precision = Precision(options.precision, "cpu")
        self._dtype = precision.message_dtype
        self._tensors = BlockTensors()
        self._calls: Counter[str] = Counter()
        self._dtypes: dict[str, str] = {}
        self._counting = True
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise self._mistake("it has no parameter to train: there is none, or none with requires_grad")
        passing = [(name, m) for name, m in module.named_modules() if isinstance(m, MessagePassing)]
        cached = [name for name, m in passing if getattr(m, "cached", False)]
        if cached and options.batching != "full":
            raise Unsupported(
                f"batching {options.batching}: {model.class_path} has convolutions with cached=True "
                f"({', '.join(cached)}), which use the first batch's edges in every later one; make them with "
                "cached=False"
            )
        if self._dtype is not None and not passing:
            raise Unsupported(
                f"precision {options.precision}: {model.class_path} has no PyG convolution (MessagePassing), so the "
                "dtype of its aggregation cannot be set"
            )
        self._linear, self._linear_range = LinearDtypes(module), LinearRange(module, precision.half)
        if options.precision.endswith("-linear") and not self._linear:
            raise Unsupported(f"precision {options.precision}: {model.class_path} has no linear layer")
        for name, layer in passing:
            layer.register_propagate_forward_pre_hook(_CastMessages(self, name))

    def forward(self, x: Tensor, blocks: Sequence[Block | TorchBlock]) -> Tensor:
        """Logits of the last block's destinations, float32, ``[blocks[-1].num_dst, num_classes]``.

        Args:
            x: features of the batch's nodes, ``[n, in_channels]``.
            blocks: the first one's edges are the batch's.

        Raises:
            ModelError: the module's output is no tensor of shape ``[n, num_classes]``, or has no gradient in training;
                or the module wrote to its input.
            Unsupported: the sampler gave the edges weights.
        """
        first = self.prepare(blocks[:1], x.device)[0]
        if first.reweighted:
            raise Unsupported(
                f"{self.model.class_path} cannot take the weights of a re-weighted sample: it is called as "
                "forward(x, edge_index); set sampling.reweight: false"
            )
        given = (x, first.plain.edge_index)
        versions = [tensor._version for tensor in given]
        with Precision(self.options.precision, x.device.type).autocast():
            logits = self._checked(self.module(*given), len(x))
        for name, tensor, version in zip(("x", "edge_index"), given, versions, strict=True):
            if tensor._version != version:
                raise self._mistake(
                    f"forward(x, edge_index) wrote to {name}, which later steps are fed with; copy it first"
                )
        if self.training and torch.is_grad_enabled() and not logits.requires_grad:
            raise self._mistake("forward(x, edge_index) returned logits without a gradient: none of it can be trained")
        self._calls["own"] += 1
        return logits[: blocks[-1].num_dst].float()

    def prepare(self, blocks: Sequence[Block | TorchBlock], device: torch.device) -> tuple[TorchBlock, ...]:
        """Blocks as tensors, which `forward` takes as well."""
        return self._tensors.of(blocks, device)

    def exact_logits(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits of all nodes of a graph in float32, uncounted and without a change to the random state."""
        devices = [x.device] if x.device.type == "cuda" else []
        self._counting = False
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=devices):
                return self._checked(self.module(x, edge_index), len(x)).float()
        finally:
            self._counting = True

    def counters(self) -> dict[str, Any]:
        """Calls of the module, the dtype of the messages of each PyG convolution in it, and of its linear layers."""
        return {
            "aggregation": "own",
            "aggregation_calls": dict(self._calls),
            "aggregation_dtype": list(self._dtypes.values()),
            "linear_dtype": self._linear.seen(),
            "padding_share": None,
            **self._linear_range.counters(),
            "checkpoint_recomputations": 0,
        }

    def _checked(self, logits: Any, nodes: int) -> Tensor:
        expected = (nodes, self.num_classes)
        if not isinstance(logits, Tensor) or tuple(logits.shape) != expected:
            got = f"shape {list(logits.shape)}" if isinstance(logits, Tensor) else f"a {type(logits).__name__}"
            raise self._mistake(
                f"forward(x, edge_index) must return logits of shape {list(expected)} (nodes, classes); got {got}"
            )
        return logits

    def _mistake(self, message: str) -> ModelError:
        return ModelError(self.model.class_path or "", message)


class _CastMessages:
    """Before PyG's `propagate`: casts what is propagated, and notes its dtype."""

    def __init__(self, owner: OwnModel, name: str) -> None:
        self._owner, self._name = owner, name

    def __call__(self, _: nn.Module, inputs: tuple[Any, Any, dict[str, Any]]) -> tuple[Any, Any, dict[str, Any]]:
        edge_index, size, sent = inputs
        if not self._owner._counting:
            return inputs
        dtype = self._owner._dtype
        if dtype is not None:
            sent = {key: _cast(value, dtype) for key, value in sent.items()}
        floating = [t for value in sent.values() for t in _tensors(value) if t.is_floating_point()]
        if floating:
            self._owner._dtypes[self._name] = str(floating[0].dtype).removeprefix("torch.")
        return edge_index, size, sent


def _tensors(value: Any) -> list[Tensor]:
    values = value if isinstance(value, tuple) else (value,)
    return [v for v in values if isinstance(v, Tensor)]


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, tuple):
        return tuple(_cast(v, dtype) for v in value)
    return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
