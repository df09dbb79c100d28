"""Whether torch's build, the driver and the cards fit together."""

from __future__ import annotations

import os

from harness.doctor.driver import Driver
from harness.doctor.finding import Finding, note, ok, problem
from harness.plan.machine import Machine

WHERE = "https://pytorch.org/get-started/locally"
BUSY_PERCENT = 10


def accelerator(machine: Machine, driver: Driver | None, other_driver: bool = False) -> list[Finding]:
    """What runs would compute on, and why not on a GPU.

    Args:
        other_driver: there is a driver for a GPU that is not NVIDIA's (AMD, WSL).
    """
    about = {"built_for": machine.built_for, "driver": driver.version if driver else None, "cuda": machine.cuda}
    if machine.cuda:
        return [
            ok(f"{machine.device_name}: torch {machine.torch} for {machine.built_for}{_of(driver)}", **about),
            *(_load(driver) if driver else []),
        ]
    if driver is None and not other_driver:
        if not machine.built_for:
            return [ok("no GPU's driver, and torch is built for the CPU: runs are on the CPU", **about)]
        return [
            note(
                f"no GPU's driver, though torch is built for {machine.built_for}: runs are on the CPU",
                "if there is a GPU, install its driver (in a container: start it with --gpus all); if not, "
                "torch's wheel for the CPU is 2 GB smaller",
                **about,
            )
        ]
    if not machine.built_for:
        newest = f" no newer than CUDA {driver.cuda}" if driver and driver.cuda else ""
        return [
            problem(
                f"there is a GPU's driver{_of(driver)}, but torch {machine.torch} is built for the CPU: runs are on "
                "the CPU",
                f"install a build of torch{newest}: {WHERE}; or write `device: cpu` where that is meant",
                **about,
            )
        ]
    return [_unusable(machine, driver, about)]


def _unusable(machine: Machine, driver: Driver | None, about: dict[str, object]) -> Finding:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return note(
            f"CUDA_VISIBLE_DEVICES={visible!r} hides every GPU: runs are on the CPU",
            "unset CUDA_VISIBLE_DEVICES to use one",
            **about,
        )
    if driver is not None and driver.fault:
        return problem(
            f"a driver is there and does not answer{_of(driver)}: nvidia-smi: {driver.fault}",
            "restart the machine, or install the driver again after an update of the kernel",
            **about,
        )
    reason = f" ({machine.cuda_fault})" if machine.cuda_fault else ""
    return problem(
        f"torch {machine.torch}, built for {machine.built_for}, can use no GPU{_of(driver)}{reason}",
        f"update the driver, or install a build of torch for an older CUDA: {WHERE}",
        **about,
    )


def _of(driver: Driver | None) -> str:
    if driver is None or not driver.version:
        return ""
    return f", driver {driver.version}" + (f" (up to CUDA {driver.cuda})" if driver.cuda else "")


def _load(driver: Driver) -> list[Finding]:
    findings = []
    for number, card in enumerate(driver.cards):
        text = f"GPU {number}, {card.name}: {card.used_mib:,} of {card.memory_mib:,} MiB used"
        busy = card.busy_percent or 0
        if busy > BUSY_PERCENT:
            text = f"{text}, {busy} % busy: others use it"
            findings.append(note(text, "timings would count them; wait, or hide it by CUDA_VISIBLE_DEVICES"))
        else:
            findings.append(ok(text))
    return findings
