# make run    installs packages, builds, starts the server on 127.0.0.1:9324 with its data in ./data
# make test   installs, builds, runs every test
# make build  only builds            make bench  measures            make packages  only installs

SHELL := /bin/bash
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
NINJA = ninja -j $(JOBS) -C
CTEST = ctest -j $(JOBS) --output-on-failure --test-dir

.PHONY: run build test bench packages test-packages check format unit tsan sim fuzz fuzz-long conformance clients \
        examples hostile crash instructions curves walkthroughs terraform cdk build-with-sim test-programs mutants

run: packages build
	@./build/release/redrive serve

packages:
	@scripts/install_packages.sh build

test-packages:
	@scripts/install_packages.sh build test

build/%/build.ninja: CMakeLists.txt CMakePresets.json cmake/rooms.cmake cmake/precompiled.cmake
	@cmake --preset $* > /dev/null

build: build/release/build.ninja
	@$(NINJA) build/release redrive check_rooms

build-with-sim: build/release/build.ninja
	@$(NINJA) build/release redrive check_rooms redrive-sim

# Three steps, each with all cores busy: packages arrive while the release is compiled; what mostly waits (clients
# have deadlines of their own, and miss them beside a compiler of the same priority) runs beside compilers of the
# lowest one; then what computes runs alone. Where sudo asks for a password it has to ask before.
test: packages
	@[ "$$(id -u)" = 0 ] || sudo -n true 2> /dev/null || scripts/install_packages.sh build test
	@scripts/beside.sh "$(MAKE) --no-print-directory build-with-sim" "$(MAKE) --no-print-directory test-packages"
	@scripts/beside.sh "$(MAKE) --no-print-directory test-programs" "$(MAKE) --no-print-directory $(WAITING)"
	@$(MAKE) --no-print-directory unit tsan sim fuzz
	@echo "make test: everything passed; $$(grep -c '^[0-9]' sim/known_failures.txt) runs of the simulator skipped (sim/known_failures.txt)"

WAITING = conformance clients walkthroughs hostile crash instructions

# What the sanitizers are built into.
test-programs: build/dev/build.ninja build/tsan/build.ninja
	@$(NINJA) build/dev unit_tests redrive-sim fuzz_targets
	@$(NINJA) build/tsan threaded_tests

unit: build/dev/build.ninja
	@$(NINJA) build/dev unit_tests redrive-sim
	@$(CTEST) build/dev -L quick

# The rooms with threads, under ThreadSanitizer.
tsan: build/tsan/build.ninja
	@$(NINJA) build/tsan threaded_tests
	@$(CTEST) build/tsan -L threads

sim: build/release/build.ninja
	@$(NINJA) build/release redrive-sim
	@$(CTEST) build/release -L slow

# Instructions per request under callgrind, against what bench/instructions.json remembers.
instructions: build
	@bench/instructions

fuzz: build/dev/build.ninja
	@$(NINJA) build/dev fuzz_targets
	@$(CTEST) build/dev -L fuzz

# Guided by coverage, all targets in turn: make fuzz-long MINUTES=30
MINUTES ?= 30
fuzz-long:
	@scripts/install_packages.sh build fuzz
	@[ -f build/fuzz/build.ninja ] || cmake --preset fuzz > /dev/null
	@$(NINJA) build/fuzz fuzz_targets
	@fuzz/run_long.sh $(MINUTES)

conformance: build
	@tests/conformance/run.sh -q

clients: build
	@tests/clients/run.sh -q

# A CDK app, synthesised and applied; its library comes from npm.
cdk: build
	@/usr/bin/python3 tests/cdk/run.py

# These wait more than they work: together they take as long as the longest.
walkthroughs: build
	@$(MAKE) --no-print-directory -j3 --output-sync=target cdk terraform examples

# The aws provider of a real Terraform, where there is one.
terraform: build
	@/usr/bin/python3 tests/terraform/run.py

# What docs/testing.md shows, how consumers say why they failed, and scripts of others that run as they are.
examples: build
	@examples/testing/run.sh
	@examples/reporting-failures/run.sh
	@examples/poison-consumer/run.sh
	@examples/retry-and-archive/run.sh
	@/usr/bin/python3 examples/check_page.py README.md  # By itself: its demo needs orders enough.
	@/usr/bin/python3 examples/check_page.py $$(grep -l '^```sh' examples/*/README.md)

# Ten thousand idle connections and a thousand hostile ones.
hostile: build
	@/usr/bin/python3 tests/hostile/run.py
	@/usr/bin/python3 tests/hostile/waiting.py

crash: build
	@/usr/bin/python3 tests/crash/kill_loop.py 50
	@/usr/bin/python3 tests/crash/power_loss.py 20
	@/usr/bin/python3 tests/crash/full_disk.py 12
	@/usr/bin/python3 tests/crash/handler_kill_loop.py 20
	@/usr/bin/python3 tests/crash/notice_kill_loop.py 20
	@bench/isolation --runs 1 --messages 300
	@bench/isolation --runs 1 --messages 300 --batch-size 10 --receives 1 --kill
	@/usr/bin/python3 tests/crash/worker_kill_loop.py 20
	@/usr/bin/python3 tests/crash/worker_kill_loop.py 20 --target file
	@/usr/bin/python3 tests/crash/worker_kill_loop.py 20 --no-atomic
	@/usr/bin/python3 tests/crash/worker_kill_loop.py 20 --elsewhere

# Measures beside our peers and writes docs/performance.md.
bench: packages build
	@scripts/install_packages.sh bench
	@$(NINJA) build/release redrive-bench redrive-micro
	@npm ci --silent --prefix bench/peers || echo "npm ci failed: peers from npm are skipped"
	@/usr/bin/python3 bench/run

# How the cost of a message grows with backlog, connections, queues, bodies, groups and long polls.
curves: packages build
	@$(NINJA) build/release redrive-bench
	@/usr/bin/python3 bench/curves

# Wrong edits that the tests must notice: see HACKING.md. On demand, not part of `test`.
mutants: test-packages
	@/usr/bin/python3 scripts/mutants.py --jobs $(JOBS)

format:
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

check:
	@git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run --Werror
