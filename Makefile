# make run    installs packages, builds, starts the server on 127.0.0.1:9324 with its data in ./data
# make test   installs, builds, runs every check and every test
# make build  only builds            make bench  measures            make packages  only installs
# make quick  checks what you changed, in less than a minute after a build

SHELL := /bin/bash
.DEFAULT_GOAL := build
JOBS ?= $(shell nproc)
NINJA = ninja -j $(JOBS) -C
CTEST = ctest -j $(JOBS) --output-on-failure --test-dir
# STEP NAME COMMAND: runs it and records its counts for the last line of `make test`.
STEP = scripts/test_step.py

.PHONY: console-test screenshots web run build test all-steps bench packages test-packages check quick tidy ide format unit tsan sim fuzz fuzz-long conformance clients \
        examples hostile crash instructions curves walkthroughs terraform cdk build-with-sim test-programs mutants

run: packages build
	@./build/release/redrive serve

packages:
	@scripts/install_packages.sh build

test-packages:
	@scripts/install_packages.sh build test

build/%/build.ninja: CMakeLists.txt CMakePresets.json cmake/modules.cmake cmake/precompiled.cmake
	@cmake --preset $* > /dev/null

build: build/release/build.ninja
	@$(NINJA) build/release redrive check_modules

build-with-sim: build/release/build.ninja
	@$(NINJA) build/release redrive check_modules redrive-sim

# The last line tells what passed, failed and was skipped, also when a step failed and ended the rest.
test: packages
	@rm -rf build/test-results
	@code=0; $(MAKE) --no-print-directory all-steps || code=1; scripts/test_summary.py $(STEPS) && exit $$code

# Three parts, each with all cores busy: packages arrive while the release is compiled; what mostly waits (clients
# have deadlines of their own, and miss them beside a compiler of the same priority) runs beside compilers of the
# lowest one; then what computes runs alone. Where sudo asks for a password it has to ask before.
all-steps:
	@[ "$$(id -u)" = 0 ] || sudo -n true 2> /dev/null || scripts/install_packages.sh build test
	@scripts/beside.sh "$(MAKE) --no-print-directory build-with-sim" "$(MAKE) --no-print-directory test-packages"
	@$(MAKE) --no-print-directory check
	@scripts/beside.sh "$(MAKE) --no-print-directory test-programs" "$(MAKE) --no-print-directory $(WAITING)"
	@$(MAKE) --no-print-directory unit tsan sim fuzz

WAITING = web conformance clients walkthroughs hostile crash instructions
CRASH = kill_loop power_loss full_disk handler_kill_loop notice_kill_loop isolation isolation-killed \
        worker_kill_loop worker_kill_loop-file worker_kill_loop-no-atomic worker_kill_loop-elsewhere
STEPS = format modules scripts prose links web conformance clients cdk terraform examples hostile waiting \
        $(addprefix crash-,$(CRASH)) instructions unit tsan sim fuzz

# What the sanitizers are built into.
test-programs: build/dev/build.ninja build/tsan/build.ninja
	@$(NINJA) build/dev unit_tests redrive-sim fuzz_targets
	@$(NINJA) build/tsan threaded_tests

unit: build/dev/build.ninja
	@$(NINJA) build/dev unit_tests redrive-sim
	@$(STEP) unit $(CTEST) build/dev -L quick

# The modules with threads, under ThreadSanitizer.
tsan: build/tsan/build.ninja
	@$(NINJA) build/tsan threaded_tests
	@$(STEP) tsan $(CTEST) build/tsan -L threads

sim: build/release/build.ninja
	@$(NINJA) build/release redrive-sim
	@$(STEP) sim $(CTEST) build/release -L slow

# Instructions per request under callgrind, against what bench/instructions.json remembers.
instructions: build
	@$(STEP) instructions bench/instructions

fuzz: build/dev/build.ninja
	@$(NINJA) build/dev fuzz_targets
	@$(STEP) fuzz $(CTEST) build/dev -L fuzz

# Guided by coverage, all targets in turn: make fuzz-long MINUTES=30
MINUTES ?= 30
fuzz-long:
	@scripts/install_packages.sh build fuzz
	@[ -f build/fuzz/build.ninja ] || cmake --preset fuzz > /dev/null
	@$(NINJA) build/fuzz fuzz_targets
	@fuzz/run_long.sh $(MINUTES)

conformance: build
	@$(STEP) conformance tests/conformance/run.sh -q -rs

clients: build
	@$(STEP) clients tests/clients/run.sh -q -rs

# The web console without a browser: types, lint and unit tests.
web: build
	@flock web/.lock web/scripts/install.sh test
	@$(STEP) web bash -c "cd web && npm run --silent check && npm run --silent test"

# The web console: unit tests, types, lint, and stories in a browser against a real server.
console-test: build
	@flock web/.lock web/scripts/install.sh test
	@cd web && npm run --silent check && npm run --silent test && npm run --silent stories

# Pictures of the console for the documentation, from the data of the browser stories.
screenshots: build
	@flock web/.lock web/scripts/install.sh test
	@cd web && npm run --silent screenshots

# A CDK app, synthesised and applied; its library comes from npm.
cdk: build
	@$(STEP) cdk /usr/bin/python3 tests/cdk/run.py

# These wait more than they work: together they take as long as the longest.
walkthroughs: build
	@$(MAKE) --no-print-directory -j3 --output-sync=target cdk terraform examples

# The aws provider of a real Terraform, where there is one.
terraform: build
	@$(STEP) terraform /usr/bin/python3 tests/terraform/run.py

# What docs/testing.md shows, how consumers say why they failed, and scripts of others that run as they are.
examples: build
	@$(STEP) examples examples/run_all.sh

# Ten thousand idle connections and a thousand hostile ones.
hostile: build
	@$(STEP) hostile /usr/bin/python3 tests/hostile/run.py
	@$(STEP) waiting /usr/bin/python3 tests/hostile/waiting.py

crash: build
	@$(STEP) crash-kill_loop /usr/bin/python3 tests/crash/kill_loop.py 50
	@$(STEP) crash-power_loss /usr/bin/python3 tests/crash/power_loss.py 20
	@$(STEP) crash-full_disk /usr/bin/python3 tests/crash/full_disk.py 12
	@$(STEP) crash-handler_kill_loop /usr/bin/python3 tests/crash/handler_kill_loop.py 20
	@$(STEP) crash-notice_kill_loop /usr/bin/python3 tests/crash/notice_kill_loop.py 20
	@$(STEP) crash-isolation bench/isolation --runs 1 --messages 300
	@$(STEP) crash-isolation-killed bench/isolation --runs 1 --messages 300 --batch-size 10 --receives 1 --kill
	@$(STEP) crash-worker_kill_loop /usr/bin/python3 tests/crash/worker_kill_loop.py 20
	@$(STEP) crash-worker_kill_loop-file /usr/bin/python3 tests/crash/worker_kill_loop.py 20 --target file
	@$(STEP) crash-worker_kill_loop-no-atomic /usr/bin/python3 tests/crash/worker_kill_loop.py 20 --no-atomic
	@$(STEP) crash-worker_kill_loop-elsewhere /usr/bin/python3 tests/crash/worker_kill_loop.py 20 --elsewhere

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
	@git ls-files '*.h' '*.cpp' | xargs clang-format-14 -i

# For editors: compile commands that clangd understands, see .clangd.
ide:
	@cmake --preset ide > /dev/null

# What you changed, compared with the main branch: needs g++ only, and uses the clang tools that are installed.
quick: build/release/build.ninja
	@if command -v clang-format-14 > /dev/null; then $(MAKE) --no-print-directory check-format; fi
	@python3 scripts/check_modules.py . && python3 scripts/check_prose.py && python3 scripts/check_links.py
	@JOBS=$(JOBS) scripts/tidy.py --changed
	@scripts/quick.py

# clang-tidy, with the checks of .clang-tidy as errors.
tidy: build/dev/build.ninja
	@JOBS=$(JOBS) $(STEP) tidy scripts/tidy.py

check-format:
	@git ls-files '*.h' '*.cpp' | xargs -P $(JOBS) -n 100 clang-format-14 --dry-run --Werror

# What takes seconds: format, the include table, and the language and links of the docs.
check:
	@$(STEP) format $(MAKE) --no-print-directory check-format
	@$(STEP) modules python3 scripts/check_modules.py .
	@$(STEP) scripts python3 -m unittest discover -q -s tests/scripts -p 'test_*.py'
	@$(STEP) prose python3 scripts/check_prose.py
	@$(STEP) links python3 scripts/check_links.py
