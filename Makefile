# Everything runs in the project's own virtual environment; nothing needs to be installed first
# but Python 3.11 or newer.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-slow check format docs bench dist lowest clean help
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

demo: $(STAMP) ## simulate, learn the graph, score it against the truth: about half a minute
	$(BIN)/rinn demo --out runs/demo

test: $(STAMP) ## the test suite
	@.ci/chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not slow and not exact'
	$(BIN)/python -m pytest -n 2 --dist loadfile -m 'exact and not slow'

test-slow: $(STAMP) ## the long tests, which back the claims
	$(BIN)/python -m pytest -m slow

check: $(STAMP) ## format, lint, types and tests: what a change must pass
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

format: $(STAMP) ## write the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP) ## the documentation as a site in site/, with every link checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo open site/index.html

bench: $(STAMP) ## speed beside PyTorch and Keras, one run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/bench_train.py

dist: $(STAMP) ## wheel and sdist in dist/: checked, installed in a clean environment, demo run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dist]'
	$(BIN)/python .ci/dist.py

lowest: $(STAMP) ## the lowest versions that pyproject.toml allows: installed, demo run
	$(BIN)/python .ci/lowest.py

clean: ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis site dist
