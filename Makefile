# What a person types; `make help` lists it. Everything installs into .venv, nothing outside the folder.
PYTHON ?= python3
VENV := .venv
INSTALLED := $(VENV)/.installed
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
unexport PYTHONDONTWRITEBYTECODE  # containers set it; a thousand short processes read what the first compiles
unexport PYTHONOPTIMIZE  # it drops docstrings, which hold captions
# these install elsewhere than into .venv; 0 also overrules a user's pip.conf
unexport PIP_TARGET PIP_PREFIX PIP_ROOT
export PIP_USER := 0

.DEFAULT_GOAL := help
# for figures and robustness: PAPERS="spectral_bias deep_linear" for some papers; SEEDS=20 and DRAWS=10 for other numbers
# for figures: FROM=metrics.tar for those of another run's metrics
comma := ,
space := $(subst ,, )
override PAPERS := $(subst $(comma),$(space),$(PAPERS))
SEEDS ?= 3
DRAWS ?= 20
# for mutants: the seed of the draw, and how many of each topic
SEED ?= 1
EACH ?= 12
listed = [$(subst $(space),$(comma),$(strip $(PAPERS)))]
chosen = $(if $(strip $(PAPERS)),'papers=$(listed)')

.PHONY: help install figures publish robustness bench notebook mutants quick test test-all budget verdicts lint docs site clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# what is installed is what was tested: pinned, with its hash checked (.ci/lock); PyTorch's build depends on the machine
pip := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check
locked = $(pip) --require-hashes --no-deps --requirement requirements/$(1).txt

# programs in .venv hold its path: in a folder that was moved or copied the environment is made again
MADE_IN := $(shell cat $(VENV)/.installed 2>/dev/null)
ifneq ($(shell test -z "$(MADE_IN)" || test "$(MADE_IN)" -ef . && echo here),here)
$(info the environment was made in $(MADE_IN): it is made again here)
CLEAR := --clear
$(INSTALLED): moved
endif
.PHONY: moved

$(INSTALLED): pyproject.toml requirements/base.txt requirements/torch.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' \
	  || { echo "learning-dynamics needs Python 3.11.5 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "installing into $(VENV): 1 to 5 minutes, mostly download"
	@test ! -L $(VENV) || rm $(VENV)  # a link: what it leads to is not ours to clear
	$(PYTHON) -m venv $(CLEAR) $(VENV)
	$(call locked,base)
	$(pip) --constraint requirements/torch.txt --no-build-isolation --editable '.[cluster,docs,test,lint]'
	@pwd -P > $@

$(VENV)/.bench $(VENV)/.mutation $(VENV)/.notebook: $(VENV)/.%: requirements/%.txt $(INSTALLED)
	$(call locked,$*)
	@touch $@

install: $(INSTALLED)  ## the environment, in .venv

figures robustness publish: export PYTHONSAFEPATH := 1  # a scratch `random.py` in this folder is not Python's

figures: $(INSTALLED)  ## every figure at laptop scale, pages from figures/index.html on, the table of claims
	@$(if $(FROM),python -m learning_dynamics unpack $(subst $(space),\ ,$(FROM)) --papers $(PAPERS))
	@start=$$(date +%s); status=0; \
	snakemake --cores all $(if $(chosen),--config $(chosen)) || status=$$?; \
	python -m learning_dynamics summary --since $$start --papers $(PAPERS) || status=1; exit $$status

robustness: $(INSTALLED)  ## claims judged again: settings varied until verdicts turn, other seeds, draws: results/robustness.md
	@echo "all papers take one to three hours on two idle cores, SEEDS=20 a night; after an interruption type the same again"
	snakemake robustness --cores all \
	  --config seeds=$(SEEDS) draws=$(DRAWS) $(if $(chosen),$(chosen) 'seeds_of=$(listed)')
	@echo "what was found: $(CURDIR)/results/robustness.md"

bench: $(VENV)/.bench  ## benchmarks against alternative libraries: results/bench.csv
	$(VENV)/bin/python -m bench

notebook: $(VENV)/.notebook  ## Jupyter, with the examples in docs/notebooks
	$(VENV)/bin/jupyter lab docs/notebooks

mutants: $(VENV)/.mutation  ## mutation testing: SEED=2 for other mutants, PAPERS=... for some papers
	$(VENV)/bin/python -m mutation --seed $(SEED) --each $(EACH) --workers 2 --only $(PAPERS)

quick: $(INSTALLED)  ## the tests for in between, below a minute: library, theory, one claim of each topic
	python -m pytest --numprocesses 2 -m quick --ignore tests/pipeline

test test-all quick: export OMP_NUM_THREADS := 1  # each of two processes has a core
test: $(INSTALLED)  ## the tests for every change
	python -m pytest --numprocesses 2 -m 'not long'

# "=" because pytest takes a file that exists, after a blank, for a test
test-all: $(INSTALLED)  ## every test, also clusters, kills, browser: durations in .cache/durations.csv
	python -m pytest --numprocesses 2 --durations-csv=.cache/durations.csv

budget: $(INSTALLED)  ## whether `make test` keeps to its time, by the durations of `make test-all` on an idle machine
	BUDGET=1 python -m pytest tests/test_budget.py

verdicts: $(INSTALLED)  ## what tests compare every claim with, written again: read the diff before you commit it
	python -m tests.papers.written $(if $(strip $(PAPERS)),--papers $(PAPERS))
	@git --no-pager diff --stat -- tests/papers/verdicts.yaml tests/papers/facts.csv tests/papers/quantities.csv

lint: $(INSTALLED)  ## style, types, Snakemake's own checks
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	mypy
	$(VENV)/bin/python .ci/lint_workflow

docs: $(INSTALLED)  ## the reference of settings and library: site/reference/index.html
	$(VENV)/bin/python -m mkdocs build --strict --quiet
	@echo "the reference to read: $(CURDIR)/site/reference/index.html"

site: figures docs  ## all that there is to read, in one folder to be put on a server: site/index.html
	rm -rf site/figures site/results
	mkdir -p site/results
	cp -R figures site/figures
	tar -cf site/tables.tar --exclude __pycache__ results/*/metrics/*.parquet src/learning_dynamics/papers docs/errata \
		docs/*.md
	tar -xf site/tables.tar -C site
	rm site/tables.tar
	cp docs/site.html site/index.html

publish: figures  ## docs/results from the default run: findings, claims, figures, to be committed
	python -m learning_dynamics publish

clean:  ## remove what was generated: results, figures, site, Snakemake's records, compiled modules (not .venv)
	-find results/ figures/ -mindepth 1 ! -path results/README.md ! -path figures/README.md -delete
	-find src tests -name __pycache__ -prune -exec rm -r {} +
	rm -rf site .snakemake .cache
