# thumbjob: build, test, run. `make run` and `make test` do all the set-up themselves.

SHELL = bash
.SHELLFLAGS = -eu -o pipefail -c

SWIFT ?= swift
PREFIX ?= /usr/local
MANUAL = .build/man/thumbjob.1
ZSH_COMPLETIONS = $(PREFIX)/share/zsh/site-functions
# Checks that this machine has the packages that a target needs. As root it installs missing ones.
NEEDS = SWIFT=$(SWIFT) scripts/needs.sh

BUILD = $(SWIFT) build
# Passes the Swift sources to a command, a hundred at a time: swift format holds all files of a call open, and where few
# files may be open at once (ulimit -n) it would report the others as unreadable.
EACH_SOURCE = find Sources Tests Package.swift Benchmarks/Sources Benchmarks/Package.swift -name '*.swift' -print0 | xargs -0 -n 100
# Links Swift's own libraries into the binary, which then starts in a third of the time and runs where Swift is not
# installed. SMALL leaves out most of their data (scripts/icu-data.py), and names that only a debugger of a program
# without symbols would read.
LINUX = $(filter Linux,$(shell uname))
SMALL = .build/icu.flags
# The options for the parts of the program whose libraries are there; none if all are.
TRAITS = $(shell SWIFT=$(SWIFT) scripts/needs.sh traits)
# Contains only the static C++ library, so that the linker uses it; Swift's libraries need it. With the shared one, the
# loader looks up thousands of symbols at each start (1.6 ms).
ARCHIVES = .build/archives
RELEASE = -c release $(TRAITS) $(if $(LINUX),--static-swift-stdlib -Xlinker --no-export-dynamic -Xlinker -L$(ARCHIVES) $(shell cat $(SMALL)))
BINARY = .build/release/thumbjob
# The programs of the decoder and encoder processes, which thumbjob finds beside itself or in this folder of an installation.
HELPERS = .build/release/thumbjob-decoder .build/release/thumbjob-encoder
LIBEXEC = $(DESTDIR)$(PREFIX)/libexec/thumbjob
# The folder in the tarball of `make dist`.
DIST = thumbjob-$(shell sed -nE 's/.*current = "([^"]+)".*/\1/p' Sources/thumbjob/Process/Version.swift)
# Switches off Swift's backtracer, which never ends under a sanitizer, so that races and leaks are reported in seconds.
SANITIZED = SWIFT_BACKTRACE=enable=no

# The suites of tests, by the way in which they are compiled: without a sanitizer, for the thread sanitizer, and for the
# address sanitizer. Each runs in the way that finds most, and some in two: a sanitizer makes them skip tests or widen
# limits. scripts/lint-suites.py fails if a suite is in no list.
PLAIN = ContactSheetTests JobsTests PicturesTests PreviewsTests SandboxTests StatusEndpointTests ThumbnailsTests thumbjobTests thumbjobUnitTests
RACED = AccessRecordingTests BoundedQueueTests CachingTests ComparisonTests FetchingTests FilesTests FolderWatchingTests \
  JobsTests LedgerTests LockingTests MemoryPressureTests QueueBaselinesTests SandboxTests StatusEndpointTests \
  ThreadLessonsTests TraceRecordingTests
CHECKED = PicturesTests ThumbnailsTests
# The programs that run in the tests, by the same ways. Of status-demo and FuzzTargets it is only tested that they compile.
PLAIN_PROGRAMS = thumbjob thumbjob-decoder thumbjob-encoder bad-decoder decoding-memory lessons make-images sandbox-parent status-demo
RACED_PROGRAMS = thumbjob-decoder bad-decoder lessons sandbox-parent
# The revision with which `make api` compares: the last version.
SINCE = $(shell git describe --tags --abbrev=0 2>/dev/null)
# The libraries for other packages, with articles. Their targets are among those that the suites need.
DOCUMENTED = BoundedQueue MemoryPressure Thumbnails
# The targets that Package.swift then has, with what they need.
PLAIN_TARGETS = $(PLAIN) $(PLAIN_PROGRAMS) FuzzTargets
RACED_TARGETS = $(RACED) $(RACED_PROGRAMS)
CHECKED_TARGETS = $(CHECKED)
RACED_OPTIONS = --sanitize=thread --scratch-path .build-thread
# The undefined-behaviour sanitizer is for C, because Swift's compiler has none. A finding ends the tests. Optimized, the
# tests run in a fifth of the time.
CHECKED_OPTIONS = --sanitize=address --scratch-path .build-address -Xswiftc -O -Xcc -O1 \
  -Xcc -fsanitize=undefined -Xcc -fno-sanitize-recover=undefined
# A command with other options or targets than the one before it plans the build anew, which takes 10 s.
BUILD_PLAIN = THUMBJOB_TARGETS="$(PLAIN_TARGETS)" $(BUILD)
BUILD_RACED = THUMBJOB_TARGETS="$(RACED_TARGETS)" $(BUILD) $(RACED_OPTIONS)
BUILD_CHECKED = THUMBJOB_TARGETS="$(CHECKED_TARGETS)" $(BUILD) $(CHECKED_OPTIONS)

# The program of all suites of a way. `swift build --build-tests` would also build the programs of other packages, such as
# Hummingbird's, and all that they need.
SUITES_PROGRAM = thumbjobPackageTests
# $(call built,COMMAND,PRODUCTS) builds products one by one, unless `make test` has just done so.
built = $(if $(COMPILED),,for product in $(2); do $(1) --product $$product; done)

# Runs as many test cases at a time as keep the processors busy while some of them wait. If all ran at once, each would
# wait for the others, and this wait would count towards its time limit.
TEST = $(SWIFT) test --disable-xctest --experimental-maximum-parallelization-width $(shell expr 2 + $$(nproc 2>/dev/null || echo 2))
TEST_PLAIN = THUMBJOB_TARGETS="$(PLAIN_TARGETS)" $(TEST) --skip-build
TEST_RACED = THUMBJOB_TARGETS="$(RACED_TARGETS)" $(SANITIZED) $(TEST) --skip-build $(RACED_OPTIONS)
TEST_CHECKED = THUMBJOB_TARGETS="$(CHECKED_TARGETS)" $(SANITIZED) $(TEST) --skip-build $(CHECKED_OPTIONS)

# Makes the build fail on an import of a target that Package.swift does not declare. Only CI does so, because reading all
# imports takes half a minute in each command. All targets are in PLAIN_TARGETS or RACED_TARGETS.
IMPORTS = $(if $(CI),--explicit-target-dependency-import-check error)

# Repeats at the end which tests failed, because thousands of lines come before.
SHOWN = 2>&1 | tee .build/$@.log || { echo "failed:"; grep -aE '✘|^(FAILED|ERROR) |^SUMMARY: ' .build/$@.log; exit 1; }

# The virtual environment of the Python packages that Tests/EndToEnd needs.
PYTHON = .build/venv
# The virtual environment of the checkers of Python and JavaScript; each is one native program from PyPI.
LINT = .build/venv-lint
# Clang from PATH, or the one in the folder of Swift's own program.
CLANG = $(or $(shell command -v clang),$(dir $(realpath $(shell command -v $(SWIFT))))clang)
NGINX = $(or $(shell command -v nginx),$(wildcard /usr/sbin/nginx),.build/nginx/usr/sbin/nginx)
PROMTOOL = $(or $(shell command -v promtool),.build/prometheus/usr/bin/promtool)

# The attack with damaged files: how many files of each class, and the seed of the random generator. `make test` tries fewer
# files. Files that break a rule are kept.
PER_CLASS = 125
SEED = 1
ATTACK = PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Attack/attack.py --keep .build/attack

# The attack on the preview server: how many requests. Those that break a rule are kept.
REQUESTS = 10000
ATTACK_SERVE = PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Attack/serve_attack.py --keep .build/attack-serve

# The fuzzers: the targets of Tests/Fuzz, and how many seconds each runs. FUZZ has the inputs and findings.
TARGETS = thumbnail blocks exif profile directories multi-picture png-header gif-header webp-header other-headers heif cr3 job-file list glob \
  mark words sheet reply listing address request answer kernel messages decoder decode-png decode-gif decode-webp decode-tiff decode-hevc decode-av1 decode-raster decode-psd decode-jp2 \
  fills-jpeg fills-png fills-gif fills-webp fills-tiff fills-hevc fills-av1 lossless lzw
SECONDS = 60
FUZZ = .build-fuzz/thumbjob
FUZZ_C = $(CLANG) -g -O1 -fuse-ld=lld -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
# Decodes twice and compares. Its own allocator takes the place of the sanitizer's.
FUZZ_TWICE = $(CLANG) -g -O1 -fuse-ld=lld -fsanitize=fuzzer -DDECODES_TWICE
FUZZ_PICTURES = -DTHUMBJOB_FORMATS $$(pkg-config --cflags libopenjp2) -ISources/CDecoding/include -ISources/CPictures/include -ISources/CPictures -ISources/CLibJPEG/include \
  Tests/Fuzz/fills.c Sources/CPictures/*.c Sources/CPictures/*/*.c \
  Sources/CLibJPEG/*.c $$(pkg-config --libs libpng libwebp libtiff-4 libde265 dav1d libjxl libopenjp2 zlib libisal) -lgif -ljpeg -lm
FUZZ_BUILD = THUMBJOB_FUZZ=1 $(BUILD) -c release --sanitize=address -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing

# How often `make hunt` runs the tests in each circumstance.
RUNS = 1

# The endurance test: how many minutes, and the seed of the random generator. `make test` runs half a minute.
MINUTES = 60
SOAK = PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Soak/soak.py --keep .build/soak

# The model test: how many steps, each of which changes files or runs a job. SEED chooses other ones.
STEPS = 2000
MODEL = PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Model/model.py --keep .build/model
MODEL_WITH_BUCKETS = $(subst python3,$(PYTHON)/bin/python,$(MODEL)) --buckets

# The events of `make watch` over which neither memory nor open files may grow.
EVENTS = 100000

# The fault injection, with the C compiler for its library.
FAULTS = PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Faults/faults.py --compiler $(CLANG)

# The virtual environment of the Python packages that the benchmarks need, and the folder of their photographs. `make
# corpus` keeps photographs that are already there.
BENCH_VENV = .build/venv-benchmarks
BENCH_PYTHON = PYTHONPYCACHEPREFIX=.build/python-cache $(BENCH_VENV)/bin/python
CORPUS = .build/corpus
# The virtual environment of thumbor, which needs an older Pillow than the other benchmarks.
THUMBOR = .build/venv-thumbor
# The other programs that `make bench` runs, of Debian's stable release.
PROGRAMS = .build/programs
# The programs of the package Benchmarks, and the folder for their figures.
BENCHMARKS = Benchmarks/.build/release
BUILD_BENCHMARKS = THUMBJOB_BENCHMARKS=1 $(BUILD) -c release --package-path Benchmarks
FIGURES = .build/benchmarks
# The files of `make bench-many`.
COUNT = 100000
# With QUOTE=README.md, `make bench` puts its table there.
QUOTE =
# The pictures that other programs test with. With SAMPLE=5, `make suites` takes five of each format of a suite. SIZES are in
# pixels, with commas between; 256 by default.
SUITES = .build/suites
SAMPLE =
SIZES =
# The container of `make bench-mixed`, in MiB.
MEBIBYTES = 192
# With PICTURES=docs, `make bench-compare` puts its pictures there.
PICTURES = $(FIGURES)

.PHONY: help run build moving-picture gallery-picture link-deps images images-broken test compiled plain raced checked program downloads unit command race memory endpoint package reduced lessons attack-sample attack attack-serve-sample attack-serve faults-sample faults watch model-sample model hunt-tests hunt soak-sample soak coverage fuzz test-deps quality bench bench-sizes bench-formats bench-thumbnail-formats formats-tests bench-mixed bench-network suites bench-huge bench-many \
  bench-compare bench-story bench-queue bench-server bench-serve bench-desktops bench-disks bench-decoder bench-locks bench-cache corpus programs bench-deps lint lint-deps format docs api install deb deb-deps dist dist-deps image sbom man deps run-deps \
  clean

help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

run: build images images-broken ## sets everything up and makes thumbnails of ./images into ./thumbs
	$(BINARY) ./images --max 4
	@$(NEEDS) run

build: run-deps link-deps ## builds the release binaries
	$(BUILD) $(RELEASE) --product thumbjob
	$(BUILD) $(RELEASE) --product thumbjob-decoder
	$(BUILD) $(RELEASE) --product thumbjob-encoder

link-deps: run-deps # writes the linker options that leave out other languages, and puts a symbolic link to the static C++ library into ARCHIVES
	@mkdir -p $(ARCHIVES)
	@$(if $(LINUX),if command -v python3 >/dev/null; then scripts/icu-data.py $(SWIFT) $(SMALL); else : >$(SMALL); fi)
	@archive=$$($(CLANG) -print-file-name=libstdc++.a); test ! -e "$$archive" || ln -sf "$$archive" $(ARCHIVES)/

images: run-deps link-deps ## makes ./images, a few dozen synthetic photos, unless it exists
	@test -d images || { $(BUILD) $(RELEASE) --product make-images && .build/release/make-images images; }

images-broken: run-deps link-deps ## makes ./images-broken, good files among bad ones of many kinds, unless it exists
	@test -d images-broken || { $(BUILD) $(RELEASE) --product make-images && \
	  .build/release/make-images --broken images-broken; }

test: ## runs all checks that CI runs
	@$(NEEDS) test
	@scripts/parts.sh lint compiled docs unit command race lessons memory endpoint package attack-sample attack-serve-sample faults-sample soak-sample model-sample hunt-tests

# One build alone leaves a core idle half of the time. No test runs beside them: a test has limits of time and threads.
compiled: test-deps ## compiles what all parts of `make test` need, and downloads the rest meanwhile
	@$(MAKE) --no-print-directory --jobs --output-sync=target plain raced checked reduced downloads

plain: deps
	$(call built,$(BUILD_PLAIN) $(IMPORTS),$(SUITES_PROGRAM))
	$(call built,$(BUILD_PLAIN),$(PLAIN_PROGRAMS))
	$(if $(COMPILED),,$(BUILD_PLAIN) --target FuzzTargets)

raced: deps
	$(call built,$(BUILD_RACED) $(IMPORTS),$(SUITES_PROGRAM))
	$(call built,$(BUILD_RACED),$(RACED_PROGRAMS))

checked: deps
	$(call built,$(BUILD_CHECKED),$(SUITES_PROGRAM))

# Builds without traits, with libjpeg-dev alone. The packages of all traits are resolved first: several builds run at the same
# time, and otherwise Package.resolved would list the packages of the one that ends last.
reduced: deps
	$(if $(COMPILED),,$(SWIFT) package --scratch-path .build-jpeg resolve)
	$(if $(COMPILED),,$(BUILD) --disable-default-traits --scratch-path .build-jpeg)

# The debug build of what users install.
program: deps
	$(call built,$(BUILD_PLAIN),thumbjob thumbjob-decoder thumbjob-encoder)

downloads: test-deps
	@$(MAKE) --no-print-directory --jobs=1 $(PYTHON)/ready $(PROMTOOL) $(NGINX)

unit: plain ## tests the libraries that run under no sanitizer, or not only there, and parts of the executable
	$(TEST_PLAIN) --skip thumbjobTests $(SHOWN)

command: plain ## tests the built program as its user runs it: output, exit status, signals
	$(TEST_PLAIN) --filter thumbjobTests $(SHOWN)

# Of JobsTests, only JobTests run here: they run whole jobs.
race: raced ## tests queue, cache, job, ledger, comparison, file transfers, pressure monitor, decoder processes, trace and endpoint under the thread sanitizer
	@mkdir -p .build
	TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/thread-sanitizer.txt $(TEST_RACED) \
	  $(patsubst %,--filter %,$(patsubst JobsTests,JobTests,$(RACED))) $(SHOWN)

lessons: deps ## shows what goes wrong with threads, and how it is done right: a table
	$(call built,$(BUILD_PLAIN),lessons)
	$(call built,$(BUILD_RACED),lessons)
	.build/debug/lessons --sanitized .build-thread/debug/lessons $(SHOWN)

memory: checked ## tests Thumbnails and the C code under the address sanitizer, C also under that for undefined behaviour
	@mkdir -p .build
	$(TEST_CHECKED) $(SHOWN)

# Each of the two processes runs whole files of tests; with more of them than cores, the limits of time in tests would fail.
endpoint: program test-deps $(PYTHON)/ready $(PROMTOOL) $(NGINX) ## tests the built program's page in a browser, its API and metrics with public checkers, and hostile clients
	PROMTOOL=$(PROMTOOL) PYTHONPYCACHEPREFIX=.build/python-cache $(PYTHON)/bin/pytest -q -rs -n 2 --dist loadfile \
	  Tests/EndToEnd $(SHOWN)

package: reduced test-deps $(PYTHON)/ready ## tests what other packages get from this one, and the program without traits, which needs libjpeg alone
	SWIFT=$(SWIFT) PYTHONPYCACHEPREFIX=.build/python-cache $(PYTHON)/bin/python -m unittest discover -s Tests/Package $(SHOWN)

attack-sample: program test-deps ## tests `attack` itself, and runs it with a thousand files
	rm -rf .build/attack
	PYTHONPYCACHEPREFIX=.build/python-cache python3 -m unittest discover -s Tests/Attack $(SHOWN)
	$(ATTACK) --seed 1 --per-class 8 --sizes 32,256,1600 $(SHOWN)

attack: program test-deps ## compares the results for thousands of damaged and unusual files with libjpeg's and other oracles': a table. PER_CLASS=400 SEED=2 tries more files, and others
	rm -rf .build/attack
	$(ATTACK) --seed $(SEED) --per-class $(PER_CLASS)

attack-serve-sample: program test-deps ## attacks the preview server with 400 requests
	rm -rf .build/attack-serve
	$(ATTACK_SERVE) --seed 1 --requests 400 --connections 16 $(SHOWN)

attack-serve: program test-deps ## attacks the preview server with mutated pictures and requests: a table. REQUESTS=50000 SEED=2 tries more, and others
	rm -rf .build/attack-serve
	$(ATTACK_SERVE) --seed $(SEED) --requests $(REQUESTS)

# The skipped test limits the size of files, so the program could not write its whole profile.
coverage: test-deps $(PYTHON)/ready $(PROMTOOL) $(NGINX) ## measures the line coverage of the tests of libraries, command and endpoint: a table
	rm -rf .build-coverage/debug/codecov
	$(TEST) --enable-code-coverage -Xcc -fprofile-instr-generate -Xcc -fcoverage-mapping --scratch-path .build-coverage \
	  --skip aFileOverTheSizeLimitCountsAsAFullDisk $(SHOWN)
	THUMBJOB=.build-coverage/debug/thumbjob LLVM_PROFILE_FILE=$(CURDIR)/.build-coverage/debug/codecov/%p-endpoint.profraw \
	  PROMTOOL=$(PROMTOOL) PYTHONPYCACHEPREFIX=.build/python-cache $(PYTHON)/bin/pytest -q Tests/EndToEnd
	scripts/coverage.py .build-coverage/debug/codecov .build-coverage/debug/thumbjobPackageTests.xctest \
	  .build-coverage/debug/thumbjob

# All Swift targets are one program. It runs the target that has the name by which it is called.
fuzz: test-deps ## feeds parsers and decoders random inputs, under sanitizers: a table. SECONDS=3600 runs each for an hour, TARGETS="exif glob" only these
	$(FUZZ_BUILD) --product FuzzTargets --scratch-path .build-fuzz
	rm -rf $(FUZZ)/targets $(FUZZ)/seeds
	mkdir -p $(FUZZ)/targets
	$(SWIFT)c -sanitize=fuzzer,address -use-ld=lld .build-fuzz/release/libFuzzTargets.a \
	  $$(pkg-config --libs libjpeg lcms2 libexif sqlite3 nettle) -o $(FUZZ)/targets/all
	for target in $(filter-out decoder decode-% fills-% lossless lzw,$(TARGETS)); do ln -s all $(FUZZ)/targets/$$target; done
	$(FUZZ_C) Tests/Fuzz/decoder.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decoder
	$(FUZZ_C) Tests/Fuzz/pictures.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-png
	ln $(FUZZ)/targets/decode-png $(FUZZ)/targets/decode-gif
	$(FUZZ_C) Tests/Fuzz/tiles.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-hevc
	ln $(FUZZ)/targets/decode-hevc $(FUZZ)/targets/decode-av1
	$(FUZZ_C) -DPICTURE_KIND=3 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-webp
	$(FUZZ_C) -DPICTURE_KIND=4 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-tiff
	$(FUZZ_C) -DPICTURE_KIND=8 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-raster
	$(FUZZ_C) -DPICTURE_KIND=9 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-psd
	$(FUZZ_C) -DPICTURE_KIND=11 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/decode-jp2
	$(FUZZ_TWICE) Tests/Fuzz/decoder.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/fills-jpeg
	$(FUZZ_TWICE) Tests/Fuzz/pictures.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/fills-png
	ln $(FUZZ)/targets/fills-png $(FUZZ)/targets/fills-gif
	$(FUZZ_TWICE) Tests/Fuzz/tiles.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/fills-hevc
	ln $(FUZZ)/targets/fills-hevc $(FUZZ)/targets/fills-av1
	$(FUZZ_TWICE) -DPICTURE_KIND=3 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/fills-webp
	$(FUZZ_TWICE) -DPICTURE_KIND=4 Tests/Fuzz/formats.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/fills-tiff
	$(FUZZ_C) Tests/Fuzz/lossless.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/lossless
	$(FUZZ_C) Tests/Fuzz/lzw.c $(FUZZ_PICTURES) -o $(FUZZ)/targets/lzw
	PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Fuzz/seeds.py $(FUZZ)/seeds
	python3 Tests/Fuzz/fuzz.py $(TARGETS:%=$(FUZZ)/targets/%) --seconds $(SECONDS) --seeds $(FUZZ)/seeds --folder $(FUZZ)

hunt-tests: # tests `hunt` itself
	PYTHONPYCACHEPREFIX=.build/python-cache python3 -m unittest discover -s Tests/Hunt $(SHOWN)

hunt: test-deps ## runs the parts of `make test` in circumstances such as a busy machine, one core or little memory: a table of the tests that failed. RUNS=40 takes days; IN=busy,one-core and PARTS=unit,command choose
	PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Hunt/hunt.py --runs $(RUNS) $(if $(IN),--in $(IN)) $(if $(PARTS),--parts $(PARTS))

soak-sample: program test-deps ## tests `soak` itself, and runs it for half a minute
	$(call built,$(BUILD_PLAIN),make-images)
	PYTHONPYCACHEPREFIX=.build/python-cache python3 -m unittest discover -s Tests/Soak $(SHOWN)
	$(SOAK) --seed 1 --minutes 0.5 $(SHOWN)

soak: program test-deps ## runs jobs for an hour, and disturbs them at random: a table and a chart. MINUTES=10 SEED=2 takes ten minutes, with other disturbances
	$(call built,$(BUILD_PLAIN),make-images)
	$(SOAK) --seed $(SEED) --minutes $(MINUTES)

watch: program test-deps ## changes thousands of photos below a running `thumbjob watch`: a table. EVENTS=1000000 takes ten times as many
	cd Tests/Watch && PYTHONPYCACHEPREFIX=$(CURDIR)/.build/python-cache python3 -m unittest
	PYTHONPYCACHEPREFIX=.build/python-cache python3 Tests/Watch/watch.py --events $(EVENTS)

model-sample: program test-deps ## tests `model` itself, and runs it for a few hundred steps
	PYTHONPYCACHEPREFIX=.build/python-cache python3 -m unittest discover -s Tests/Model $(SHOWN)
	$(MODEL) --seed 1 --steps 215 --seconds 15 --minimise 20 $(SHOWN)
	$(MODEL) --seed 13 --focus 4 --steps 210 --seconds 15 --minimise 20 $(SHOWN)

model: program test-deps $(PYTHON)/ready ## changes photos, thumbnails and ledgers at random, runs and kills jobs, and compares what is there with what should be. STEPS=20000 SEED=2 takes more steps, and others
	$(MODEL_WITH_BUCKETS) --seed $(SEED) --steps $(STEPS)

faults-sample: program test-deps ## tests `faults` itself, and tries one fault of each kind
	COMPILER=$(CLANG) PYTHONPYCACHEPREFIX=.build/python-cache python3 -m unittest discover -s Tests/Faults $(SHOWN)
	$(FAULTS) --sample --check docs/faults.md $(SHOWN)

faults: program test-deps ## lets each system call of a job fail once, and writes the results to docs/faults.md; takes ten minutes
	$(FAULTS) --write docs/faults.md

$(PYTHON)/ready: Tests/EndToEnd/requirements.txt | test-deps
	python3 -m venv --clear $(PYTHON)
	$(PYTHON)/bin/pip install -q --no-compile --disable-pip-version-check -r $<
	touch $@

# Unpacks the package instead of installing it, because installing it would start a server.
.build/prometheus/usr/bin/promtool: | test-deps
	mkdir -p .build/prometheus
	cd .build/prometheus && { apt-get download -q prometheus || { apt-get update -q && apt-get download -q prometheus; } }
	cd .build/prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool

# Unpacks the package, too, for the same reason.
.build/nginx/usr/sbin/nginx: | test-deps
	mkdir -p .build/nginx
	cd .build/nginx && { apt-get download -q nginx || { apt-get update -q && apt-get download -q nginx; } }
	cd .build/nginx && dpkg-deb --fsys-tarfile nginx_*.deb | tar -x ./usr/sbin/nginx

moving-picture: build ## records README's moving picture; needs asciinema and termtosvg
	$(BUILD_PLAIN) --product make-images
	Benchmarks/moving-picture.sh $(BINARY) .build/debug/make-images docs/running.svg

gallery-picture: build images test-deps $(PYTHON)/ready ## makes README's picture of a gallery, from the photos of `make images`
	PYTHONPYCACHEPREFIX=.build/python-cache $(PYTHON)/bin/python Tests/EndToEnd/gallery_picture.py $(BINARY) images docs/gallery.png

quality: build $(BENCH_VENV)/ready corpus ## fails if thumbnails are worse than vipsthumbnail's, by SSIM over photographs
	$(BENCH_PYTHON) Benchmarks/quality.py $(CORPUS)/photos
	for size in 256 720 1024 1440 2048; do $(BENCH_PYTHON) Benchmarks/quality.py $(CORPUS)/photos --subsampling 420 --size $$size || exit; done

bench: build $(BENCH_VENV)/ready corpus programs ## compares thumbjob with other programs in five minutes: table, chart and JSON. QUOTE=README.md quotes the table
	PROGRAMS=$(PROGRAMS) $(BENCH_PYTHON) Benchmarks/bench.py $(CORPUS) --out $(FIGURES) $(if $(QUOTE),--quote $(QUOTE))

bench-sizes: build $(BENCH_VENV)/ready corpus programs ## compares thumbjob with other programs from thumbnails to previews of 4096 pixels, and at several sizes at once: table and JSON. QUOTE=docs/speed.md quotes the table
	PROGRAMS=$(PROGRAMS) $(BENCH_PYTHON) Benchmarks/sizes.py $(CORPUS) --out $(FIGURES) $(if $(QUOTE),--quote $(QUOTE))

bench-formats: build formats-tests corpus ## compares thumbjob with other programs in every format, with 24 megapixels: table and JSON. QUOTE=docs/formats.md quotes the table
	$(BENCH_PYTHON) Benchmarks/Formats/make_formats.py "$$(ls -S $(CORPUS)/photos/*.jpg | head -n 1)" $(CORPUS)/formats
	$(BENCH_PYTHON) Benchmarks/Formats/formats.py $(CORPUS)/formats --out $(FIGURES) $(if $(QUOTE),--quote $(QUOTE))

bench-thumbnail-formats: build formats-tests corpus ## compares thumbnails as JPEG, WebP, AVIF and PNG, of 256 to 2048 pixels, with those of other programs: time and bytes at equal SSIM
	$(BENCH_PYTHON) Benchmarks/Formats/thumbnail_formats.py $(CORPUS) --out $(FIGURES)

suites: build formats-tests ## compares results for pictures that other programs test with: tables. Fails on differences without a witness in Benchmarks/Formats/suites-expected.txt. SAMPLE=5 takes fewer, SIZES=32,256,1600 other sizes
	$(BENCH_PYTHON) Benchmarks/Formats/fetch_suites.py $(SUITES)
	$(BENCH_PYTHON) Benchmarks/Formats/suites.py $(SUITES) --out $(FIGURES) \
	  --expected Benchmarks/Formats/suites-expected.txt $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SIZES),--sizes $(SIZES))

bench-mixed: build $(BENCH_VENV)/ready corpus ## makes thumbnails of 2,000 pictures of all formats, eight at once, in a container of 192 MiB, with thumbjob and others; needs root
	$(BENCH_PYTHON) Benchmarks/Formats/make_formats.py "$$(ls -S $(CORPUS)/photos/*.jpg | head -n 1)" $(CORPUS)/formats
	$(BENCH_PYTHON) Benchmarks/Formats/make_mixed.py $(CORPUS)/photos $(CORPUS)/formats $(CORPUS)/mixed
	@mkdir -p $(FIGURES)
	PYTHON=$(CURDIR)/$(BENCH_VENV)/bin/python Benchmarks/mixed-folder.sh $(CORPUS)/mixed/many $(MEBIBYTES) | tee $(FIGURES)/mixed.txt

bench-network: build corpus $(NGINX) ## compares sources over HTTP with the same in a folder, and with curl and vipsthumbnail; shows the bytes that are fetched: tables
	NGINX=$(NGINX) python3 Benchmarks/network.py $(CORPUS) $(BINARY)

formats-tests: $(BENCH_VENV)/ready # tests the programs of bench-formats and suites
	@mkdir -p .build
	$(BENCH_PYTHON) -m unittest discover -s Benchmarks/Formats $(SHOWN)

bench-huge: build corpus ## measures time and memory for a progressive JPEG of 300 megapixels, with thumbjob and vipsthumbnail
	@mkdir -p $(FIGURES)
	Benchmarks/huge-photo.sh "$$(ls -S $(CORPUS)/photos/*.jpg | head -n 1)" $(FIGURES)/huge.jpg

bench-many: build corpus ## measures what one more file costs, over 100,000 small photos, made and up to date. COUNT=1000000 takes a million
	python3 Benchmarks/many_files.py $(CORPUS)/photos --count $(COUNT)

bench-compare: build $(PYTHON)/ready corpus ## compares the bounded queue with GCD that captures files, and then with all other ways, over 2,000 photos, without a limit and in 192 MiB: tables and pages. PICTURES=docs puts pictures of the charts there
	@mkdir -p $(FIGURES)
	$(BINARY) compare $(CORPUS)/many --max 4 --rounds 3 --out $(FIGURES)/compare | tee $(FIGURES)/compare.txt
	$(BINARY) compare $(CORPUS)/many --max 4 --rounds 3 --memory-limit 192M --out $(FIGURES)/compare-192M \
	  | tee $(FIGURES)/compare-192M.txt
	$(BINARY) compare $(CORPUS)/many --variants all --max 4 --rounds 1 --out $(FIGURES)/compare-all \
	  | tee $(FIGURES)/compare-all.txt
	$(BINARY) compare $(CORPUS)/many --variants all --max 4 --rounds 1 --memory-limit 192M \
	  --out $(FIGURES)/compare-all-192M | tee $(FIGURES)/compare-all-192M.txt
	$(PYTHON)/bin/python Benchmarks/compare_pictures.py $(FIGURES)/compare/compare.html $(PICTURES)/compare.png \
	  $(FIGURES)/compare-192M/compare.html $(PICTURES)/compare-192M.png

# Large outputs that are dear to encode: the pictures of one producer wait for one serial queue. Up to the sizes of the
# photographs, rendering takes longer than encoding, and nothing piles up; it turns where they are enlarged.
STORY = --variants gcd-pixels-serial --max 2 --rounds 1 --size '4096<' --quality 100 --progressive

bench-story: build corpus ## shows rendered pictures waiting for a serial queue that encodes them, over 1,600 photos, and over 200 in 192 MiB and over the size: tables and pages
	@mkdir -p $(FIGURES)
	$(BINARY) compare $(CORPUS)/many/0* $(CORPUS)/many/1[0-5] $(STORY) --out $(FIGURES)/story | tee $(FIGURES)/story.txt
	$(BINARY) compare $(CORPUS)/many/0[01] $(STORY) --over-sizes '1024<,2048<,4096<' --memory-limit 192M \
	  --out $(FIGURES)/story-192M | tee $(FIGURES)/story-192M.txt

bench-queue: deps ## measures the time that the queue takes, compared with Foundation's and GCD
	$(BUILD_BENCHMARKS) --product bench-queue
	@mkdir -p $(FIGURES)
	$(BENCHMARKS)/bench-queue --json $(FIGURES)/queue.json | tee $(FIGURES)/queue.md

bench-server: deps ## loads a server whose work is bounded by the queue with a thousand clients: answers, refusals, memory
	$(BUILD_BENCHMARKS) --product server-example
	python3 Benchmarks/server_load.py $(BENCHMARKS)/server-example

bench-serve: build $(BENCH_VENV)/ready $(THUMBOR)/ready corpus ## compares `thumbjob serve` with other preview servers in a quarter of an hour: throughput, and 400 large pictures at once in 192 MiB: tables and JSON; needs root
	$(BUILD_BENCHMARKS) --product naive-preview-server
	$(BENCH_PYTHON) Benchmarks/serve_load.py --thumbjob $(BINARY) --naive $(BENCHMARKS)/naive-preview-server \
	  --thumbor $(THUMBOR)/bin/thumbor --pictures $(CORPUS)/camera --out $(FIGURES)

bench-desktops: build corpus ## fills the cache of file managers with 100,000 photos, and compares with GNOME's own way: table and JSON
	PYTHONPYCACHEPREFIX=.build/python-cache python3 Benchmarks/desktop_cache.py $(CORPUS)/photos --count $(COUNT) --out $(FIGURES)

bench-disks: build $(BENCH_VENV)/ready corpus ## makes thumbnails from simulated slow disks, in several orders: seconds, seeks and bytes; needs the right to mount. QUOTE=docs/disks.md quotes the table
	$(BENCH_PYTHON) Benchmarks/cold_disks.py --thumbjob $(BINARY) --photos $(CORPUS)/camera --out $(FIGURES) $(if $(QUOTE),--quote $(QUOTE))

bench-decoder: deps corpus ## measures how many megabytes each decoder decodes in a second of processor time
	$(BUILD_BENCHMARKS) --product bench-decoder -Xswiftc -enable-testing --scratch-path .build-decoder
	@mkdir -p $(FIGURES)
	.build-decoder/release/bench-decoder $(CORPUS)/camera $(CORPUS)/web $(CORPUS)/photos \
	  --json $(FIGURES)/decoder.json | tee $(FIGURES)/decoder.md

bench-locks: deps ## compares guards by the number of threads and the length of the section, in ten minutes, with a chart
	$(BUILD_BENCHMARKS) --product bench-locks
	@mkdir -p $(FIGURES)
	$(BENCHMARKS)/bench-locks --json $(FIGURES)/locks.json | tee $(FIGURES)/locks.md
	python3 Benchmarks/locks_chart.py $(FIGURES)/locks.json $(FIGURES)/locks.svg

bench-cache: deps ## compares LRUCache with a dictionary under a mutex, on 1 to 64 threads
	$(BUILD_BENCHMARKS) --product bench-cache
	@mkdir -p $(FIGURES)
	$(BENCHMARKS)/bench-cache --json $(FIGURES)/cache.json | tee $(FIGURES)/cache.md

corpus: | bench-deps # lays out the photographs of the benchmarks, from Debian packages
	Benchmarks/photos.sh $(CORPUS)

programs: | bench-deps # lays out GraphicsMagick and vipsthumbnail of Debian's stable release
	Benchmarks/programs.sh $(PROGRAMS)

$(BENCH_VENV)/ready: Benchmarks/requirements.txt | bench-deps
	python3 -m venv --clear $(BENCH_VENV)
	$(BENCH_VENV)/bin/pip install -q --no-compile --disable-pip-version-check -r $<
	touch $@

# Compiles nothing: these three packages have code in C. Where they are not ready-made, bench-serve leaves thumbor out.
$(THUMBOR)/ready: Benchmarks/requirements-thumbor.txt | bench-deps
	python3 -m venv --clear $(THUMBOR)
	$(THUMBOR)/bin/pip install -q --no-compile --disable-pip-version-check --only-binary thumbor,pillow,tornado -r $< || \
	  echo "thumbor cannot be installed here" >&2
	touch $@

lint: $(LINT)/ready ## fails on anything `make format` would change, and on mistakes in C, shell, Python and JavaScript
	$(EACH_SOURCE) $(SWIFT) format lint --strict --parallel
	@mkdir -p .build
	THUMBJOB_FUZZ=1 $(SWIFT) package dump-package > .build/package.json
	scripts/lint-rooms.py < .build/package.json
	scripts/lint-suites.py "$(PLAIN_TARGETS)" "$(RACED_TARGETS)" "$(CHECKED_TARGETS)" < .build/package.json
	scripts/lint-stat.py
	scripts/lint-c.sh $(CLANG) Sources/CLibJPEG Sources/CCurl Sources/CShaping Sources/CEarlySignals Sources/CDecoding Sources/CFence Sources/CEncoders Sources/CPictures Sources/thumbjob-decoder \
	  Tests/BadDecoder Tests/Faults
	shellcheck scripts/*.sh packaging/*/*.sh Benchmarks/*.sh jobs/cluster/*.sh .ci/run Sources/thumbjob/Completion/thumbjob.bash
	$(LINT)/bin/ruff check --quiet --cache-dir .build/lint/ruff
	scripts/lint-page.sh $(LINT)/bin/oxlint

$(LINT)/ready: scripts/lint-requirements.txt | lint-deps
	python3 -m venv --clear $(LINT)
	$(LINT)/bin/pip install -q --no-compile --disable-pip-version-check -r $<
	touch $@

format: ## formats the sources in place
	$(EACH_SOURCE) $(SWIFT) format --in-place --parallel

docs: deps ## writes the libraries' documentation to .build/docs
	$(if $(COMPILED),,for library in $(DOCUMENTED); do $(BUILD_PLAIN) --target $$library; done)
	@mkdir -p .build/docs
	scripts/docs.sh $(SWIFT) .build/debug .build/docs $(DOCUMENTED) $(SHOWN)

api: deps ## fails if a public declaration of a library is gone or has changed since the last version: a list. SINCE=REVISION compares with another one
	$(if $(COMPILED),,for library in $(DOCUMENTED); do $(BUILD_PLAIN) --target $$library; done)
	scripts/api.sh $(SWIFT) "$(SINCE)" .build/debug .build/api $(DOCUMENTED)

sbom: build ## writes .build/sbom.json: the packages and libraries that the program is made of, as SPDX
	scripts/sbom.py $(SWIFT) $(BINARY) .build/sbom.json

man: build ## writes the manual page to .build/man
	@mkdir -p .build/man
	$(BINARY) --generate-manual > .build/man/thumbjob.1

# With sudo it installs what its user has built: root may have no Swift, and would own files in .build.
install: $(if $(SUDO_USER),,build man) ## installs binaries, manual page, shell completions and systemd units below PREFIX
	install -D -s -m 755 "$(BINARY)" "$(DESTDIR)$(PREFIX)/bin/thumbjob"
	install -D -s -m 755 -t "$(LIBEXEC)" $(HELPERS)
	install -D -m 644 "$(MANUAL)" "$(DESTDIR)$(PREFIX)/share/man/man1/thumbjob.1"
	"$(BINARY)" --generate-completion-script bash | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/thumbjob"
	"$(BINARY)" --generate-completion-script zsh | install -D -m 644 /dev/stdin "$(DESTDIR)$(ZSH_COMPLETIONS)/_thumbjob"
	"$(BINARY)" --generate-completion-script fish | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/thumbjob.fish"
	sed 's|/usr/bin/|$(PREFIX)/bin/|' packaging/systemd/thumbjob@.service | \
	  install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/systemd/system/thumbjob@.service"
	sed 's|/usr/bin/|$(PREFIX)/bin/|' packaging/systemd/thumbjob-watch@.service | \
	  install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/systemd/system/thumbjob-watch@.service"
	sed 's|/usr/bin/|$(PREFIX)/bin/|' packaging/systemd/thumbjob-serve.service | \
	  install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/systemd/system/thumbjob-serve.service"
	install -D -m 644 -t "$(DESTDIR)$(PREFIX)/lib/systemd/system" packaging/systemd/thumbjob@.timer packaging/systemd/thumbjob-serve.socket
	sed 's|/usr/bin/|$(PREFIX)/bin/|' packaging/desktop/thumbjob.thumbnailer | \
	  install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/thumbnailers/thumbjob.thumbnailer"
	install -D -m 644 packaging/systemd/thumbjob.sysusers "$(DESTDIR)$(PREFIX)/lib/sysusers.d/thumbjob.conf"

deb: deb-deps ## makes a Debian package in .build/deb
	rm -rf .build/deb
	$(MAKE) install DESTDIR=$(CURDIR)/.build/deb/root PREFIX=/usr ZSH_COMPLETIONS=/usr/share/zsh/vendor-completions
	scripts/deb.sh .build/deb/root

dist: dist-deps ## makes a tarball for other Linux systems in .build/dist, with the system libraries that the program needs
	rm -rf .build/dist
	$(MAKE) install DESTDIR=$(CURDIR)/.build/dist/$(DIST) PREFIX=
	scripts/dist.sh .build/dist/$(DIST)

image: deb ## makes a container image from Debian packages alone in .build/image; needs buildah and mmdebstrap, not root
	@mkdir -p .build/image
	packaging/container/image.sh .build/deb/thumbjob_*.deb .build/image/thumbjob.tar

run-deps: # installs the packages that building needs; where it cannot, says what will not be built in
	@$(NEEDS) run

deps: # installs the packages that building everything needs
	@$(NEEDS) build

lint-deps: # installs the packages that the checks of the sources need
	@$(NEEDS) lint

test-deps: # installs the packages that the tests need
	@$(NEEDS) test

deb-deps: # installs the packages that making a Debian package needs
	@$(NEEDS) deb

dist-deps: # installs the packages that making a tarball needs
	@$(NEEDS) dist

bench-deps: # installs the packages that the benchmarks need
	@$(NEEDS) bench

clean: ## removes everything that was built
	rm -rf .build .build-* Benchmarks/.build
