# `make demo` and `make test` do everything on a fresh machine with Python 3.11 or newer and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROBLEM := fusion/conv2d_divide_leaky_relu
GPU ?=

.PHONY: demo test trust lint types install clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt .ci/install
	PYTHON="$(PYTHON)" bash .ci/install $(VENV)
	touch $@

# A real custom kernel: CUDA where there is a GPU, C++ elsewhere.
demo: install
	@if nvidia-smi -L >/dev/null 2>&1; then solution=epilogue_cuda; else solution=epilogue_cpp; fi; \
	  $(BIN)/kbench eval $(PROBLEM) $(PROBLEM)/$$solution

test: install lint types
	$(BIN)/python -m pytest
	@if [ -n "$(GPU)" ]; then $(BIN)/python -m pytest -m gpu; fi

# Every cheat and every honest twin: twenty times on the CPU, and five times those that need a GPU.
trust: install
	KBENCH_TRUST_ROUNDS=20 $(BIN)/python -m pytest tests/test_trust.py
	@if [ -n "$(GPU)" ]; then KBENCH_TRUST_ROUNDS=5 $(BIN)/python -m pytest -m gpu tests/test_trust.py; fi

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
