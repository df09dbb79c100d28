# Two commands: `make quickstart` (installs, runs the main job) and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
CORES  ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Real graphs for tests that need them; such tests skip, with the reason, where they are missing.
DATA   := $(if $(HARNESS_DATA),$(HARNESS_DATA),$(if $(wildcard ../shared/data),$(abspath ../shared/data),data))

.PHONY: quickstart install test check docs bench bench-big gpu-check clean

quickstart: install
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/snakemake --cores $(CORES)

install: $(BIN)/.installed

$(BIN)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): about 1 GB of wheels from PyPI, a few minutes."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

test: install check
	HARNESS_DATA=$(DATA) $(BIN)/python -m pytest

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Without a server the pages have no search; `.venv/bin/mkdocs serve` is one.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

bench: install
	HARNESS_DATA=$(DATA) $(BIN)/python -m tests.benchmarks

# 10 M nodes, 100 M edge ends: minutes, 4 GB of disk under results/bench (or $$HARNESS_BENCH_DISK), removed afterwards.
bench-big: install
	HARNESS_DATA=$(DATA) $(BIN)/python -m tests.benchmarks big

gpu-check: install
	$(BIN)/python scripts/gpu_check.py
	$(BIN)/python -m pytest tests/runs/test_matrix.py

# All that was prepared and run; results/reference is part of the repository.
clean:
	rm -rf .cache .snakemake build/site
	test ! -d results || find results -mindepth 1 -maxdepth 1 ! -name reference -exec rm -rf {} +
