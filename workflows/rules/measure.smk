# Quality runs may share the machine; a timing job has it to itself (threads: all of them).


rule run:
    """All seeds of one variant, look by look, and those of its reference where they are missing."""
    input:
        plan=lambda w: GRID.file(w.spec, f"plan/{w.variant}.json"),
        dataset="results/{spec}/dataset.json",
    output:
        "results/{spec}/variants/{variant}.json",
    log:
        "results/{spec}/logs/run-{variant}.log",
    threads: 1
    resources:
        gpu=lambda w: GRID.gpus(w.spec),
    priority: 10
    shell:
        "exec {PY} -m harness.cli run {input.plan} --output {output} 2> {log}"


rule time:
    """Blocks of baseline, variant, variant, baseline in fresh processes, alone on the machine."""
    input:
        plan=lambda w: GRID.file(w.spec, f"plan/{w.variant}.json"),
        dataset="results/{spec}/dataset.json",
        # waited for, since what cannot train is not timed; runs made again alone do not repeat the timing
        runs=lambda w: ancient(GRID.runs_before_timing(w.spec, w.variant)),
    output:
        "results/{spec}/timing/{variant}.json",
    log:
        "results/{spec}/logs/time-{variant}.log",
    threads: workflow.cores
    resources:
        gpu=lambda w: GRID.gpus(w.spec),
    shell:
        "exec {PY} -m harness.cli time {input.plan} --output {output} 2> {log}"
