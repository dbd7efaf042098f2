# Needs Python 3.11 or newer, make and a package index; makes its own virtual environment in .venv.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do command -v $$name && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CODE := freshstack_datasets builders leaderboard tests benchmarks
TYPED := freshstack_datasets builders leaderboard

define NEXT

Three things to try next, after: source $(BIN)/activate

  freshstack search nimbus "me han cobrado dos veces"
      a post comes first; the page that answers, bill-01, has none of these words but "cargo duplicado"
  freshstack show nimbus paraphrase-01
      a question, its answer, and which page supports each fact of it
  freshstack evaluate nimbus --retriever bm25 --query answer --by type
      the most that a better query could gain: the same, searched with the answers, which nobody has
endef
export NEXT

.PHONY: demo setup test test-all check format lint types coverage wheel docs cards nimbus bench reproduce clean

demo: $(BIN)/freshstack  ## score BM25 on the benchmark that comes with the package, with nothing to fetch but libraries
	@$(BIN)/freshstack evaluate nimbus --retriever bm25 --by type
	@echo "$$NEXT"

$(BIN)/freshstack: pyproject.toml | $(BIN)/pip  # the package alone, which is quicker than all that the tests need
	@echo "installing the package and the libraries that it needs: half a minute"
	@$(BIN)/pip install --quiet --editable .

$(BIN)/pip:  # the last that venv makes: without it, python may be what a failure left behind
	$(if $(strip $(PYTHON)),,$(error no Python found, expected 3.11 or newer; name one: make PYTHON=python3.12 …))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: $(PYTHON) is Python " + \
		sys.version.split()[0] + ", expected 3.11 or newer; name another one: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

setup: $(STAMP)  ## the virtual environment, with everything the tests need

$(STAMP): pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'  # the first with --group
	$(BIN)/pip install --quiet --editable '.[all]' --group dev
	touch $@

test: setup  ## the tests, without the slow ones
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: setup  ## all tests, counting the lines that they run
	$(BIN)/python -m pytest -n auto --cov --cov-report=

check: test-all lint types coverage wheel  ## what CI runs

format: setup  ## put every file into the house format
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

lint: setup
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)

types: setup
	$(BIN)/mypy $(addprefix -p ,$(TYPED))

coverage: test-all  ## which lines the tests ran
	$(BIN)/coverage report --fail-under=95

wheel: setup  ## build it, install it into a clean environment, import every module
	$(BIN)/python -m tests.repo.wheel

docs: setup  ## write the output in README.md and the references anew: commands, codes, what a submission may say
	$(BIN)/python -m tests.docs.readme
	$(BIN)/python -m tests.docs.commands
	$(BIN)/python -m leaderboard.submission.schema
	$(BIN)/python -m leaderboard.validation

nimbus: setup  ## make the benchmark that comes with the package, and its expected scores, after its texts changed
	rm -rf freshstack_datasets/bundled/nimbus
	$(BIN)/python -m builders nimbus --out freshstack_datasets/bundled/nimbus
	$(BIN)/python -m tests.oracle.test_nimbus_golden

cards: setup  ## write the cards of all known datasets anew
	$(BIN)/python -m builders cards

bench: setup  ## speed and memory against peers; figures, not verdicts
	$(BIN)/python -m benchmarks.evaluation
	$(BIN)/python -m benchmarks.loading
	$(BIN)/python -m benchmarks.hub
	$(BIN)/python -m benchmarks.chunking
	$(BIN)/python -m benchmarks.posts
	$(BIN)/python -m benchmarks.pipeline
	$(BIN)/python -m benchmarks.leaderboard --site

reproduce: setup  ## scores and statistics of the five topics beside the published ones; needs the Hugging Face Hub
	$(BIN)/python -m benchmarks.reproduce

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .coverage* htmlcov
