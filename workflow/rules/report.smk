rule page:
    """The pages to read, and all papers' claims in one table."""
    input:
        claims=[f"<results>/{paper}/claims.parquet" for paper in plan.config.papers],
        figures=[plan.figure_files(paper, "png", "svg", "webp", "json") for paper in plan.config.papers],
        stale=stale("page"),
    output:
        page="<figures>/index.html",
        pages=[f"<figures>/{paper}.html" for paper in plan.config.papers],
        claims="<results>/claims.parquet",
    log:
        "<results>/logs/page.log",
    localrule: True
    params:
        config=configuration_option(command_line),
        words=digest_of_texts(plan.config),
        fingerprints=[plan.page, plan.verdicts],
        again=judged_again,
    shell:
        "python -m learning_dynamics report --config {params.config:q} > {log} 2>&1"


# also says what differs from the published results
use rule verdicts_of_paper as verdicts with:
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
        fingerprint=plan.verdicts,
