# commitlab: the commands people type. Each installs what it needs; `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

COMPONENTS := engine operator/localcluster operator operator/e2e chaos/ledger chaos/demo benchmarks dashboards charts
# What does not need commitd: beside the engine, whose tests mostly wait.
BESIDE     := operator/localcluster operator operator/e2e chaos/ledger chaos/demo benchmarks
export PATH := $(CURDIR)/build/bin:$(PATH)

.PHONY: help images images-push images-powerloss demo demo-down pictures e2e test test-cluster lint fmt engine operator build sanitizers ci killloop bench bench-engine bench-commit report regressions pictures-of-regressions clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## a real local Kubernetes, a cluster of three, load, a killed master and the verdict
	@$(MAKE) --no-print-directory -C chaos/demo demo

demo-down: ## stops everything that `make demo` started and removes its network
	@$(MAKE) --no-print-directory -C chaos/demo down

pictures: ## the demo, and the README's two pictures of it
	@mkdir -p build/logs
	@set -o pipefail; $(MAKE) --no-print-directory demo | tee build/logs/demo.txt
	@docs/make-pictures demo

e2e: ## the operator with real pods, case by case, judged by the ledger: CASES=partition,scale (CASES=list shows them), CLUSTER=kind, CONTEXT=mine
	@$(MAKE) --no-print-directory -C operator/e2e e2e CASES='$(CASES)'

test: ## unit tests, real clients against the real server, operator tests; ends in one summary line
	@.ci/steps test:engine test:dashboards // $(BESIDE:%=test:%)

lint: ## formatting, vet, static analysis, drift of generated files
	@.ci/steps $(COMPONENTS:%=lint:%) lint:scripts

fmt: ## formats every source file
	@.ci/steps $(COMPONENTS:%=fmt:%)

build: ## every program, into build/bin
	@.ci/steps $(COMPONENTS:%=build:%)

PROGRAMS := build:operator build:chaos/ledger program:operator/localcluster // build:engine build:benchmarks

images: ## commitd, the operator, the ledger, k6 and Prometheus as image archives, into build/images
	@.ci/steps $(PROGRAMS) then images:charts

images-push: ## the same, to REGISTRY=registry.example/team, as TAG=… or the commit
	@test -n "$(REGISTRY)" || { echo 'Where to? make images-push REGISTRY=registry.example/team' >&2; exit 1; }
	@.ci/steps $(PROGRAMS)
	@$(MAKE) --no-print-directory -C charts images-push REGISTRY='$(REGISTRY)' $(if $(TAG),TAG='$(TAG)')

images-powerloss: ## commitd on disks that forget what was not synced, for RecoveryTests with PowerLoss, into build/images/powerloss
	@.ci/steps program:operator/localcluster // build:engine then images:chaos/powerloss

engine: ## commitd, into build/bin
	@$(MAKE) --no-print-directory -C engine build

operator: ## commitlab-operator and kubectl-commitlab, into build/bin
	@$(MAKE) --no-print-directory -C operator build

sanitizers: ## the engine's tests under address+undefined and thread sanitizers
	@.ci/steps asan:engine tsan:engine

# Everything: lanes beside each other, with what measures or needs the machine for itself behind them. The engine has two: one compiles while the
# processes that the other one tests wait (.ci/alone).
ci: ## what CI runs: tests, lint, sanitizers, fuzzers, the kill loop and the demo; .ci/README.md says what takes how long
	@EVERYTHING_IS_BUILT=1 .ci/steps build:engine defects:engine // build:operator/localcluster build:benchmarks \
	  then test:engine tsan:engine drop:engine:PRESET=tsan \
	    // asan:engine fuzz:engine:FUZZ_SEED=1 tidy:engine drop:engine:PRESET=asan \
	    // $(BESIDE:%=test:%) $(COMPONENTS:%=lint:%) vulncheck:operator sbom:operator lint:scripts test:dashboards killloop:chaos:ROUNDS=5 \
	    soak:chaos:MINUTES=5:SEED=1 \
	  then demo:chaos/demo smoke:operator/e2e down:chaos/demo

killloop: engine ## ROUNDS=20 rounds of kill -9 under load, judged by the ledger; REPLICAS=2 with a source and replicas
	@$(MAKE) --no-print-directory -C chaos killloop ROUNDS=$(or $(ROUNDS),20) DURABILITY=$(DURABILITY) REPLICAS=$(REPLICAS)

bench: engine ## legacy against fixed and commitd beside MariaDB, in turns: SCENARIO=R6, or all of them short; FULL=1 for all sizes
	@$(MAKE) --no-print-directory -C benchmarks bench SCENARIO='$(SCENARIO)' FULL='$(FULL)'

report: ## what `make bench` found, as one page (build/bench/report.html) and as Markdown
	@$(MAKE) --no-print-directory -C benchmarks report

regressions: engine ## a tour: each switch for half a minute under k6's load, with Prometheus (SHORT=1: four seconds each); leaves dashboard data and a report
	@$(MAKE) --no-print-directory -C benchmarks regressions SCENARIO='$(SCENARIO)' SHORT='$(SHORT)' KEEP='$(KEEP)'

pictures-of-regressions: regressions ## the tour, and the two pictures of it in benchmarks/README.md: SCENARIO='R5 R9'
	@docs/make-pictures regressions

bench-engine: engine ## commitd beside MariaDB: durable and relaxed, on this disk and on slower ones (half an hour)
	@$(MAKE) --no-print-directory -C benchmarks bench-engine

bench-commit: engine ## throughput of the commit path at 1 to 64 clients, plotted; where the time of one commit goes
	@$(MAKE) --no-print-directory -C benchmarks bench-commit

clean: demo-down ## removes build/
	rm -rf build
