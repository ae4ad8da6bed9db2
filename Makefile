# Every target sets up what it needs by itself: `make test` on a fresh clone is enough.
# The stamps under .venv/stamps remember what is done, so that a second call does no work twice.

PYTHON ?= python3
JOBS ?= 2
# More arguments for pytest, mkdocs or the benchmarks: make test ARGS="-k renju"
ARGS ?=
# How long `make demo` trains; its tournament takes another minute.
DEMO_MINUTES ?= 3.5

VENV := .venv
ifeq ($(OS),Windows_NT)
  BIN := $(VENV)/Scripts
else
  BIN := $(VENV)/bin
endif
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The version that pyproject.toml pins, as NAME==VERSION.
pinned = $(shell grep -oE '"$(1)==[0-9.]+' pyproject.toml | head -n 1 | tr -d '"')
BUILD_TOOLS := $(call pinned,scikit-build-core) $(call pinned,nanobind) cmake==4.4.4 ninja==1.13.2
# The stamp has the versions in its name: a new version is a new stamp.
BUILD_STAMP := $(STAMPS)/$(subst $() ,_,$(BUILD_TOOLS))

CPP_FILES := $(sort $(shell find cpp -type f \( -name '*.cpp' -o -name '*.h' \)))
# A folder's time changes when a file is added or removed.
NATIVE_SOURCES := pyproject.toml CMakeLists.txt $(CPP_FILES) $(shell find cpp -type d)
# cmake and ninja come from pip and are found before those of the system.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install test lint format bench demo play docs stubs test-web test-sanitize wheel clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-15s %s\n", $$1, $$2 }'

# ---- Setting up -----------------------------------------------------------------------------------------------------

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Tengen needs Python 3.11 or newer, which '$(PYTHON)' is not: say make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(BUILD_STAMP): $(STAMPS)/venv
	@command -v "$${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  command -v cl >/dev/null || \
	  { echo "Tengen needs a C++20 compiler: install g++ 11+ or clang 14+ (Debian: apt install g++, macOS: xcode-select --install)." >&2; exit 1; }
	@$(PIP) install $(BUILD_TOOLS)
	@touch $@

# Editable: changes of Python files count at once. The native sources need this again, and so do modules that were
# added or moved away, since the installation knows them by name.
MODULES_STAMP := $(STAMPS)/modules-$(firstword $(shell find src -name '*.py' | LC_ALL=C sort | cksum))

$(MODULES_STAMP): | $(STAMPS)/venv
	@rm -f $(STAMPS)/modules-* && touch $@

$(STAMPS)/native: $(NATIVE_SOURCES) $(MODULES_STAMP) $(BUILD_STAMP)
	@echo "Building tengen and its native module …"
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

# tengen itself is installed by now: pip only adds the packages that it asks for.
$(STAMPS)/base: pyproject.toml | $(STAMPS)/native
	@echo "Installing the base packages …"
	@$(PIP) install tengen
	@touch $@

$(STAMPS)/web $(STAMPS)/lint $(STAMPS)/docs: $(STAMPS)/%: pyproject.toml $(STAMPS)/base
	@echo "Installing the packages of '$*' …"
	@$(PIP) install 'tengen[$*]'
	@touch $@

# TypeScript and Prettier, by package-lock.json. node and npm come from pip.
NODE_TOOLS := $(VENV)/node/node_modules/.bin

$(STAMPS)/node: package.json package-lock.json .npmrc $(STAMPS)/lint
	@echo "Installing the tools that check JavaScript …"
	@mkdir -p $(VENV)/node && cp package.json package-lock.json .npmrc $(VENV)/node
	@cd $(VENV)/node && npm ci --silent
	@touch $@

# torch goes first and by exact version (see pyproject.toml).
$(STAMPS)/test $(STAMPS)/train: $(STAMPS)/%: pyproject.toml $(STAMPS)/base
	@echo "Installing the packages of '$*' …"
	@$(PIP) install $(call pinned,torch)
	@$(PIP) install 'tengen[$*]'
	@touch $@

# The browser tests drive the Chromium of the system. Debian's is installed here; elsewhere CHROMIUM=/path names one,
# and without any the browser tests are left out.
CHROMIUM_FOUND = $(shell command -v "$${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome)
AS_ROOT = $(shell test "$$(id -u)" = 0 || command -v sudo)

$(STAMPS)/chromium: | $(STAMPS)/venv
	@if test -z "$(CHROMIUM_FOUND)" && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests …"; \
	  $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -y -qq chromium >/dev/null; \
	fi
	@touch $@

install: $(STAMPS)/native $(STAMPS)/web  ## Set up .venv with everything needed to play

# ---- Working on the code --------------------------------------------------------------------------------------------

# One thread per test process: spinning threads on busy cores slow each other down to nothing.
test: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/chromium  ## Run the tests
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not thorough" $(if $(CHROMIUM_FOUND),,--ignore=tests/web/browser) $(ARGS)

test-web: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/chromium  ## Run all browser tests; pictures of every page go to build/screenshots/
	@$(BIN)/python -m pytest tests/web/browser $(ARGS)

FRONT_END := src/tengen/web/static tests/web/js package.json tsconfig.json

# The newest editable build; clang-tidy reads compiler flags from its compile_commands.json.
EDITABLE_BUILD = $(firstword $(shell ls -td build/editable-*))

# The packages of the tests are needed too: types are checked against them.
lint: $(STAMPS)/native $(STAMPS)/test $(STAMPS)/lint $(STAMPS)/node  ## Check style, types and layers of Python, C++ and JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	@$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	@$(BIN)/run-clang-tidy.py -quiet -hide-progress -j $(JOBS) -p $(EDITABLE_BUILD) $(filter %.cpp,$(CPP_FILES))
	$(NODE_TOOLS)/tsc
	$(NODE_TOOLS)/prettier --log-level warn --check $(FRONT_END)

format: stubs $(STAMPS)/lint $(STAMPS)/node  ## Format Python, C++ and the front end, and write the generated files
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CPP_FILES)
	$(NODE_TOOLS)/prettier --log-level warn --write $(FRONT_END)

stubs: $(STAMPS)/native $(STAMPS)/web  ## Write the generated types: _native.pyi from the built module, messages.d.ts from the web's messages
	@$(BIN)/python -m nanobind.stubgen -q -m tengen._native -o src/tengen/_native.pyi
	@$(BIN)/python -m tools.message_types

# The packages of the tests bring what some of them are measured against.
bench: $(STAMPS)/native $(STAMPS)/test  ## Run the benchmarks into benchmarks/results/
	@$(BIN)/python -m benchmarks $(ARGS)

docs: $(STAMPS)/native $(STAMPS)/docs  ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet $(ARGS)
	@echo "Open site/index.html"

# ---- Using it -------------------------------------------------------------------------------------------------------

# A run begins from nothing each time; its folder, the tournament and the pictures are under runs/demo.
DEMO := runs/demo

demo: $(STAMPS)/native $(STAMPS)/train  ## Train a player from nothing and rate it against the classic ones, in five minutes
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo "Four in a row on 6x6: a network learns by playing against itself, for $(DEMO_MINUTES) minutes."
	@$(BIN)/tengen train alphazero --preset 6x6x4 --minutes $(DEMO_MINUTES) --run $(DEMO)/run
	@echo "How strong is it? A tournament against the classic players:"
	@sed "s|RUN|$(DEMO)/run|" data/demo.toml > $(DEMO)/tournament.toml
	@$(BIN)/tengen tournament $(DEMO)/tournament.toml
	@echo "Strength while it learned: $(DEMO)/run/strength.png; crosstable: $(DEMO)/report/crosstable-6x6-4-freestyle.png"
	@echo "Play against it: $(BIN)/tengen play --terminal alphazero:run=$(DEMO)/run --rules 6x6:4"

play: install  ## Open the board in the browser
	@$(BIN)/tengen serve

# ---- Sanitizers: a build of its own with AddressSanitizer, UndefinedBehaviorSanitizer and the consistency checks -----

SANITIZE := build/sanitize
SANITIZED_TESTS := $(wildcard tests/core tests/patterns tests/search tests/agents/test_simple.py)
SANITIZED_PIP := $(SANITIZE)/venv/bin/python -m pip --disable-pip-version-check --quiet

$(SANITIZE)/stamp: $(NATIVE_SOURCES) $(BUILD_STAMP)
	@echo "Building the native module with sanitizers …"
	@test -x $(SANITIZE)/venv/bin/python || $(BIN)/python -m venv $(SANITIZE)/venv
	@$(SANITIZED_PIP) install $(BUILD_TOOLS) $(foreach tool,pytest pytest-xdist hypothesis,$(call pinned,$(tool)))
	@$(SANITIZED_PIP) install --no-build-isolation --editable . -Cbuild-dir=$(SANITIZE)/cmake \
	  -Ccmake.build-type=RelWithDebInfo -Ccmake.define.TENGEN_NATIVE_ARCH=OFF \
	  -Ccmake.define.TENGEN_SANITIZE=ON -Ccmake.define.TENGEN_ASSERTS=ON
	@touch $@

# The interpreter is not instrumented, so the sanitizer's library has to be loaded before it. Python keeps memory
# until it exits, which the leak detector would report.
test-sanitize: $(SANITIZE)/stamp  ## Run the tests of the native parts under ASan and UBSan (GCC)
	@LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  $(SANITIZE)/venv/bin/python -m pytest -n 2 -p no:cacheprovider $(SANITIZED_TESTS) $(ARGS)

# ---- Releasing ------------------------------------------------------------------------------------------------------

# The wheel is tried in an environment that has numpy and nothing else.
wheel: $(BUILD_STAMP)  ## Build a wheel into dist/ and try it with numpy alone
	@rm -rf dist build/try-wheel
	@$(PIP) wheel --no-build-isolation --no-deps --wheel-dir dist .
	@$(BIN)/python -m venv build/try-wheel
	@build/try-wheel/bin/python -m pip --disable-pip-version-check --quiet install numpy
	@build/try-wheel/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-index dist/*.whl
	@cd build && try-wheel/bin/python -c 'import tengen; print(tengen.Position.start(tengen.Ruleset.parse("9x9")).play("e5"))'
	@ls -l dist

clean:  ## Remove everything that was built or installed
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
