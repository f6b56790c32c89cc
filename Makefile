# sparsescope: everything a person types. `make` alone lists the targets.
#
# Set-up is remembered in stamp files inside .venv whose names hold a checksum of pyproject.toml and of this folder's path:
# nothing is done twice, and a changed pyproject.toml or a moved folder is noticed.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help explore test test-all lint types tables notebooks unit pages unit-all pages-all smoke mutants test-oldest browser bench bench-peers clean fuzz docs docs-build
.SILENT:

# Tests at a time, and browsers at a time: a page keeps two processors busy while it loads.
UNITS ?= 2
PAGES ?= 2
PORT ?= 5006
ADDRESS ?= localhost
ARGS ?=
ONLY ?=
FUZZ_SECONDS ?= 3600
VENV := .venv
BIN := $(VENV)/bin
KEY := $(shell { cat pyproject.toml; pwd; } | cksum | cut -d' ' -f1)
READY := $(VENV)/.ready-$(KEY)
READY_DEV := $(VENV)/.ready-dev-$(KEY)
READY_BENCH := $(VENV)/.ready-bench-$(KEY)
READY_DOCS := $(VENV)/.ready-docs-$(KEY)
DOCS_PORT ?= 8000
# Interpreters tried in this order; the first with a supported version and the venv module is taken.
PYTHON ?=
CANDIDATES := $(PYTHON) python3 python3.12 python3.13 python3.11 python
SUITABLE := import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else 1)
# Without bytecode: pip would make it file by file, of the packages' own tests too.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile
# uv brings the same packages in a tenth of the time. It reads no settings of pip, so it is told those that say where
# packages come from; where it cannot be had, or does not find them there, pip does it.
define INSTALL
set -u; told=$$($(BIN)/python -m pip config list | sed 's/\\n/ /g'); \
said() { sed -n "s/^[^=]*[.]$$1='\(.*\)'$$/\1/p" <<< "$$told" | tail -n 1; }; \
[ -z "$$(said index-url)" ] || export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$(said index-url)}"; \
export UV_INDEX="$${UV_INDEX:-$$(said extra-index-url)}" UV_CONSTRAINT="$${UV_CONSTRAINT:-$$(said constraint)}"; \
export UV_FIND_LINKS="$${UV_FIND_LINKS:-$$(said find-links | tr ' ' ',')}"; \
export UV_INDEX_STRATEGY=unsafe-best-match; \
{ [ -z "$$(said no-index)" ] && $(PIP) uv && $(BIN)/uv pip install -q --python $(BIN)/python -e '.[$(1)]'; } || $(PIP) -e '.[$(1)]'
endef
# The first has no window, which makes the same pages cheaper.
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable
# One thread for the linear algebra libraries: the solvers' kernels are sequential, and more threads only fight for the cores.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# The tests start a few hundred programs: compiled bytecode and the assertions rewritten by pytest are kept for the next one,
# also where the surrounding shell keeps none.
export PYTHONDONTWRITEBYTECODE :=

help:
	echo "make explore     set up if needed, then open the live explorer   (PORT=$(PORT) ADDRESS=$(ADDRESS) ARGS='--data digits')"
	echo "make test        set up if needed, then style, types and all tests but the slow ones (browser tests and notebooks included)"
	echo "make test-all    the same with the slow tests and the comparisons with other libraries"
	echo "make smoke       style and the quickest tests, nothing compiled: under a minute, while you work"
	echo "make unit        the tests without a browser only"
	echo "make pages       the tests in a browser only"
	echo "make fuzz        an hour of made-up files, arguments, settings, addresses, messages and commands   (FUZZ_SECONDS=3600)"
	echo "make lint        style only (ruff)"
	echo "make types       types only (mypy)"
	echo "make tables      write the tables of parts in docs/parts.md and of lessons in docs/lessons.md"
	echo "make notebooks   write the notebooks of the lessons from their files"
	echo "make mutants     whether the tests notice 60 small mistakes   (tests/mutation/)"
	echo "make test-oldest the tests with the oldest supported versions   (constraints/oldest.txt)"
	echo "make bench       run the measurements of benchmarks/, or some: ONLY='paper1 logistic' ARGS=--quick   (docs/benchmarks.md)"
	echo "make docs        build the documentation (strictly) and serve it; make docs-build only builds it   (DOCS_PORT=$(DOCS_PORT))"
	echo "make bench-peers build the environments of lightning, celer, adelie and QUIC, which the measurements compare with (never required)"
	echo "make clean       remove the virtual environment and the tools' caches"

$(BIN)/python:
	set -eu; found=""; seen=""; \
	for candidate in $(CANDIDATES); do \
	  command -v "$$candidate" >/dev/null 2>&1 || continue; \
	  "$$candidate" -c '$(SUITABLE)' >/dev/null 2>&1 || { seen="$$seen $$candidate (another version);"; continue; }; \
	  "$$candidate" -c 'import venv, ensurepip' >/dev/null 2>&1 || { seen="$$seen $$candidate (without venv; on Debian: apt-get install python3-venv);"; continue; }; \
	  found="$$candidate"; break; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "sparsescope needs Python 3.11, 3.12 or 3.13 with the venv module, and none was found." >&2; \
	  [ -z "$$seen" ] || echo "Looked at, not suitable:$$seen" >&2; \
	  echo "Install one, or name one: make explore PYTHON=/path/to/python3.12" >&2; \
	  exit 1; \
	fi; \
	echo "Creating the virtual environment $(VENV) with $$("$$found" --version) ($$found)"; \
	"$$found" -m venv --clear $(VENV)

$(READY): | $(BIN)/python
	set -eu; \
	if [ ! -e $(READY_DEV) ] && [ ! -e $(READY_BENCH) ]; then \
	  echo "Installing sparsescope and the packages it needs (a minute or two, only this first time)"; \
	  $(call INSTALL,all); \
	fi; \
	echo "Compiling what the explorer begins with (some seconds, only this first time)"; \
	$(BIN)/sparsescope warm --page || echo "That did not work; the explorer compiles it when it is first run"; \
	touch $@

# Bytecode is made on all processors; the tests' programs, left to themselves, would make the same at once. Of the packages
# below no test imports much.
NOT_IMPORTED := /tests/|/plotly/(validators|graph_objs)/|/(pip|setuptools|pygments|mypy|mypyc|debugpy|polars|sphinx|dask|distributed|docutils|pymdownx|backrefs|snowballstemmer|griffe|virtualenv|distlib|babel|material|bs4|identify)/
$(READY_DEV): | $(BIN)/python
	echo "Installing sparsescope with the tools for testing (a minute or two, only this first time)"
	$(call INSTALL,dev)
	$(BIN)/python -m compileall -qq -j 0 -x '$(NOT_IMPORTED)' "$(CURDIR)/$(VENV)/lib" || true
	touch $@

$(READY_BENCH): | $(BIN)/python
	echo "Installing sparsescope with the packages for measuring (a minute or two, only this first time)"
	$(call INSTALL,bench)
	touch $@

$(READY_DOCS): | $(BIN)/python
	echo "Installing sparsescope with what builds the documentation (a minute or two, only this first time)"
	$(call INSTALL,docs)
	touch $@

# The theme's notice about its successor is no warning about these pages.
docs-build: $(READY_DOCS)
	echo "Building the documentation strictly into build/site (a minute or two: it records runs)"
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

docs: docs-build
	echo "The documentation is at http://localhost:$(DOCS_PORT)/ (Ctrl-C ends it); build/site/index.html works without a server"
	exec $(BIN)/python -m http.server --bind localhost --directory build/site $(DOCS_PORT)

explore: $(READY)
	echo "Starting the explorer (Ctrl-C ends it)"
	exec $(BIN)/sparsescope explore --port $(PORT) --address $(ADDRESS) $(ARGS)

lint: $(READY_DEV)
	echo "Style (ruff)"
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet . || { echo "Formatting differs: $(BIN)/ruff format" >&2; exit 1; }

tables: $(READY_DEV)
	$(BIN)/python docs/tables.py
	$(BIN)/python recipe/make.py

notebooks: $(READY_DEV)
	$(BIN)/sparsescope lesson --notebooks notebooks

# What mypy found out about a file holds for every copy of that file: it is kept beside the compiled kernels, so that a
# fresh clone checks only what differs from the last one.
TYPED := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sparsescope-types
types: $(READY_DEV)
	echo "Types (mypy)"
	kept="$(TYPED)"; mkdir -p "$$kept" 2>/dev/null && [ -w "$$kept" ] || kept=.mypy_cache; \
	$(BIN)/mypy --cache-dir "$$kept" toolkit/sparsescope tests/strict_program.py

# Looks for a browser (fast), installs one where that needs no question, and never fails: without one the tests say why they skip.
browser:
	set -eu; \
	find_browser() { [ -n "$${SPARSESCOPE_CHROMIUM:-}" ] || command -v $(BROWSERS) >/dev/null; }; \
	find_browser && exit 0; \
	as_root="sudo -n"; [ "$$(id -u)" != 0 ] || as_root=""; \
	if command -v apt-get >/dev/null && $$as_root true 2>/dev/null; then \
	  echo "Installing Chromium from the system's packages for the browser tests (only this first time)"; \
	  log=$$(mktemp); \
	  fetch() { $$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends $$1; }; \
	  { $$as_root apt-get -qq update; fetch chromium-headless-shell || fetch chromium; } \
	    >"$$log" 2>&1 || { echo "That did not work; its last lines:"; tail -n 5 "$$log"; }; \
	  rm -f "$$log"; \
	fi; \
	find_browser || echo "No Chromium found: the browser tests will be skipped." \
	  "To run them: apt-get install chromium, or set SPARSESCOPE_CHROMIUM to a browser's path."

# Every part runs, whatever fails before it; what failed is said at the end. The style comes first. The types and the pages
# are checked beside the tests without a browser, and what they print follows. The tests without a browser take what the
# pages leave of the processors (browsers and servers wait for each other a tenth of the time) and all of it afterwards:
# with the same right to it, both would take longer than one after the other.
ALL_PARTS = set -u; failed=""; said=$$(mktemp -d); \
	trap 'kill $$(jobs -p) 2>/dev/null; rm -rf "$$said"' EXIT; trap 'exit 130' INT TERM; \
	run() { $(MAKE) --no-print-directory $$1; }; \
	run lint || failed="$$failed lint"; \
	run types >"$$said/types" 2>&1 & types=$$!; \
	run $(2) >"$$said/pages" 2>&1 & pages=$$!; \
	nice -n 19 $(MAKE) --no-print-directory $(1) || failed="$$failed $(1)"; \
	wait $$types || failed="$$failed types"; cat "$$said/types"; \
	wait $$pages || failed="$$failed $(2)"; cat "$$said/pages"; \
	[ -z "$$failed" ] || { echo "FAILED:$$failed" >&2; exit 1; }; \
	echo "All parts passed: lint $(1) types $(2)"

test: $(READY_DEV)
	$(call ALL_PARTS,unit,pages)

test-all: $(READY_DEV)
	$(call ALL_PARTS,unit-all,pages-all)

# Plugins of the browser tests, or of nobody here, ask before and after each of ten thousand tests.
WITHOUT := -p no:playwright -p no:anyio

unit: $(READY_DEV)
	echo "Tests without a browser (pytest, without those marked slow or peers; $(UNITS) at a time)"
	$(BIN)/python -m pytest tests --ignore=tests/ui -m "not ui and not slow and not peers" -n $(UNITS) --dist worksteal -q $(WITHOUT) $(ARGS)

pages: $(READY_DEV) browser
	echo "Tests of the pages in a browser (pytest, without those marked slow)"
	$(BIN)/python -m pytest tests/ui -m "ui and not slow and not peers" -n $(PAGES) --dist worksteal -q $(ARGS)

unit-all: $(READY_DEV)
	echo "All tests without a browser (pytest, with those marked slow or peers)"
	$(BIN)/python -m pytest tests --ignore=tests/ui -m "not ui" -n $(UNITS) --dist worksteal -q $(WITHOUT) $(ARGS)

pages-all: $(READY_DEV) browser
	echo "All tests of the pages in a browser (pytest)"
	$(BIN)/python -m pytest tests/ui -m ui -n $(PAGES) --dist worksteal -q $(ARGS)

# Interpreted kernels: nothing is compiled, so these are quick after any change.
SMOKE := tests/test_imports.py $(addprefix tests/contracts/test_,losses.py penalties.py) \
	$(addprefix tests/unit/test_,registry.py constraints.py stopping.py projections.py labels.py live_settings.py \
	live_controls.py live_credits.py live_packer.py bcd.py proximal.py)

smoke: lint
	echo "Smoke (pytest with the kernels interpreted: $(words $(SMOKE)) files)"
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(SMOKE) -m "not slow and not peers" -n 2 --dist worksteal -q $(ARGS)

mutants: $(READY_DEV)
	echo "Mutants (60 small mistakes; interrupted, it goes on there the next time: build/mutants; ARGS=--fresh begins anew)"
	$(BIN)/python tests/mutation/check.py $(ARGS)

# A separate environment with the oldest supported versions of what the package imports.
OLDEST := .venv-oldest
test-oldest: $(READY_DEV)
	set -eu; \
	if [ ! -e $(OLDEST)/.ready-$(KEY) ]; then \
	  echo "Installing the oldest supported versions (constraints/oldest.txt) into $(OLDEST)"; \
	  $(BIN)/python -m venv --clear $(OLDEST); \
	  $(OLDEST)/bin/python -m pip install -qq --disable-pip-version-check -c constraints/oldest.txt -e '.[dev]'; \
	  touch $(OLDEST)/.ready-$(KEY); \
	fi; \
	$(OLDEST)/bin/python -m sparsescope doctor
	$(OLDEST)/bin/python -m pytest tests --ignore=tests/ui -m "not ui and not slow and not peers" -n $(UNITS) --dist worksteal -q $(ARGS)

# The tests show each door the same batch of cases; here they are others each time. What fails goes into tests/fuzz/corpus.json.
fuzz: $(READY_DEV)
	SPARSESCOPE_FUZZ_SECONDS=$(FUZZ_SECONDS) SPARSESCOPE_FUZZ_SEED=$$(date +%s) $(BIN)/python -m pytest tests/fuzz -q -s $(ARGS)

# A measurement that fails does not keep the others from running; their names are said at the end.
bench: $(READY_BENCH)
	set -u; failed=""; \
	names="$(ONLY)"; [ -n "$$names" ] || names=$$(ls benchmarks/bench_*.py | sed 's,.*/bench_,,; s,\.py$$,,'); \
	for name in $$names; do \
	  echo; echo "Measuring: benchmarks/bench_$$name.py"; \
	  $(BIN)/python "benchmarks/bench_$$name.py" $(ARGS) || failed="$$failed $$name"; \
	done; \
	$(BIN)/python benchmarks/tables.py; $(BIN)/python benchmarks/chart.py; \
	[ -z "$$failed" ] || { echo "Failed:$$failed" >&2; exit 1; }

bench-peers:
	PYTHON311="$(PYTHON311)" benchmarks/peers/setup.sh

clean:
	echo "Removing $(VENV), the peers' environments and the tools' caches"
	rm -rf $(VENV) $(OLDEST) .peers build toolkit/*.egg-info .pytest_cache .mypy_cache .ruff_cache test-results
