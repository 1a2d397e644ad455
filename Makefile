# make run     serve the page (sets up what serving needs, once)
# make test    every test: lint, types, Python, TypeScript, browser (sets up what testing needs, once)
# make gallery build the models whose weights come from packages
# make check   lint and types alone
# make conformance  run the public ONNX operator suite natively and in the browser, in one table
# make bench   measure speed against what people would pick instead; needs a quiet machine
# make screenshots  take the pictures of the README anew

# Python and npm packages are fetched side by side.
MAKEFLAGS += --jobs=2

PORT ?= 8000
PYTHON ?= python3
VENV := .venv/bin
GALLERY := mobilenet minilm silero magika detector basic-pitch

WEB_SOURCES := $(shell find web -path web/dist -prune -o -type f -print) package.json
# What set-up leaves; a step runs again when its file is gone or older than what it is made from.
VENV_MADE := .venv/pyvenv.cfg
SERVE_MADE := .venv/.serve
TEST_MADE := .venv/.test
BROWSER_MADE := .venv/.browser
NPM_MADE := node_modules/.package-lock.json
WEB_MADE := web/dist/sw.js

.PHONY: run test check gallery conformance bench screenshots web clean

run: $(SERVE_MADE) $(WEB_MADE)
	@$(VENV)/likewise serve --port $(PORT)

test: check $(BROWSER_MADE)
	npm test
	$(VENV)/pytest

check: $(TEST_MADE) $(WEB_MADE)
	$(VENV)/ruff format --check
	$(VENV)/ruff check
	$(VENV)/mypy
	@for source in models/*-*/source.py; do $(VENV)/mypy $$source || exit 1; done
	npm run check

gallery: $(TEST_MADE) $(WEB_MADE) $(BROWSER_MADE)
	@for name in $(GALLERY); do $(VENV)/likewise build $$name || failed="$$failed $$name"; done; \
	  test -z "$$failed" || { echo "Not published:$$failed"; exit 1; }

conformance: $(TEST_MADE) $(WEB_MADE) $(BROWSER_MADE)
	$(VENV)/python -m tests.conformance

bench: $(TEST_MADE) $(WEB_MADE) $(BROWSER_MADE)
	$(VENV)/python -m tests.benchmarks
	$(VENV)/python -m tests.benchmarks.eager

screenshots: $(TEST_MADE) $(WEB_MADE) $(BROWSER_MADE)
	$(VENV)/python -m tests.browser.screenshots

web: $(WEB_MADE)

clean:
	rm -rf .venv node_modules web/dist .likewise

# Set-up, each step once.

$(VENV_MADE):
	@$(PYTHON) -m venv .venv 2>/dev/null || { \
	  echo "python3 -m venv does not work yet: installing python3-venv"; \
	  apt-get update -qq && apt-get install -y -qq python3-venv && $(PYTHON) -m venv .venv; }
	@touch $@

$(SERVE_MADE): requirements/serve.txt pyproject.toml | $(VENV_MADE)
	@echo "Python packages for serving"
	@$(VENV)/python -m pip install -qq --disable-pip-version-check -r requirements/serve.txt
	@$(VENV)/python -m pip install -qq --disable-pip-version-check --no-deps -e .
	@touch $@

$(TEST_MADE): requirements/test.txt $(SERVE_MADE)
	@echo "Python packages for building and testing (PyTorch among them)"
	@$(VENV)/python -m pip install -qq --disable-pip-version-check -r requirements/test.txt
	@touch $@

$(NPM_MADE): package.json package-lock.json
	@echo "npm packages"
	@npm ci --loglevel=error
	@touch $@

$(WEB_MADE): $(NPM_MADE) $(WEB_SOURCES)
	@echo "The page"
	@npm run --silent build
	@touch $@

# A Chromium: LIKEWISE_BROWSER, Playwright's own, the system's, or else Debian's package.
$(BROWSER_MADE): $(TEST_MADE)
	@$(VENV)/python -m export.browser 2>/dev/null || { \
	  echo "No browser found: installing Debian's chromium"; \
	  apt-get update -qq && apt-get install -y -qq chromium; }
	@$(VENV)/python -m export.browser
	@touch $@
