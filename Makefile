# make run       set up, load the demo when the database is empty, serve http://localhost:8000
# make test      set up, then the checks and the tests that find nearly everything, in five minutes of processor time
# make test-all  every check and every test, on both databases, in a browser; TESTS="tests/web ..." for a part of them
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests wait for servers and browsers, so that three processes use two cores better than two.
WORKERS ?= 3
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup setup-test setup-dev run test test-all test-rest explore lint check fix lock audit results docs wheel clean

help:
	@sed -n 's/^# make/  make/p' Makefile

$(BIN)/python:
	@.ci/make-venv "$(PYTHON)" "$(VENV)"

# Stamps: a second run finds them newer than what they were made from, and does nothing.
$(VENV)/.runtime: requirements.lock pyproject.toml | $(BIN)/python
	@.ci/install $(VENV) requirements.lock "libraries"
	@.ci/link-checkout "$(BIN)"
	@touch $@

$(VENV)/.test: requirements-test.lock $(VENV)/.runtime
	@.ci/install $(VENV) requirements-test.lock "the tools of make test"
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.test
	@.ci/install $(VENV) requirements-dev.lock "the tools of make test-all"
	@touch $@

static/vendor/htmx.min.js: package.json package-lock.json .ci/fetch-assets | $(BIN)/python
	@echo "topkapi: fetching browser assets"
	@.ci/fetch-assets "$(BIN)"
	@touch $@

setup: $(VENV)/.runtime static/vendor/htmx.min.js

# Without a Chromium, make test skips what a browser shows; make test-all needs one.
setup-test: setup $(VENV)/.test
	@.ci/ensure-chromium || true

setup-dev: setup $(VENV)/.dev
	@.ci/ensure-chromium

run: setup
	@echo "topkapi: loading the demo study, unless the database has content"
	@$(BIN)/topkapi demo --if-empty --json >/dev/null
	@echo "topkapi: starting the server"
	@$(BIN)/topkapi serve

lint: setup $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python .ci/check-tree

check: lint
	$(BIN)/mypy

# One thread a process for linear algebra: the tests themselves use every core. Compiled modules are stored,
# whatever the environment says, because the tests start many processes.
# mypy, which uses one core for a minute, runs beside the tests; what it found comes last.
test test-all test-rest explore: export OPENBLAS_NUM_THREADS := 1
test test-all test-rest explore: export PYTHONDONTWRITEBYTECODE :=
test-all test-rest: export TOPKAPI_TEST_DEMAND_BROWSER := 1
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist worksteal
define CHECKED_TESTS
	@$(BIN)/mypy $(2) >$(VENV)/mypy.txt 2>&1 & types=$$!; failed=0; \
	$(PYTEST) $(1) $(TESTS) || failed=$$?; \
	wait $$types || failed=$$?; \
	cat $(VENV)/mypy.txt; exit $$failed
endef

test: export HYPOTHESIS_PROFILE ?= quick
test: WORKERS := 2
test: setup-test lint
	$(call CHECKED_TESTS,-m "not thorough",src/topkapi)

test-all: setup-dev lint
	$(call CHECKED_TESTS,)

# What make test leaves out, and properties with all their examples: .ci/run runs both.
test-rest: setup-dev
	$(call CHECKED_TESTS,-m "thorough or hypothesis")

# make explore  the property tests with new random examples, many more of them
explore: setup-dev
	HYPOTHESIS_PROFILE=explore $(BIN)/pytest -n $(WORKERS) $$(grep -lr '@given' tests --include='*.py')

fix: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# make lock   after a change of the dependencies in pyproject.toml (needs uv)
lock:
	uv pip compile pyproject.toml --extra all --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --no-header -q -o requirements.lock
	uv pip compile pyproject.toml --extra test -c requirements.lock --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --no-header -q -o requirements-test.lock
	uv pip compile pyproject.toml --extra dev -c requirements-test.lock --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --no-header -q -o requirements-dev.lock
	grep '^hatchling==' requirements-dev.lock | tr -d '\\' | uv pip compile - -c requirements-dev.lock --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links --no-header -q -o .ci/requirements-build.lock
	npm install --package-lock-only

# make audit  known vulnerabilities of what the locks pin, where the registries answer
# pip-audit has an environment of its own: nothing else needs what it brings, and it should be new.
$(VENV)/audit/bin/pip-audit: | $(BIN)/python
	@$(BIN)/python -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet pip-audit || echo "pip-audit cannot be installed here"

audit: $(VENV)/audit/bin/pip-audit
	@$(BIN)/python .ci/audit $(VENV)/audit/bin/pip-audit npm

# make results  docs/results.md and docs/notes/results.md, from the data sets in DATA (a killed run goes on)
DATA ?= ../shared/data
results: $(VENV)/.dev
	$(BIN)/python -m bench.results --data $(DATA) --out results --jobs $(WORKERS)

# make docs   write the reference from the program, build the site in dist/docs; warnings are errors
docs: $(VENV)/.dev
	$(BIN)/python -m docs.generate
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d dist/doctrees . dist/docs
	@echo "topkapi: open dist/docs/index.html"

# make wheel  build dist/topkapi-*.whl, browser assets included
# The build has an environment of its own, with nothing but the build backend.
$(VENV)/build/.done: .ci/requirements-build.lock | $(BIN)/python
	@$(BIN)/python -m venv $(VENV)/build
	@$(VENV)/build/bin/python -m pip install --quiet --require-hashes -r .ci/requirements-build.lock
	@touch $@

wheel: $(VENV)/build/.done static/vendor/htmx.min.js
	$(VENV)/build/bin/hatchling build -t wheel

clean:
	rm -rf $(VENV) static/vendor node_modules dist results
