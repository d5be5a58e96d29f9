# The seven things one does here. Each makes the environment .venv first, when it is not there or requirements changed.
# PYTHON=python3.12 make book   chooses another interpreter (3.11 or later).

.PHONY: book test fuzz notebooks lint serve clean
.DEFAULT_GOAL := book

ROOT := $(CURDIR)
RUN := $(ROOT)/.venv/bin/python
READY := .venv/.ready
SPHINX := .venv/bin/jupyter-book build book --config _config.yml --toc "$(ROOT)/_toc.yml" --path-output . --all -W --keep-going -n

book: $(READY)  ## the pages, in _build/html; warnings are errors
	@rm -rf _build
	@$(SPHINX) >_build.log 2>&1 || { cat _build.log; exit 1; }
	@rm -f _build.log
	@echo "The book is at _build/html/index.html"

test: $(READY)  ## everything, in order of cost; one summary at the end
	@$(RUN) -m tests.stages

fuzz: $(READY)  ## the long run of damaged logs and launch configs, of which `test` runs 300 each; fewer: make fuzz COUNT=2000
	@RLECON_FUZZ=$(or $(COUNT),10000) $(RUN) -m pytest -q -n 2 --dist loadfile tests/fuzz

notebooks: $(READY)  ## run every chapter's text again into its notebook; one: make notebooks ONLY=gpu-hours
	@$(RUN) -m rlecon.book run $(ONLY)

lint: $(READY)
	@$(RUN) -m ruff check .

serve: book  ## read the book at http://localhost:8000
	@$(RUN) -m http.server 8000 --bind 127.0.0.1 --directory _build/html

clean:
	rm -rf _build .venv .hypothesis .benchmarks *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.txt pyproject.toml
	@PYTHON="$(PYTHON)" sh tests/environment.sh
	@touch $(READY)
