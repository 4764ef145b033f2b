# The two commands a newcomer needs are `make demo` and `make test`. `make help` lists all.
.DEFAULT_GOAL := help
BIN := .venv/bin
# One thread per process: the tests run side by side, and a linear algebra library that spawns threads slows them all.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
# Modules are compiled once, not again by each of the hundreds of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo setup dev test check pages unit quick format lock bench docs site clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' Makefile

demo: setup  ## analyse two simulated campaigns and print the path of the report
	@$(BIN)/adjudge demo --output demo

setup:  ## create .venv with the dependencies of adjudge
	@scripts/setup base

dev:  ## create .venv with the development tools, and install what the tests need
	@scripts/setup dev
	@scripts/test-services

test: dev check pages unit  ## run all checks and tests: lint, types, page scripts, documentation, tests

check: ## check lint, formatting and types of the Python code; needs neither root nor system packages
	@scripts/setup dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

pages: ## check the types of the page scripts (TypeScript) and run their unit tests (Node)
	@scripts/test-services
	tsc -p tests/page
	node --test tests/page

unit: ## run the tests only
	@scripts/setup dev
	@scripts/test-services
	pg_virtualenv -t $(BIN)/pytest -n 3 --dist worksteal

quick: ## run the fast tests: no browser, no server, no released data, few examples of each property
	@scripts/setup dev
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not browser and not postgres and not slow" \
		--hypothesis-profile=quick --ignore=tests/collect --ignore=tests/contract --ignore=tests/realdata

format:  ## format the sources
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lock:  ## update the locked dependencies (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q pyproject.toml --extra metrics --extra serve --extra testset -o requirements/base.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q pyproject.toml --extra metrics --extra serve --extra testset --extra postgres --extra embeddings --group dev -o requirements/dev.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -q requirements/build.in -o requirements/build.txt

docs: setup  ## generate docs/commands.md and the types of the Python functions from the declarations
	$(BIN)/python -m adjudge.shell.reference > docs/commands.md.new && mv docs/commands.md.new docs/commands.md
	$(BIN)/python -m adjudge.shell.reference types > types.new && mv types.new src/adjudge/__init__.pyi

site:  ## build the documentation as web pages in site/; a broken link is an error
	@scripts/setup dev
	$(BIN)/sphinx-build -q -W --keep-going -b html docs site
	@echo "open site/index.html"

bench: dev  ## run the benchmarks
	$(BIN)/python -m bench

clean:  ## remove all generated files
	rm -rf .venv demo site artefacts build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
