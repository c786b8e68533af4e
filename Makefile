# thumbjob: build, test, run. `make run` and `make test` do all the set-up themselves.

SHELL = bash
.SHELLFLAGS = -eu -o pipefail -c

SWIFT ?= swift
PREFIX ?= /usr/local
# Checks that this machine has the packages that a target needs. As root it installs missing ones.
NEEDS = SWIFT=$(SWIFT) scripts/needs.sh

BUILD = $(SWIFT) build
SOURCES = Sources Tests Package.swift Benchmarks/Sources Benchmarks/Package.swift
# Links Swift's own libraries into the binary, which then starts in a third of the time and runs where Swift is not
# installed.
RELEASE = -c release $(if $(filter Linux,$(shell uname)),--static-swift-stdlib)
BINARY = .build/release/thumbjob
# Switches off Swift's backtracer, which never ends under a sanitizer, so that races and leaks are reported in seconds.
SANITIZED = SWIFT_BACKTRACE=enable=no

# Runs as many test cases at a time as keep the processors busy while some of them wait. If all ran at once, each would
# wait for the others, and this wait would count towards its time limit.
TEST = $(SWIFT) test --disable-xctest --experimental-maximum-parallelization-width $(shell expr 2 + $$(nproc 2>/dev/null || echo 2))

# Makes the build fail on an import of a target that Package.swift does not declare. Only CI does so, because reading all
# imports takes half a minute.
IMPORTS = $(if $(CI),--explicit-target-dependency-import-check error)

# Repeats at the end which tests failed, because thousands of lines come before.
SHOWN = 2>&1 | tee .build/$@.log || { echo "failed:"; grep -aE '✘|^(FAILED|ERROR) ' .build/$@.log; exit 1; }

# The virtual environment of the Python packages that Tests/EndToEnd needs.
PYTHON = .build/venv
# The virtual environment of the checkers of Python and JavaScript; each is one native program from PyPI.
LINT = .build/venv-lint
# Clang from PATH, or the one in the folder of Swift's own program.
CLANG = $(or $(shell command -v clang),$(dir $(realpath $(shell command -v $(SWIFT))))clang)
PROMTOOL = $(or $(shell command -v promtool),.build/prometheus/usr/bin/promtool)

# The virtual environment of the Python packages that the benchmarks need, and the folder of their photographs. `make
# corpus` keeps photographs that are already there.
BENCH_VENV = .build/venv-benchmarks
BENCH_PYTHON = PYTHONPYCACHEPREFIX=.build/python-cache $(BENCH_VENV)/bin/python
CORPUS = .build/corpus
# The programs of the package Benchmarks, and the folder for their figures.
BENCHMARKS = Benchmarks/.build/release
BUILD_BENCHMARKS = $(BUILD) -c release --package-path Benchmarks
FIGURES = .build/benchmarks
# With QUOTE=README.md, `make bench` puts its table there.
QUOTE =

.PHONY: help run build images images-broken test unit command race memory endpoint test-deps quality bench bench-huge bench-queue \
  bench-decoder bench-locks corpus bench-deps lint lint-deps format docs install man deps clean

help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

run: build images ## sets everything up and makes thumbnails of ./images into ./thumbs
	$(BINARY) ./images --max 4

build: deps ## builds the release binary
	$(BUILD) $(RELEASE) --product thumbjob

images: deps ## makes ./images, a few dozen synthetic photos, unless it exists
	@test -d images || { $(BUILD) $(RELEASE) --product make-images && .build/release/make-images images; }

images-broken: deps ## makes ./images-broken, good files among bad ones of many kinds, unless it exists
	@test -d images-broken || { $(BUILD) $(RELEASE) --product make-images && \
	  .build/release/make-images --broken images-broken; }

test: ## runs all checks that CI runs
	@$(NEEDS) test
	@scripts/parts.sh lint unit command race memory endpoint

unit: deps ## tests the libraries, and parts of the executable
	$(BUILD) --build-tests $(IMPORTS)
	$(TEST) --skip-build --skip thumbjobTests $(SHOWN)

command: deps ## tests the built program as its user runs it: output, exit status, signals
	$(BUILD) --build-tests
	$(TEST) --skip-build --filter thumbjobTests $(SHOWN)

race: deps ## tests queue, job, comparison, file transfers, pressure monitor, trace and endpoint under the thread sanitizer
	@mkdir -p .build
	$(SANITIZED) $(TEST) --sanitize=thread --scratch-path .build-thread \
	  --filter 'BoundedQueueTests|ComparisonTests|FilesTests|JobTests|MemoryPressureTests|QueueBaselinesTests|StatusEndpointTests|TraceRecordingTests' $(SHOWN)

memory: deps ## tests Thumbnails and the C code under the address sanitizer
	@mkdir -p .build
	$(SANITIZED) $(TEST) --sanitize=address --scratch-path .build-address \
	  --filter 'ThumbnailsTests' $(SHOWN)

endpoint: test-deps $(PYTHON)/ready $(PROMTOOL) ## tests the built program's page in a browser, its API and metrics with public checkers, and hostile clients
	$(BUILD) --product thumbjob
	PROMTOOL=$(PROMTOOL) PYTHONPYCACHEPREFIX=.build/python-cache $(PYTHON)/bin/pytest -q -rs Tests/EndToEnd $(SHOWN)

$(PYTHON)/ready: Tests/EndToEnd/requirements.txt | test-deps
	python3 -m venv --clear $(PYTHON)
	$(PYTHON)/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

# Unpacks the package instead of installing it, because installing it would start a server.
.build/prometheus/usr/bin/promtool: | test-deps
	mkdir -p .build/prometheus
	cd .build/prometheus && { apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; } }
	cd .build/prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool

quality: build $(BENCH_VENV)/ready corpus ## fails if thumbnails are worse than vipsthumbnail's, by SSIM over photographs
	$(BENCH_PYTHON) Benchmarks/quality.py $(CORPUS)/photos
	$(BENCH_PYTHON) Benchmarks/quality.py $(CORPUS)/photos --subsampling 420

bench: build $(BENCH_VENV)/ready corpus ## compares thumbjob with other programs in a quarter of an hour: table, chart and JSON. QUOTE=README.md quotes the table
	$(BENCH_PYTHON) Benchmarks/bench.py $(CORPUS) --out $(FIGURES) $(if $(QUOTE),--quote $(QUOTE))

bench-huge: build corpus ## measures time and memory for a progressive JPEG of 300 megapixels, with thumbjob and vipsthumbnail
	@mkdir -p $(FIGURES)
	Benchmarks/huge-photo.sh "$$(ls -S $(CORPUS)/photos/*.jpg | head -n 1)" $(FIGURES)/huge.jpg

bench-queue: deps ## measures the time that the queue takes, compared with Foundation's and GCD
	$(BUILD_BENCHMARKS) --product bench-queue
	@mkdir -p $(FIGURES)
	$(BENCHMARKS)/bench-queue --json $(FIGURES)/queue.json | tee $(FIGURES)/queue.md

bench-decoder: deps corpus ## measures how many megabytes each decoder decodes in a second of processor time
	$(BUILD_BENCHMARKS) --product bench-decoder -Xswiftc -enable-testing --scratch-path .build-decoder
	@mkdir -p $(FIGURES)
	.build-decoder/release/bench-decoder $(CORPUS)/camera $(CORPUS)/web $(CORPUS)/photos \
	  --json $(FIGURES)/decoder.json | tee $(FIGURES)/decoder.md

bench-locks: deps $(BENCH_VENV)/ready ## compares locks for the queue's account, with a chart
	$(BUILD_BENCHMARKS) --product bench-locks
	@mkdir -p $(FIGURES)
	$(BENCHMARKS)/bench-locks --json $(FIGURES)/locks.json | tee $(FIGURES)/locks.md
	$(BENCH_PYTHON) Benchmarks/locks_chart.py $(FIGURES)/locks.json $(FIGURES)/locks.svg

corpus: | bench-deps # lays out the photographs of the benchmarks, from Debian packages
	Benchmarks/photos.sh $(CORPUS)

$(BENCH_VENV)/ready: Benchmarks/requirements.txt | bench-deps
	python3 -m venv --clear $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

lint: $(LINT)/ready ## fails on anything `make format` would change, and on mistakes in C, shell, Python and JavaScript
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)
	@mkdir -p .build
	$(SWIFT) package dump-package > .build/package.json
	scripts/lint-rooms.py < .build/package.json
	scripts/lint-c.sh $(CLANG) Sources/CLibJPEG
	shellcheck scripts/*.sh Benchmarks/*.sh .ci/run
	$(LINT)/bin/ruff check --quiet --cache-dir .build/lint/ruff
	scripts/lint-page.sh $(LINT)/bin/oxlint

$(LINT)/ready: scripts/lint-requirements.txt | lint-deps
	python3 -m venv --clear $(LINT)
	$(LINT)/bin/pip install -q --disable-pip-version-check -r $<
	touch $@

format: ## formats the sources in place
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

docs: deps ## writes the libraries' documentation to .build/docs
	@mkdir -p .build/docs
	for library in BoundedQueue MemoryPressure Thumbnails; do \
	  THUMBJOB_DOCS=1 $(SWIFT) package --allow-writing-to-directory .build/docs generate-documentation --target $$library \
	    --output-path .build/docs/$$library --warnings-as-errors --transform-for-static-hosting \
	    --hosting-base-path $$library; \
	done

man: deps ## writes the manual page to .build/man
	$(BUILD) --product generate-manual
	$(BUILD) --product thumbjob
	@mkdir -p .build/man
	.build/debug/generate-manual .build/debug/thumbjob --output-directory .build/man

install: build man ## installs binary, manual page and shell completions below PREFIX
	install -D -s -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/thumbjob
	install -D -m 644 .build/man/thumbjob.1 $(DESTDIR)$(PREFIX)/share/man/man1/thumbjob.1
	$(BINARY) --generate-completion-script bash > .build/completion.bash
	$(BINARY) --generate-completion-script zsh > .build/completion.zsh
	$(BINARY) --generate-completion-script fish > .build/completion.fish
	install -D -m 644 .build/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/thumbjob
	install -D -m 644 .build/completion.zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_thumbjob
	install -D -m 644 .build/completion.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/thumbjob.fish

deps: # installs the packages that building needs
	@$(NEEDS) build

lint-deps: # installs the packages that the checks of the sources need
	@$(NEEDS) lint

test-deps: # installs the packages that the tests need
	@$(NEEDS) test

bench-deps: # installs the packages that the benchmarks need
	@$(NEEDS) bench

clean: ## removes everything that was built
	rm -rf .build .build-* Benchmarks/.build
