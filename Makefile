# GNU make. "make" alone lists the targets.

GO        ?= go
FUZZTIME  ?= 10s
TESTTIME  ?= 15m
TORTURE   ?= 1m

# Pinned: a new version brings new complaints, which should be a commit's
# subject and not its surprise.
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# The modules beside the library's own. Each is tested, vetted and linted as that is.
MODULES := client/typed/compress bench

# Where make was called, which -C doesn't change.
CALLER := $(or $(PWD),$(CURDIR))

.PHONY: help memcached benchtools test race nouring cross fuzz torture mutants lint bench charts

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

memcached:
	@sh scripts/memcached.sh

benchtools:
	@sh scripts/benchtools.sh

test: memcached ## all tests, after installing memcached if there is none
	$(GO) test -timeout $(TESTTIME) ./...
	set -e; for m in $(MODULES); do (cd $$m && $(GO) test -timeout $(TESTTIME) ./...); done

race: memcached ## all tests under the race detector, fewer seeds; needs a C compiler
	SEEDS=500 $(GO) test -race -timeout $(TESTTIME) ./...
	set -e; for m in $(MODULES); do (cd $$m && $(GO) test -race -timeout $(TESTTIME) ./...); done

nouring: memcached ## the client without io_uring: tests, and a look for its symbols
	$(GO) vet -tags nouring ./...
	$(GO) test -tags nouring -timeout $(TESTTIME) ./client/...
	sh scripts/nouring.sh

cross: ## build and vet for all platforms
	sh scripts/cross.sh

fuzz: memcached ## each fuzz target for FUZZTIME (10s)
	sh scripts/fuzz.sh $(FUZZTIME)

# TORTURE is shared by the parts. SEEDS=1000000 has the two seeded ones do so
# many each instead. SEED=N is the first seed, PARTS=simulation,fakekernel,
# closes,servers what to run. bench/torture/main.go explains the last line.
torture: memcached ## the long proof: TORTURE=10m in all, or SEEDS=N of simulation and fake kernel
	cd bench && $(GO) run ./torture -go '$(GO)' -for $(TORTURE) $(if $(SEEDS),-seeds $(SEEDS)) $(if $(SEED),-seed $(SEED)) $(if $(PARTS),-parts $(PARTS))

mutants: memcached ## show that the tests can fail: break the library, see them notice
	cd bench && $(GO) run ./mutants

lint: ## formatting, go vet, golangci-lint, and shellcheck if there is one
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then \
		echo "run gofmt -w on:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) vet ./...
	set -e; for m in $(MODULES); do (cd $$m && $(GO) vet ./...); done
	$(GO) run $(GOLANGCI) run
	set -e; for m in $(MODULES); do (cd $$m && $(GO) run $(GOLANGCI) run); done
	@if command -v shellcheck >/dev/null; then shellcheck scripts/*.sh .ci/run; \
		else echo "no shellcheck: scripts not checked" >&2; fi

# The run is saved where make was called, with its page beside it. BENCH=quick ends in under a minute;
# JSON=FILE and HTML=FILE give other names.
json = $(call called,$(or $(JSON),memring-bench.json))
html = $(call called,$(or $(HTML),memring-bench.html))
called = $(if $(filter /%,$(1)),$(1),$(CALLER)/$(1))
bench: memcached benchtools ## benchmark, tables and page with charts; BENCH=quick, JSON=FILE, HTML=FILE
	@case '$(BENCH)' in ''|quick) ;; *) echo "make bench: BENCH is quick or nothing, not '$(BENCH)'" >&2; exit 1;; esac
	cd bench && $(GO) run . $(if $(BENCH),-quick) -json '$(json)' -html '$(html)'

# Those that README.md shows.
CHARTS = throughput-get-1kib-(unix|tcp)|cpu-get-1kib-unix|latency-get-1kib-unix|(ops|dials)-late-1pct-unix-64-callers|sizes-cpu-sizes-get-unix-1-caller

charts: ## redraw the README's charts from the saved run JSON
	cd bench && $(GO) run . charts '$(json)' -dir charts -only '^($(CHARTS))$$'
