"""Optional libraries, and what each precision and aggregation can do on each device."""

from __future__ import annotations

from typing import get_args

from harness.doctor.finding import Finding, note, ok
from harness.doctor.versions import installed
from harness.plan.capabilities import Candidate, cannot_run
from harness.plan.cpu_flags import half_instructions
from harness.plan.machine import Machine
from harness.spec.option_paths import Settings
from harness.spec.options import Model, Options, Training

# module: its distribution, and what works without it
WITHOUT = {
    "pymetis": ("pymetis", "partition.method: metis is skipped; fennel, ldg and random work"),
    "ogb": ("ogb", "data sets of OGB cannot be read; all other sources work"),
}
NOT_NEEDED = {"pyg_lib": "pyg-lib", "torch_sparse": "torch-sparse", "torch_scatter": "torch-scatter"}


def optional_libraries(machine: Machine) -> list[Finding]:
    """Found or not, why not, and what that means."""
    findings = []
    for module, (distribution, without) in WITHOUT.items():
        version = machine.libraries.get(module)
        if version is not None:
            findings.append(ok(f"{distribution} {version}", **{module: version}))
        else:
            text = f"{distribution} {_why(machine, module, distribution)}: {without}"
            findings.append(note(text, f"pip install {_again(distribution)}{distribution}", **{module: None}))
    absent = []
    for module, distribution in NOT_NEEDED.items():
        version = machine.libraries.get(module)
        if version is not None:
            findings.append(ok(f"{distribution} {version}, which PyG may use", **{module: version}))
        elif installed(distribution) is None:
            absent.append(distribution)
        else:
            text = f"{distribution} {_why(machine, module, distribution)}: PyG does without it"
            findings.append(note(text, f"pip uninstall {distribution}, or install the one built for this torch"))
    if absent:
        findings.append(ok(f"{', '.join(absent)}: not installed, and not needed"))
    return findings


def _why(machine: Machine, module: str, distribution: str) -> str:
    version = installed(distribution)
    if version is None:
        return "is not installed"
    return f"{version} is installed, but cannot be imported ({machine.faults.get(module, 'no message')})"


def _again(distribution: str) -> str:
    return "--force-reinstall " if installed(distribution) else ""


def precisions(machine: Machine) -> list[Finding]:
    """What the planner would skip on each device, with its reasons; sage, which has every aggregation."""
    findings = []
    for device in machine.kernels:
        findings += _on(device, machine)
    if "cpu" in machine.kernels:
        findings += _cpu_speed()
    return findings


def _on(device: str, machine: Machine) -> list[Finding]:
    all_precisions, all_aggregations = (
        get_args(Options.model_fields[name].annotation) for name in ("precision", "aggregation")
    )
    pairs = [(precision, aggregation) for precision in all_precisions for aggregation in all_aggregations]
    reasons = [r for pair in pairs if (r := cannot_run(_candidate(*pair, device), machine)) is not None]
    if not reasons:
        text = f"{device}: every precision ({', '.join(all_precisions)}) with every aggregation "
        return [ok(f"{text}({', '.join(all_aggregations)})", device=device)]
    works = len(pairs) - len(reasons)
    text = f"{device}: {works} of {len(pairs)} pairs of precision and aggregation work; others are skipped"
    return [ok(text, device=device), *(note(reason) for reason in dict.fromkeys(reasons))]


def _candidate(precision: str, aggregation: str, device: str) -> Candidate:
    options = Options.model_validate({"precision": precision, "aggregation": aggregation})
    return Candidate(Settings(model=Model(conv="sage"), training=Training(), options=options), device)


def _cpu_speed() -> list[Finding]:
    has = half_instructions()
    if has is None:
        return []
    lacking = [name for name in ("bf16", "fp16") if name not in has]
    if not lacking:
        return [ok("the processor has instructions for bf16 and fp16", half_instructions=sorted(has))]
    text = f"the processor has no instructions for {' or '.join(lacking)}: computing in it saves memory and costs time"
    return [note(text, half_instructions=sorted(has))]
