# What a person types; `make help` lists it. Everything installs into .venv, nothing outside the folder.
PYTHON ?= python3
VENV := .venv
INSTALLED := $(VENV)/.installed
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help figures publish test lint clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "learning-dynamics needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[cluster,test,lint]'
	@touch $@

figures: $(INSTALLED)  ## every figure at laptop scale, the page figures/index.html, the table of claims
	snakemake --cores all --quiet rules host
	@python -m learning_dynamics verdicts results/claims.parquet --page figures/index.html

test: $(INSTALLED)  ## the whole test suite
	python -m pytest --numprocesses 2

lint: $(INSTALLED)  ## style, types, Snakemake's own checks
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	mypy
	snakemake --lint

publish: figures  ## docs/results from the default run: findings, claims, figures, to be committed
	python -m learning_dynamics publish

clean:  ## remove what was generated: results, figures, Snakemake's records (not .venv)
	rm -rf results figures .snakemake
