# Every target sets up what it needs by itself: `make test` on a fresh clone is enough.
# The stamps under .venv/stamps remember what is done, so that a second call does no work twice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
CXX ?= c++
JOBS ?= 2

BUILD_TOOLS := scikit-build-core==1.1.1 nanobind==3.1.0 cmake==4.4.4 ninja==1.13.2
CPP_FILES := $(shell find cpp -type f \( -name '*.cpp' -o -name '*.h' \) 2>/dev/null)
CPP_FOLDERS := $(shell find cpp -type d 2>/dev/null)
EDITABLE := $(PIP) install --no-build-isolation --no-deps -Ccmake.define.TENGEN_NATIVE_ARCH=ON -e .

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install test lint format bench demo play docs stubs test-sanitize wheel clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{ printf "  make %-15s %s\n", $$1, $$2 }'

# ---- Setting up -----------------------------------------------------------------------------------------------------

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tengen needs Python 3.11 or newer; '$(PYTHON)' is older. Say: make PYTHON=python3.12 …" >&2; exit 1; }
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build-tools: $(STAMPS)/venv Makefile
	@command -v $(CXX) >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 || \
	  { echo "Tengen needs a C++20 compiler: install g++ 11+ or clang 14+ (Debian: apt install g++; macOS: xcode-select --install)." >&2; exit 1; }
	@$(PIP) install $(BUILD_TOOLS)
	@touch $@

$(STAMPS)/native: pyproject.toml CMakeLists.txt $(CPP_FILES) $(CPP_FOLDERS) $(STAMPS)/build-tools
	@echo "Building tengen and its native module …"
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) PATH="$(CURDIR)/$(BIN):$$PATH" $(EDITABLE)
	@touch $@

# tengen itself is installed by now: pip only adds the packages that it asks for.
$(STAMPS)/base: pyproject.toml | $(STAMPS)/native
	@echo "Installing the base packages …"
	@$(PIP) install tengen
	@touch $@

# torch goes first and by exact version (see pyproject.toml).
$(STAMPS)/test: pyproject.toml $(STAMPS)/base
	@echo "Installing the packages of the tests …"
	@$(PIP) install torch==2.13.0
	@$(PIP) install 'tengen[test]'
	@touch $@

$(STAMPS)/web $(STAMPS)/lint $(STAMPS)/docs: $(STAMPS)/%: pyproject.toml $(STAMPS)/base
	@echo "Installing the packages of '$*' …"
	@$(PIP) install 'tengen[$*]'
	@touch $@

install: $(STAMPS)/base $(STAMPS)/native $(STAMPS)/web  ## Set up .venv with everything needed to play

# ---- Working --------------------------------------------------------------------------------------------------------

test: $(STAMPS)/native $(STAMPS)/test  ## Run the tests
	@$(BIN)/python -m pytest -n 2 $(ARGS)

CPP_FORMATTED = $(if $(CPP_FILES),$(BIN)/clang-format,true)

lint: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/lint  ## Check style, types, layers and C++ format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-timing 2>/dev/null || $(BIN)/lint-imports
	$(CPP_FORMATTED) --dry-run -Werror $(CPP_FILES)

format: $(STAMPS)/native $(STAMPS)/lint  ## Put Python and C++ into the project's form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(CPP_FORMATTED) -i $(CPP_FILES)

clean:  ## Remove everything that was built or installed
	rm -rf $(VENV) build build-sanitize dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
