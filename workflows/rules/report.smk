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


def table(path, form):
    """A table among those of `snakemake --report`."""
    return report(
        path, caption="../captions/table.rst", category="Tables", labels={"spec": "{spec}", "as": form}
    )


rule report:
    """Verdicts to the page, the tables and the figures."""
    input:
        plan=lambda w: GRID.file(w.spec, "plan.json"),
        verdicts="results/{spec}/verdicts.json",
    output:
        html=report(
            "results/{spec}/report.html",
            caption="../captions/report.rst",
            category="Verdicts",
            labels={"spec": "{spec}"},
        ),
        md=table("results/{spec}/report.md", "Markdown"),
        tex=table("results/{spec}/report.tex", "LaTeX"),
        csv=table("results/{spec}/report.csv", "CSV"),
        figures=report(
            directory("results/{spec}/figures"),
            patterns=["{figure}.{form}"],
            caption="../captions/figure.rst",
            category="Figures",
            labels={"spec": "{spec}", "figure": "{figure}", "as": "{form}"},
        ),
    log:
        "results/{spec}/logs/report.log",
    shell:
        "exec {PY} -m harness.cli report {input.plan} 2> {log}"


rule index:
    """The specs of `--config specs=cora,debian`, run where they are not, beside all that have verdicts."""
    input:
        lambda w: GRID.reports(config.get("specs")),
    output:
        html=report("results/index.html", caption="../captions/index.rst", category="All specs"),
        md="results/index.md",
    log:
        "results/logs/index.log",
    shell:
        "exec {PY} -m harness.cli report --all results 2> {log}"
