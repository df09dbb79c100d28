"""Torch's build against the driver: each way in which they do not fit has its own words and remedy."""

from __future__ import annotations

import pytest

from harness.doctor.accelerator import accelerator
from harness.doctor.driver import Card, Driver, cards, driver_version, newest_cuda

H200 = Driver("570.86.15", "12.8", (Card("NVIDIA H200", 143_771, 4, 0),), "")
OLD = Driver("470.57.02", "11.4", (Card("Tesla T4", 15_109, 3, 0),), "")
CUDA = {"built_for": "CUDA 12.8"}


def test_a_gpu_that_works(machine):
    working = machine(cuda=True, device_name="NVIDIA H200", kernels={"cpu": {}, "cuda": {}}, **CUDA)
    found = accelerator(working, H200)
    assert [f.level for f in found] == ["ok", "ok"]
    assert "NVIDIA H200: torch 2.13.0 for CUDA 12.8, driver 570.86.15 (up to CUDA 12.8)" in found[0].text
    assert "4 of 143,771 MiB used" in found[1].text


def test_a_gpu_that_others_use(machine):
    used = Driver("570.86.15", "12.8", (Card("NVIDIA H200", 143_771, 90_000, 97),), "")
    found = accelerator(machine(cuda=True, device_name="NVIDIA H200", **CUDA), used)
    assert (found[1].level, "97 % busy" in found[1].text) == ("note", True)


@pytest.mark.parametrize(
    ("answer", "driver", "level", "text", "remedy"),
    [
        ({}, None, "ok", "no GPU's driver, and torch is built for the CPU", ""),
        (CUDA, None, "note", "no GPU's driver, though torch is built for CUDA 12.8", "--gpus all"),
        ({}, H200, "problem", "torch 2.13.0 is built for the CPU", "no newer than CUDA 12.8"),
        (
            {**CUDA, "cuda_fault": "RuntimeError: The NVIDIA driver on your system is too old"},
            OLD,
            "problem",
            "can use no GPU, driver 470.57.02 (up to CUDA 11.4) (RuntimeError: The NVIDIA driver on your system is too",
            "update the driver",
        ),
        (
            CUDA,
            Driver("570.86.15", "", (), "no answer within 20 s"),
            "problem",
            "a driver is there and does not answer, driver 570.86.15: nvidia-smi: no answer within 20 s",
            "restart",
        ),
    ],
)
def test_what_does_not_fit(machine, monkeypatch, answer, driver, level, text, remedy):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    (found,) = accelerator(machine(**answer), driver)
    assert found.level == level
    assert text in found.text
    assert remedy in found.remedy
    assert not found.fatal  # the CPU is there


def test_hidden_gpus_are_meant(machine, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    (found,) = accelerator(machine(**CUDA), H200)
    assert (found.level, "CUDA_VISIBLE_DEVICES='' hides every GPU" in found.text) == ("note", True)


def test_a_driver_that_is_not_nvidias(machine):
    (found,) = accelerator(machine(), None, other_driver=True)
    assert (found.level, "torch 2.13.0 is built for the CPU" in found.text) == ("problem", True)


HEAD = "| NVIDIA-SMI 570.86.15    Driver Version: 570.86.15      CUDA Version: 12.8     |"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023", "535.129.03"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build", "570.86.15"),
        (HEAD, "570.86.15"),
        ("nothing of it", None),
    ],
)
def test_the_drivers_version(text, version):
    assert driver_version(text) == version


def test_what_nvidia_smi_lists():
    assert newest_cuda(HEAD) == "12.8"
    assert newest_cuda("") == ""
    listed = "NVIDIA H200, 143771, 4, 0\nNVIDIA GB10, [N/A], [N/A], [N/A]\n"
    assert cards(listed) == (Card("NVIDIA H200", 143_771, 4, 0), Card("NVIDIA GB10", 0, 0, None))
