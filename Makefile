# Two commands are enough: `make run` and `make test`. Needed: Python 3.11 with venv, make, the public package indexes;
# the tests build four programs with Go, and fetch a pinned Go where there is none.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run dev test prove mutants check lint types deploy sbom advisories lighthouse doctor stop clean lock
SHELL := /bin/sh

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes
PORT ?= 8000
# What a server would have in its environment; only for checking that such a configuration passes.
PRODUCTION := DEBUG=false STOA_DEMO=false STOA_HTTPS=true ALLOWED_HOSTS=shop.example PUBLIC_URL=https://shop.example \
	PAYMENT_GATEWAY=none \
	SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(50))')

##@ The shop
run: .venv/runs .env  ## install, start Cassandra, fill the shop, serve it (PORT=8000); Ctrl-C stops it all
	@$(BIN)/python manage.py serve --port $(PORT)

dev: .venv/runs .env  ## the same with the autoreloading server and DEBUG on
	@$(BIN)/python manage.py serve --port $(PORT) --dev

stop: .venv/runs .env  ## stop every run of this checkout, and its Cassandra
	@$(BIN)/python manage.py serve --stop
	@$(BIN)/python manage.py cassandra stop

doctor: .venv/runs .env  ## say what is missing or wrong on this machine, and what fixes it
	@STOA_DEMO=$${STOA_DEMO:-true} $(BIN)/python manage.py doctor

clean:  ## stop, then delete the data, the logs and the virtual environment (.env stays)
	@if [ -e .venv/runs ]; then $(MAKE) --no-print-directory stop; fi
	rm -rf .cassandra .run .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis test-results

##@ Quality
test: .venv/checks  ## the suite, against a real Cassandra, with a real browser, on two processes (ARGS=…)
	@$(BIN)/python -m tests.tools
	@$(BIN)/python -m pytest --numprocesses 2 -m "not proof" --junitxml=.run/test.xml $(ARGS)

# The long ones last for hours, and one that has the machine to itself would wait for as long.
prove: .venv/checks  ## the big proofs: nodes and servers killed, answers cut, a sale; LONG=1 for more (ARGS=…)
	@$(BIN)/python -m tests.tools
	@$(BIN)/python -m pytest $(if $(LONG),,--numprocesses 2) -m "proof$(if $(LONG),, and not long)" --junitxml=.run/prove.xml $(ARGS)

mutants: .venv/checks  ## put known faults back one by one, and see that the suite finds each (ARGS=…)
	@$(BIN)/python -m tests.tools
	@$(BIN)/python -m tests.mutants -j 2 $(ARGS)

check: lint types deploy sbom test prove  ## all that the CI runs

lint: .venv/checks  ## ruff and djlint: style, likely mistakes; the layout of code and templates; imports go down
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/python -m devtools.format_templates --check
	@$(BIN)/djlint --lint --quiet templates

types: .venv/checks  ## mypy, strict on our own code
	@SECRET_KEY=types $(BIN)/mypy .

deploy: .venv/checks  ## Django's deployment checks with production settings
	@$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING

sbom: .venv/checks  ## what the shop is made of: .run/sbom.xml, as CycloneDX, checked against its schema
	@$(BIN)/python -m tests.sbom

# Strict, or a package that the service does not know would count as one without advisories.
advisories: .venv/checks  ## what is known against the pinned packages; asks an advisory service (ARGS="-s osv" another)
	@$(BIN)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
		-r requirements.txt -r requirements-dev.txt $(ARGS)

# Beside `make run`, and not a part of the CI: scores are those of a quiet machine, and the shop needs no npm.
lighthouse: .venv/runs  ## what Lighthouse says of five pages of the shop at PORT; needs npm and Chromium (ARGS=…)
	@$(BIN)/python -m benchmarks.lighthouse --url http://127.0.0.1:$(PORT) $(ARGS)

##@ Upkeep
lock: .venv/checks  ## pin requirements*.in anew, with hashes
	@for name in requirements requirements-dev; do $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
		--generate-hashes --custom-compile-command "make lock" $$name.in -o $$name.txt || exit 1; done

help:  ## this list
	@awk 'BEGIN {FS = ":.*## "; print "make <target>"} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# ---- files the targets need

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; say which with  make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' \
		|| { echo "Python's venv module is missing. Debian and Ubuntu:  apt install python3-venv"; exit 1; }
	@$(PYTHON) -m venv .venv && touch $@

.venv/runs: .venv/python requirements.txt
	@echo "Installing what the shop needs into .venv"
	@$(PIP) -r requirements.txt && touch $@

.venv/checks: .venv/runs requirements-dev.txt
	@echo "Installing what the tests and checks need into .venv"
	@$(PIP) -r requirements-dev.txt && touch $@

# Made once and never shown: whoever knows the key can forge sessions and page tokens.
.env:
	@umask 077 && { echo "# This machine only; git ignores it."; \
		$(PYTHON) -c 'import secrets; print(f"SECRET_KEY={secrets.token_urlsafe(50)}")'; } > $@
