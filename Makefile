# Two commands are enough on a fresh machine with Python 3.11 and make: `make demo` and `make test`.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# The exact versions of what is installed. `make CONSTRAINTS= …` takes the newest that pyproject.toml allows.
CONSTRAINTS ?= constraints.txt
# Python compiles a module when it is first imported; of those installed, most never are.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile --quiet --quiet \
	$(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
# The first of these that is 3.11 or newer makes the environment; `make PYTHON=/path/to/python …` overrides.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11 python; do \
	command -v $$name >/dev/null 2>&1 && \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)

PORT ?= 8000
WORKERS ?= 1
# One test process more than the usual two cores: real servers and browsers are waited for a quarter of the time.
# tests/conftest.py says which tests stay together. `make test JOBS=0 ARGS="-k votes"`.
JOBS ?= 3
ARGS ?=
TEMPLATES := templates
PACKAGES := annotation evaluation foilworks generation
# Checks that take some seconds each: two at a time.
LONG_CHECKS := mypy 'bandit --quiet --recursive $(PACKAGES) --configfile pyproject.toml' \
	'python scripts/vocabulary.py' 'python scripts/citations.py' 'python scripts/labels.py' 'python scripts/house.py --check' \
	'python scripts/client.py check' \
	'python scripts/reference.py check methods.md scoring.md format-tables.md states.md'
# Tests never reach a model hub: what they need is made here or comes in a wheel.
OFFLINE := HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(STAMPS)/models ## set up everything, make the sample project, train and score its models; then serve it
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/foilworks demo --port $(PORT); else $(BIN)/foilworks demo --headless --port $(PORT); fi

.PHONY: up
up: $(STAMPS)/models ## serve the pages and run the jobs until Ctrl-C (PORT=8000 WORKERS=1)
	@$(BIN)/foilworks up --port $(PORT) --workers $(WORKERS)

.PHONY: doctor
doctor: $(STAMPS)/models ## what is installed and in use, and what to do about what is missing
	@$(BIN)/foilworks doctor

.PHONY: test
test: checks $(STAMPS)/dev ## set up everything with a browser, the checks of lint, then the whole test suite
	@chromium="$$($(BIN)/python tests/ensure_chromium.py)" && \
	FOILWORKS_CHROMIUM="$$chromium" $(OFFLINE) $(BIN)/python -m pytest -n $(JOBS) $(ARGS)

.PHONY: test-full
test-full: $(STAMPS)/dev ## the long tests: crowds, wheel, PostgreSQL, old databases, every page in a browser (an hour at most)
	@chromium="$$($(BIN)/python tests/ensure_chromium.py)" && \
	FOILWORKS_CHROMIUM="$$chromium" $(OFFLINE) $(BIN)/python -m pytest -n $(JOBS) -m "full and not machines" $(ARGS)

.PHONY: test-machines
test-machines: $(STAMPS)/dev ## several hosts, Slurm, Ray, kills, moved clocks, a second browser (an hour at most)
	@chromium="$$($(BIN)/python tests/ensure_chromium.py)" && \
	FOILWORKS_CHROMIUM="$$chromium" $(OFFLINE) $(BIN)/python -m pytest -n $(JOBS) -m machines $(ARGS)

.PHONY: lint
lint: checks ## ruff, direction of imports, types of the pure packages, missing migrations, unsafe code, known holes
	@$(BIN)/pip-audit --skip-editable --progress-spinner off

# Without what is published about packages: a hole found tomorrow must not break today's tests. Of the reference, the
# pages that take a second; the tests hold all of them.
.PHONY: checks
checks: $(STAMPS)/dev ## lint without pip-audit: code, types, migrations, words, the house, citations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo "run make format" >&2; exit 1; }
	@$(BIN)/djade --check $$(find $(TEMPLATES) -name '*.html') || { echo "run make format" >&2; exit 1; }
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python manage.py makemigrations --check --dry-run
	@printf '%s\n' $(LONG_CHECKS) | xargs -P 2 -I % sh -c '$(BIN)/%'

.PHONY: mutations
mutations: $(STAMPS)/mutations ## small faults put into the pure rules and metrics: how many the tests notice (half an hour)
	@$(BIN)/python -m tests.mutations.mutations $(ARGS)

.PHONY: format
format: $(STAMPS)/dev ## sort imports, fix what ruff can fix, format all Python files and templates
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/djade $$(find $(TEMPLATES) -name '*.html')

# Nothing of the site comes from a network; a warning is an error.
.PHONY: docs
docs: $(STAMPS)/dev ## the documentation as a site, docs/_build/html
	@$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# By a setuptools that is recent enough, which that of a new environment is not; nothing else is needed. build/ would carry
# old files into the next wheel.
.PHONY: wheel
wheel: $(STAMPS)/venv ## build the wheels of Foilworks and of its client, in dist/
	@rm -rf build
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'setuptools>=77'
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist . ./foilworks/client
	@rm -rf build foilworks/client/build foilworks/client/*.egg-info && ls dist/*.whl

.PHONY: install
install: $(STAMPS)/dev ## only set up the environment

# Read on Linux with Python 3.11, the machine of the tests. torch has its own pin and build (scripts/install_torch.py).
.PHONY: versions
versions: ## write the newest versions that pyproject.toml allows to constraints.txt; then `make test`
	@rm -rf .renewal
	@$(MAKE) --no-print-directory VENV=.renewal CONSTRAINTS= .renewal/.stamps/mutations
	@{ echo "# What make installs, exactly: written by make versions, not by hand (decision 62)."; \
		.renewal/bin/python -m pip freeze --exclude-editable | grep -Ev '^(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z-]+)=='; \
	} > .renewal/constraints.txt
	@mv .renewal/constraints.txt constraints.txt && rm -rf .renewal
	@git --no-pager diff --stat -- constraints.txt

.PHONY: clean
clean: ## remove the environment and caches; the data in var/ stays
	rm -rf $(VENV) .renewal .mutations build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# Stamps: each step runs again only when what it reads has changed, so that a second run starts in seconds.

$(STAMPS)/venv:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Foilworks needs Python 3.11 or newer: install it, or name it with make PYTHON=/path/to/python3.11" >&2; \
		exit 1; fi
	@echo "making the environment in $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { \
		echo "the venv module is incomplete: install it (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 1; }
	@$(PIP) --upgrade 'pip>=23.3'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/torch: scripts/install_torch.py pyproject.toml | $(STAMPS)/venv
	@$(BIN)/python scripts/install_torch.py
	@touch $@

$(STAMPS)/models: pyproject.toml $(CONSTRAINTS) $(STAMPS)/torch
	@echo "installing Foilworks with its model libraries (a minute or two)"
	@$(PIP) --editable '.[models]'
	@touch $@

$(STAMPS)/dev: pyproject.toml $(CONSTRAINTS) $(STAMPS)/torch
	@echo "installing Foilworks with its model and test libraries (two minutes or so, about 2 GB)"
	@$(PIP) --editable '.[models,dev]'
	@touch $(STAMPS)/models $@

$(STAMPS)/mutations: pyproject.toml $(CONSTRAINTS) $(STAMPS)/dev
	@$(PIP) --editable '.[models,dev,mutations]'
	@touch $@
