# Two commands matter: `make demo` shows the main job, `make test` proves it.
# Both make their own environment in .venv; nothing outside this directory is written.

PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
# Most of what takes long waits for brokers and other people's clients: three keep two cores busy.
WORKERS ?= 3
RUN := .venv/bin/python
PYTEST := $(RUN) -m pytest -n $(WORKERS)

# The one set of versions that both commands install; builds are held to it as well.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of tests start the command as a process of its own: compiled once, it starts in half the
# time. Images of containers often switch that off.
unexport PYTHONDONTWRITEBYTECODE
# Spark's workers take `python3` from PATH unless they are told.
export PYSPARK_PYTHON := $(CURDIR)/.venv/bin/python

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help env demo test lint pytest deep chaos soak calibrate execution weights coverage bench conformance docs pages notebooks clean

help:
	@echo "make demo      the main job on bundled data, with local Spark (Java 17), in a few minutes"
	@echo "make test      environment, lint, types, layers and every test"
	@echo "make lint      ruff, mypy, import-linter"
	@echo "make pytest    the tests alone;  make deep: DEEP=20 times the cases, every pair of clients"
	@echo "make chaos     real groups of every client under random faults, MINUTES=15;  make soak: 240"
	@echo "make calibrate thirty joins and leaves of every client on a real broker beside the timed"
	@echo "               simulator's predictions: half an hour of waiting, writes RESULTS.md"
	@echo "make execution Kafka's broker and Java's clients beside execution and client models: twelve"
	@echo "               minutes, on a machine with nothing else to do; writes a page of docs/"
	@echo "make weights   assignors by weight beside others, in real groups whose members burn processor"
	@echo "               time: a quarter of an hour, with nothing else to do; writes RESULTS.md;"
	@echo "               RUN_S=20: ten minutes;  REPETITIONS=1: to try it"
	@echo "make coverage  branch coverage of wire and the core"
	@echo "make bench     measures beside every peer, and writes the tables of docs/speed.md;"
	@echo "               a quarter of an hour, with nothing else to do"
	@echo "make conformance  asks every client the vectors, and writes its results"
	@echo "make docs      the documentation as a site, in build/docs"
	@echo "make pages     writes the pages of docs/ that are made from the code"
	@echo "make notebooks runs the notebooks, and stores their answers and plots in them"
	@echo "make clean     removes .venv and everything tools left behind"

# Runs one part of the suite and says how long it took.
define part
	@started=$$SECONDS; echo "== $(1)"; \
	{ $(2); } || { status=$$?; echo "== $(1): failed after $$((SECONDS - started)) s"; exit $$status; }; \
	echo "== $(1): $$((SECONDS - started)) s"
endef

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv

# A stamp is older than what it was made from, or nothing needs doing.
.venv/.installed-dev: pyproject.toml constraints.txt | .venv/bin/python
	$(RUN) -m pip install --quiet --editable '.[dev]'
	@touch $@ .venv/.installed-demo

.venv/.installed-demo: pyproject.toml constraints.txt | .venv/bin/python
	$(RUN) -m pip install --quiet --editable '.[cli,spark]'
	@touch $@

env: .venv/.installed-dev
	@:

demo: .venv/.installed-demo
	@$(RUN) -m assignors.simulation.demo

test: env
	@started=$$SECONDS; $(MAKE) --no-print-directory lint; $(MAKE) --no-print-directory pytest; \
	echo "== everything: $$((SECONDS - started)) s"

lint: env
	$(call part,ruff check,$(RUN) -m ruff check)
	$(call part,ruff format,$(RUN) -m ruff format --check)
	$(call part,mypy,$(RUN) -m mypy)
	$(call part,import-linter,.venv/bin/lint-imports --no-cache)

pytest: env
	$(call part,pytest,$(PYTEST) --durations=20 --durations-min=2)

deep: export DEEP ?= 20
deep: env
	$(call part,pytest with DEEP=$(DEEP),$(PYTEST) -m 'not spark and not interop' --durations=20 tests)
	$(call part,histories of coordinators,$(RUN) -m tests.foreign.deep --histories 100000)
	$(call part,best assignments,$(RUN) -m tests.optimal.deep --groups 100000)
	$(call part,tiny groups by weight,$(RUN) -m tests.weighted.exhaust)
	$(call part,every pair of clients and every kind of Spark session,$(PYTEST) -m 'interop or spark' --durations=20 tests)

chaos: MINUTES ?= 15
soak: MINUTES ?= 240
SEED ?= 1
chaos soak: env
	$(call part,$@ for $(MINUTES) minutes,$(RUN) -m tests.interop.chaos --minutes $(MINUTES) --seed $(SEED))

calibrate: GROUPS ?= 3
calibrate: REPETITIONS ?= 11
calibrate: env
	$(call part,$@,$(RUN) -m tests.lab.calibrate.run --groups $(GROUPS) --repetitions $(REPETITIONS))

execution: PARTS ?= commits rebalances traces closings
execution: env
	$(call part,$@,$(RUN) -m tests.lab.execution.run --parts $(PARTS) && $(RUN) -m tests.lab.pages)

weights: REPETITIONS ?= 3
weights: RUN_S ?= 32
weights: env
	$(call part,$@,$(RUN) -m tests.lab.weights.run --repetitions $(REPETITIONS) --seconds $(RUN_S) && $(RUN) -m tests.lab.pages)

coverage: env
	$(call part,coverage,$(PYTEST) --cov -m 'not spark and not interop' -q)

bench: env
	$(call part,bench,$(RUN) -m tests.benchmarks.peers.run && $(RUN) -m tests.benchmarks.peers.quick --store)

conformance: env
	$(call part,conformance,$(RUN) -m tests.conformance.record && $(RUN) -m tests.conformance.page)

docs: env
	$(call part,docs,$(RUN) -m sphinx -W --keep-going -q -c docs -d build/docs-state . build/docs)
	@echo "== build/docs/index.html"

pages: env
	@$(RUN) -m tests.docs

notebooks: env
	@$(RUN) -m tests.docs.notebooks

clean:
	rm -rf .venv build dist *.egg-info .coverage* .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache .benchmarks artifacts metastore_db spark-warehouse derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
