# Everything here is plain go commands; "make help" lists the targets.

GO        ?= go
# What to test, lint and measure, e.g. make test PKG=./privacy/...
PKG       ?= ./...
# Time per fuzz target and per benchmark.
FUZZTIME  ?= 10s
BENCHTIME ?= 1s
# Rounds and R-MAT scale of bench-ingest; DUCKDB names a folder with node_modules/@duckdb/node-api.
ROUNDS    ?= 5
SCALE     ?= 20

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build the commands into bin/
	@mkdir -p bin
	$(GO) build -trimpath -o bin/ ./cmd/...

.PHONY: test
test: ## run the tests
	$(GO) test $(PKG)

.PHONY: race
race: ## run the tests under the race detector
	$(GO) test -race $(PKG)

.PHONY: lint
lint: ## check format, vet and staticcheck; works offline
	@files="$$(gofmt -l $$($(GO) list -f '{{.Dir}}' $(PKG)))"; \
	if [ -n "$$files" ]; then echo "not formatted (run gofmt -w on them):"; echo "$$files"; exit 1; fi
	$(GO) vet $(PKG)
	$(GO) tool staticcheck $(PKG)

.PHONY: bench
bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem $(PKG)

.PHONY: bench-ingest
bench-ingest: ## time ingest beside sort and, with DUCKDB=DIR, DuckDB
	partition/bench/ingest.sh $(ROUNDS) $(SCALE)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME each
	@set -e; for pkg in $$($(GO) list $(PKG)); do \
		for target in $$($(GO) test -list '^Fuzz' "$$pkg" | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg"; \
		done; \
	done

.PHONY: clean
clean: ## remove what build, profiles and test binaries leave (not out/, which holds releases)
	rm -rf bin
	find . -path ./.git -prune -o -type f \( -name '*.test' -o -name '*.prof' \) -exec rm {} +
