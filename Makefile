# `make run` and `make test` are all that a newcomer needs; both install what is missing.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
RACE    := $(if $(shell command -v gcc || command -v clang),-race,)
# Folders named testdata are not part of ./...
SOAK    := ./testdata/soak ./testdata/oracle ./testdata/k6
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
K6 := go.k6.io/k6@v1.8.1

.PHONY: run build test test-go test-sdk test-web test-browser web web-types screenshots lint bench bench-peers soak fuzz

## run: build Basalt and start it on its own PostgreSQL
run: build
	exec bin/basalt serve

## build: the binary, bin/basalt
build:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/basalt .

## bin/k6: the load generator of testdata/k6; its first build takes minutes, later ones seconds
bin/k6: Makefile
	CGO_ENABLED=0 GOBIN=$(CURDIR)/bin go install -trimpath -ldflags '-s -w' $(K6)
	touch $@

## test: everything that CI checks
test: lint test-go test-sdk test-web test-browser

## test-go: the Go tests, with the race detector where a C compiler is there
test-go: build bin/k6
	go test $(RACE) -timeout 20m ./...
	go test $(RACE) -count=1 -timeout 20m $(SOAK)
	go test -C testdata/peers -timeout 5m ./...

## soak: all of the crashes, outages, floods and random requests of which test-go runs a part; an hour on a machine of its own
soak: bin/k6
	BASALT_SOAK=1 go test -count=1 -timeout 2h -v $(SOAK)
	$(if $(RACE),BASALT_SOAK=1 go test $(RACE) -count=1 -timeout 4h -v $(SOAK))

## test-sdk: the unmodified client libraries against a running server
test-sdk: build testdata/sdk/node_modules
	cd testdata/sdk && node --test

testdata/sdk/node_modules: testdata/sdk/package-lock.json
	cd testdata/sdk && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

## web: the dashboard, web/dist
web: web/node_modules
	cd web && npm run build

## web-types: the bodies of /admin/api as TypeScript
web-types:
	go test ./web -run "TestTheBodiesOfTheAPIAreInTypeScript|TestTheLibrariesAreListedWithTheirLicences" -count=1 -update

## test-web: the dashboard's types, its size, and that web/dist is built from web/src
test-web: web/node_modules
	cd web && npm run check && npm test && node --test build

## test-browser: the dashboard in a real Chromium
test-browser: build testdata/browser/node_modules chromium
	cd testdata/browser && node --test *.spec.mjs

## screenshots: pictures of all screens of the dashboard, testdata/browser/screenshots
screenshots: build testdata/browser/node_modules chromium
	cd testdata/browser && node screenshots.mjs

.PHONY: chromium
chromium:
	@[ -n "$${BASALT_CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome >/dev/null || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -qy --no-install-recommends chromium; \
	  else echo "No Chromium: install the package chromium of your distribution, or set BASALT_CHROMIUM to its path" >&2; exit 1; fi

web/node_modules: web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

testdata/browser/node_modules: testdata/browser/package-lock.json
	cd testdata/browser && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

## lint: gofmt, vet, staticcheck
lint:
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./... $(SOAK)
	go run $(STATICCHECK) ./... $(SOAK)
	cd testdata/peers && go vet ./... && go run $(STATICCHECK) ./...

## bench: the Go benchmarks
bench:
	go test -run '^$$' -bench . -benchmem ./...

## bench-peers: Basalt beside other servers, with the same rows in the same minutes; PEERS names those to measure, all when empty
PEERS   :=
ROUNDS  := 5
SECONDS := 1
bench-peers: build
	cd testdata/peers && go build -o ../../bin/peers .
	bin/peers --peers "$(PEERS)" --rounds $(ROUNDS) --seconds $(SECONDS) --json bin/bench/peers.json

## fuzz: each fuzz test for FUZZTIME
FUZZTIME := 20s
fuzz:
	grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do \
	  sed -nE 's/^func (Fuzz[A-Za-z]*)\(.*/\1/p' "$$file" | while read -r target; do \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "./$$(dirname "$$file")"; \
	  done; \
	done
