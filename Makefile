# make next    sets up on a bare machine and serves a problem
# make test    sets up and runs linters, type checks and the whole test suite
# make proof   the long proofs: many seeds of every question
# make bench   prints what the README quotes
# PIP_ARGS=... goes to pip, e.g. PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"

PYTHON ?= python3
VENV ?= .venv
PIP_ARGS ?=
JOBS ?= 2
BIN := $(VENV)/bin

.PHONY: next test proof bench lint setup clean

next: $(VENV)/.installed
	@trap : INT; $(BIN)/drill next; status=$$?; \
	[ "$$(command -v drill)" = "$(abspath $(BIN))/drill" ] || \
	printf '\n To type drill yourself, first:  source %s/activate\n' "$(BIN)" >&2; \
	case $$status in 0|1|5|130) ;; *) exit $$status ;; esac

setup: $(VENV)/.installed $(VENV)/.installed-dev

$(VENV)/.installed: pyproject.toml constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "drill needs Python 3.10 or later: make PYTHON=python3.11 next")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "Could not create a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing into $(VENV) (the first time takes a few minutes: torch is large) ..." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(PIP_ARGS) -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(PIP_ARGS) -e '.[dev]'
	@touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/drill bank check --quick
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) -m "not proof"

proof: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) -m proof --timeout 3600
	DRILL_EVERY_TIER=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) tests/hostile
	$(BIN)/drill bank check --seeds 50

bench: setup
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/grading.py
	$(BIN)/python benchmarks/progress.py
	$(BIN)/python benchmarks/echo.py
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/power.py --jobs $(JOBS)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache
