rule texts:
    """Fails if a text of the pages has a field that nothing fills.

    `page` does not start then, and the previous pages stay: Snakemake would delete them as outputs of a failed job.
    """
    input:
        claims=[f"<results>/{paper}/claims.parquet" for paper in plan.config.papers],
        figures=[plan.figure_files(paper, "png", "webp", "json") for paper in plan.config.papers],
    output:
        touch("<results>/texts.filled"),
    log:
        "<results>/logs/texts.log",
    localrule: True
    params:
        fingerprint=plan.page_fingerprint,
        texts=digest_of_texts(plan.config),
    shell:
        "python -m learning_dynamics report --plan {PLAN} --texts > {log} 2>&1"


rule page:
    """The pages to read, and all papers' claims in one table."""
    input:
        claims=[f"<results>/{paper}/claims.parquet" for paper in plan.config.papers],
        figures=[plan.figure_files(paper, "png", "svg", "webp", "json") for paper in plan.config.papers],
        texts="<results>/texts.filled",
        stale=stale("page"),
    output:
        page="<figures>/index.html",
        pages=[f"<figures>/{paper}.html" for paper in plan.config.papers],
        claims="<results>/claims.parquet",
    log:
        "<results>/logs/page.log",
    localrule: True
    params:
        fingerprints=[plan.page_fingerprint, plan.verdicts_fingerprint],
        overlays=overlays,
        texts=digest_of_texts(plan.config),
        variations=digest_of_variations(),
    shell:
        "python -m learning_dynamics report --plan {PLAN} > {log} 2>&1"


rule verdicts:
    """The verdicts of all papers, and what differs from the published results."""
    input:
        claims="<results>/claims.parquet",
        page="<figures>/index.html",
        stale=stale("verdicts"),
    output:
        "<results>/verdicts.txt",
    log:
        "<results>/logs/verdicts.log",
    localrule: True
    params:
        fingerprint=plan.verdicts_fingerprint,
    shell:
        "python -m learning_dynamics verdicts {input.claims} --out {output} > {log} 2>&1"
