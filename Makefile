# Every target sets up what it needs: `make test` works on a fresh clone.
# The stamp files under .venv/stamps record which steps are done, so that nothing is done twice.

PYTHON ?= python3
JOBS ?= 2
# Additional arguments for pytest, mkdocs or the benchmarks: make test ARGS="-k renju"
ARGS ?=
# Training time of `make demo`; its tournament takes another minute.
DEMO_MINUTES ?= 3.5
DEMO_SEED ?= 0

VENV := .venv
ifeq ($(OS),Windows_NT)
  BIN := $(VENV)/Scripts
else
  BIN := $(VENV)/bin
endif
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Run a long command and show its progress on one line: $(call quietly,Text) command
quietly = $(BIN)/python tools/run_quietly.py "$(1)"
# NAME==VERSION of a package, as pinned in pyproject.toml. torch is pinned in requirements/torch.txt.
pinned = $(shell grep -oE '"$(1)==[0-9.]+' pyproject.toml | head -n 1 | tr -d '"')
# Every package that make installs is locked by version and hash in requirements/ (`make lock` writes them), except
# torch: its builds differ from index to index, and newer ones may bring gigabytes of GPU libraries, so it is installed
# first and by the exact version in requirements/torch.txt.
install_locked = $(PIP) install --require-hashes --no-deps --requirement requirements/$(1).txt

CPP_FILES := $(sort $(shell find cpp -type f \( -name '*.cpp' -o -name '*.h' \)))
# Folders are included because their modification time changes when a file is added or removed.
NATIVE_SOURCES := pyproject.toml CMakeLists.txt $(CPP_FILES) $(shell find cpp -type d)
# cmake and ninja from pip take precedence over those of the system.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install test lint format bench demo play docs stubs lock papers test-web test-sanitize test-tsan wheel test-examples clean

# A line `##@ Name` starts a group of targets.
help:
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- Setting up -----------------------------------------------------------------------------------------------------

##@ Start

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "'$(PYTHON)' is not Python 3.11 or newer; run make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build: requirements/build.txt $(STAMPS)/venv
	@command -v "$${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  command -v cl >/dev/null || \
	  { echo "Tengen needs a C++20 compiler: install g++ 11+ or clang 14+ (Debian: apt install g++, macOS: xcode-select --install)." >&2; exit 1; }
	@$(call install_locked,build)
	@touch $@

# The install is editable: changes to Python files take effect immediately. It must be repeated after changes to native
# sources and after adding or moving modules, because the installation lists them by name.
MODULES_STAMP := $(STAMPS)/modules-$(firstword $(shell find src -name '*.py' | LC_ALL=C sort | cksum))

$(MODULES_STAMP): | $(STAMPS)/venv
	@rm -f $(STAMPS)/modules-* && touch $@

$(STAMPS)/native: $(NATIVE_SOURCES) $(MODULES_STAMP) $(STAMPS)/build
	@$(call quietly,Building tengen and its native module) $(filter-out --quiet,$(PIP)) install --verbose \
	  --no-build-isolation --no-deps --editable .
	@touch $@

$(STAMPS)/play $(STAMPS)/train $(STAMPS)/develop $(STAMPS)/bench: $(STAMPS)/%: requirements/%.txt requirements/torch.txt | $(STAMPS)/native
	@$(if $(filter-out play,$*),$(call quietly,Installing torch) $(PIP) install -r requirements/torch.txt)
	@$(call quietly,Installing the packages of requirements/$*.txt) $(call install_locked,$*)
	@touch $@

# TypeScript and Prettier in the versions of package-lock.json. node and npm come from pip.
NODE_TOOLS := $(VENV)/node/node_modules/.bin

$(STAMPS)/node: package.json package-lock.json .npmrc $(STAMPS)/develop
	@echo "Installing the tools that check JavaScript …"
	@mkdir -p $(VENV)/node && cp package.json package-lock.json .npmrc $(VENV)/node
	@cd $(VENV)/node && npm ci --silent
	@touch $@

# The browser tests use the system's Chromium. On Debian it is installed here, with a font for Chinese; elsewhere set
# CHROMIUM=/path. Without one the browser tests are not run.
CHROMIUM_FOUND = $(shell command -v "$${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome)
AS_ROOT = $(shell test "$$(id -u)" = 0 || command -v sudo)

$(STAMPS)/chromium: | $(STAMPS)/venv
	@if test -z "$(CHROMIUM_FOUND)" && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests …"; \
	  $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -y -qq chromium fonts-wqy-microhei >/dev/null; \
	fi
	@touch $@

install: $(STAMPS)/play  ## Set up .venv with everything needed to play

# ---- Using it -------------------------------------------------------------------------------------------------------

# Each demo starts from scratch. The run, the tournament and the pictures are under runs/demo.
DEMO := runs/demo

demo: $(STAMPS)/train  ## Watch a network learn to play from scratch, in five minutes
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo "Four in a row on 6x6: a network learns by playing against itself, for $(DEMO_MINUTES) minutes."
	@$(BIN)/tengen train alphazero --preset demo --minutes $(DEMO_MINUTES) --seed $(DEMO_SEED) --run $(DEMO)/run
	@echo "A tournament with the trained network, its search without a network, and the classic players:"
	@sed "s|RUN|$(DEMO)/run|" data/demo.toml > $(DEMO)/tournament.toml
	@$(BIN)/tengen tournament $(DEMO)/tournament.toml
	@echo "How it learned: $(DEMO)/run/strength.png; crosstable: $(DEMO)/report/crosstable-6x6-4-freestyle.png"
	@echo "Play against it: $(BIN)/tengen play alphazero:run=$(DEMO)/run --rules 6x6:4"

# Ctrl-C is the normal way to stop the server, so its exit code 130 is not an error.
play: install  ## Open the board in the browser (PORT=… chooses a port)
	@trap : INT; $(BIN)/tengen serve $(if $(PORT),--port $(PORT)) || { code=$$?; test $$code -eq 130 || exit $$code; }

# ---- Working on the code --------------------------------------------------------------------------------------------

##@ Work on the code

# One thread per test process, because busy-waiting threads on shared cores slow each other down.
TEST_SECONDS := $(STAMPS)/test-seconds

test: $(STAMPS)/develop $(STAMPS)/chromium  ## Run the tests and report how long they took
	@if test -s $(TEST_SECONDS); then echo "The last complete run took $$(($$(cat $(TEST_SECONDS)) / 60)) minutes."; \
	  else echo "The first run takes longest; later ones say how long the last one took."; fi
	@started=$$(date +%s); OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not thorough" $(if $(CHROMIUM_FOUND),,--ignore=tests/web/browser) $(ARGS) \
	  $(if $(ARGS),,&& echo $$(($$(date +%s) - started)) > $(TEST_SECONDS))

test-web: $(STAMPS)/develop $(STAMPS)/node $(STAMPS)/chromium  ## Run all tests of the board and of reviews, and save screenshots of every page in build/screenshots/
	@$(BIN)/python -m pytest tests/web/browser tests/web/test_storage.py tests/review $(ARGS)

FRONT_END := src/tengen/web/static tests/web/js package.json tsconfig.json

# The newest editable build; clang-tidy reads compiler flags from its compile_commands.json.
EDITABLE_BUILD = $(firstword $(shell ls -td build/editable-*))

lint: $(STAMPS)/develop $(STAMPS)/node  ## Check style, types and layers of Python, C++ and JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	@$(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	@$(BIN)/run-clang-tidy.py -quiet -hide-progress -j $(JOBS) -p $(EDITABLE_BUILD) $(filter %.cpp,$(CPP_FILES))
	$(NODE_TOOLS)/tsc
	$(NODE_TOOLS)/prettier --log-level warn --check $(FRONT_END)

format: stubs $(STAMPS)/node  ## Format Python, C++ and the front end, and write the generated files
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CPP_FILES)
	$(NODE_TOOLS)/prettier --log-level warn --write $(FRONT_END)

stubs: $(STAMPS)/develop  ## Write the generated types: _native.pyi of the native module, messages.d.ts of the web messages
	@$(BIN)/python -m nanobind.stubgen -q -m tengen._native -o src/tengen/_native.pyi
	@$(BIN)/python -m tools.message_types

PAPERS := $(notdir $(patsubst %/config.toml,%,$(wildcard src/tengen/papers/*/config.toml)))

papers: $(STAMPS)/develop  ## Run the short form of all papers' experiments in build/papers/; 15 minutes at most
	@rm -rf build/papers
	@for paper in $(PAPERS); do $(BIN)/tengen paper $$paper --quick --out build/papers/$$paper || exit 1; done

bench: $(STAMPS)/develop $(STAMPS)/bench  ## Run the benchmarks and write the figures to benchmarks/results/
	@$(BIN)/python -m benchmarks $(ARGS)

# uv resolves for every system and Python at once. The other files take their versions from develop.txt.
UV_COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
  --python-version 3.11 --excludes build/not-locked.txt
LOCK_LIKE_DEVELOP = $(UV_COMPILE) --constraints requirements/develop.txt

lock: $(STAMPS)/venv  ## Update the locked packages in requirements/ to the newest that pyproject.toml allows
	@$(PIP) install uv==0.13.8
	@mkdir -p build requirements && echo torch > build/not-locked.txt
	@rm -f $(filter-out requirements/torch.txt,$(wildcard requirements/*.txt))
	@$(UV_COMPILE) pyproject.toml --extra test --extra lint --extra docs --output-file requirements/develop.txt
	@$(LOCK_LIKE_DEVELOP) pyproject.toml --extra web --output-file requirements/play.txt
	@$(LOCK_LIKE_DEVELOP) pyproject.toml --extra train --extra tensorboard --output-file requirements/train.txt
	@$(LOCK_LIKE_DEVELOP) pyproject.toml --extra bench --output-file requirements/bench.txt
	@printf '%s\n' $(call pinned,scikit-build-core) $(call pinned,nanobind) cmake ninja | \
	  $(LOCK_LIKE_DEVELOP) - --output-file requirements/build.txt
	@printf '%s\n' $(call pinned,pytest) $(call pinned,pytest-xdist) $(call pinned,hypothesis) | \
	  $(LOCK_LIKE_DEVELOP) pyproject.toml --extra envs - --output-file requirements/sanitize.txt

docs: $(STAMPS)/develop  ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet $(ARGS)
	@echo "Open site/index.html"

##@ Check the native code

# ---- Sanitizers: separate builds with the consistency checks ----------------------------------------------------------

NATIVE_TESTS := $(wildcard tests/core tests/patterns tests/search tests/agents/test_simple.py tests/envs/test_copies.py tests/envs/test_vector.py)

$(addprefix build/sanitize-,$(addsuffix /stamp,address thread)): build/sanitize-%/stamp: $(NATIVE_SOURCES) $(STAMPS)/build
	@echo "Building the native module with the $* sanitizer …"
	@test -x $(@D)/venv/bin/python || $(BIN)/python -m venv $(@D)/venv
	@$(@D)/venv/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps \
	  --requirement requirements/build.txt --requirement requirements/sanitize.txt
	@$(@D)/venv/bin/python -m pip --disable-pip-version-check --quiet install --no-build-isolation --no-deps --editable . \
	  -Cbuild-dir=$(@D)/cmake -Ccmake.build-type=RelWithDebInfo -Ccmake.define.TENGEN_NATIVE_ARCH=OFF \
	  -Ccmake.define.TENGEN_SANITIZE=$* -Ccmake.define.TENGEN_ASSERTS=$(if $(filter thread,$*),OFF,ON)
	@touch $@

# The interpreter is not instrumented, so the sanitizer's library must be loaded before it.
preload = LD_PRELOAD="$$($${CXX:-c++} -print-file-name=$(1)) $$($${CXX:-c++} -print-file-name=libstdc++.so)"

# Python keeps memory until it exits, which the leak detector would report.
test-sanitize: build/sanitize-address/stamp  ## Run the tests of the native parts under ASan and UBSan (GCC)
	@$(call preload,libasan.so) ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
	  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  $(<D)/venv/bin/python -m pytest -n 2 -p no:cacheprovider $(NATIVE_TESTS) $(ARGS)

# TSan's shadow memory needs an address space without randomisation (setarch -R).
test-tsan: build/sanitize-thread/stamp  ## Run the tests of the native parts under TSan (GCC, Linux)
	@$(call preload,libtsan.so) TSAN_OPTIONS=halt_on_error=1 OPENBLAS_NUM_THREADS=1 \
	  setarch -R $(<D)/venv/bin/python -m pytest -n 2 -p no:cacheprovider $(NATIVE_TESTS) $(ARGS)

##@ Release and clean

# ---- Releasing ------------------------------------------------------------------------------------------------------

# Test the wheel in an environment that has only numpy.
wheel: $(STAMPS)/build  ## Build a wheel in dist/ and test it with only numpy installed
	@rm -rf dist build/try-wheel
	@$(PIP) wheel --no-build-isolation --no-deps --wheel-dir dist .
	@$(BIN)/python -m venv build/try-wheel
	@build/try-wheel/bin/python -m pip --disable-pip-version-check --quiet install numpy
	@build/try-wheel/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-index dist/*.whl
	@cd build && try-wheel/bin/python -c 'import tengen; print(tengen.Position.start(tengen.Ruleset.parse("9x9")).play("e5"))'
	@ls -l dist

# The scripts and notebooks of examples/ in an environment that has an installed wheel and does not see the sources.
EXAMPLES := build/try-examples

test-examples: $(STAMPS)/develop  ## Run the scripts and notebooks of examples/ with an installed wheel
	@rm -rf $(EXAMPLES) && mkdir -p $(EXAMPLES)
	@$(call quietly,Building a wheel) $(PIP) wheel --no-build-isolation --no-deps --wheel-dir $(EXAMPLES) .
	@$(BIN)/python -m venv $(EXAMPLES)/venv
	@$(call quietly,Installing torch) $(EXAMPLES)/venv/bin/python -m pip --disable-pip-version-check install \
	  --requirement requirements/torch.txt
	@$(call quietly,Installing the packages of requirements/train.txt) $(EXAMPLES)/venv/bin/python -m pip \
	  --disable-pip-version-check install --require-hashes --no-deps --requirement requirements/train.txt
	@$(EXAMPLES)/venv/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-index $(EXAMPLES)/*.whl
	@EXAMPLES_PYTHON=$(CURDIR)/$(EXAMPLES)/venv/bin/python $(BIN)/python -m pytest tests/test_examples.py \
	  tests/test_notebooks.py -k "test_script or test_notebook_runs" $(ARGS)

clean:  ## Remove everything that was built or installed
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
