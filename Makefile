# thumbjob: build, test, run. `make run` and `make test` do all the set-up themselves.

SWIFT ?= swift
PREFIX ?= /usr/local
# Debian packages and the pkg-config names that tell whether they are there.
PACKAGES = libjpeg-dev liblcms2-dev libexif-dev pkg-config
MODULES = libjpeg lcms2 libexif
INSTALL_PACKAGES = apt-get update -q && apt-get install -y -q --no-install-recommends $(PACKAGES)

BUILD = $(SWIFT) build
# Swift's own libraries inside the binary: it starts in a third of the time, and runs where no Swift is installed.
RELEASE = -c release $(if $(filter Linux,$(shell uname)),--static-swift-stdlib)
BINARY = .build/release/thumbjob
# Names every race and leak in seconds instead of waiting for a backtrace that does not end under a sanitizer.
SANITIZED = SWIFT_BACKTRACE=enable=no

.PHONY: help run build images images-broken test unit race memory lint format install man deps clean

help: ## says what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 24

run: build images ## sets everything up and makes thumbnails of ./images into ./thumbs
	$(BINARY) ./images --max 4

build: deps ## builds the release binary
	$(BUILD) $(RELEASE) --product thumbjob

images: deps ## makes ./images, a few dozen synthetic photos, if there is none
	@test -d images || { $(BUILD) $(RELEASE) --product make-images && .build/release/make-images images; }

images-broken: deps ## makes ./images-broken, good files among every kind of bad one, if there is none
	@test -d images-broken || { $(BUILD) $(RELEASE) --product make-images && \
	  .build/release/make-images --broken images-broken; }

test: deps lint unit race memory ## everything that CI runs

unit: deps
	$(BUILD) --build-tests
	$(SWIFT) test --skip-build --disable-xctest

race: deps ## the queue, the job, its operations and the pressure monitor under the thread sanitizer
	$(SANITIZED) $(SWIFT) test --disable-xctest --sanitize=thread --scratch-path .build-thread \
	  --filter 'BoundedQueueTests|JobTests|MemoryPressureTests'

memory: deps ## the C code and all that reads hostile bytes under the address sanitizer
	$(SANITIZED) $(SWIFT) test --disable-xctest --sanitize=address --scratch-path .build-address \
	  --filter 'ThumbnailsTests'

lint: ## fails on anything `make format` would change
	$(SWIFT) format lint --strict --recursive --parallel Sources Tests Package.swift

format: ## formats the sources in place
	$(SWIFT) format --in-place --recursive --parallel Sources Tests Package.swift

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

deps: # installs missing system packages; without root it says the command to run
	@command -v $(SWIFT) >/dev/null || { echo "Swift 6.2 or newer is needed: https://www.swift.org/install" >&2; exit 1; }
	@if ! pkg-config --exists $(MODULES) 2>/dev/null; then \
	  if command -v brew >/dev/null; then brew install jpeg-turbo little-cms2 libexif pkg-config; \
	  elif [ "$$(id -u)" = 0 ]; then $(INSTALL_PACKAGES); \
	  else echo "System packages are missing. Run: sudo sh -c '$(INSTALL_PACKAGES)'" >&2; exit 1; fi; \
	fi

clean: ## removes what was built
	rm -rf .build .build-*
