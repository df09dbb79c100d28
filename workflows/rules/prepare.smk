rule prepare:
    """One graph on disk, built at most once and shared by all specs and runs."""
    input:
        lambda w: GRID.file(w.spec, "plan/dataset.json"),
    output:
        "results/{spec}/dataset.json",
    log:
        "results/{spec}/logs/prepare.log",
    shell:
        "exec {PY} -m harness.cli prepare {input} --output {output} 2> {log}"
