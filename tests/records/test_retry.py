"""What `harness retry` forgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.records.record import Record
from harness.records.results import SeedRun, TimingResult, VariantResult
from harness.records.retry import forget_failed, forget_results
from harness.records.store import RecordStore
from harness.spec.errors import InputError
from harness.spec.options import Model, Options, Training

CELLS = {"c-base": "baseline", "c-thin": "thin"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("variants", "timing"):
        (tmp_path / "s" / name).mkdir(parents=True)
    return tmp_path / "s"


@pytest.fixture
def store(folder: Path) -> RecordStore:
    return RecordStore(folder.parent / "runs")


def write(store: RecordStore, run_id: str, status: str, cell_id: str = "c-thin", purpose: str = "quality") -> None:
    store.write(
        Record(
            run_id=run_id,
            cell_id=cell_id,
            purpose=purpose,
            seed=3,
            model=Model(conv="sage"),
            training=Training(),
            options=Options(),
            status=status,
            phase="train",
            started_at="2026-01-01T00:00:00+00:00",
            ended_at="2026-01-01T00:01:00+00:00",
        )
    )


def result_of(run_id: str, status: str) -> str:
    run = SeedRun(seed=3, run_id=run_id, status=status)
    return VariantResult(variant="thin", cell_id="c-thin", runs=[run], threads=1, device="cpu").model_dump_json()


def test_a_failed_record_goes_with_all_that_rests_on_it(folder, store):
    write(store, "a", "oom")
    (folder / "variants" / "thin.json").write_text(result_of("a", "oom"))
    timing = TimingResult(variant="thin", reference="baseline", status="skipped", threads=1, device="cpu")
    (folder / "timing" / "thin.json").write_text(timing.model_dump_json())
    for name in ("verdicts.json", "report.html"):
        (folder / name).write_text("{}")
    assert forget_failed(folder, ["timeout"], CELLS) == []
    assert store.has("a")
    assert (folder / "report.html").exists()
    assert forget_failed(folder, ["oom"], CELLS) == ["thin seed 3 (oom)"]
    assert not (folder / "report.html").exists()  # or Snakemake would have nothing to do
    assert not store.has("a")
    assert list(folder.rglob("*.json")) == []


def test_records_of_a_job_that_was_killed_are_found_by_the_plans_cells(folder, store):
    write(store, "mine", "timeout")
    write(store, "good", "ok")
    write(store, "others", "timeout", cell_id="c-of-another-spec")
    write(store, "timed", "timeout", purpose="timing")
    assert forget_failed(folder, ["timeout"], CELLS) == ["thin seed 3 (timeout)"]
    assert store.run_ids() == ["good", "others", "timed"]


def test_a_run_that_has_been_made_again_since_is_kept(folder, store):
    write(store, "a", "ok")
    (folder / "variants" / "thin.json").write_text(result_of("a", "timeout"))
    assert forget_failed(folder, ["timeout"], CELLS) == ["thin seed 3 (timeout)"]
    assert store.has("a")
    assert not (folder / "variants" / "thin.json").exists()


def test_a_result_of_another_version_is_said_and_nothing_is_removed(folder, store):
    write(store, "a", "oom")
    (folder / "variants" / "thin.json").write_text(result_of("a", "oom"))
    (folder / "variants" / "wide.json").write_text('{"variant": "wide"}')
    with pytest.raises(InputError, match=r"wide\.json.*not a VariantResult of this version.*delete it"):
        forget_failed(folder, ["oom"], CELLS)
    assert store.has("a")


def both_of(variant: str, run_id: str, reference_run_id: str) -> str:
    return VariantResult(
        variant=variant,
        cell_id=f"c-{variant}",
        reference="baseline",
        runs=[SeedRun(seed=3, run_id=run_id, status="ok")],
        reference_runs=[SeedRun(seed=3, run_id=reference_run_id, status="ok")],
        threads=1,
        device="cpu",
    ).model_dump_json()


@pytest.fixture
def three(folder, store) -> Path:
    """Results of a baseline and two variants, all well."""
    for run_id in ("b", "t", "o"):
        write(store, run_id, "ok")
    baseline = SeedRun(seed=3, run_id="b", status="ok")
    made = VariantResult(variant="baseline", cell_id="c-base", runs=[baseline], threads=1, device="cpu")
    (folder / "variants" / "baseline.json").write_text(made.model_dump_json())
    for name, run_id in (("thin", "t"), ("other", "o")):
        (folder / "variants" / f"{name}.json").write_text(both_of(name, run_id, "b"))
    for name in ("thin", "other", "control"):
        timing = TimingResult(
            variant="baseline" if name == "control" else name,
            reference="baseline",
            status="ok",
            threads=1,
            device="cpu",
        )
        (folder / "timing" / f"{name}.json").write_text(timing.model_dump_json())
    (folder / "verdicts.json").write_text("{}")
    return folder


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.json"))


def test_all_of_a_variant_is_forgotten_and_nothing_of_others(three, store):
    assert forget_results(three, ["thin"], []) == ["thin: 1 runs", "thin: timing"]
    assert store.run_ids() == ["b", "o"]
    assert left(three) == ["timing/control.json", "timing/other.json", "variants/baseline.json", "variants/other.json"]


def test_what_rests_on_a_forgotten_reference_goes_too_but_for_its_own_runs(three, store):
    found = forget_results(three, ["baseline"], [])
    assert found == ["baseline: 1 runs", "control: timing", "other: timing", "thin: timing"]
    assert store.run_ids() == ["o", "t"]
    assert left(three) == []


def test_a_timing_is_forgotten_alone(three, store):
    assert forget_results(three, [], ["control", "thin"]) == ["control: timing", "thin: timing"]
    assert store.run_ids() == ["b", "o", "t"]
    assert left(three) == ["timing/other.json", *(f"variants/{n}.json" for n in ("baseline", "other", "thin"))]


def test_a_name_without_results_forgets_nothing(three, store):
    assert forget_results(three, ["absent"], ["absent"]) == []
    assert (three / "verdicts.json").exists()
