# After `git clone`: `make run` shows the product, `make test` proves it. Both set up whatever they need.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help run test quick check e2e bench web agent release ci clean

help:  ## show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.ready: pyproject.toml README.md
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

check: $(VENV)/.ready  ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quick: $(VENV)/.ready  ## the fast tests
	$(BIN)/pytest -q -m 'not slow' tests

test: $(VENV)/.ready  ## all tests
	$(BIN)/pytest tests

ci: check test  ## what must pass before a change lands
