# make without a target prints this help.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

GO ?= go
# Programs have no VCS state, so that an export without .git builds too, and no paths. All Go
# commands but race share these settings: a package is compiled once.
export GOFLAGS := $(filter-out -buildvcs% -trimpath,$(GOFLAGS)) -buildvcs=false -trimpath
export CGO_ENABLED=0

# Tools, pinned. `go run` keeps the linked tool in Go's build cache.
GOLANGCI_LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
WORKFLOWCHECK := $(GO) run go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)

# HISTORIES is where `make histories` records.
HISTORIES := $(CURDIR)/workflows/testdata/histories

.PHONY: help
help: ## print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/armature (the CLI) and bin/worker
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/armature ./starter/cmd
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/worker ./worker

# What a release has (docs/contributing/release.md): the programs for these platforms, in DIST.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
DIST ?= $(CURDIR)/dist
RELEASE := $(GO) run ./release

.PHONY: dist
dist: ## build the programs of a release for PLATFORMS into dist/
	@rm -rf '$(DIST)' && mkdir -p '$(DIST)'
	@for platform in $(PLATFORMS); do \
		export GOOS="$${platform%/*}" GOARCH="$${platform#*/}"; \
		echo "building for $$platform"; \
		$(GO) build -ldflags '$(LDFLAGS)' -o "$(DIST)/armature-$$GOOS-$$GOARCH" ./starter/cmd; \
		$(GO) build -ldflags '$(LDFLAGS)' -o "$(DIST)/armature-worker-$$GOOS-$$GOARCH" ./worker; \
		$(GO) build -ldflags '$(LDFLAGS)' -o "$(DIST)/armsim-$$GOOS-$$GOARCH" ./armsim/cmd; \
	done

.PHONY: sbom
sbom: dist ## build dist/ with a bill of materials (CycloneDX) for each program, licenses and SHA256SUMS
	cd dev && $(RELEASE) sbom --version '$(VERSION)' --platforms '$(PLATFORMS)' '$(DIST)'

# release-files builds all files of a release. Their times are those of the commit.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)

.PHONY: release-files
release-files: buildah sbom
	cd dev && $(RELEASE) pack --version '$(VERSION)' --platforms '$(PLATFORMS)' --time '$(SOURCE_DATE_EPOCH)' '$(DIST)'

# The copy has the files that git tracks, as they are; modules come from the module cache,
# whose files Go checks by go.sum.
.PHONY: reproducible
reproducible: release-files ## build the files of a release once more, from a copy in another folder with an empty build cache, and compare
	@copy="$$(mktemp -d)"; trap 'rm -rf "$$copy"' EXIT; mkdir "$$copy/source"; \
	git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$$copy/source"; \
	echo "building again in another folder, with an empty build cache"; \
	GOCACHE="$$copy/cache" $(MAKE) --no-print-directory -C "$$copy/source" release-files \
		DIST="$$copy/dist" VERSION='$(VERSION)' PLATFORMS='$(PLATFORMS)' SOURCE_DATE_EPOCH='$(SOURCE_DATE_EPOCH)'; \
	cd dev && $(RELEASE) compare '$(DIST)' "$$copy/dist"

.PHONY: release
release: ## make everything of a release in dist/ but its tag, twice, and compare; VERSION=v1.2.3; prints the commands that publish
	@cd dev && $(RELEASE) ready --version '$(VERSION)'
	@$(MAKE) --no-print-directory licenses reproducible VERSION='$(VERSION)' SOURCE_DATE_EPOCH='$(SOURCE_DATE_EPOCH)'
	@cd dev && $(RELEASE) commands --version '$(VERSION)' '$(DIST)'

.PHONY: licenses
licenses: ## check the licenses of all modules that the programs link
	cd dev && $(RELEASE) licenses

.PHONY: vulnerabilities
vulnerabilities: ## check for known vulnerabilities; skipped where their database cannot be reached, unless REQUIRED=1
	cd dev && $(RELEASE) vulnerabilities $(if $(REQUIRED),--required)

.PHONY: demo
demo: build dev-build ## run Temporal, Web UI, simulator and worker; apply examples/
	@PATH="$(CURDIR)/bin:$$PATH" KEEP="$(KEEP)" dev/bin/local --cli bin/armature

.PHONY: dev-build
dev-build:
	@mkdir -p dev/bin
	@if [ ! -x dev/bin/local ]; then \
		echo "building the embedded Temporal server and Web UI: the first time takes up to six minutes, later seconds"; \
	fi
	@{ while sleep 30; do echo "  still building ..."; done & } ; \
		waiter=$$!; trap 'kill $$waiter 2>/dev/null || true' EXIT; \
		cd dev && $(GO) build -ldflags '$(LDFLAGS)' -o bin/local ./local

.PHONY: test
test: build attack test-product test-dev ## run all tests of both modules; needs only Go, make and git

# With SAMPLE=-short, long suites are sampled: test-e2e runs a quarter of its tests, the tests of
# docs a half of the pages, race a third of the packages, because the race detector makes code ten
# times as slow, and mutants a tenth. SEED selects, by default the commit, so that the next commit
# has another sample. test-product runs all, but a tenth of the table of perturbations.
SAMPLE :=
SEED ?=
export SAMPLE_SEED := $(or $(SEED),$(shell git rev-parse --short HEAD 2>/dev/null))

# one_of reads names, and prints one of N by the hash of the seed and the name, or all of them
# without SAMPLE.
one_of = while read -r name; do \
	sum="$$(printf '%s' "$(SAMPLE_SEED)$$name" | sha256sum)"; \
	[ $$((0x$${sum:0:7} % $(if $(SAMPLE),$(1),1))) -ne 0 ] || echo "$$name"; \
	done

# TEST_FLAGS are further flags of the tests of both modules.
TEST_FLAGS :=

.PHONY: test-product
test-product:
	$(GO) test $(TEST_FLAGS) ./...

# DEV_ELSEWHERE are the packages of dev/ whose tests another target runs.
DEV_ELSEWHERE := attack

# Building first fills the cache: tests of docs build the same programs. Tests of dev/ wait
# more than they compute, so four run side by side. -count=1, because Go's cache of results
# does not see the programs that they build and the files above dev/.
.PHONY: test-dev
test-dev: build
	@echo "testing dev/ on the embedded Temporal server: its first build takes up to six minutes"
	cd dev && $(GO) test $(TEST_FLAGS) $(SAMPLE) -count=1 -timeout 60m -parallel 4 $$($(GO) list ./... | grep -Ev '/($(DEV_ELSEWHERE))$$')

# The tests on the whole system. Without DEV_ELSEWHERE test-dev runs them all.
.PHONY: test-e2e
test-e2e: build
	@names="$$(grep -ohP '^func \KTest\w+(?=\(t \*testing)' dev/e2e/*_test.go | $(call one_of,4) | paste -sd'|')"; \
	$(if $(SAMPLE),echo "a quarter of the tests of dev/e2e: make test-e2e SAMPLE=$(SAMPLE) SEED=$(SAMPLE_SEED) repeats it";) \
	cd dev && $(GO) test $(TEST_FLAGS) $(SAMPLE) -count=1 -timeout 60m -parallel 4 -run "^($$names)$$" ./e2e

# Other targets run the tests of other packages that the table of attacks cites.
test: ATTACK_FLAGS := --own

.PHONY: attack
attack: ## run the attacks on the real programs, print what holds each; ATTACK=REGEXP selects, GUARDS=1 takes each guard out
	cd dev && $(GO) run ./attack $(if $(GUARDS),--guards,$(ATTACK_FLAGS)) --run '$(ATTACK)'

.PHONY: spec
spec: ## apply each patch of dev/attack/spec in turn, and check that the test of its rows fails; SPEC=REGEXP selects
	cd dev && $(GO) run ./attack --spec --run '$(SPEC)'

.PHONY: mutants
mutants: ## change each command and condition of workflows/, and check that replay, or a test, notices; MUTANTS=REGEXP selects
	cd dev && $(GO) run ./mutants $(SAMPLE) --run '$(MUTANTS)'

.PHONY: perturb
perturb: export PERTURB := $(or $(PERTURB),$(if $(SEED),,.))
perturb: ## run both tables of perturbations, print their cells; PERTURB=REGEXP selects, SEED=TEXT a tenth, GUARDS=1 takes guards out
	$(if $(GUARDS),cd dev && $(GO) run ./attack --cells --run '$(PERTURB)',\
		{ $(GO) test -count=1 -timeout 60m -v -run '^Test(Table|Undisturbed)$$' ./workflows/perturb && \
		cd dev && $(GO) test -count=1 -timeout 4h -v ./perturb; } | awk '/^(=== (RUN|CONT|PAUSE)|    +--- PASS)/ {next} {print}')

.PHONY: worlds
worlds: ## play WORLDS random worlds (50), print a failing script cut to the steps that it needs; SEED=NUMBER repeats them
	cd dev && WORLDS='$(or $(WORLDS),50)' WORLDS_SEED="$(or $(SEED),$$RANDOM)" $(GO) test -count=1 -timeout 6h -v ./worlds \
		| awk '/^=== (RUN|CONT|PAUSE|NAME)/ {next} {print; fflush()}'

# The rules of accessibility that test-webui checks.
AXE_VERSION := 4.14.1
AXE := $(CURDIR)/dev/.axe/$(AXE_VERSION)/node_modules/axe-core/axe.min.js
# What armature ui embeds of npm packages, and where their packages are installed.
PAGE_NPM := starter/internal/page/static/npm
PAGE_MODULES := $(CURDIR)/dev/.page/node_modules

.PHONY: test-webui
test-webui: chromium $(AXE) $(PAGE_MODULES) ## test the Web UI and the pages of armature ui with Chromium; installs it and Node.js if missing
	cd dev && CHROMIUM="$$(command -v chromium)" AXE='$(AXE)' PAGE_MODULES='$(PAGE_MODULES)' $(GO) test $(TEST_FLAGS) -count=1 -timeout 15m ./webui

$(AXE): | nodejs
	npm install --silent --no-audit --no-fund --prefix dev/.axe/$(AXE_VERSION) axe-core@$(AXE_VERSION)

# npm checks each package by the hash in package-lock.json.
$(PAGE_MODULES): $(PAGE_NPM)/package-lock.json | nodejs
	@mkdir -p dev/.page && cp $(PAGE_NPM)/package.json $(PAGE_NPM)/package-lock.json dev/.page
	npm ci --silent --ignore-scripts --no-audit --no-fund --prefix dev/.page && touch '$@'

.PHONY: page-files
page-files: $(PAGE_MODULES) ## copy the embedded files of armature ui from npm, in the versions of its package-lock.json
	cd $(PAGE_NPM) && cut -c67- SHA256SUMS | while read -r file; do \
		mkdir -p "$$(dirname "$$file")" && install -m 644 "$(PAGE_MODULES)/$$file" "$$file"; \
	done && files="$$(cut -c67- SHA256SUMS)" && sha256sum $$files >SHA256SUMS

# The last server for Node.js 20, with its version.
YAML_LANGUAGE_SERVER_VERSION := 1.25.0
YAML_LANGUAGE_SERVER := $(CURDIR)/dev/.editor/$(YAML_LANGUAGE_SERVER_VERSION)/node_modules/.bin/yaml-language-server

.PHONY: test-editor
test-editor: $(YAML_LANGUAGE_SERVER) ## test schemas in the YAML language server of editors; installs it and Node.js if missing
	cd dev && YAML_LANGUAGE_SERVER='$(YAML_LANGUAGE_SERVER)' $(GO) test -count=1 -timeout 10m -v ./editor

$(YAML_LANGUAGE_SERVER): | nodejs
	npm install --silent --no-audit --no-fund --prefix dev/.editor/$(YAML_LANGUAGE_SERVER_VERSION) yaml-language-server@$(YAML_LANGUAGE_SERVER_VERSION)

.PHONY: nodejs
nodejs:
	@command -v npm >/dev/null || { \
		echo "this test needs Node.js: installing it"; \
		sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null; \
	}

AZURITE_VERSION := 3.37.0
AZURITE := $(CURDIR)/dev/.azurite/$(AZURITE_VERSION)/node_modules/.bin/azurite-blob

.PHONY: test-azurite
test-azurite: $(AZURITE) ## test the container of the generation fence and the queue of changes on Azure's storage emulator; installs it and Node.js if missing
	AZURITE='$(AZURITE)' $(GO) test -count=1 -timeout 5m -v -run '^TestAzurite' ./arm

$(AZURITE): | nodejs
	npm install --silent --no-audit --no-fund --prefix dev/.azurite/$(AZURITE_VERSION) azurite@$(AZURITE_VERSION)

.PHONY: test-postgres
test-postgres: postgresql ## run the compose file's services on PostgreSQL, without Docker; installs it if missing, needs root or sudo
	cd dev && sudo=""; [ "$$(id -u)" = 0 ] || sudo="sudo -E HOME=/root PATH=$$PATH"; \
		$$sudo env ARMATURE_TEST_POSTGRES=1 $(GO) test $(TEST_FLAGS) -count=1 -timeout 15m ./postgres

# Debian's package creates and starts a database cluster unless this setting prevents it.
.PHONY: postgresql
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
		echo "test-postgres needs PostgreSQL's programs: installing them"; \
		sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		export DEBIAN_FRONTEND=noninteractive; \
		$$sudo apt-get update -qq && $$sudo apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null && \
		$$sudo sed -i 's/^#\?create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf && \
		$$sudo apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	}

# IMAGES gets the programs of the images of `make images`, and their archives.
IMAGES := $(CURDIR)/dev/bin/images

.PHONY: images
images: buildah ## build the images without Docker, and create a resource with worker, CLI and simulator from them; installs buildah if missing, needs root or sudo
	@$(MAKE) --no-print-directory dist DIST='$(IMAGES)' PLATFORMS="linux/$$($(GO) env GOARCH)"
	cd dev && sudo=""; [ "$$(id -u)" = 0 ] || sudo="sudo -E HOME=/root PATH=$$PATH"; \
		$$sudo env IMAGES='$(IMAGES)' $(GO) test $(TEST_FLAGS) -count=1 -timeout 15m -v ./images

.PHONY: buildah
buildah:
	@command -v buildah >/dev/null || { \
		echo "images are built by buildah: installing it"; \
		sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends buildah >/dev/null; \
	}

.PHONY: screenshots
screenshots: chromium ## take the pictures of README and docs again
	@mkdir -p docs/images
	cd dev && CHROMIUM="$$(command -v chromium)" SCREENSHOTS='$(CURDIR)/docs/images' $(GO) test -count=1 -timeout 15m ./webui

.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || { \
		echo "the test of the Web UI needs Chromium: installing it"; \
		sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	}

.PHONY: bench
bench: ## measure; BENCH=wake for one part, BENCH=scale for large numbers (up to an hour), DISTANCE=30ms far from Temporal; writes dev/bench.json
	cd dev && BENCH='$(or $(BENCH),all)' DISTANCE='$(DISTANCE)' $(GO) test -count=1 -timeout $(if $(filter scale,$(BENCH)),4h,60m) -v ./bench

# PARTS are the parts of `make check`, the longest first. test-dev has the tests of layers, and
# test-product those of replay.
PARTS := test-e2e race test-product test-dev test-postgres test-webui attack mutants lint workflowcheck test-azurite images test-editor licenses vulnerabilities
# CHECK are the settings of `make check`: lint runs vet, and tests need no DWARF.
CHECK := ATTACK_FLAGS=--own SAMPLE=-short DEV_ELSEWHERE='attack|e2e|editor|images|postgres|webui' RACE_ELSEWHERE='workflows' TEST_FLAGS='-vet=off -ldflags=-w'

# PART_TIMES has a line for each part that ended: name, seconds, seconds of the processors, exit code.
PART_TIMES := dev/bin/check.times

# CHECK_GOGC lets compilers, linters and tests collect garbage a quarter as often, for memory. Workers
# and commands that tests start do not inherit it.
CHECK_GOGC := 400

# WAITING are the parts that mostly wait, for Temporal and for each other. The others get the
# processors that these leave.
WAITING := test-e2e test-webui test-postgres images

.PHONY: check
check: ## everything that CI runs, three parts at a time; prints the time of each part at the end
	@mkdir -p dev/bin && rm -f $(PART_TIMES) dev/bin/part-*
	@$(MAKE) --no-print-directory gcc chromium postgresql buildah $(YAML_LANGUAGE_SERVER) $(AZURITE) $(AXE) $(PAGE_MODULES)
	@export GOGC=$(CHECK_GOGC); code=0; \
	$(MAKE) --no-print-directory part-compile || exit $$?; \
	$(MAKE) --no-print-directory --jobs=3 --keep-going --output-sync=recurse \
		$(CHECK) $(PARTS:%=part-%) || code=$$?; \
	sort -k2,2nr $(PART_TIMES) | awk -v all="$$SECONDS" ' \
		BEGIN {printf "%-16s %8s %8s\n", "part", "seconds", "of CPU"} \
		{printf "%-16s %8.0f %8.0f%s\n", $$1, $$2, $$3 + $$4, $$5 ? "  FAILED" : ""; cpu += $$3 + $$4} \
		END {printf "%-16s %8.0f %8.0f\n", "all", all, cpu}'; \
	if [ $$code -ne 0 ]; then echo "What failed, from dev/bin/part-*.log:"; grep -hE -A12 '^ *--- FAIL|^FAIL' dev/bin/part-*.log | cut -c1-600 | head -200; fi; \
	exit $$code

# compile runs first and alone: each part would compile the Temporal server by itself. A list of
# export data compiles packages and, unlike a build, links no programs.
.PHONY: compile
compile: ## compile the packages of dev
	cd dev && $(GO) list -export -deps -f '{{""}}' ./... >/dev/null

.PHONY: $(PARTS:%=part-%) part-compile
$(PARTS:%=part-%) part-compile: part-%:
	@code=0; TIMEFORMAT='%R %U %S'; set -o pipefail; \
	{ time nice -n $(if $(filter $*,$(WAITING)),0,5) $(MAKE) --no-print-directory $* 2>&1 | tee dev/bin/$@.log; } 2>dev/bin/$@ || code=$$?; \
	echo "$* $$(<dev/bin/$@) $$code" >>$(PART_TIMES); \
	exit $$code

.PHONY: lint
lint: ## run golangci-lint on both modules
	$(GOLANGCI_LINT) run --allow-parallel-runners ./...
	cd dev && $(GOLANGCI_LINT) run --allow-parallel-runners --config ../.golangci.yml ./...

.PHONY: docs
docs: ## regenerate the references of manifests, commands, configuration, metrics and reasons, and the lists of guards and public symbols
	UPDATE_DOCS=1 $(GO) test -count=1 -run 'Test(CLI)?Reference' ./manifest ./starter ./config ./resource ./service ./extensions/azure
	cd dev && UPDATE_DOCS=1 $(GO) test -count=1 -run 'TestGuardsHaveTests|TestList$$' ./repo ./api

# FUZZTIME is the time for each target of `make fuzz`.
FUZZTIME ?= 5m

.PHONY: fuzz
fuzz: ## fuzz texts of imports, plan files, secrets in messages and the output of the CLI, FUZZTIME each
	$(GO) test -run '^$$' -fuzz '^FuzzScrub$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./secrets
	$(GO) test -run '^$$' -fuzz '^FuzzObserved$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./starter/internal/convert
	$(GO) test -run '^$$' -fuzz '^FuzzConvert$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./starter/internal/convert
	$(GO) test -run '^$$' -fuzz '^FuzzParse$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./starter/internal/plan
	$(GO) test -run '^$$' -fuzz '^FuzzWriter$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./starter/internal/cli
	$(GO) test -run '^$$' -fuzz '^FuzzOutput$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./starter
	$(GO) test -run '^$$' -fuzz '^FuzzReport$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 1s -parallel 1 ./starter

.PHONY: bad-input
bad-input: ## test every invalid manifest, command line and config of the tables; count them
	@$(GO) test -count=1 -v -run 'TestBadInput' ./starter ./config | grep -E 'faulty inputs|^(---|ok|FAIL)'

CRANE := $(GO) run github.com/google/go-containerregistry/cmd/crane@v0.22.1
IMAGE_FILES ?= Dockerfile docker-compose.yml .github/workflows/ci.yml .github/workflows/release.yml

# The digest is that of the index of platforms, so it is the same on all of them.
.PHONY: digests
digests: ## pin the images of Dockerfile, compose file and workflows by the digests of their registries
	@images=$$(sed -nE 's#^ *(image:|FROM( --platform=[^ ]+)?) +([a-z0-9][a-z0-9./:-]*:[A-Za-z0-9_][A-Za-z0-9._-]*)(@sha256:[0-9a-f]+)?( .*)?$$#\3#p' $(IMAGE_FILES) | sort -u); \
	for image in $$images; do \
		case $$image in armature/*) continue ;; esac; \
		$(CRANE) manifest "$$image" | grep -q '"manifests"' || { echo "$$image: it is no index of platforms" >&2; exit 1; }; \
		digest=$$($(CRANE) digest "$$image") || exit 1; \
		sed -i -E "s#( $$image)(@sha256:[0-9a-f]{64})?( |\$$)#\1@$$digest\3#" $(IMAGE_FILES); \
		echo "$$image@$$digest"; \
	done

.PHONY: helm
helm: ## render and validate the Helm chart without a cluster, and run the containers of its demo as processes
	cd dev && $(GO) test -count=1 ./chart && $(GO) test -count=1 -run '^TestChartDemo$$' ./e2e

.PHONY: api
api: ## list the public symbols that stay compatible; BASE=COMMIT prints what changed since
	@cd dev && $(GO) run ./api --base '$(BASE)'

.PHONY: layers
layers: ## test the repository itself: imports point down, docs and compose file agree with the code
	cd dev && $(GO) test -count=1 ./repo

.PHONY: house
house: ## count lines, fields of the state, symbols, walkers and rooms; BEFORE=REVISION compares
	@cd dev && $(GO) run ./house -before '$(BEFORE)'

.PHONY: workflowcheck
workflowcheck: ## check workflow code for calls that are not deterministic
	$(WORKFLOWCHECK) -config workflowcheck.config.yaml -show-pos ./workflows/...

.PHONY: replay
replay: ## replay the recorded histories
	$(GO) test -count=1 -run 'Replay' ./workflows/...

.PHONY: race
race: gcc ## test the product module with the race detector; installs gcc if missing
	CGO_ENABLED=1 $(GO) test $(TEST_FLAGS) -race $(SAMPLE) -timeout 20m $$($(GO) list ./... | grep -Ev '/($(or $(RACE_ELSEWHERE),none))$$' | $(call one_of,3))

.PHONY: gcc
gcc:
	@command -v gcc >/dev/null || { \
		echo "the race detector needs gcc: installing it"; \
		sudo=""; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null; \
	}

.PHONY: chaos
chaos: ## kill 200 workers during 100 creations against a faulty ARM; CHAOS_SEED repeats a run
	cd dev && CHAOS_RESOURCES=$${CHAOS_RESOURCES:-100} CHAOS_KILLS=$${CHAOS_KILLS:-200} CHAOS_SEED=$${CHAOS_SEED:-$$RANDOM} \
		$(GO) test -count=1 -timeout 30m -v -run 'TestChaos' ./e2e/...

.PHONY: soak
soak: test race chaos fuzz ## run in full the suites that `make check` samples, and every patch of dev/attack and every mutant; takes hours
	$(MAKE) --no-print-directory attack GUARDS=1
	$(MAKE) --no-print-directory spec
	$(MAKE) --no-print-directory perturb
	$(MAKE) --no-print-directory perturb GUARDS=1
	$(MAKE) --no-print-directory worlds
	$(MAKE) --no-print-directory mutants

.PHONY: histories
histories: ## record the histories of the replay tests again; those of the last release stay
	cd dev && HISTORIES='$(HISTORIES)' $(GO) test -count=1 -timeout 20m -run 'TestRecord|TestTracesSwitchOnAndOff|TestRestore$$' ./e2e/...
	@! release="$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)" || { \
		git checkout --quiet "$$release" -- '$(HISTORIES)'; echo "histories of $$release are kept: record changed ones by other names"; \
	}

# UPGRADE_FROM is the commit of a release.
UPGRADE_FROM ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || echo HEAD)

.PHONY: upgrade
upgrade: ## replace the worker of the release UPGRADE_FROM under 100 resources in all phases, and go back
	cd dev && UPGRADE_FROM='$(UPGRADE_FROM)' $(GO) test $(TEST_FLAGS) -count=1 -timeout 30m -v -run '^TestUpgradeFromRelease$$' ./e2e

.PHONY: fmt
fmt: ## format the code
	gofmt -s -w $$(git ls-files '*.go')

.PHONY: clean
clean: ## remove build results and the demo's data
	rm -rf bin dist dev/bin dev/.demo dev/.editor dev/.axe dev/.page
