"""Small functions in the place of the engine: what a child can do to its supervisor. Imported by the fork server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from harness.records.drawn_batch import DrawnBatch
from harness.records.record import Memory, Metrics, Scores, Stages
from harness.records.results import Parity
from harness.runs.request import Diverged, Outcome, RunRequest, Unsupported


def outcome(request: RunRequest, report) -> Outcome:
    """A run that ends well: accuracy falls with the seed, and its hidden size is its predictions."""
    report("train")
    note(request)
    scores = Scores(accuracy=0.9 - 0.01 * request.seed, macro_f1=0.5, roc_auc=None)
    epochs = request.timed_epochs or 1
    return Outcome(
        metrics=Metrics(
            val=scores,
            test=scores,
            best_epoch=1,
            epochs=1,
            predictions_sha256=f"{request.seed}-{request.model.hidden}",
            val_accuracy=[0.5],
        ),
        stages=Stages(sample_s=0.1, fetch_s=0.2, compute_s=0.3, update_s=0.4),
        epoch_s=[request.model.hidden / 100.0] * epochs,
        memory=Memory(peak_bytes=request.model.hidden * 1000, kind="rss"),
        counters={
            "partition_s": 1.5,
            "threads": os.environ["OMP_NUM_THREADS"],
            "embedding_spread": [0.9, 0.4, None, 0.5],
            "over_smoothed": True,
        },
        data={"fingerprint": "of-the-child"},
        environment={"pid": os.getpid(), "group": os.getpgrp(), "parent": os.getppid()},
    )


def note(request: RunRequest) -> None:
    """Leave a line for each training that really happened, beside the graph."""
    with (Path(request.graph_path) / "trained").open("a") as file:
        file.write(f"{request.model.hidden} {request.seed} {request.purpose} {request.warmup_epochs}\n")


def restless(request: RunRequest, report) -> Outcome:
    """A timing whose epochs never settled."""
    return outcome(request, report).model_copy(update={"warmup_s": [9.0], "settled": False})


def parity(reference: RunRequest, variant: RunRequest, report) -> Parity:
    with (Path(reference.graph_path) / "parity").open("a") as file:
        file.write(f"{reference.cell_id} {variant.cell_id}\n")
    return Parity(state="equal", max_abs_logit=1.0, max_abs_difference=0.0, gradient_cosine=1.0)


def broken_parity(reference: RunRequest, variant: RunRequest, report) -> Parity:
    raise ValueError("no batch has a training node")


def drawing(request: RunRequest, report) -> DrawnBatch:
    """Two targets that share a neighbour; the seed stands for the first target's id."""
    return DrawnBatch(
        method="uniform",
        fanout=[1],
        targets=2,
        nodes=[request.seed, 7, 8],
        hops=[0, 0, 1],
        degrees=[1, 1, 2],
        edges=[(2, 0), (2, 1)],
        num_nodes=3,
        num_edges=2,
    )


def sleep(request: RunRequest, report) -> Outcome:
    """Leave the pid, and one of a grandchild, and sleep for longer than any test."""
    report("train")
    grandchild = subprocess.Popen(["sleep", "120"])
    pids = {"child": os.getpid(), "grandchild": grandchild.pid, "server": os.getppid()}
    partial = Path(request.graph_path) / "pids.partial"
    partial.write_text(json.dumps(pids))
    partial.rename(Path(request.graph_path) / "pids.json")
    time.sleep(120)
    return Outcome()


def slow(request: RunRequest, report) -> Outcome:
    time.sleep(0.5)
    return outcome(request, report)


def raise_error(request: RunRequest, report) -> Outcome:
    report("prepare")
    raise ValueError("the first line\nand a second that is for the log")


def diverge(request: RunRequest, report) -> Outcome:
    report("train")
    raise Diverged("the training loss is nan in epoch 1, batch 2")


def diverge_after_counting(request: RunRequest, report) -> Outcome:
    report("train")
    raise Diverged("the training loss is nan", Outcome(counters={"nonfinite_aggregations": 3}))


def unsupported(request: RunRequest, report) -> Outcome:
    raise Unsupported("no half kernel here")


def fail_above(request: RunRequest, report) -> Outcome:
    """Fails where the hidden size is odd."""
    if request.model.hidden % 2:
        note(request)
        raise ValueError("an odd hidden size")
    return outcome(request, report)


def fail_one_seed(request: RunRequest, report) -> Outcome:
    """Seed 1 fails where the hidden size is odd."""
    if request.seed == 1:
        return fail_above(request, report)
    return outcome(request, report)


def allocate_at_once(request: RunRequest, report) -> Outcome:
    report("train")
    return Outcome(counters={"bytes": len(bytearray(400 * 10**6))})


def out_of_memory_in_words(request: RunRequest, report) -> Outcome:
    raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB.")


def abort_for_memory(request: RunRequest, report) -> Outcome:
    """What C++ does when nobody catches its exception."""
    os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\n")
    os.abort()


def segfault(request: RunRequest, report) -> Outcome:
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(10)
    return Outcome()


def leave(request: RunRequest, report) -> Outcome:
    os._exit(7)


def chatter(request: RunRequest, report) -> Outcome:
    """Output of Python and of native code, which must not end up between the server's replies."""
    print("a printed line", flush=True)
    os.write(1, b"a native line\n")
    subprocess.run(["sh", "-c", "echo a line of a process"], check=True)
    return Outcome(counters={"stdin": os.read(0, 10).decode()})
