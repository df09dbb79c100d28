"""What may be compared: the same data, threads, device and torch, or nothing."""

from __future__ import annotations

from typing import Any

from harness.records.results import TimingResult, VariantResult

_QUALITY_VERSIONS = ("torch", "engine")
_TIMING_VERSIONS = ("torch", "engine", "cpu", "device_name")


def quality_difference(variant: VariantResult, reference: VariantResult | None) -> str | None:
    """Why the quality runs of two results must not be compared; None where they may.

    Other data is another question; other threads, another kind of device or another torch change the order of sums,
    and with it the accuracy of a seed. A value that is not recorded is not a difference.
    """
    if reference is None:
        return None
    return _first_difference(
        f"`{variant.variant}`",
        f"`{reference.variant}`",
        {
            "data fingerprint": (variant.fingerprint, reference.fingerprint),
            "test nodes": (variant.test_nodes, reference.test_nodes),
            "threads": (variant.threads, reference.threads),
            "device": (_kind(variant.device), _kind(reference.device)),
            **_versions(_QUALITY_VERSIONS, variant.environment, reference.environment),
        },
    )


def timing_difference(timing: TimingResult, control: TimingResult | None) -> str | None:
    """Why the control says nothing about a timing; None where it does."""
    if control is None:
        return None
    return _first_difference(
        f"`{timing.variant}`",
        "the control",
        {
            "data fingerprint": (timing.fingerprint, control.fingerprint),
            "timing version": (timing.timing_version, control.timing_version),
            "threads": (timing.threads, control.threads),
            "device": (_kind(timing.device), _kind(control.device)),
            **_versions(_TIMING_VERSIONS, timing.environment, control.environment),
        },
    )


def arms_difference(timing: TimingResult, variant: VariantResult) -> str | None:
    """Why the accuracy and the speed of one variant do not belong together; None where they do.

    Threads may differ: quality runs share the machine, timing has it to itself.
    """
    return _first_difference(
        "timing",
        "quality runs",
        {
            "data fingerprint": (timing.fingerprint, variant.fingerprint),
            "device": (_kind(timing.device), _kind(variant.device)),
            **_versions(_QUALITY_VERSIONS, timing.environment, variant.environment),
        },
    )


def _first_difference(one: str, other: str, values: dict[str, tuple[Any, Any]]) -> str | None:
    for what, (a, b) in values.items():
        if a not in (None, "") and b not in (None, "") and a != b:
            return f"not comparable: {what} of {one} is {a}, of {other} {b}"
    return None


def _versions(keys: tuple[str, ...], one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {key: (one.get(key), other.get(key)) for key in keys}


def _kind(device: str) -> str:
    """cpu or cuda, without the number of one of several GPUs; another model of GPU is told by its name, for timing."""
    return device.split(":", 1)[0]
