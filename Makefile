# envhub: `make` alone lists what there is.
PYTHON ?= python3
STAMP := .venv/.setup-done
RUN := .venv/bin/
# Test processes; 0: all tests in one, as for a debugger.
TEST_JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types bench clean
.NOTPARALLEL:

help: ## this list
	@echo "envhub: environments for reinforcement learning of language-model agents"
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "The first target you run sets everything up in .venv (Python >= 3.11 and pip are all it needs)."

setup: $(STAMP) ## make .venv with all that the rest needs, and find or fetch a browser

$(STAMP): pyproject.toml environments/webarena/requirements.txt scripts/setup.py scripts/browser.py
	@$(PYTHON) scripts/setup.py

demo: $(STAMP) ## host webarena, solve ten tasks with the oracle and ten at random, write trajectories and a screenshot
	@$(RUN)python demo.py

test: $(STAMP) ## run the tests
	@$(RUN)python -m pytest -n $(TEST_JOBS) --dist loadfile $(PYTEST_ARGS)

lint: $(STAMP) ## ruff's checks and format, and the direction of imports
	@$(RUN)ruff check .
	@$(RUN)ruff format --check .
	@$(RUN)lint-imports --no-logo

types: $(STAMP) ## mypy --strict
	@$(RUN)python scripts/check_types.py

bench: $(STAMP) ## every benchmark, quickly; the last line of each is one JSON object
	@for file in benchmarks/*.py; do echo "$$file --quick"; $(RUN)python "$$file" --quick || exit 1; done

clean: ## remove .venv and everything generated
	@rm -rf .venv build dist demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
