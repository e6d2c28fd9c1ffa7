# What is read: the page, the verdicts, the captions of Snakemake's own report.
from learning_dynamics.pipeline.report.captions import Captions


rule page:
    """The pages to read, and all papers' claims in one table."""
    input:
        claims=[f"{RESULTS}/{paper}/claims.parquet" for paper in study.papers],
        figures=[
            f"{figure}.{kind}" for paper in study.papers for figure in figures_of(paper) for kind in ("png", "svg")
        ],
        motions=[file for paper in study.papers for file in motions_of(paper)],
        interactives=[file for paper in study.papers for file in interactives_of(paper)],
        stamp=stamp_of("page"),
    output:
        page=f"{FIGURES}/index.html",
        pages=[f"{FIGURES}/{paper}.html" for paper in study.papers],
        claims=f"{RESULTS}/claims.parquet",
    log:
        f"{RESULTS}/logs/page.log",
    benchmark:
        f"{RESULTS}/benchmarks/page.tsv"
    localrule: True
    resources:
        mem_mb=lambda wc, attempt: 1000 * attempt,
        runtime=10,
    params:
        config=compact({"files": [str(file) for file in workflow.configfiles], "given": config}),
        words=words(),
        made=[project.page, project.verdicts],
        seeds=seeds_shown(),
        results=lambda wc: RESULTS,
        figures=lambda wc: FIGURES,
    shell:
        "python -m learning_dynamics report --config {params.config:q} --results {params.results}"
        " --figures {params.figures} --out {output.page} --claims {output.claims} > {log} 2>&1"


rule verdicts_of_paper:
    """Fails, and says so, when a verdict of the paper is not the one that the configuration expects."""
    input:
        claims=f"{RESULTS}/{{paper}}/claims.parquet",
        stamp=stamp_of("verdicts_of_paper"),
    output:
        f"{RESULTS}/{{paper}}/verdicts.txt",
    log:
        f"{RESULTS}/{{paper}}/logs/verdicts.log",
    benchmark:
        f"{RESULTS}/{{paper}}/benchmarks/verdicts.tsv"
    localrule: True
    resources:
        mem_mb=500,
        runtime=5,
    params:
        made=lambda wc: project.fingerprint("claims", wc.paper, "claims"),
    shell:
        "python -m learning_dynamics verdicts {input.claims} --out {output} > {log} 2>&1"


rule verdicts:
    """Fails so when a verdict of any paper is not the expected one; says what differs from the published results."""
    input:
        claims=f"{RESULTS}/claims.parquet",
        page=f"{FIGURES}/index.html",
        stamp=stamp_of("verdicts"),
    output:
        f"{RESULTS}/verdicts.txt",
    log:
        f"{RESULTS}/logs/verdicts.log",
    benchmark:
        f"{RESULTS}/benchmarks/verdicts.tsv"
    localrule: True
    resources:
        mem_mb=500,
        runtime=5,
    params:
        made=project.verdicts,
    shell:
        "python -m learning_dynamics verdicts {input.claims} --out {output} > {log} 2>&1"


# read by workflow/report/figure.rst when the report is written
config["captions"] = Captions(study, Path(FIGURES))
