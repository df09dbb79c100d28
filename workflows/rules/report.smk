rule analyze:
    """Results of all variants to verdicts."""
    input:
        plan=lambda w: GRID.file(w.spec, "plan.json"),
        variants=lambda w: GRID.variants(w.spec),
        timings=lambda w: GRID.timings(w.spec),
        confirmed=lambda w: GRID.confirmed(w.spec),
    output:
        "results/{spec}/verdicts.json",
    log:
        "results/{spec}/logs/analyze.log",
    shell:
        "exec {PY} -m harness.cli analyze {input.plan} --output {output} 2> {log}"


rule report:
    """Verdicts to the page and the tables."""
    input:
        plan=lambda w: GRID.file(w.spec, "plan.json"),
        verdicts="results/{spec}/verdicts.json",
    output:
        html=report("results/{spec}/report.html", caption="../captions/report.rst", category="Verdicts"),
        md="results/{spec}/report.md",
        tex="results/{spec}/report.tex",
        csv="results/{spec}/report.csv",
    log:
        "results/{spec}/logs/report.log",
    shell:
        "exec {PY} -m harness.cli report {input.plan} 2> {log}"
