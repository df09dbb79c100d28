# What was accepted, joined, on fresh seeds. The files are the same whatever is accepted: a job that has nothing to do
# writes so at once.


rule recommend:
    """Accepted variants that go together, and the frozen cells that confirm them."""
    input:
        plan=lambda w: GRID.file(w.spec, "plan.json"),
        variants=lambda w: GRID.variants(w.spec),
        timings=lambda w: GRID.timings(w.spec),
    output:
        "results/{spec}/recommended.json",
    log:
        "results/{spec}/logs/recommend.log",
    shell:
        "exec {PY} -m harness.cli recommend {input.plan} --output {output} 2> {log}"


rule confirm_run:
    """A new baseline, the stack, or the stack without one part."""
    input:
        recommended="results/{spec}/recommended.json",
        dataset="results/{spec}/dataset.json",
        stack=lambda w: GRID.runs_before_confirming(w.spec, w.variant),
    output:
        "results/{spec}/confirmed/variants/{variant}.json",
    log:
        "results/{spec}/logs/confirm-run-{variant}.log",
    threads: 1
    resources:
        gpu=lambda w: GRID.gpus(w.spec),
    shell:
        "exec {PY} -m harness.cli confirm run {input.recommended} {wildcards.variant} --output {output} 2> {log}"


rule confirm_time:
    """The stack, each part left out and the stack's floors, alone on the machine; each cell keeps a file of its own."""
    input:
        recommended="results/{spec}/recommended.json",
        runs=lambda w: ancient(GRID.runs_before_timing_the_stack(w.spec)),
    output:
        "results/{spec}/confirmed/timing.json",
    log:
        "results/{spec}/logs/confirm-time.log",
    threads: workflow.cores
    resources:
        gpu=lambda w: GRID.gpus(w.spec),
    shell:
        "exec {PY} -m harness.cli confirm time {input.recommended} --output {output} 2> {log}"
