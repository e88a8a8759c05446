# `make demo` and `make test` are all a newcomer needs; both create .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Of `make trust-long`: how long, and how many seconds of rest after every second of work.
MINUTES ?= 60
REST ?= 0

.PHONY: demo test test-slow lint figures tables api bench-speed bench-drift trust trust-long lock audit wheel-check clean

demo: $(VENV)/.core
	$(BIN)/anylight synth --shape bust --albedo rectcircle --images 25 --height 320 --out demo/bust
	$(BIN)/anylight run demo/bust --out demo/result
	$(BIN)/anylight eval demo/result --truth demo/bust
	@echo "mae_deg is the mean angle to the true surface. Look at demo/bust/preview/photos.png (in)"
	@echo "and demo/result/report.html (out: turn it, relight it); the mesh is demo/result/mesh.glb."

test: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n 2 -m slow

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

figures: $(VENV)/.dev
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/screens.py

tables: $(VENV)/.dev
	$(BIN)/python -m studies.tables

api: $(VENV)/.dev
	$(BIN)/python docs/api.py

bench-speed: $(VENV)/.dev
	$(BIN)/python -m studies.speed
	$(BIN)/python -m studies.performance

bench-drift: $(VENV)/.dev
	$(BIN)/python -m studies.drift

trust: $(VENV)/.dev
	$(BIN)/python -m studies.trust

trust-long: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check atheris
	$(BIN)/python -m studies.trust --minutes $(MINUTES) --rest $(REST)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "anylight needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

# With LOCKED=1, exactly the files of .ci/dev.lock, each checked against its hash.
$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
ifdef LOCKED
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r .ci/dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
else
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
endif
	@touch $@ $(VENV)/.core

lock: $(VENV)/.dev
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --upgrade pyproject.toml --extra dev --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --output-file .ci/dev.lock

audit: $(VENV)/.dev
	-@$(BIN)/pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m studies.trust.audit

wheel-check: $(VENV)/.dev
	$(BIN)/python -m studies.trust.wheel

clean:
	rm -rf $(VENV) demo
