# Everything runs in .venv inside this folder, which the first command makes. `make demo` installs what
# parsing needs; all other targets install everything.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

export OMP_WAIT_POLICY := PASSIVE
export NO_MKDOCS_2_WARNING := 1

.PHONY: demo test check coverage format bench reliability en-small docs clean

demo: .venv/.installed  ## parse a text with the model that ships: trees, entities, probabilities; installs no torch
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: .venv/.dev check-code tests/web/node_modules  ## all that CI runs: checks, all tests, coverage, the docs, the wheel
	rm -f .coverage .coverage.*
	$(BIN)/mkdocs build --strict
	sh tests/wheel.sh
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --cov --cov-report=
	$(BIN)/coverage report --fail-under=100 --skip-covered --show-missing
	@echo "all checks and tests passed"

check: .venv/.dev check-code  ## the quick part, to be run all day
	$(BIN)/python -m pytest -q -n 2 -m 'not slow'

.PHONY: check-code
check-code: .venv/.dev
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

coverage: .venv/.dev  ## how much of all layers the tests go through; takes half as long again
	rm -f .coverage .coverage.*
	$(BIN)/python -m pytest -q -n 2 --cov=fencepost --cov-report=
	$(BIN)/coverage report --fail-under=90 --skip-covered --show-missing

format: .venv/.dev  ## lay the code out
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: .venv/.dev  ## how fast, as ratios within this run; needs the benchmark corpora; writes docs/performance.md
	$(BIN)/python bench/core.py
	$(BIN)/python bench/splitting.py
	$(BIN)/python bench/training.py
	$(BIN)/python bench/decoding.py --write
	$(BIN)/python bench/runtime.py --write
	$(BIN)/python bench/corpus.py

reliability: .venv/.dev  ## the scripts behind docs/reliability.md, in full
	$(BIN)/python bench/fuzz.py
	$(BIN)/python bench/fuzz.py --large
	$(BIN)/python bench/kill_training.py
	$(BIN)/python bench/kill_corpus.py
	$(BIN)/python bench/load.py

en-small: .venv/.dev  ## train the English model that ships; ENCODER is a folder if there is no hub
	$(BIN)/fencepost train configs/en-small.toml --out runs/en-small $(if $(ENCODER),--set network.encoder.model=$(ENCODER))
	$(BIN)/python -m experiments.en_small runs/en-small

docs: .venv/.dev  ## build the documentation into site/
	$(BIN)/mkdocs build --strict

.PHONY: site
site: export FENCEPOST_SITE := 1
site: docs  ## the docs, and at try/ the page that parses in the browser: static files for any host
	$(BIN)/fencepost export-web -o site/try

clean:
	rm -rf .venv site dist tests/web/node_modules .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache

# What checks that the page is accessible; without npm, that test says so and is skipped.
tests/web/node_modules: tests/web/package.json tests/web/package-lock.json
	@if command -v npm >/dev/null; then npm --prefix tests/web ci --no-audit --no-fund --silent && touch $@; \
	else echo "no npm: the page's accessibility will not be checked"; fi

.venv/bin/python:
	@echo "making .venv, an environment for Python in this folder"
	@$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing pip and what builds the package (1 of 2)"
	@$(PIP) pip hatchling editables  # the pip that venv brings is as old as Python
	@echo "installing fencepost with onnxruntime, numpy and the rest that parsing needs (2 of 2): a minute or so"
	@$(PIP) --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.installed
	@echo "installing torch and all that tests, docs and training need: some minutes"
	@$(PIP) --no-build-isolation --editable '.[dev]'
	@touch $@
