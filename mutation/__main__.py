"""Draw mutants, try each, print the score by paper and topic and what nothing notices."""

import argparse
import warnings

from mutation import score, workplace
from mutation.campaign import Campaign
from mutation.drawing import draw, groups


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="from which mutants are drawn")
    parser.add_argument("--each", type=int, default=12, help="how many mutants a topic")
    parser.add_argument("--workers", type=int, default=2, help="how many are tried at a time")
    parser.add_argument("--only", nargs="*", default=[], help="papers, topics (paper/topic) or parts of the library")
    parser.add_argument("--list", action="store_true", help="print the mutants that are drawn; try none")
    options = parser.parse_args()
    known = groups(workplace.ROOT)
    chosen = [name for name in known if not options.only or {name, name.partition("/")[0]} & set(options.only)]
    for name in options.only:
        if not any(name in (group, group.partition("/")[0]) for group in known):
            parser.error(f"no such group: {name}; there are {', '.join(known)}")
    mutants = [one for name in chosen for one in draw(name, known[name], workplace.ROOT, options.seed, options.each)]
    if options.list:
        for mutant in mutants:
            print(f"{mutant.file}:{mutant.line} ({mutant.operator})\n- {mutant.before}\n+ {mutant.after}")
        return
    papers = {name.partition("/")[0] for name in known if "/" in name}
    workplace.import_libraries()
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # of forking: no library has threads yet
    campaign = Campaign(options.workers)
    # the library's parts are noticed in every paper's verdicts
    library = any("/" not in name for name in chosen)
    baseline = campaign.baseline(sorted(papers if library else {name.partition("/")[0] for name in chosen}))
    campaign.run(mutants, options.seed, baseline)
    results = campaign.results(options.seed)
    found = [results[mutant.id] for mutant in mutants if mutant.id in results]
    same = score.equivalent(found)
    print(score.survivors(found, same))
    print(f"seed {options.seed}, commit {campaign.commit}, sources {campaign.version}\n")
    print(score.table(found, same))


if __name__ == "__main__":
    main()
