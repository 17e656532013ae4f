# The few commands a newcomer needs; CMake does the work, in build/. Each target
# first installs what it lacks (scripts/deps). `make help` lists them.
#
#   PREFIX, DESTDIR  where `make install` puts things (default /usr/local)
#   CMAKE_FLAGS      more options for CMake, for example -DSOTTO_WERROR=ON
#   FUZZ_SECONDS     how long `make fuzz` runs each target (default 600)
PREFIX ?= /usr/local
CMAKE_FLAGS ?=
FUZZ_SECONDS ?= 600
JOBS := $(shell nproc)
MAKEFLAGS += --no-print-directory
C_FILES = $(shell find include src tests fuzz proof -name '*.[ch]')

.PHONY: all demo test prove fresh bench fuzz format check-format tidy \
	reproducible dist install clean help

all: ## build build/sotto
	@scripts/deps build
	cmake -S . -B build $(CMAKE_FLAGS)
	cmake --build build -j$(JOBS) --target sotto

demo: all ## the whole story in a minute; the report lands in build/demo
	build/sotto demo -o build/demo

test: ## build everything and run every test
	@scripts/deps test
	cmake -S . -B build -DSOTTO_TESTS=ON $(CMAKE_FLAGS)
	cmake --build build -j$(JOBS)
	cd build && ctest --output-on-failure --no-tests=error -j2

prove: ## prove what docs/proofs.md states, with Frama-C, z3 and cvc4
	@scripts/deps prove
	scripts/prove

fresh: ## prove the README on a bare Debian or Ubuntu in a chroot (needs root)
	scripts/fresh

bench: all ## time what matters, against peers and limits
	build/sotto bench

fuzz: ## search with every fuzz target for FUZZ_SECONDS each
	@scripts/deps fuzz
	FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

format: ## give every C file its shape
	@scripts/deps format
	clang-format -i $(C_FILES)

check-format: ## fail if a C file has another shape
	@scripts/deps format
	clang-format --dry-run -Werror $(C_FILES)

tidy: ## clang-tidy over src/
	@scripts/deps tidy
	cmake -S . -B build-clang -DCMAKE_C_COMPILER=clang -DSOTTO_TESTS=ON
	find src -name '*.c' -print0 | \
		xargs -0 -n 1 -P $(JOBS) clang-tidy --quiet -p build-clang

reproducible: ## build in two folders on two days; the bytes must be equal
	scripts/reproducible

dist: all ## sources, bill of materials and their sums, in build/dist
	cmake --build build -j$(JOBS) --target libraries sotto-collector
	scripts/dist build

install: all ## install the program, the libraries, the headers
	cmake -S . -B build -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS)
	cmake --build build -j$(JOBS) --target libraries sotto-collector
	cmake --install build

clean: ## remove everything built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 18
