# Everything a newcomer or CI runs. Python >= 3.11 is all that `make demo` needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP     = $(BIN)/python -m pip --disable-pip-version-check -q

.DEFAULT_GOAL := help
.PHONY: audit hostile soak up down dashboards monitoring-check complexity eval help demo serve test check format lock docs test-extras conformance benchmarks node-up node-down clean

help:            ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime   ## install, ingest the sample corpus, show an answer, a refusal and a count
	@$(BIN)/wisdom demo

serve: $(VENV)/.runtime  ## GraphQL, MCP, REST and the console on http://127.0.0.1:8000
	@$(BIN)/wisdom serve

test: $(VENV)/.dev       ## every test, against a real OpenSearch node where one can be had
	$(BIN)/python -m pytest

check: $(VENV)/.dev      ## format, lint, types, import directions, docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/docs

format: $(VENV)/.dev     ## rewrite the code the way check wants it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev       ## regenerate the reference pages and the board of Dashboards from the code
	$(BIN)/python -m scripts.make_docs
	$(BIN)/python -m scripts.make_dashboards

dashboards: $(VENV)/.runtime   ## import the board into OpenSearch Dashboards (URL=http://user@host:5601, TENANT=one, SPACE=its space)
	@$(BIN)/python -m scripts.import_dashboards $(URL) $(if $(TENANT),--tenant $(TENANT)) $(if $(SPACE),--space $(SPACE))

monitoring-check: $(VENV)/.dev   ## alert rules, routing, boards and runbooks (Debian: prometheus, prometheus-alertmanager)
	$(BIN)/python -m pytest tests/monitoring tests/doors/test_metrics.py

test-extras: $(VENV)-extras/.extras   ## the sentence-transformers embedder with real weights (several GB)
	REQUIRE_EXTRAS=1 $(VENV)-extras/bin/python -m pytest tests/extras

benchmarks: $(VENV)/.dev   ## quality and speed, written to docs/benchmarks.md (DATA=public data sets, ENGINE=cluster)
	$(BIN)/python -m benchmarks.report --data $(or $(DATA),../shared/data) $(if $(ENGINE),--engine $(ENGINE))

eval: $(VENV)/.runtime   ## ask the sample corpus 180 questions with known answers, and hold the scores against a gate
	@mkdir -p .state
	@$(BIN)/wisdom eval run banking --ingest --gate banking --engine sqlite:///.state/eval.db

audit: $(VENV)/.dev      ## known vulnerabilities of the pinned packages; says so when the service cannot be asked (exit code 2)
	$(BIN)/python -m scripts.audit requirements/runtime.txt requirements/dev.txt

hostile: $(VENV)/.dev    ## 100,000 generated hostile requests over all doors (about a quarter of an hour)
	$(BIN)/python -m benchmarks.hostile --requests 100000

soak: $(VENV)/.dev       ## mixed load, something killed every minute (MINUTES=30); the report goes to .state/soak
	$(BIN)/python -m benchmarks.soak --minutes $(or $(MINUTES),30) --report .state/soak

complexity: $(VENV)/.dev  ## fails when cost grows faster than the docs claim
	$(BIN)/python -m benchmarks.complexity --check

node-up:         ## a local OpenSearch node on port 9200 (needs a JDK >= 21 and Maven)
	opensearch/node/run.sh up .state/node 9200

node-down:       ## stop it
	opensearch/node/run.sh down .state/node

up:              ## everything in containers: web server, workers, OpenSearch, Dashboards, Prometheus, Grafana (Docker with Compose)
	@docker compose version >/dev/null 2>&1 || { echo "make up needs Docker with Compose 2: https://docs.docker.com/compose/install"; exit 1; }
	@$(PYTHON) -m scripts.make_secrets
	docker compose up --build --detach --wait
	docker compose run --rm board
	@echo "A key to ask with:  docker compose exec api wisdom keys create first --tenant acme"
	@echo "http://127.0.0.1:8000 web server · 5601 Dashboards · 3000 Grafana · 9090 Prometheus · 16686 Jaeger"

down:            ## stop the containers; what they stored stays (docker compose down --volumes removes it)
	docker compose down

lock:            ## resolve the dependencies again (needs uv)
	uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements/runtime.txt
	uv pip compile -q --universal --generate-hashes --no-emit-index-url --python-version 3.11 pyproject.toml --group dev --group weights --group benchmarks -c requirements/runtime.txt -o requirements/dev.txt
	uv pip compile -q --generate-hashes --no-emit-index-url --python-version 3.11 pyproject.toml --extra sentence-transformers --group dev --group weights -c requirements/runtime.txt -o requirements/extras.txt

clean:           ## remove what was built and installed here
	rm -rf $(VENV) $(VENV)-extras build *.egg-info .state opensearch/node/target tests/doors/node_modules

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements/runtime.txt pins"
	@$(PIP) install --no-compile --require-hashes -r requirements/runtime.txt
	@$(PIP) install --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what requirements/dev.txt pins"
	@$(PIP) install --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps -e .
	@touch $@ $(VENV)/.runtime

$(VENV)-extras/.extras: requirements/extras.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)-extras
	$(VENV)-extras/bin/python -m pip --disable-pip-version-check -q install --require-hashes -r requirements/extras.txt
	$(VENV)-extras/bin/python -m pip --disable-pip-version-check -q install --no-deps -e .
	@touch $@
