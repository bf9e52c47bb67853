# `make help` lists the targets. VENV, PYTHON, ARGS (more arguments for pytest) JOBS (how many processes test)
# and CXX2 (the simulator's second compiler) may be set:
#   make test PYTHON=python3.12 VENV=.venv312 ARGS="-k buffer -x"
VENV ?= .venv
PYTHON ?=
ARGS ?=
JOBS ?= auto
CXX2 ?= clang++
export VENV PYTHON JOBS
# Tests start hundreds of processes, which import in half the time what is kept compiled.
unexport PYTHONDONTWRITEBYTECODE

PY = $(VENV)/bin/python
# No worker replaces one that is lost: pytest-xdist gives it finished files too, on which it waits for ever.
DISTRIBUTED = --numprocesses $(JOBS) --maxprocesses 8 --dist loadfile --no-loadscope-reorder --max-worker-restart=0
PYTEST = $(PY) -P -m pytest $(DISTRIBUTED) -m "not slow"
SLOW_TOO = -m ""
SETUP = .ci/setup.sh

.PHONY: help demo test test-debug test-intel test-as-nvidia test-rusticl test-simulator test-gpu memcheck build format lint other-systems stubs types docs asan valgrind coverage faults leaks bench wheel sdist ci-full clean
.NOTPARALLEL:

help:  ## This list
	@sed -nE 's/^([a-z-]+):.*## /  make \1\t/p' Makefile | expand -t 20

demo:  ## Set up, then find the edges in a photograph on an OpenCL device; writes photo_edges.png
	@$(SETUP) examples
	$(PY) examples/photo_edges.py

test:  ## Set up, then run the tests, less the slow ones: on the first OpenCL platform found, and on CUDA or its simulator
	@$(SETUP) test
	$(PYTEST) $(ARGS)

# What has no OpenCL in it is not asked again.
test-intel:  ## The tests of OpenCL on Intel's CPU runtime, which it installs from PyPI (830 MB)
	@$(SETUP) intel
	PYGPU_OPENCL_LIBRARY="$$($(PY) -c 'import sys; print(sys.prefix)')/lib/libintelocl.so" $(PYTEST) \
	    --ignore=tests/cuda --ignore=tests/simulator -k "not cuda and not simulator" $(ARGS)

test-simulator:  ## The CUDA tests under clang++ (CXX2), and every kernel test in each mode of the simulator
	@$(SETUP) test
	PYGPU_CUDA=simulator PYGPU_SIM_CXX="$(CXX2)" $(PYTEST) tests/cuda tests/simulator/test_kernels.py $(ARGS)
	for mode in PYGPU_SIM_CHECK=1 PYGPU_SIM_ORDER=reverse PYGPU_SIM_ORDER=shuffle:3 PYGPU_SIM_DEFERRED=1; do \
	    env PYGPU_CUDA=simulator $$mode $(PYTEST) tests/simulator/test_kernels.py -k "not valid_cuda" $(ARGS) || exit 1; \
	done

test-gpu:  ## The CUDA tests on an NVIDIA GPU, with its faults and misuse on as many processes as there are cores
	@$(SETUP) test
	PYGPU_CUDA=driver PYGPU_TEST_JOBS="$$(nproc)" $(PYTEST) tests/cuda tests/simulator/test_kernels.py \
	    tests/faults/test_cuda_*.py tests/misuse/test_cuda_misuse.py $(ARGS)

# Without backtraces: to make them the tool keeps the frames of Python functions, and so all that is in them.
memcheck:  ## The CUDA tests on an NVIDIA GPU under compute-sanitizer (of the CUDA toolkit), a file at a time
	@$(SETUP) test
	@for file in tests/cuda/test_*.py; do \
	    env PYGPU_CUDA=driver compute-sanitizer --tool memcheck --report-api-errors no --show-backtrace no \
	        --target-processes application-only --error-exitcode 9 $(PY) -P -m pytest -p no:xdist -o timeout=100 $$file $(ARGS); \
	    [ $$? = 0 ] || [ $$? = 5 ] || exit 1; \
	done

build:  ## Compile what has changed, in place; the environment sees it at once
	@$(SETUP) test

test-as-nvidia:  ## The tests of OpenCL with the ways that are kept for NVIDIA's driver, on any other
	@$(SETUP) test
	PYGPU_TEST_AS=nvidia $(PYTEST) tests/opencl $(ARGS)

# docs/guide/reliability.md says what else fails there. Nothing of another driver's files may come in.
RUSTICL = $(addprefix tests/array/test_,advanced_indexing.py calls.py chains.py dlpack.py events.py first.py foreign_memory.py \
    frozen.py fuse_nests.py fusion.py generated_text.py gufuncs.py interfaces.py layout.py linalg.py matmul.py \
    matmul_kernels.py memory.py no_doubles.py reduction.py row_tiles.py scan.py sort.py structured.py transpose.py)
test-rusticl:  ## Tests of arrays on Mesa's rusticl (llvmpipe), unpacked into build/: those that it can run
	@$(SETUP) rusticl
	RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS="$(CURDIR)/build/rusticl/vendors" $(PYTEST) $(RUSTICL) \
	    -k "not cuda and not test_a_large_one" $(ARGS)

format:  ## Format the C files as .clang-format says, the Python ones as ruff does
	@$(SETUP) dev
	.ci/format.sh
	$(PY) -m ruff format --quiet .

lint:  ## ruff, the type checker, and every C file on gcc and clang without a warning
	@$(SETUP) dev
	.ci/lint.sh

other-systems:  ## Every C file of the extensions for macOS and Windows, by zig with their headers: compiled only
	@$(SETUP) dev
	$(PY) -m pip install --quiet --disable-pip-version-check ziglang
	$(PY) .ci/other_systems.py $(ARGS)

stubs:  ## Write the type stubs anew, from the built extensions
	@$(SETUP) dev
	$(PY) tools/stubs.py

docs:  ## The documentation as HTML in docs/_build/html, with the reference from the docstrings
	@$(SETUP) dev
	$(PY) -m sphinx -q -W --keep-going -t site docs docs/_build/html

types:  ## What pyright knows of the public interface; it installs pyright from PyPI, which needs node
	@$(SETUP) dev
	.ci/types.sh

asan:  ## The tests on a build with AddressSanitizer and UndefinedBehaviorSanitizer
	@$(SETUP) test
	.ci/sanitize.sh $(ARGS)

valgrind:  ## A program that uses every type, under valgrind (slow)
	@$(SETUP) test
	.ci/valgrind.sh $(ARGS)

test-debug:  ## Tests on a debug build of Python, which ends at the first reference too few
	@$(SETUP) debug
	.ci/debug.sh $(ARGS)

coverage:  ## Which lines of src (gcov) and pygpu (coverage.py) the tests reach; reports in build/coverage-report
	@$(SETUP) dev
	.ci/coverage.sh $(ARGS)

faults:  ## Every driver call and every allocation fails once
	@$(SETUP) test
	$(PYTEST) $(SLOW_TOO) tests/faults $(ARGS)

leaks:  ## Nothing grows however often it is repeated
	@$(SETUP) test
	$(PYTEST) $(SLOW_TOO) tests/leaks $(ARGS)

bench:  ## The benchmarks, beside PyOpenCL and plain C
	@$(SETUP) bench
	$(PY) benchmarks $(ARGS)

wheel:  ## A manylinux wheel in wheelhouse/, tried where there is no compiler
	@$(SETUP) dev
	rm -rf dist wheelhouse
	$(PY) -m build --quiet
	PATH="$$(realpath $(VENV))/bin:$$PATH" $(PY) -m auditwheel repair -w wheelhouse dist/*.whl
	.ci/try_wheel.sh wheelhouse/*.whl

sdist:  ## A source distribution in dist/
	@$(SETUP) dev
	$(PY) -m build --quiet --sdist

ci-full:  ## All of the above that can fail
	$(MAKE) lint
	$(MAKE) other-systems
	$(MAKE) types
	$(MAKE) docs
	$(MAKE) asan
	$(MAKE) test-as-nvidia
	$(MAKE) valgrind
	$(MAKE) test-debug
	$(MAKE) wheel
	$(MAKE) demo
	$(MAKE) bench
	$(MAKE) test-intel
	$(MAKE) test-rusticl
	$(MAKE) test-simulator
	$(MAKE) test ARGS='$(SLOW_TOO)'

clean:  ## Remove what the build made; the environment stays
	rm -rf build dist wheelhouse *.egg-info pygpu/*.so .pytest_cache .mypy_cache .ruff_cache photo_edges.png
